//! How long a packet and its acknowledgement take.

use crosstie_units::Time;

use crate::channel::SelectiveSpec;

/// Round trips as they are measured, in picoseconds; without the time for which the other end held
/// an acknowledgement back.
#[derive(Debug, Clone)]
pub(super) struct RoundTrip {
    spec: SelectiveSpec,
    /// The mean of late, and the mean distance from it; 0 before the first.
    smoothed: u64,
    variation: u64,
    /// The mean of the bytes of the packets that were measured of late.
    bytes: u64,
    quickest: Option<Quickest>,
}

/// The quickest packet ever: how long it and its acknowledgement took, and its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quickest {
    pub trip: u64,
    pub bytes: u32,
}

/// The most time between two tries to reach the other end, however long round trips seem to be,
/// unless the least time-out is longer.
const MOST: Time = Time::from_ns(100_000_000);

/// Tries become rarer up to this: a rail that returns is noticed soon, and perhaps it is the only
/// one by then.
const RARE: Time = Time::from_ns(25_000_000);

impl RoundTrip {
    pub fn new(spec: &SelectiveSpec) -> RoundTrip {
        let spec = *spec;
        RoundTrip { spec, smoothed: 0, variation: 0, bytes: 0, quickest: None }
    }

    /// Takes note of the round trip of a packet of so many bytes.
    #[inline]
    pub fn note(&mut self, taken: u64, bytes: u32) {
        if self.quickest.is_none() {
            (self.smoothed, self.variation) = (taken, taken / 2);
            self.bytes = u64::from(bytes);
        } else {
            self.bytes = (7 * self.bytes + u64::from(bytes)) / 8;
            let distance = self.smoothed.abs_diff(taken);
            self.variation = self.variation - self.variation / 4 + distance / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + taken / 8;
        }
        if self.quickest.is_none_or(|quickest| taken < quickest.trip) {
            self.quickest = Some(Quickest { trip: taken, bytes });
        }
    }

    /// The mean of the bytes of the packets that were measured of late.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub fn smallest(&self) -> Option<u64> {
        self.quickest.map(|quickest| quickest.trip)
    }

    /// The quickest packet, if there has been any.
    #[inline]
    pub fn quickest(&self) -> Option<Quickest> {
        self.quickest
    }

    /// The mean of late; what a host may need before anything has been measured.
    #[inline]
    pub fn smoothed(&self) -> u64 {
        self.quickest.map_or(self.spec.least.ps(), |_| self.smoothed)
    }

    pub fn smoothed_if_known(&self) -> Option<u64> {
        self.quickest.map(|_| self.smoothed)
    }

    /// How long after the last packet nothing heard means that it should be sent again. `serial`:
    /// what the rail takes to transmit the packets that the next acknowledgement may be about.
    #[inline]
    pub fn probe(&self, serial: Time) -> Time {
        let spread = self.smoothed.max(self.variation.saturating_mul(4));
        (self.plus_wait(spread) + serial).max(self.spec.late)
    }

    /// How long nothing heard of anything means the same, at the first, second and later tries.
    #[inline]
    pub fn timeout(&self, tries: u32, serial: Time) -> Time {
        let waits = self.plus_wait(self.variation.saturating_mul(4)) + serial;
        let least = self.spec.least.max(self.spec.late);
        let once = waits.max(least);
        let doublings = tries.min(20);
        (once * (1 << doublings)).min(RARE.max(once)).min(MOST.max(least).max(serial * 2))
    }

    /// A round trip and so much, and the time for which the other end may hold an acknowledgement
    /// back.
    #[inline]
    fn plus_wait(&self, spread: u64) -> Time {
        if self.quickest.is_none() {
            return self.spec.least * SelectiveSpec::UNMEASURED;
        }
        Time::from_ps(self.smoothed) + Time::from_ps(spread) + self.spec.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_ns(1_000 * us)
    }

    #[test]
    fn time_outs_follow_round_trips_between_their_bounds() {
        let mut trips = RoundTrip::new(&SelectiveSpec::LIVE);
        assert_eq!(
            (trips.probe(Time::ZERO), trips.timeout(0, Time::ZERO)),
            (us(20_000), us(20_000)),
            "nothing is known"
        );
        for _ in 0..100 {
            trips.note(us(50).ps(), 1);
        }
        assert!(
            trips.probe(Time::ZERO) < us(202) && trips.probe(Time::ZERO) >= us(200),
            "{:?}",
            trips.probe(Time::ZERO)
        );
        let found = [0, 1, 2, 4, 5, 31, u32::MAX]
            .map(|tries| trips.timeout(tries, Time::ZERO).ps() / us(1_000).ps());
        assert_eq!(found, [5, 10, 20, 25, 25, 25, 25]);
        for _ in 0..100 {
            trips.note(us(30_000).ps(), 1);
        }
        assert!(trips.timeout(0, Time::ZERO) > us(30_000) && trips.probe(Time::ZERO) > us(60_000));
        assert_eq!(
            trips.timeout(9, Time::ZERO),
            trips.timeout(0, Time::ZERO),
            "as rare as round trips are long"
        );
        assert_eq!(trips.smallest(), Some(us(50).ps()));
        let patient = SelectiveSpec { least: us(300_000), ..SelectiveSpec::LIVE };
        assert_eq!(
            RoundTrip::new(&patient).timeout(9, Time::ZERO),
            us(300_000),
            "no sooner than told"
        );
    }

    #[test]
    fn a_packet_that_takes_long_to_transmit_is_not_late() {
        let mut trips = RoundTrip::new(&SelectiveSpec::SIMULATED);
        (0..100).for_each(|_| trips.note(us(4).ps(), 64));
        assert!(trips.probe(Time::ZERO) < us(30) && trips.timeout(0, Time::ZERO) == us(500));
        for serial in [us(2_000), us(84_000), us(900_000)] {
            assert!(trips.probe(serial) > serial && trips.timeout(0, serial) > serial);
        }
    }

    #[test]
    fn impossible_round_trips_break_nothing() {
        let mut trips = RoundTrip::new(&SelectiveSpec::LIVE);
        for taken in [0, u64::MAX, 0, u64::MAX, 1, u64::MAX, u64::MAX] {
            trips.note(taken, 1);
            assert!(
                trips.timeout(3, Time::ZERO) <= us(100_000)
                    && trips.probe(Time::ZERO) >= SelectiveSpec::LIVE.after
            );
        }
    }
}
