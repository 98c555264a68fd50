//! What the way carries of packets that find it empty: as much of a train as has come, by the time since it began.

use crosstie_units::{Rate, Time};

use super::delivery::Step;
use super::round_trip::Quickest;

/// The rate of trains, which tells what a way carries before [`Delivery`](super::delivery::Delivery) can.
///
/// A *train* begins with a packet that is sent after a pause, when there was nothing more to send, and lasts until the next one begins. The
/// way had nothing else to do; but perhaps it had to wait for the sender, or an acknowledgement for a host. So it carries no less than the
/// bytes that have been acknowledged, by the time since the train began; both without what the quickest packet ever had and took. And the
/// most counts, of several trains.
///
/// - What has taken less time than the quickest packet is taken to have taken as much: that time is not the same for all.
/// - A train of fewer bytes than the way carries in that time does not show that the way has become slower.
/// - Where there was always more to send, and for long enough, `Delivery` knows better. That replaces what trains have shown.
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
    /// What the last trains that have shown something have shown; which one was the last, and the most of all.
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

/// The rate is the largest of so many trains: it is not that of one during which a host was busy with something else.
const TRAINS: usize = 10;

impl Trains {
    /// None where deliveries are measured at once.
    pub fn new(ahead: Time) -> Option<Trains> {
        (ahead > Time::ZERO).then(|| Trains {
            ahead: ahead.ps() as f64,
            began: Time::ZERO,
            first: 0,
            bytes: 0,
            shows: false,
            trains: [Shown::default(); TRAINS],
            place: 0,
            most: Shown::default(),
        })
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

    /// All that was acknowledged had come at a time. What that shows of deliveries, and the rate of these.
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
        if shown.rate >= train.rate || shown.bytes > 2 * train.bytes {
            *train = shown;
        }
        let longest = self.trains.iter().map(|train| train.bytes).max().unwrap_or(0);
        let long = self.trains.iter().filter(|train| 2 * train.bytes >= longest);
        let rate = long.map(|train| train.rate).fold(0.0, f64::max);
        self.most = Shown { rate, bytes: longest };
    }

    /// In bytes per picosecond; 0 if nothing is known.
    pub fn rate(&self) -> f64 {
        self.most.rate
    }

    /// The rate, if anything is known, and the most bytes of a train that has shown something.
    pub fn known(&self) -> Option<(Rate, u64)> {
        let Shown { rate, bytes } = self.most;
        (rate > 0.0).then(|| (Rate::from_bytes_per_second((rate * 1e12) as u64), bytes))
    }
}
