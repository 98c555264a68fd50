//! What the way carries of packets that find it empty: as much of a train as has come, by the time
//! since it began.

use crosstie_units::{Rate, Time};

use super::delivery::Step;
use super::round_trip::Quickest;

/// The rate of trains, which tells what a way carries before
/// [`Delivery`](super::delivery::Delivery) can.
///
/// A *train* begins with a packet that is sent after a pause, when there was nothing more to send,
/// and lasts until the next one begins. The way had nothing else to do; but perhaps it had to wait
/// for the sender, or an acknowledgement for a host. So it carries no less than the bytes that have
/// been acknowledged, by the time since the train began; both without what the quickest packet ever
/// had and took. And the most counts, of several trains.
///
/// - What has taken less time than the quickest packet is taken to have taken as much: that time is
///   not the same for all.
/// - A train of fewer bytes than the way carries in that time does not show that the way has become
///   slower.
/// - A way may carry some bytes at once. So what half as many bytes have shown, or fewer, does not
///   count beside what more have: neither of one train nor of several.
/// - Where there was always more to send, and for long enough, `Delivery` knows better. That
///   replaces what trains have shown.
#[derive(Debug, Clone)]
pub(super) struct Trains {
    /// In picoseconds.
    ahead: f64,
    /// When the train began, and its first turn.
    began: Time,
    first: u64,
    /// Bytes that have been acknowledged of it, and whether it has shown something.
    bytes: u64,
    shows: bool,
    /// What the last trains that have shown something have shown; which one was the last, and the
    /// most of all.
    trains: [Shown; TRAINS],
    place: usize,
    most: Shown,
}

/// The rate, in bytes per picosecond, and the bytes of a train that has shown something.
#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    rate: f64,
    bytes: u64,
}

/// The rate is the largest of so many trains: it is not that of one during which a host was busy
/// with something else.
const TRAINS: usize = 10;

impl Trains {
    /// `ahead`: the least time over which deliveries are measured.
    pub fn new(ahead: Time) -> Trains {
        Trains {
            ahead: ahead.ps() as f64,
            began: Time::ZERO,
            first: 0,
            bytes: 0,
            shows: false,
            trains: [Shown::default(); TRAINS],
            place: 0,
            most: Shown::default(),
        }
    }

    /// A packet is sent after a pause, in a turn.
    #[inline]
    pub fn begin(&mut self, now: Time, turn: u64) {
        (self.began, self.first, self.bytes, self.shows) = (now, turn, 0, false);
    }

    /// A packet of so many bytes that was sent in a turn has been acknowledged.
    #[inline]
    pub fn deliver(&mut self, turn: u64, bytes: u32) {
        if turn >= self.first {
            self.bytes += u64::from(bytes);
        }
    }

    /// All that was acknowledged had come at a time. What that shows of deliveries, and the rate of
    /// these.
    #[inline]
    pub fn acknowledged(&mut self, at: Time, quickest: Quickest, step: &Step, rate: f64) {
        let bytes = self.bytes;
        if step.full {
            // Of the time `ahead`, at least.
            self.most = Shown { rate, bytes: bytes.max((rate * self.ahead) as u64) };
            self.trains = [Shown::default(); TRAINS];
            self.trains[self.place] = self.most;
            self.shows = true;
            return;
        }
        let took = at.ps().saturating_sub(self.began.ps());
        if took == 0 || bytes == 0 {
            return;
        }
        let Quickest { trip, bytes: least } = quickest;
        let whole = bytes as f64 / took as f64;
        let rest = took.saturating_sub(trip).max(trip).max(1);
        let beside = bytes.saturating_sub(least.into()) as f64 / rest as f64;
        let rate = whole.max(beside).max(step.rate);
        if rate > self.most.rate || bytes as f64 >= self.most.rate * trip as f64 {
            self.note(Shown { rate, bytes });
        }
    }

    /// The train has shown something, so far.
    fn note(&mut self, shown: Shown) {
        if !std::mem::replace(&mut self.shows, true) {
            self.place = (self.place + 1) % TRAINS;
            self.trains[self.place] = Shown::default();
        }
        let train = &mut self.trains[self.place];
        if shown.rate < train.rate && shown.bytes <= 2 * train.bytes {
            return;
        }
        *train = shown;
        if shown.rate >= self.most.rate && shown.bytes >= self.most.bytes {
            self.most = shown;
            return;
        }
        let longest = self.trains.iter().map(|train| train.bytes).max().unwrap_or(0);
        let long = self.trains.iter().filter(|train| 2 * train.bytes >= longest);
        let rate = long.map(|train| train.rate).fold(0.0, f64::max);
        self.most = Shown { rate, bytes: longest };
    }

    /// The time that `bytes` take at that rate; zero if nothing is known.
    #[inline]
    pub fn time_for(&self, bytes: u64) -> Time {
        let Shown { rate, .. } = self.most;
        if bytes > 0 && rate > 0.0 {
            Time::from_ps((bytes as f64 / rate) as u64)
        } else {
            Time::ZERO
        }
    }

