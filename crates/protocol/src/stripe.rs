//! Which bytes go on which rail.

use std::ops::Range;

use crate::{RailId, RailSet};

/// A contiguous piece of a message bound to one rail.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stripe {
    /// The rail.
    pub rail: RailId,
    /// The bytes of the message.
    pub bytes: Range<u64>,
}

impl Stripe {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    /// Whether there is nothing in it: the one stripe of an empty message.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Splits a message of so many bytes into equal stripes, one for each rail in ascending order.
/// Sizes differ by a byte at most where the length does not divide.
pub fn split(bytes: u64, rails: RailSet) -> impl Iterator<Item = Stripe> {
    let count = u128::from(rails.len());
    let cut = move |place: u128| (u128::from(bytes) * place / count) as u64;
    (0..)
        .zip(rails.iter())
        .map(move |(place, rail)| Stripe { rail, bytes: cut(place)..cut(place + 1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_halved_over_two_rails() {
        let rails = [1, 3].map(RailId).into_iter().collect();
        let stripes: Vec<Stripe> = split(65_537, rails).collect();
        assert_eq!(
            stripes,
            [
                Stripe { rail: RailId(1), bytes: 0..32_768 },
                Stripe { rail: RailId(3), bytes: 32_768..65_537 },
            ]
        );
        assert_eq!(split(0, RailSet::all(1)).collect::<Vec<_>>().len(), 1);
    }

    proptest! {
        #[test]
        fn stripes_cover_a_message_exactly_once(bytes: u64, rails in 1u32..=64) {
            let stripes: Vec<Stripe> = split(bytes, RailSet::all(rails)).collect();
            prop_assert_eq!(stripes.len(), rails as usize);
            let mut end = 0;
            for stripe in &stripes {
                prop_assert_eq!(stripe.bytes.start, end);
                prop_assert!(stripe.len() >= bytes / u64::from(rails));
                prop_assert!(stripe.len() <= bytes.div_ceil(u64::from(rails)));
                end = stripe.bytes.end;
            }
            prop_assert_eq!(end, bytes);
        }
    }
}
