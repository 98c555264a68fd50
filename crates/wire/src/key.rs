//! The secret of a job, and the tags by which its datagrams are known.
//!
//! A tag is a SipHash-2-4, keyed by the secret, of a datagram's head, of who sends it to whom on which rail, and of the CRC-32 of
//! what it carries. So strangers, other jobs and earlier ones cannot make datagrams that are taken for ours, ours cannot be
//! turned to another receiver or rail, and whatever is damaged on the way is noticed. It is no encryption: who can read the wire
//! reads the data, and who can change it on its way may change it so that its CRC stays the same.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;
use subtle::ConstantTimeEq;

/// Bytes of a tag.
pub const TAG: usize = 5;

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

    /// The tag of a datagram with this head and load.
    #[inline]
    pub fn tag(&self, course: Course, head: &[u8], load: &[u8]) -> [u8; TAG] {
        self.tag_of_sum(course, head, crc32fast::hash(load))
    }

    /// The same for a load with this CRC-32.
    #[inline]
    pub fn tag_of_sum(&self, course: Course, head: &[u8], sum: u32) -> [u8; TAG] {
        let mut hasher = SipHasher24::new_with_keys(self.words[0], self.words[1]);
        let course = u64::from(course.to) | u64::from(course.rail) << 16;
        hasher.write(&(u64::from(sum) << 32 | course).to_le_bytes());
        hasher.write(head);
        let hash = hasher.finish().to_le_bytes();
        hash[..TAG].try_into().expect("a hash is longer")
    }

    /// Whether a datagram has the right tag, told in the same time whatever it has.
    #[inline]
    pub fn fits(&self, course: Course, head: &[u8], load: &[u8], tag: &[u8]) -> bool {
        self.tag(course, head, load)[..].ct_eq(tag).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Course = Course { to: 3, rail: 1 };

    #[test]
    fn a_tag_is_of_one_key_one_course_one_head_and_one_load() {
        let key = Key::new(*b"sixteen bytes ok");
        let tag = key.tag(HERE, b"head", b"load");
        assert!(key.fits(HERE, b"head", b"load", &tag));
        let other = Key::new(*b"sixteen bytes ko");
        assert!(!other.fits(HERE, b"head", b"load", &tag));
        assert!(!key.fits(Course { to: 4, ..HERE }, b"head", b"load", &tag));
        assert!(!key.fits(Course { rail: 0, ..HERE }, b"head", b"load", &tag));
        assert!(!key.fits(HERE, b"heed", b"load", &tag));
        assert!(!key.fits(HERE, b"head", b"loaf", &tag));
        assert!(!key.fits(HERE, b"head", b"load", &tag[..4]));
        for bit in 0..8 * TAG {
            let mut flipped = tag;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.fits(HERE, b"head", b"load", &flipped));
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Key::new([7; 16])), "Key(secret)");
    }
}
