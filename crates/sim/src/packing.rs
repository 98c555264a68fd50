//! From messages in bytes to packets in flits.

use crate::traffic::Size;

/// How a NIC makes packets of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Bytes per flit.
    pub flit: u32,
    /// The most bytes of a message that one packet carries; `None` makes every message one packet.
    pub payload: Option<u32>,
    /// Bytes added to every packet.
    pub overhead: u32,
}

impl Packing {
    /// The same to those who know no flits.
    #[inline]
    pub fn packets(&self) -> crosstie_protocol::Packing {
        crosstie_protocol::Packing { payload: self.payload, overhead: self.overhead }
    }

    /// Cuts a message of at least one byte: how many full packets go first, and how many bytes the
    /// last packet carries.
    #[inline]
    pub fn cut(&self, bytes: u32) -> (u32, u32) {
        let (full, last) = self.packets().cut(u64::from(bytes));
        (full as u32, last as u32)
    }

    /// The length of a packet that carries so many bytes, overhead included.
    #[inline]
    pub fn flits(&self, payload: u32) -> u32 {
        // In 64 bits, for the sum may not fit; the quotient of what a user may ask for does.
        self.packets().wire_bytes(u64::from(payload)).div_ceil(u64::from(self.flit)) as u32
    }

    /// The length of all packets of a message.
    pub fn message_flits(&self, bytes: u32) -> u64 {
        let (full, last) = self.cut(bytes);
        let full_length = self.payload.map_or(0, |payload| self.flits(payload));
        u64::from(full) * u64::from(full_length) + u64::from(self.flits(last))
    }

    /// The exact mean of [`message_flits`](Packing::message_flits) over sizes in bytes.
    ///
    /// An exponential size of mean m, rounded up, is geometric: `P(s > x) = q^x` with
    /// `q = exp(-1/m)`. It has no memory, so the number n of full packets before the last and the
    /// bytes r of the last are independent, with payload p:
    ///
    /// ```text
    /// E[n] = q^p / (1 - q^p),    P(r > x) = (q^x - q^p) / (1 - q^p) for 0 <= x <= p
    /// ```
    ///
    /// and the mean length of the last packet is the sum over k of `P(r + overhead > k flits)`. What
    /// sizes beyond [`Size::LONGEST`] would add is taken off: after its a full packets and b bytes the
    /// same law begins anew, so that is `q^(a p)` times the mean without what the first b bytes add to it.
    pub fn mean_flits(&self, size: &Size) -> f64 {
        self.mean_flits_up_to(Size::LONGEST, size)
    }

    fn mean_flits_up_to(&self, longest: u32, size: &Size) -> f64 {
        let exact = |bytes| self.message_flits(bytes) as f64;
        match *size {
            Size::Fixed(bytes) => exact(bytes),
            Size::Bimodal { small, large, small_share } => {
                small_share * exact(small) + (1.0 - small_share) * exact(large)
            }
            Size::Exponential { mean } => {
                // q^x, and 1 - q^x without cancellation.
                let power = |x: f64| (-x / mean).exp();
                let rest = |x: f64| -(-x / mean).exp_m1();
                let (flit, overhead) = (f64::from(self.flit), f64::from(self.overhead));
                // Flits that the overhead fills or begins, and the bytes left in the last of them.
                let filled = (overhead / flit).ceil();
                let spare = filled * flit - overhead;
                let endless = match self.payload.map(f64::from) {
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
                let (full, last) = self.cut(longest);
                let begun = f64::from(self.flits(last)) - filled;
                let first = filled + power(spare) * rest(begun * flit) / rest(flit);
                let before = f64::from(full) * f64::from(self.payload.unwrap_or(0));
                endless - power(before) * (endless - first)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QSNET: Packing = Packing { flit: 2, payload: Some(320), overhead: 16 };

    #[test]
    fn a_message_is_cut_into_full_packets_and_a_rest() {
        assert_eq!(QSNET.cut(320), (0, 320));
        assert_eq!(QSNET.cut(321), (1, 1));
        assert_eq!(QSNET.cut(1000), (3, 40));
        assert_eq!(QSNET.message_flits(1000), 3 * 168 + 28);
        let whole = Packing { payload: None, ..QSNET };
        assert_eq!((whole.cut(1000), whole.message_flits(1000)), ((0, 1000), 508));
    }

    #[test]
    fn a_part_of_a_flit_is_a_flit() {
        let packing = Packing { flit: 8, payload: None, overhead: 3 };
        assert_eq!([1, 5, 6, 13, 14].map(|bytes| packing.flits(bytes)), [1, 1, 2, 2, 3]);
    }

    proptest! {
        #[test]
        fn every_byte_is_carried_once(
            bytes in 1..100_000u32, payload in prop::option::of(1..5000u32),
        ) {
            let packing = Packing { flit: 1, payload, overhead: 0 };
            let (full, last) = packing.cut(bytes);
            let most = payload.unwrap_or(bytes);
            prop_assert!((1..=most).contains(&last));
            prop_assert_eq!(full * payload.unwrap_or(0) + last, bytes);
            prop_assert_eq!(packing.message_flits(bytes), u64::from(bytes));
        }

        #[test]
        fn the_mean_of_exponential_sizes_is_exact(
            mean in 0.5..60.0f64, flit in 1..9u32, overhead in 0..40u32,
            payload in prop::option::of(1..50u32), longest in 1..300u32,
        ) {
            let packing = Packing { flit, payload, overhead };
            // The mean by its definition; q^4000 is nothing.
            let q = (-1.0 / mean).exp();
            let share = |s: u32| (1.0 - q) * q.powi(s as i32 - 1);
            let sum = |most: u32| -> f64 {
                (1..4000).map(|s| share(s) * packing.message_flits(s.min(most)) as f64).sum()
            };
            let size = Size::Exponential { mean };
            for (found, sum) in [
                (packing.mean_flits(&size), sum(u32::MAX)),
                (packing.mean_flits_up_to(longest, &size), sum(longest)),
            ] {
                prop_assert!((found / sum - 1.0).abs() < 1e-9, "{} {}", found, sum);
            }
        }
    }
}
