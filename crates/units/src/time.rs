//! Durations and points in time, in integer picoseconds.

use std::time::Duration;

use crate::quantity::{Scale, text_with_units};

/// A duration, or a point in simulated time counted from zero: integer picoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub(crate) u64);

const SCALE: Scale = Scale {
    kind: "a time",
    example: "5 ns",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ],
    also_read: &[],
    atoms: None,
};
text_with_units!(Time);

/// Half of what a time can be if the duration is longer.
impl From<Duration> for Time {
    fn from(duration: Duration) -> Time {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Time(nanoseconds.saturating_mul(1_000).min(u64::MAX / 2))
    }
}

/// In whole nanoseconds, rounded down.
impl From<Time> for Duration {
    fn from(time: Time) -> Duration {
        Duration::from_nanos(time.0 / 1_000)
    }
}

impl Time {
    /// No time at all.
    pub const ZERO: Time = Time(0);

    /// So many picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// So many nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }

    /// The number of picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// The time in seconds, for arithmetic that ends in a figure.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

/// Sums and multiples end at the end of the clock, after 213 days: what comes then never comes, and
/// above all not at the beginning.
impl std::ops::Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl std::ops::Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl std::ops::Mul<u64> for Time {
    type Output = Time;
    fn mul(self, times: u64) -> Time {
        Time(self.0.saturating_mul(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_with_units() {
        for (text, ps, shown) in [
            ("5 ns", 5_000, "5 ns"),
            ("5ns", 5_000, "5 ns"),
            ("6.25 ns", 6_250, "6.25 ns"),
            ("0.5 us", 500_000, "500 ns"),
            ("1_000 us", 1_000_000_000, "1 ms"),
            ("49.2 ns", 49_200, "49.2 ns"),
            ("0 ns", 0, "0 ps"),
            ("1234567 ps", 1_234_567, "1234.567 ns"),
        ] {
            let time: Time = text.parse().unwrap();
            assert_eq!((time.ps(), time.to_string().as_str()), (ps, shown), "{text}");
        }
    }

    #[test]
    fn durations_are_times_in_whole_nanoseconds() {
        for (duration, ps) in [
            (Duration::ZERO, 0),
            (Duration::from_nanos(7), 7_000),
            (Duration::from_secs(3), 3_000_000_000_000),
        ] {
            assert_eq!(Time::from(duration), Time(ps));
            assert_eq!(Duration::from(Time(ps + 999)), duration);
        }
        assert_eq!(Time::from(Duration::MAX), Time(u64::MAX / 2));
    }

    #[test]
    fn refuses_what_is_not_a_time() {
        for (text, message) in [
            ("5", "`5` has no unit: write a time such as \"5 ns\" (units: ps, ns, us, ms, s)"),
            ("5 KiB", "`KiB` is not a unit of a time (units: ps, ns, us, ms, s)"),
            ("fast", "found `fast`, expected a time such as \"5 ns\""),
            ("-5 ns", "`-5 ns` is out of range for a time"),
            ("1e99 s", "`e99 s` is not a unit of a time (units: ps, ns, us, ms, s)"),
            ("99999999999999 s", "`99999999999999 s` is out of range for a time"),
        ] {
            assert_eq!(text.parse::<Time>().unwrap_err().to_string(), message);
        }
    }
}
