//! How many of the rails at hand one message is spread over.

use crate::Outgoing;

/// The striping ratio of Coll: 0 takes one rail for a message, 1 takes every rail it can get.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, serde::Serialize)]
pub struct StripingRatio(f64);

/// A striping ratio outside of 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("found a striping ratio of {0}, expected a number from 0 (one rail) to 1 (all of them)")]
pub struct RatioError(pub f64);

impl StripingRatio {
    /// No striping: one rail per message.
    pub const ONE: StripingRatio = StripingRatio(0.0);

    /// Full striping: every rail at hand.
    pub const ALL: StripingRatio = StripingRatio(1.0);

    /// A ratio from 0 to 1.
    pub fn new(ratio: f64) -> Result<StripingRatio, RatioError> {
        if (0.0..=1.0).contains(&ratio) { Ok(StripingRatio(ratio)) } else { Err(RatioError(ratio)) }
    }

    /// The ratio as a number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// How many of `rails` rails to use: `max(1, ceil(ratio * rails))`.
    pub fn of(self, rails: u32) -> u32 {
        // 0.28 * 25 is a little more than 7 in binary, and must still make 7.
        const SLACK: f64 = 1e-9;
        (self.0 * f64::from(rails) - SLACK).ceil().max(1.0) as u32
    }

    /// As [`StripingRatio::of`], but no more rails than the message has bytes: no stripe is empty.
    /// One, if it must not be cut.
    pub fn of_message(self, rails: u32, message: &Outgoing) -> u32 {
        let bytes = if message.whole { 1 } else { message.bytes };
        let most = u32::try_from(bytes).unwrap_or(u32::MAX).max(1);
        self.of(rails).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageId, NodeId};

    #[test]
    fn item_4_ratio_0_takes_one_rail_and_ratio_1_all() {
        for rails in 1..=64 {
            assert_eq!(StripingRatio::ONE.of(rails), 1);
            assert_eq!(StripingRatio::ALL.of(rails), rails);
        }
    }

    #[test]
    fn in_between_rounds_up() {
        for (ratio, rails, used) in
            [(0.5, 4, 2), (0.5, 5, 3), (0.01, 4, 1), (0.26, 4, 2), (0.28, 25, 7), (0.07, 100, 7)]
        {
            assert_eq!(StripingRatio::new(ratio).unwrap().of(rails), used, "{ratio} of {rails}");
        }
    }

    #[test]
    fn no_stripe_is_empty() {
        for (bytes, used) in [(0, 1), (1, 1), (3, 3), (4, 4), (u64::MAX, 4)] {
            let (message, to) = (MessageId(0), NodeId(1));
            let message = |whole| Outgoing { message, to, bytes, rail: None, whole };
            let rails = |whole| StripingRatio::ALL.of_message(4, &message(whole));
            assert_eq!((rails(false), rails(true)), (used, 1), "{bytes} bytes");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        for ratio in [-0.1, 1.01, f64::NAN, f64::INFINITY] {
            assert!(StripingRatio::new(ratio).is_err(), "{ratio}");
        }
        assert_eq!(
            RatioError(2.0).to_string(),
            "found a striping ratio of 2, expected a number from 0 (one rail) to 1 (all of them)"
        );
    }
}
