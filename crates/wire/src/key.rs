//! The secret of a job, and the tags by which its datagrams are known.
//!
//! A tag is a SipHash-2-4, keyed by the secret, of a datagram's head, of who sends it to whom on
//! which rail, and of what it carries if that is short, otherwise of the CRC-32 of that. So
//! strangers, other jobs and earlier ones cannot make datagrams that are taken for ours, ours
//! cannot be turned to another receiver or rail, and whatever is damaged on the way is noticed. It
//! is no encryption: who can read the wire reads the data, and who can change it on its way may
//! change long data so that their CRC stays the same.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;
use subtle::ConstantTimeEq;

use crate::datagram::{Head, TAG_BITS};

/// Bytes of loads at most that count themselves and not by their CRC-32.
const SHORT: usize = 64;

/// What all ranks of a job know, and nobody else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    words: [u64; 2],
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(secret)")
    }
}

/// Where a datagram goes: the same head means something else elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// The receiver.
    pub to: u16,
    /// The rail.
    pub rail: u8,
}

impl Key {
    /// The key that a secret stands for.
    pub fn new(secret: [u8; 16]) -> Key {
        let word = |at: usize| u64::from_le_bytes(secret[at..at + 8].try_into().expect("8 bytes"));
        Key { words: [word(0), word(8)] }
    }

    /// One of many keys that a secret stands for: they tell nothing of each other.
    pub fn numbered(secret: [u8; 16], number: u64) -> Key {
        let Key { words } = Key::new(secret);
        let hasher = SipHasher24::new_with_keys(words[0], words[1]);
        // No tag is the hash of so few bytes.
        let word = |half: u8| hasher.hash(&[&number.to_le_bytes()[..], &[half]].concat());
        Key { words: [word(0), word(1)] }
    }

    /// The tag of a datagram with this head, whatever tag that has, and this load, which may come
    /// in two parts.
    #[inline]
    pub fn tag(&self, course: Course, head: &Head, loads: [&[u8]; 2]) -> u64 {
        let is_long = loads[0].len() + loads[1].len() > SHORT;
        let mut hasher = SipHasher24::new_with_keys(self.words[0], self.words[1]);
        let Course { to, rail } = course;
        let [first, second, third] = head.untagged();
        // In the place of the tag.
        let there = u64::from(to) << 16 | u64::from(rail) << 8 | u64::from(is_long);
        // As their bytes from the lowest on, whatever machine this is.
        hasher.write_u64(first.to_le());
        hasher.write_u64(second.to_le());
        hasher.write_u64((third | there).to_le());
        if is_long {
            let mut crc = crc32fast::Hasher::new();
            loads.into_iter().for_each(|load| crc.update(load));
            // Last, so that processors can begin with the others before they have it.
            hasher.write_u32(crc.finalize().to_le());
        } else {
            loads.into_iter().for_each(|load| hasher.write(load));
        }
        hasher.finish() >> (u64::BITS - TAG_BITS)
    }

    /// Whether a datagram has the right tag, told in the same time whatever it has.
    #[inline]
    pub fn fits(&self, course: Course, head: &Head, load: &[u8]) -> bool {
        self.tag(course, head, [load, &[]]).ct_eq(&head.tag()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::Serial;

    const HERE: Course = Course { to: 3, rail: 1 };

    #[test]
    fn a_tag_is_of_one_key_one_course_one_head_and_one_load() {
        let key = Key::new(*b"sixteen bytes ok");
        let bare = Head::new(1, 2).serial(Serial::of(3));
        let head = bare.tagged(key.tag(HERE, &bare, [b"load", b""]));
        assert!(key.fits(HERE, &head, b"load"));
        assert_eq!(key.tag(HERE, &head, [b"lo", b"ad"]), head.tag(), "of what it is, not where");
        let other = Key::new(*b"sixteen bytes ko");
        assert!(!other.fits(HERE, &head, b"load"));
        assert!(!key.fits(Course { to: 4, ..HERE }, &head, b"load"));
        assert!(!key.fits(Course { rail: 0, ..HERE }, &head, b"load"));
        assert!(!key.fits(HERE, &head.serial(Serial::of(4)), b"load"));
        assert!(!key.fits(HERE, &head, b"loaf"));
        for bit in 0..TAG_BITS {
            assert!(!key.fits(HERE, &head.tagged(head.tag() ^ 1 << bit), b"load"));
        }
    }

    #[test]
    fn a_secret_stands_for_many_keys() {
        let key = |number| Key::numbered([7; 16], number);
        assert_eq!(key(3), key(3));
        assert!(key(3) != key(4) && key(3) != Key::new([7; 16]));
        assert!(key(3) != Key::numbered([8; 16], 3));
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Key::new([7; 16])), "Key(secret)");
    }
}
