//! Speeds in bytes per second.

use crate::quantity::{Scale, text_with_units};
use crate::{Bytes, Time};

/// A speed in whole bytes per second. `MB/s` is 10^6 bytes per second, `Gbit/s` 10^9 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub(crate) u64);

const SCALE: Scale = Scale {
    kind: "a rate",
    example: "400 MB/s",
    units: &[("B/s", 1), ("kB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000)],
    also_read: &[("Mbit/s", 125_000), ("Gbit/s", 125_000_000)],
    atoms: None,
};
text_with_units!(Rate);

impl Rate {
    /// So many bytes per second.
    pub const fn from_bytes_per_second(rate: u64) -> Rate {
        Rate(rate)
    }

    /// The number of bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }

    /// How long `size` takes at this rate, to the nearest picosecond; `None` at rate zero.
    pub fn time_for(self, size: Bytes) -> Option<Time> {
        let ps = (u128::from(size.get()) * 1_000_000_000_000 + u128::from(self.0) / 2)
            .checked_div(u128::from(self.0))?;
        u64::try_from(ps).ok().map(Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_byte_flit_takes_five_nanoseconds_on_qsnet() {
        let link: Rate = "400 MB/s".parse().unwrap();
        assert_eq!(link.time_for(Bytes::new(2)), Some(Time::from_ns(5)));
        assert_eq!(link.to_string(), "400 MB/s");
        assert_eq!(Rate(0).time_for(Bytes::new(2)), None);
    }
}
