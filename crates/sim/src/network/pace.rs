//! How fast bytes pass.

use crosstie_units::Time;

/// How long bytes take on a wire: so much time for so many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The time.
    pub time: Time,
    /// The bytes, at least 1.
    pub bytes: u64,
}

impl Pace {
    /// The time for so many bytes, rounded down.
    pub fn time_for(&self, bytes: u32) -> Time {
        let (time, bytes) = (self.time.ps(), u64::from(bytes));
        Time::from_ps(match time.checked_mul(bytes) {
            Some(product) => product / self.bytes,
            None => (u128::from(time) * u128::from(bytes) / u128::from(self.bytes)) as u64,
        })
    }

    /// Whether bytes pass faster than at another.
    pub fn is_faster(&self, than: &Pace) -> bool {
        u128::from(self.bytes) * u128::from(than.time.ps())
            > u128::from(than.bytes) * u128::from(self.time.ps())
    }

    /// The fastest of several, the first of those.
    pub fn fastest(of: impl Iterator<Item = Pace>) -> Option<Pace> {
        of.reduce(|best, pace| if pace.is_faster(&best) { pace } else { best })
    }
}
