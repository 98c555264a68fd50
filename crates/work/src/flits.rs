//! From messages in bytes to flits on a link.

use crate::traffic::{Size, in_bytes};
use crosstie_protocol::Packing;
use crosstie_units::Bytes;
use std::ops::Range;

/// How many flits messages and packets have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flits {
    /// Bytes per flit.
    pub flit: u32,
    /// How messages become packets.
    pub packing: Packing,
}

impl Flits {
    /// The length of a packet of so many bytes, all told.
    #[inline]
    pub fn of_wire(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.flit))
    }

    /// The length of the longest packet of a message.
    #[inline]
    pub fn of_packet(&self, bytes: u32) -> u64 {
        let carried = self.packing.payload.map_or(bytes, |payload| payload.min(bytes));
        self.of_wire(self.packing.wire_bytes(u64::from(carried)))
    }

    /// The length of all packets of a message that goes on one rail.
    #[inline]
    pub fn of_message(&self, bytes: u32) -> u64 {
        let (full, last) = self.packing.cut(u64::from(bytes));
        let of = |carried| self.of_wire(self.packing.wire_bytes(carried));
        full * of(u64::from(self.packing.payload.unwrap_or(0))) + of(last)
    }

    /// The share of [`of_message`](Flits::of_message) that falls to some of the bytes of a message:
    /// of parts without gap or overlap, the shares add up to all of it.
    #[inline]
    pub fn of_part(&self, bytes: u64, part: Range<u64>) -> u64 {
        let all = self.of_message(bytes as u32);
        // A message without bytes is one packet.
        if bytes == 0 {
            return all;
        }
        let before = |end: u64| (u128::from(all) * u128::from(end) / u128::from(bytes)) as u64;
        before(part.end) - before(part.start)
    }

    /// The exact mean of [`of_message`](Flits::of_message) over sizes in bytes.
    ///
    /// An exponential size of mean m, rounded up, is geometric: `P(s > x) = q^x` with
    /// `q = exp(-1/m)`. It has no memory, so the number n of full packets before the last and the
    /// bytes r of the last are independent, with payload p:
    ///
    /// ```text
    /// E[n] = q^p / (1 - q^p),    P(r > x) = (q^x - q^p) / (1 - q^p) for 0 <= x <= p
    /// ```
    ///
    /// and the mean length of the last packet is the sum over k of `P(r + overhead > k flits)`.
    /// What sizes beyond [`Size::LONGEST`] would add is taken off: after its a full packets and
    /// b bytes the same law begins anew, so that is `q^(a p)` times the mean without what the
    /// first b bytes add to it.
    pub fn mean(&self, size: &Size) -> f64 {
        self.mean_up_to(Size::LONGEST, size)
    }

    fn mean_up_to(&self, longest: u32, size: &Size) -> f64 {
        let exact = |size: Bytes| self.of_message(in_bytes(size)) as f64;
        match *size {
            Size::Fixed { size } => exact(size),
            Size::Bimodal { small, large, small_share } => {
                small_share * exact(small) + (1.0 - small_share) * exact(large)
            }
            Size::Exponential { mean } => {
                let mean = mean.get() as f64;
                // q^x, and 1 - q^x without cancellation.
                let power = |x: f64| (-x / mean).exp();
                let rest = |x: f64| -(-x / mean).exp_m1();
                let (flit, overhead) = (f64::from(self.flit), f64::from(self.packing.overhead));
                // Flits that the overhead fills or begins, and the bytes left in the last of them.
                let filled = (overhead / flit).ceil();
                let spare = filled * flit - overhead;
                let endless = match self.packing.payload.map(f64::from) {
                    None => filled + power(spare) / rest(flit),
                    Some(payload) => {
                        let more = ((payload + overhead) / flit).ceil() - filled;
                        let tails =
                            power(spare) * rest(more * flit) / rest(flit) - more * power(payload);
                        let last = filled + tails / rest(payload);
                        let full = power(payload) / rest(payload);
                        full * ((payload + overhead) / flit).ceil() + last
                    }
                };
                let (full, last) = self.packing.cut(u64::from(longest));
                let begun = self.of_wire(self.packing.wire_bytes(last)) as f64 - filled;
                let first = filled + power(spare) * rest(begun * flit) / rest(flit);
                let before = full as f64 * f64::from(self.packing.payload.unwrap_or(0));
                endless - power(before) * (endless - first)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QSNET: Flits = Flits { flit: 2, packing: Packing { payload: Some(320), overhead: 16 } };

    #[test]
    fn a_message_is_as_long_as_its_packets() {
        assert_eq!(QSNET.of_message(1000), 3 * 168 + 28);
        assert_eq!((QSNET.of_packet(1000), QSNET.of_packet(40)), (168, 28));
        let whole = Flits { packing: Packing { payload: None, overhead: 16 }, ..QSNET };
        assert_eq!((whole.of_message(1000), whole.of_packet(1000)), (508, 508));
    }

    #[test]
    fn a_part_of_a_flit_is_a_flit() {
        let flits = Flits { flit: 8, packing: Packing { payload: None, overhead: 3 } };
        assert_eq!([1, 5, 6, 13, 14].map(|bytes| flits.of_message(bytes)), [1, 1, 2, 2, 3]);
    }

    proptest! {
        #[test]
        fn shares_of_parts_add_up_to_the_message(
            bytes in 1..5000u32, flit in 1..9u32, overhead in 0..40u32,
            payload in prop::option::of(1..500u32),
            mut cuts in prop::collection::vec(0..5000u64, 0..9),
        ) {
            let flits = Flits { flit, packing: Packing { payload, overhead } };
            let length = u64::from(bytes);
            cuts.extend([0, length]);
            cuts.retain(|&cut| cut <= length);
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|ends| flits.of_part(length, ends[0]..ends[1]));
            prop_assert_eq!(parts.sum::<u64>(), flits.of_message(bytes));
        }

        #[test]
        fn the_mean_of_exponential_sizes_is_exact(
            bytes in 1..60u64, flit in 1..9u32, overhead in 0..40u32,
            payload in prop::option::of(1..50u32), longest in 1..300u32,
        ) {
            let flits = Flits { flit, packing: Packing { payload, overhead } };
            // The mean by its definition; q^4000 is nothing.
            let q = (-1.0 / bytes as f64).exp();
            let share = |s: u32| (1.0 - q) * q.powi(s as i32 - 1);
            let sum = |most: u32| -> f64 {
                (1..4000).map(|s| share(s) * flits.of_message(s.min(most)) as f64).sum()
            };
            let size = Size::Exponential { mean: Bytes::new(bytes) };
            for (found, sum) in [
                (flits.mean(&size), sum(u32::MAX)),
                (flits.mean_up_to(longest, &size), sum(longest)),
            ] {
                prop_assert!((found / sum - 1.0).abs() < 1e-9, "{} {}", found, sum);
            }
        }
    }
}
