//! What the way delivers: bytes acknowledged from the time a packet was sent until it was
//! acknowledged.

use crosstie_units::{Rate, Time};

/// The rate of delivery, measured with every acknowledgement.
///
/// A packet remembers how much had been delivered, and when, as it was sent; when it is
/// acknowledged, what has been delivered since, by that time, is what the way delivers.
/// Acknowledgements may come in heaps, but no faster than packets were sent: the longer of the
/// two times counts. And no less than the time `ahead` counts, nor is less than that looked at if
/// there is more: a way may carry much at once that has carried nothing for a while, and hosts and
/// NICs gather acknowledgements; what the way delivers then is not what it can go on to deliver.
/// A sender that sends less than the window allows sees its own rate, not the path's, so this
/// counts only if it is more than was known. A *round* ends when a packet is acknowledged that was
/// sent after it began.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    /// The least time over which anything is measured, in picoseconds.
    ahead: u64,
    last: Mark,
    /// As it was at least for that time, if something has been under way for so long; and not so
    /// long ago.
    earlier: Mark,
    middle: Mark,
    /// Who was sent before so much had been delivered was sent by somebody who had not more to
    /// send.
    limited: u64,
    /// The round is over when a packet is acknowledged that was sent after so much had been
    /// delivered.
    round: u64,
    /// The most of each of the last rounds in which something counted, in bytes per picosecond;
    /// and which one is this.
    most: [f64; ROUNDS],
    place: usize,
    /// The most of all of them.
    rate: f64,
}

/// How far deliveries were.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    /// Bytes delivered, when the last of them were known to be, and when the packet was sent by
    /// which that was known.
    delivered: u64,
    at: Time,
    sent: Time,
}

/// The rate is the largest of so many rounds: it is not that of a round in which a host was busy
/// with something else.
const ROUNDS: usize = 10;

/// What is known of deliveries as a packet is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Departure {
    /// What it is measured from.
    from: Mark,
    /// Bytes delivered.
    delivered: u64,
    /// Whether who sends it had nothing more to send before.
    pub limited: bool,
}

/// What an acknowledgement shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Whether a round is over.
    pub round: bool,
    /// Whether the sender could have sent more.
    pub limited: bool,
    /// Whether it could not, and what was delivered was measured over the least time for that.
    pub full: bool,
    /// What the way has delivered, in bytes per picosecond; 0 if that is not known.
    pub rate: f64,
}

impl Delivery {
    pub fn new(ahead: Time) -> Delivery {
        Delivery {
            ahead: ahead.ps(),
            last: Mark::default(),
            earlier: Mark::default(),
            middle: Mark::default(),
            limited: 0,
            round: 0,
            most: [0.0; ROUNDS],
            place: 0,
            rate: 0.0,
        }
    }

    /// A packet is sent; whether nothing else is under way.
    #[inline]
    pub fn departs(&mut self, now: Time, alone: bool) -> Departure {
        if alone {
            (self.last.at, self.last.sent) = (now, now);
            (self.earlier, self.middle) = (self.last, self.last);
        }
        let delivered = self.last.delivered;
        Departure { from: self.earlier, delivered, limited: delivered < self.limited }
    }

    /// Bytes have been delivered.
    #[inline]
    pub fn deliver(&mut self, bytes: u32) {
        self.last.delivered += u64::from(bytes);
    }

    /// The sender has nothing more to send, though it may, with `under_way` bytes in flight.
    #[inline]
    pub fn limit(&mut self, under_way: u64) {
        self.limited = self.last.delivered + under_way.max(1);
    }

    /// A round begins.
    pub fn begin_round(&mut self) {
        self.round = self.last.delivered;
    }

