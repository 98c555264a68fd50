//! How long messages are, in bytes.

use super::TrafficError;
use crosstie_units::Stream;

/// The law of message sizes in bytes. A message has at least one byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Every message has so many bytes.
    Fixed(u32),
    /// An exponential size rounded up to whole bytes, and [`Size::LONGEST`] where it is longer.
    Exponential {
        /// Mean before rounding; [`Size::mean`] gives the mean after it.
        mean: f64,
    },
    /// Two sizes, for example requests and replies.
    Bimodal {
        /// One size.
        small: u32,
        /// The other.
        large: u32,
        /// The share of *messages* (not of bytes) that are small.
        small_share: f64,
    },
}

impl Size {
    /// The longest message of exponential sizes, so that all lengths, overhead included, fit in a
    /// `u32`. No draw of a mean up to 10^8 comes near it; of a mean of 2^30 one in 40 does.
    pub const LONGEST: u32 = 4_000_000_000;
    /// The largest mean of exponential sizes.
    pub const MEAN_LIMIT: f64 = (1 << 30) as f64;

    /// The exact mean in bytes of the sizes drawn.
    ///
    /// The ceiling of an exponential variable of mean m is geometric, `P(k bytes) = (1 - q)
    /// q^(k-1)` with `q = exp(-1/m)`, so its mean is `1 / (1 - exp(-1/m))`, about `m + 1/2`.
    /// A source that took m itself would offer too much: 1.6 % at m = 32, 58 % at m = 1. Cut at L
    /// bytes, the mean is `1 - q^L` of that.
    pub fn mean(&self) -> f64 {
        match *self {
            Size::Fixed(bytes) => f64::from(bytes),
            Size::Exponential { mean } => {
                let shorter = -(-f64::from(Size::LONGEST) / mean).exp_m1();
                -(-1.0 / mean).exp_m1().recip() * shorter
            }
            Size::Bimodal { small, large, small_share } => {
                small_share * f64::from(small) + (1.0 - small_share) * f64::from(large)
            }
        }
    }

    /// Refuses what cannot be drawn.
    pub(super) fn check(&self) -> Result<(), TrafficError> {
        let bytes = |bytes| match bytes {
            0 => Err(TrafficError::EmptyMessage { bytes }),
            _ => Ok(()),
        };
        match *self {
            Size::Fixed(size) => bytes(size),
            Size::Exponential { mean } => {
                if mean > 0.0 && mean <= Size::MEAN_LIMIT {
                    Ok(())
                } else {
                    Err(TrafficError::MeanSize { mean, limit: Size::MEAN_LIMIT })
                }
            }
            Size::Bimodal { small, large, small_share } => {
                bytes(small)?;
                bytes(large)?;
                TrafficError::unless_share("small messages", small_share)
            }
        }
    }

    /// The size of the next message.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match *self {
            Size::Fixed(bytes) => bytes,
            Size::Exponential { mean } => {
                (stream.exponential(mean).ceil() as u32).clamp(1, Size::LONGEST)
            }
            Size::Bimodal { small, large, small_share } => {
                if stream.chance(small_share) {
                    small
                } else {
                    large
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Seed;

    #[test]
    fn the_stated_mean_is_the_mean_drawn() {
        for size in [
            Size::Fixed(32),
            Size::Exponential { mean: 0.2 },
            Size::Exponential { mean: 1.0 },
            Size::Exponential { mean: 32.0 },
            Size::Exponential { mean: Size::MEAN_LIMIT },
            Size::Bimodal { small: 1, large: 512, small_share: 0.9 },
        ] {
            size.check().unwrap();
            let mut stream = Seed(1).stream("sizes", 0);
            let n = 200_000;
            let drawn: f64 = (0..n).map(|_| f64::from(size.draw(&mut stream))).sum();
            let (found, stated) = (drawn / f64::from(n), size.mean());
            assert!((found / stated - 1.0).abs() < 0.015, "{size:?}: {found}, stated {stated}");
        }
    }

    #[test]
    fn rounding_up_is_part_of_the_stated_mean() {
        let mean = |mean| Size::Exponential { mean }.mean();
        assert!((mean(1.0) - 1.581_976_706_869_326_5).abs() < 1e-12);
        assert!((mean(32.0) - 32.502_604).abs() < 1e-6);
        assert!((mean(1e-3) - 1.0).abs() < 1e-12, "nearly all draws round up to one byte");
        assert!((mean(1e8) - (1e8 + 0.5)).abs() < 1e-6);
        let cut = mean(Size::MEAN_LIMIT) / Size::MEAN_LIMIT;
        assert!((cut - 0.975_893_9).abs() < 1e-6, "{cut}");
    }

    #[test]
    fn impossible_sizes_are_refused_in_words() {
        for (size, message) in [
            (Size::Fixed(0), "found a message size of 0 bytes, expected at least 1"),
            (
                Size::Exponential { mean: f64::NAN },
                "found a mean message size of NaN bytes, expected more than 0 and at most \
                 1073741824",
            ),
            (
                Size::Bimodal { small: 1, large: 8, small_share: 1.5 },
                "found 1.5 as the share of small messages, expected a number from 0 to 1",
            ),
        ] {
            assert_eq!(size.check().unwrap_err().to_string(), message);
        }
    }
}
