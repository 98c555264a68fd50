//! The head of a datagram, as three words.
//!
//! It is put together and looked at in registers. Were it done byte by byte in memory, each look
//! would have to wait until all that was written before has got there: also the load of the
//! datagram before this one.

use crosstie_protocol::channel::Seq;

use super::{HEAD, NO_PLACE, Part, VERSION};

/// Bits of the tag, which are the last ones.
pub const TAG_BITS: u32 = 40;

/// The lower 24 bits of the number of a message between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Serial(u32);

impl Serial {
    /// Those of a number.
    #[inline]
    pub fn of(number: u64) -> Serial {
        Serial(number as u32 & 0xff_ffff)
    }

    /// The number that has these bits and is nearest to another one.
    #[inline]
    pub fn nearest_to(self, other: u64) -> u64 {
        let ahead = (self.0.wrapping_sub(other as u32) << 8) as i32 >> 8;
        other.checked_add_signed(i64::from(ahead)).unwrap_or(u64::from(self.0))
    }
}

/// Where the bits of a word are: those of the first one from `kind` to `seq`, of the second from
/// `serial` to the first two bytes of `offset`.
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

    /// The serial number of a message, as far as it fits.
    #[inline]
    pub fn serial(mut self, serial: Serial) -> Head {
        self.0[1] |= u64::from(serial.0) << 40;
        self
    }

    /// The receive that has a place for a message, and where in it the load begins.
    #[inline]
    pub fn place(mut self, receive: Option<u32>, offset: u64) -> Head {
        let receive = receive.unwrap_or(NO_PLACE);
        self.0[1] |= u64::from(receive & NO_PLACE) << 16 | (offset >> 24) & 0xffff;
        self.0[2] |= offset << TAG_BITS;
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

    /// The serial number of the message, as far as it fits.
    #[inline]
    pub fn which_serial(&self) -> Serial {
        Serial((self.0[1] >> 40) as u32)
    }

    /// The receive that has a place for the message.
    #[inline]
    pub fn receive(&self) -> u32 {
        (self.0[1] >> 16) as u32 & NO_PLACE
    }

    /// Where in the message the load begins.
    #[inline]
    pub fn offset(&self) -> u64 {
        (self.0[1] & 0xffff) << 24 | self.0[2] >> TAG_BITS
    }
}
