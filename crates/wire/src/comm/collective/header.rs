//! What tells messages of collective operations apart, and by which ranks notice that they do not
//! agree.
//!
//! The tag of a message is the low half of the number of its operation above the tag of its
//! program. A message of up to [`SHORT`] bytes begins with a header: the signature of the operation
//! and its whole number. Before the first longer message to a peer a header goes alone, so that
//! long ones need not be copied.

use crosstie_collective::Signature;
use crosstie_protocol::message::Tag;

use super::Contradiction;

/// The longest message that carries a header.
pub(super) const SHORT: usize = 8 << 10;

/// The bytes of a header.
pub(super) const HEADER: usize = 12;

/// Tags of programs are below this one, which is that of a header alone.
pub(super) const GREETING: u32 = u16::MAX as u32;

/// What all ranks say of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub signature: Signature,
    pub number: u32,
}

impl Header {
    pub fn write(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&self.signature.0.to_le_bytes());
        bytes[8..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    /// Room for one: bytes that are none.
    pub const ROOM: u8 = 0xff;

    fn read(message: &[u8]) -> Option<Header> {
        let (signature, rest) = message.split_first_chunk()?;
        let (number, _) = rest.split_first_chunk()?;
        let signature = Signature(u64::from_le_bytes(*signature));
        Some(Header { signature, number: u32::from_le_bytes(*number) })
    }

    /// The tag of a message with this tag in its program.
    pub fn tag(self, tag: u32) -> Tag {
        Tag(round(self.number) << 16 | tag)
    }

    /// How the sender of a message contradicts this rank, which expects `expected` bytes behind the
    /// header, if it does. Of the message, `begin` is what there was room for.
    pub fn contradiction(
        self,
        begin: &[u8],
        bytes: usize,
        expected: usize,
    ) -> Option<Contradiction> {
        let unknown = Header { signature: Signature(u64::MAX), number: u32::MAX };
        let found = Header::read(begin).filter(|_| bytes <= SHORT + HEADER);
        // Of a message that was too long for its room nothing may be known.
        let found = found.filter(|found| *found != unknown);
        let Some(found) = found else {
            return Some(Contradiction::Length { found: bytes, expected });
        };
        if found.number != self.number {
            // A long message has no header, and may be as long as the longest that has one.
            return Some(match bytes <= SHORT {
                true => Contradiction::Stale,
                false => Contradiction::Length { found: bytes, expected },
            });
        }
        if let Some(disagreement) = self.signature.disagreement(found.signature) {
            return Some(Contradiction::Call(disagreement));
        }
        let found = bytes - HEADER;
        (found != expected).then_some(Contradiction::Length { found, expected })
    }
}

/// The part of a number that is in tags.
pub(super) fn round(number: u32) -> u32 {
    number & 0xffff
}

/// The round and the tag of the program in a tag.
pub(super) fn parts(Tag(tag): Tag) -> (u32, u32) {
    (tag >> 16, tag & 0xffff)
}
