//! The time of an engine and the time of the seam.

use crosstie_units::Time;

/// How an engine counts time: so many ticks to a cycle.
///
/// Tick t begins at `floor(t cycle / ticks)` picoseconds. As long as a tick lasts a picosecond or
/// more, every tick has a time of its own, and [`Grain::ticks`] finds it again: nothing is lost on
/// the way to the seam and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    cycle: u64,
    ticks: u64,
}

/// Why a grain is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{ticks} ticks do not fit into a cycle of {cycle}: a tick lasts at least 1 ps")]
pub struct TooFine {
    /// The cycle.
    pub cycle: Time,
    /// Its ticks.
    pub ticks: u64,
}

impl Grain {
    /// Cycles of this length with so many ticks each, at least one.
    pub fn new(cycle: Time, ticks: u64) -> Result<Grain, TooFine> {
        if ticks == 0 || ticks > cycle.ps() {
            return Err(TooFine { cycle, ticks });
        }
        Ok(Grain { cycle: cycle.ps(), ticks })
    }

    /// Cycles of this length, counted in picoseconds.
    ///
    /// # Panics
    /// If the cycle lasts no time.
    pub fn picoseconds(cycle: Time) -> Grain {
        Grain::new(cycle, cycle.ps()).expect("a cycle lasts some time")
    }

    /// How long a cycle is.
    pub fn cycle(&self) -> Time {
        Time::from_ps(self.cycle)
    }

    /// Ticks per cycle.
    pub fn ticks_per_cycle(&self) -> u64 {
        self.ticks
    }

    /// When a cycle begins.
    #[inline]
    pub fn start(&self, cycle: u64) -> Time {
        Time::from_ps(self.cycle * cycle)
    }

    /// When a tick begins.
    #[inline]
    pub fn time(&self, tick: u64) -> Time {
        Time::from_ps(match self.ticks {
            1 => tick * self.cycle,
            _ => (u128::from(tick) * u128::from(self.cycle) / u128::from(self.ticks)) as u64,
        })
    }

    /// The first tick that begins at a time or later.
    #[inline]
    pub fn ticks(&self, time: Time) -> u64 {
        match self.ticks {
            1 => time.ps().div_ceil(self.cycle),
            ticks if ticks == self.cycle => time.ps(),
            ticks => {
                (u128::from(time.ps()) * u128::from(ticks)).div_ceil(u128::from(self.cycle)) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn eleven_ticks_of_a_cycle_have_times_of_their_own() {
        // The bus of Petrini, 5.3: 16/11 cycles of 5 ns.
        let grain = Grain::new(Time::from_ns(5), 11).unwrap();
        assert_eq!([0, 1, 11, 12].map(|tick| grain.time(tick).ps()), [0, 454, 5000, 5454]);
        assert_eq!(grain.ticks(Time::from_ps(454)), 1);
        assert_eq!(grain.ticks(Time::from_ps(455)), 2);
        assert_eq!(grain.start(3), Time::from_ns(15));
        let error = Grain::new(Time::from_ps(10), 11).unwrap_err();
        assert!(error.to_string().contains("11 ticks do not fit into a cycle of 10 ps"));
    }

    proptest! {
        #[test]
        fn every_tick_is_found_again(
            cycle in 1..2_000_000u64, ticks in 1..64u64, tick in 0..1_000_000_000_000u64,
        ) {
            prop_assume!(ticks <= cycle);
            let grain = Grain::new(Time::from_ps(cycle), ticks).unwrap();
            prop_assert_eq!(grain.ticks(grain.time(tick)), tick);
            prop_assert!(grain.time(grain.ticks(Time::from_ps(tick))).ps() >= tick);
            prop_assert_eq!(grain.time(tick * ticks), grain.start(tick));
        }
    }
}
