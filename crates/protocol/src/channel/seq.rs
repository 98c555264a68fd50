//! Sequence numbers, which wrap.

/// The number of a packet in one direction of a channel, modulo 2^32. Windows are far below half of
/// that, so what is earlier and what is later is never in doubt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// The number so many packets later.
    pub const fn plus(self, packets: u32) -> Seq {
        Seq(self.0.wrapping_add(packets))
    }

    /// How many packets later it is than another one; 2^31 or more if it is earlier.
    pub const fn since(self, other: Seq) -> u32 {
        self.0.wrapping_sub(other.0)
    }

    /// Whether it is earlier than another one.
    pub const fn is_before(self, other: Seq) -> bool {
        self.since(other) > i32::MAX as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_does_not_end_at_the_wrap(first: u32, packets in 0..1u32 << 31) {
            let (first, later) = (Seq(first), Seq(first).plus(packets));
            prop_assert_eq!(later.since(first), packets);
            prop_assert!(!later.is_before(first));
            prop_assert_eq!(first.is_before(later), packets > 0);
        }
    }
}