    /// The rate, if anything is known, and the most bytes of a train that has shown something.
    pub fn known(&self) -> Option<(Rate, u64)> {
        let Shown { rate, bytes } = self.most;
        (rate > 0.0).then(|| (Rate::from_bytes_per_second((rate * 1e12) as u64), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Picoseconds for a byte, and for a packet and its acknowledgement besides.
    const PACE: u64 = 8_000;
    const LATENCY: u64 = 20_000_000;
    const AHEAD: Time = Time::from_ns(1_000_000);

    /// The quickest packet has had 64 bytes.
    const QUICKEST: Quickest = Quickest { trip: LATENCY + 64 * PACE, bytes: 64 };

    fn step(full: bool) -> Step {
        Step { round: false, limited: !full, full, rate: 0.0 }
    }

    /// Sends a train of packets of so many bytes, which are acknowledged two at a time, each so
    /// much later than they might.
    fn train(trains: &mut Trains, begin: u64, packets: &[u32], late: impl Fn(usize) -> u64) {
        trains.begin(Time::from_ps(begin), 1);
        let (mut free, mut heard) = (begin, begin);
        for (number, &bytes) in packets.iter().enumerate() {
            free += u64::from(bytes) * PACE;
            trains.deliver(1 + number as u64, bytes);
            if number % 2 == 1 || number + 1 == packets.len() {
                heard = heard.max(free + LATENCY + late(number));
                trains.acknowledged(Time::from_ps(heard), QUICKEST, &step(false), 0.0);
            }
        }
    }

    /// In MB/s.
    fn rate(trains: &Trains) -> f64 {
        trains.known().expect("it is known").0.bytes_per_second() as f64 / 1e6
    }

    #[test]
    fn a_short_train_shows_the_rate_and_a_host_that_is_late_does_not_change_it() {
        let mut trains = Trains::new(AHEAD);
        assert_eq!(trains.known(), None);
        train(&mut trains, 0, &[1500; 6], |_| 0);
        assert!((rate(&trains) - 125.0).abs() < 0.1, "{trains:?}");
        assert_eq!(trains.known().unwrap().1, 9000);
        for number in 1..TRAINS as u64 {
            train(&mut trains, number * AHEAD.ps(), &[1500; 6], |_| 300_000_000);
        }
        assert!((rate(&trains) - 125.0).abs() < 0.1, "{trains:?}");
        train(&mut trains, 1000 * AHEAD.ps(), &[1500; 6], |_| 300_000_000);
        assert!(rate(&trains) < 30.0, "it is as slow as all of the last: {trains:?}");
    }

    #[test]
    fn trains_of_few_bytes_show_nothing_of_longer_ones() {
        let mut trains = Trains::new(AHEAD);
        train(&mut trains, 0, &[1500; 20], |_| 0);
        for number in 1..100 {
            train(&mut trains, number * AHEAD.ps(), &[64], |_| 50_000_000);
        }
        assert!((rate(&trains) - 125.0).abs() < 0.1, "{trains:?}");
        // Who has only seen few bytes says so.
        let mut trains = Trains::new(AHEAD);
        train(&mut trains, 0, &[64], |_| 0);
        assert_eq!(trains.known().unwrap().1, 64);
    }

    #[test]
    fn what_passes_at_once_is_forgotten_when_more_has_passed() {
        let mut trains = Trains::new(AHEAD);
        // The first 6,000 bytes take no time.
        let saved = |number: usize| 1500 * PACE * (number as u64 + 1).min(4);
        trains.begin(Time::ZERO, 1);
        let mut found = Vec::new();
        for number in 0..100 {
            trains.deliver(1 + number as u64, 1500);
            let at = LATENCY + 1500 * PACE * (number as u64 + 1) - saved(number);
            trains.acknowledged(Time::from_ps(at), QUICKEST, &step(false), 0.0);
            found.push(rate(&trains));
        }
        assert!(found[3] > 250.0 && found[99] < 140.0, "{found:?}");
    }

    #[test]
    fn what_deliveries_show_replaces_what_trains_have_shown() {
        let mut trains = Trains::new(AHEAD);
        train(&mut trains, 0, &[1500; 6], |_| 0);
        trains.acknowledged(AHEAD, QUICKEST, &step(true), 50e-6);
        assert_eq!(trains.known().unwrap(), (Rate::from_bytes_per_second(50_000_000), 50_000));
    }

    proptest! {
        #[test]
        fn no_train_seems_faster_than_the_way_is(
            sizes in prop::collection::vec(prop::collection::vec(64u32..9000, 1..40), 1..30),
            late in prop::collection::vec(0u64..1_000_000_000, 40),
        ) {
            let mut trains = Trains::new(AHEAD);
            for (number, packets) in (0..).zip(&sizes) {
                train(&mut trains, number * 100 * AHEAD.ps(), packets, |at| late[at]);
                let found = trains.known().map_or(0.0, |(rate, _)| rate.bytes_per_second() as f64);
                prop_assert!(found <= 125e6 * 1.001, "{} {:?}", found, trains);
            }
        }
    }
}
