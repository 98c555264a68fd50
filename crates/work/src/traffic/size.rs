//! How long messages are.

use super::{Misfit, share};
use crosstie_units::{Bytes, Stream, quantities};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The sizes that may be named.
const RANGE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 30);

quantities! { size: Bytes = "a size", RANGE; }

/// The law of message sizes. A message has at least one byte.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Size {
    /// All the same.
    Fixed {
        /// The size.
        #[serde(deserialize_with = "size")]
        size: Bytes,
    },
    /// An exponential size rounded up to whole bytes, and [`Size::LONGEST`] where it is longer.
    Exponential {
        /// Mean before rounding; [`Size::mean`] gives the mean after it.
        #[serde(deserialize_with = "size")]
        mean: Bytes,
    },
    /// Some small, the others large, for example requests and replies.
    #[serde(rename_all = "kebab-case")]
    Bimodal {
        /// Size of the small ones.
        #[serde(deserialize_with = "size")]
        small: Bytes,
        /// Size of the large ones.
        #[serde(deserialize_with = "size")]
        large: Bytes,
        /// The share of messages, not of bytes, that is small.
        #[serde(deserialize_with = "share::read")]
        small_share: f64,
    },
}

impl Size {
    /// The longest message of exponential sizes, so that all lengths, overhead included, fit in a
    /// `u32`. No draw of a mean up to 10^8 comes near it; of a mean of 2^30 one in 40 does.
    pub const LONGEST: u32 = 4_000_000_000;

    /// The exact mean in bytes of the sizes drawn.
    ///
    /// The ceiling of an exponential variable of mean m is geometric, `P(k bytes) = (1 - q)
    /// q^(k-1)` with `q = exp(-1/m)`, so its mean is `1 / (1 - exp(-1/m))`, about `m + 1/2`.
    /// A source that took m itself would offer too much: 1.6 % at m = 32, 58 % at m = 1. Cut at L
    /// bytes, the mean is `1 - q^L` of that.
    pub fn mean(&self) -> f64 {
        match *self {
            Size::Fixed { size } => size.get() as f64,
            Size::Exponential { mean } => {
                let mean = mean.get() as f64;
                let shorter = -(-f64::from(Size::LONGEST) / mean).exp_m1();
                -(-1.0 / mean).exp_m1().recip() * shorter
            }
            Size::Bimodal { small, large, small_share } => {
                small_share * small.get() as f64 + (1.0 - small_share) * large.get() as f64
            }
        }
    }

    /// The shares of the kinds of message that it tells apart.
    pub fn shares(&self) -> Vec<f64> {
        match *self {
            Size::Fixed { .. } | Size::Exponential { .. } => vec![1.0],
            Size::Bimodal { small_share, .. } => vec![small_share, 1.0 - small_share],
        }
    }

    /// The largest size that it names, and its key.
    pub fn largest(&self) -> (&'static str, Bytes) {
        match *self {
            Size::Fixed { size } => ("fixed.size", size),
            Size::Exponential { mean } => ("exponential.mean", mean),
            Size::Bimodal { large, .. } => ("bimodal.large", large),
        }
    }

    /// Refuses what cannot be drawn.
    pub fn check(&self) -> Result<(), Misfit> {
        let (key, largest) = self.largest();
        in_range(key, largest)?;
        match *self {
            Size::Fixed { .. } | Size::Exponential { .. } => Ok(()),
            Size::Bimodal { small, large, small_share } => {
                in_range("bimodal.small", small)?;
                share::check("bimodal.small-share", small_share)?;
                if small >= large {
                    let (key, title) = ("bimodal.small", "small is not smaller than large");
                    let problem = format!("found {small}, expected less than large = {large}");
                    return Err(Misfit::new(key, title, problem));
                }
                Ok(())
            }
        }
    }

    /// The size of the next message.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match *self {
            Size::Fixed { size } => in_bytes(size),
            Size::Exponential { mean } => {
                (stream.exponential(mean.get() as f64).ceil() as u32).clamp(1, Size::LONGEST)
            }
            Size::Bimodal { small, large, small_share } => {
                in_bytes(if stream.chance(small_share) { small } else { large })
            }
        }
    }
}

/// A size that was checked, as its type is while messages are under way.
#[inline]
pub(crate) fn in_bytes(size: Bytes) -> u32 {
    size.get() as u32
}

fn in_range(key: &str, size: Bytes) -> Result<(), Misfit> {
    if RANGE.contains(&size) {
        return Ok(());
    }
    let problem = format!("found {size}, expected {} to {}", RANGE.start(), RANGE.end());
    Err(Misfit::new(key, "the wrong size", problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Seed;

    const LARGEST: u64 = 1 << 30;

    fn fixed(size: u64) -> Size {
        Size::Fixed { size: Bytes::new(size) }
    }

    fn exponential(mean: u64) -> Size {
        Size::Exponential { mean: Bytes::new(mean) }
    }

    fn bimodal(small: u64, large: u64, small_share: f64) -> Size {
        Size::Bimodal { small: Bytes::new(small), large: Bytes::new(large), small_share }
    }

    #[test]
    fn the_stated_mean_is_the_mean_drawn() {
        for size in
            [fixed(32), exponential(1), exponential(32), exponential(LARGEST), bimodal(1, 512, 0.9)]
        {
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
        let mean = |mean| exponential(mean).mean();
        assert!((mean(1) - 1.581_976_706_869_326_5).abs() < 1e-12);
        assert!((mean(32) - 32.502_604).abs() < 1e-6);
        assert!((mean(100_000_000) - (1e8 + 0.5)).abs() < 1e-6);
        let cut = mean(LARGEST) / LARGEST as f64;
        assert!((cut - 0.975_893_9).abs() < 1e-6, "{cut}");
    }

    #[test]
    fn impossible_sizes_are_refused_in_words() {
        for (size, message) in [
            (fixed(0), "`fixed.size`: found 0 B, expected 1 B to 1 GiB"),
            (
                exponential(LARGEST + 1),
                "`exponential.mean`: found 1073741825 B, expected 1 B to 1 GiB",
            ),
            (bimodal(0, 8, 0.5), "`bimodal.small`: found 0 B, expected 1 B to 1 GiB"),
            (bimodal(8, 8, 0.5), "`bimodal.small`: found 8 B, expected less than large = 8 B"),
            (bimodal(1, 8, 1.5), "`bimodal.small-share`: found 1.5, expected a share from 0 to 1"),
        ] {
            assert_eq!(size.check().unwrap_err().to_string(), message);
        }
    }
}
