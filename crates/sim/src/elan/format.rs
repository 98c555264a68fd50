//! How a put becomes packets.

/// The packets of Elan3: write blocks of 64 bytes, five at most, each with an overhead of its own
/// and a header for all. The paper states 58 bytes of overhead for five; any split between header
/// and blocks agrees with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Bytes of a write block. A shorter one takes as much.
    pub block: u32,
    /// Blocks of a packet at most.
    pub blocks: u32,
    /// Bytes that a packet takes besides: route, header, CRCs, and the EOP.
    pub header: u32,
    /// Bytes that a block takes besides.
    pub block_overhead: u32,
}

impl Format {
    /// The payload of a full packet.
    #[inline]
    pub fn payload(&self) -> u32 {
        self.block * self.blocks
    }

    /// The bytes of the blocks that carry a payload, which are read and written whole.
    #[inline]
    pub fn blocks(&self, payload: u32) -> u32 {
        payload.div_ceil(self.block) * self.block
    }

    /// The length of a packet on the wire.
    #[inline]
    pub fn wire_bytes(&self, payload: u32) -> u32 {
        self.header + payload.div_ceil(self.block) * (self.block + self.block_overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_378_bytes_and_any_short_block_as_much_as_a_whole_one() {
        let elan3 = Format { block: 64, blocks: 5, header: 18, block_overhead: 8 };
        assert_eq!((elan3.payload(), elan3.wire_bytes(320)), (320, 378));
        assert_eq!((elan3.wire_bytes(0), elan3.wire_bytes(1)), (18, 90));
        assert_eq!((elan3.wire_bytes(64), elan3.wire_bytes(65)), (90, 162));
    }
}
