//! The head of a datagram, as three words.
//!
//! It is put together and looked at in registers. Were it done byte by byte in memory, each look
//! would have to wait until all that was written before has got there: also the load of the
//! datagram before this one.

use crosstie_protocol::channel::Seq;

use super::{HEAD, NO_PLACE, Part, VERSION, kind};

/// Bits of the tag, which are the last ones.
pub const TAG_BITS: u32 = 40;

/// Where the bits of a word are: those of the first one from `kind` to `seq`, of the second from
/// `serial` to the first byte of `offset`.
#[derive(Debug, Clone, Copy)]
pub struct Head([u64; 3]);

impl Head {
    /// Of this kind, from a rank; of a packet that is one datagram.
    #[inline]
    pub fn new(kind: u8, from: u16) -> Head {
        let first = u64::from(VERSION << 4 | kind) << 56 | 0x80 << 48 | u64::from(from) << 32;
        Head([first, 0, 0])
    }

    /// Part of a packet.
    #[inline]
    pub fn part(mut self, Part { seq, number, last }: Part) -> Head {
        let byte = number & 0x3f | u8::from(last) << 7;
        self.0[0] = self.0[0] & !(0xff << 48) | u64::from(byte) << 48;
        self.seq(seq)
    }

    /// The number of a packet, or of an acknowledgement.
    #[inline]
    pub fn seq(mut self, seq: Seq) -> Head {
        self.0[0] |= u64::from(seq.0);
        self
    }

    /// The serial number of a message.
    #[inline]
    pub fn serial(mut self, serial: u32) -> Head {
        self.0[1] |= u64::from(serial) << 32;
        self
    }

    /// The receive that has a place for a message, and where in it the load begins.
    #[inline]
    pub fn place(mut self, receive: Option<u32>, offset: u32) -> Head {
        let (receive, offset) = (receive.unwrap_or(NO_PLACE), u64::from(offset));
        self.0[1] |= u64::from(receive & NO_PLACE) << 8 | offset >> 24;
        self.0[2] |= offset << TAG_BITS;
        self
    }

    /// Whether NICs have been reserved.
    #[inline]
    pub fn reserved(mut self, reserved: bool) -> Head {
        self.0[0] |= u64::from(if reserved { kind::RESERVED } else { 0 }) << 48;
        self
    }

    /// With this tag.
    #[inline]
    pub fn tagged(mut self, tag: u64) -> Head {
        self.0[2] = self.0[2] >> TAG_BITS << TAG_BITS | tag;
        self
    }

    /// As bytes.
    #[inline]
    pub fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// The head that these bytes are.
    #[inline]
    pub fn read(bytes: &[u8; HEAD]) -> Head {
        let word = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        Head([0, 8, 16].map(word))
    }

    /// Its words without the tag.
    #[inline]
    pub fn untagged(&self) -> [u64; 3] {
        let [first, second, third] = self.0;
        [first, second, third >> TAG_BITS << TAG_BITS]
    }

    /// Its tag.
    #[inline]
    pub fn tag(&self) -> u64 {
        self.0[2] & ((1 << TAG_BITS) - 1)
    }

    /// The version.
    #[inline]
    pub fn version(&self) -> u8 {
        (self.0[0] >> 60) as u8
    }

    /// The kind.
    #[inline]
    pub fn kind(&self) -> u8 {
        (self.0[0] >> 56) as u8 & 0xf
    }

    /// Whether NICs have been reserved.
    #[inline]
    pub fn is_reserved(&self) -> bool {
        (self.0[0] >> 48) as u8 & kind::RESERVED != 0
    }

    /// The rank that sends it.
    #[inline]
    pub fn from(&self) -> u16 {
        (self.0[0] >> 32) as u16
    }

    /// The number of the packet, or of an acknowledgement.
    #[inline]
    pub fn number(&self) -> Seq {
        Seq(self.0[0] as u32)
    }

    /// Which part of a packet it is.
    #[inline]
    pub fn which_part(&self) -> Part {
        let byte = (self.0[0] >> 48) as u8;
        Part { seq: self.number(), number: byte & 0x3f, last: byte & 0x80 != 0 }
    }

    /// The serial number of the message.
    #[inline]
    pub fn which_serial(&self) -> u32 {
        (self.0[1] >> 32) as u32
    }

    /// The receive that has a place for the message.
    #[inline]
    pub fn receive(&self) -> u32 {
        (self.0[1] >> 8) as u32 & NO_PLACE
    }

    /// Where in the message the load begins.
    #[inline]
    pub fn offset(&self) -> u32 {
        (self.0[1] as u32) << 24 | (self.0[2] >> TAG_BITS) as u32
    }
}