    /// What is shown by the packet that was sent last of those that have just been acknowledged.
    /// What has taken less than the smallest round trip was measured with a packet that had
    /// been sent before.
    #[inline]
    pub fn measure(&mut self, now: Time, from: &Departure, sent: Time, smallest: u64) -> Step {
        let Departure { from: Mark { delivered, at, sent: before }, .. } = *from;
        let took = now.ps().saturating_sub(at.ps()).max(sent.ps().saturating_sub(before.ps()));
        let full = !from.limited && took >= self.ahead;
        // The first one is better than none.
        let took = if self.rate > 0.0 { took.max(self.ahead) } else { took };
        (self.last.at, self.last.sent) = (now, sent);
        if now.ps().saturating_sub(self.middle.at.ps()) >= self.ahead {
            self.earlier = if self.ahead == 0 { self.last } else { self.middle };
            self.middle = self.last;
        }
        let round = from.delivered >= self.round;
        if round {
            self.round = self.last.delivered;
            if self.most[self.place] > 0.0 {
                self.place = (self.place + 1) % ROUNDS;
                self.most[self.place] = 0.0;
                self.rate = self.most.iter().copied().fold(0.0, f64::max);
            }
        }
        let mut found = 0.0;
        if took > 0 && took >= smallest {
            let rate = (self.last.delivered - delivered) as f64 / took as f64;
            found = rate;
            if !from.limited || rate > self.rate {
                let most = &mut self.most[self.place];
                *most = most.max(rate);
                self.rate = self.rate.max(rate);
            }
        }
        Step { round, limited: from.limited, full, rate: found }
    }

    /// In bytes per picosecond; 0 if nothing is known.
    #[inline]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate, if anything is known.
    pub fn known(&self) -> Option<Rate> {
        (self.rate > 0.0).then(|| Rate::from_bytes_per_second((self.rate * 1e12) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_ns(1_000 * us)
    }

    /// Sends packets of 1,000 bytes, so many every millisecond, which are acknowledged together
    /// half a millisecond later; whether it could have sent more.
    fn rounds(delivery: &mut Delivery, from: u64, rounds: u64, packets: u64, limited: bool) -> u64 {
        let mut seen = 0;
        for round in from..from + rounds {
            let sent = us(1_000 * round);
            let departures: Vec<Departure> =
                (0..packets).map(|packet| delivery.departs(sent, packet == 0)).collect();
            packets_come(delivery, packets);
            let last = departures.last().expect("some are sent");
            let step = delivery.measure(us(1_000 * round + 500), last, sent, 0);
            seen += u64::from(step.round);
            if limited {
                delivery.limit(0);
            }
        }
        seen
    }

    fn packets_come(delivery: &mut Delivery, packets: u64) {
        (0..packets).for_each(|_| delivery.deliver(1_000));
    }

    fn rate(delivery: &Delivery) -> u64 {
        delivery.known().expect("it is known").bytes_per_second() / 1_000_000
    }

    #[test]
    fn the_rate_is_the_largest_of_ten_rounds() {
        let mut delivery = Delivery::new(Time::ZERO);
        assert_eq!(delivery.known(), None);
        assert_eq!(rounds(&mut delivery, 0, 5, 10, false), 5);
        assert_eq!(rate(&delivery), 20);
        rounds(&mut delivery, 5, 1, 30, false);
        assert_eq!(rate(&delivery), 60);
        rounds(&mut delivery, 6, 9, 10, false);
        assert_eq!(rate(&delivery), 60);
        rounds(&mut delivery, 15, 1, 10, false);
        assert_eq!(rate(&delivery), 20);
    }

    #[test]
    fn who_has_little_to_send_learns_nothing_unless_it_is_more() {
        let mut delivery = Delivery::new(Time::ZERO);
        rounds(&mut delivery, 0, 2, 20, false);
        rounds(&mut delivery, 2, 1, 20, true);
        rounds(&mut delivery, 3, 100, 2, true);
        assert_eq!(rate(&delivery), 40, "what was known");
        rounds(&mut delivery, 103, 1, 50, true);
        assert_eq!(rate(&delivery), 100);
    }

    #[test]
    fn acknowledgements_in_a_heap_are_no_faster_than_their_packets_were() {
        let mut delivery = Delivery::new(Time::ZERO);
        let first = delivery.departs(us(0), true);
        packets_come(&mut delivery, 1);
        delivery.measure(us(100), &first, us(0), 0);
        // Ten packets, one every 100 us, of which all acknowledgements come at once.
        let departures: Vec<Departure> =
            (1..=10).map(|packet| delivery.departs(us(100 * packet), false)).collect();
        packets_come(&mut delivery, 10);
        delivery.measure(us(1_010), &departures[9], us(1_000), 0);
        assert_eq!(rate(&delivery), 10);
        let early = delivery.departs(us(1_010), false);
        packets_come(&mut delivery, 100);
        delivery.measure(us(1_050), &early, us(1_010), us(100).ps());
        assert_eq!(rate(&delivery), 10, "sooner than a round trip");
    }
}
