//! From stripes to packets.

/// How a NIC makes packets of a stripe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packing {
    /// The most bytes of a message that one packet carries; `None` makes every stripe one packet.
    pub payload: Option<u32>,
    /// Bytes added to every packet.
    pub overhead: u32,
}

impl Packing {
    /// Cuts so many bytes: how many full packets go first, and how many bytes the last packet
    /// carries. Even nothing takes a packet.
    #[inline]
    pub fn cut(&self, bytes: u64) -> (u64, u64) {
        match self.payload {
            Some(payload) if bytes > u64::from(payload) => {
                let full = (bytes - 1) / u64::from(payload);
                (full, bytes - full * u64::from(payload))
            }
            Some(_) | None => (0, bytes),
        }
    }

    /// How many packets so many bytes take.
    #[inline]
    pub fn packets(&self, bytes: u64) -> u64 {
        self.cut(bytes).0 + 1
    }

    /// The length on the wire of a packet that carries so many bytes.
    #[inline]
    pub fn wire_bytes(&self, carried: u64) -> u64 {
        carried + u64::from(self.overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_cut_into_full_packets_and_a_rest() {
        let qsnet = Packing { payload: Some(320), overhead: 16 };
        for (bytes, cut) in [(0, (0, 0)), (1, (0, 1)), (320, (0, 320)), (321, (1, 1))] {
            assert_eq!(qsnet.cut(bytes), cut, "{bytes} bytes");
        }
        assert_eq!((qsnet.packets(1000), qsnet.wire_bytes(40)), (4, 56));
        let whole = Packing { payload: None, ..qsnet };
        assert_eq!((whole.cut(1000), whole.packets(1000)), ((0, 1000), 1));
    }

    proptest! {
        #[test]
        fn every_byte_is_carried_once(
            bytes in 1..u64::MAX, payload in prop::option::of(1..=u32::MAX),
        ) {
            let packing = Packing { payload, overhead: 0 };
            let (full, last) = packing.cut(bytes);
            let most = payload.map_or(bytes, u64::from);
            prop_assert!((1..=most).contains(&last));
            prop_assert_eq!(full * payload.map_or(0, u64::from) + last, bytes);
        }
    }
}
