//! The secret of a job, and the tags by which its datagrams are known.
//!
//! A tag is a SipHash-2-4, keyed by the secret, of a datagram's head, of who sends it to whom on which rail, and of what it carries if
//! that is short, otherwise of the CRC-32 of that. So strangers, other jobs and earlier ones cannot make datagrams that are taken for ours, ours cannot be
//! turned to another receiver or rail, and whatever is damaged on the way is noticed. It is no encryption: who can read the wire
//! reads the data, and who can change it on its way may change long data so that their CRC stays the same.

use siphasher::sip::SipHasher24;
use subtle::ConstantTimeEq;

/// Bytes of a tag.
pub const TAG: usize = 5;

/// Bytes of a head that a tag is of at most, and those of loads that count themselves and not by their CRC-32.
const HEAD: usize = 24;
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

    /// The tag of a datagram with this head and load, which may come in two parts.
    #[inline]
    pub fn tag(&self, course: Course, head: &[u8], loads: [&[u8]; 2]) -> [u8; TAG] {
        debug_assert!(head.len() <= HEAD);
        let is_long = loads[0].len() + loads[1].len() > SHORT;
        // The head is always of the same length, and that of what is behind it goes into the hash with the length of all.
        let mut bytes = [0; 8 + HEAD + SHORT];
        let mut length = 8 + head.len();
        bytes[8..length].copy_from_slice(head);
        let mut sum = 0;
        if is_long {
            let mut crc = crc32fast::Hasher::new();
            loads.iter().for_each(|load| crc.update(load));
            sum = crc.finalize();
        } else {
            for load in loads {
                bytes[length..length + load.len()].copy_from_slice(load);
                length += load.len();
            }
        }
        let course = u64::from(course.to) | u64::from(course.rail) << 16 | u64::from(is_long) << 24;
        bytes[..8].copy_from_slice(&(u64::from(sum) << 32 | course).to_le_bytes());
        let hasher = SipHasher24::new_with_keys(self.words[0], self.words[1]);
        let hash = hasher.hash(&bytes[..length]).to_le_bytes();
        hash[..TAG].try_into().expect("a hash is longer")
    }

    /// Whether a datagram has the right tag, told in the same time whatever it has.
    #[inline]
    pub fn fits(&self, course: Course, head: &[u8], load: &[u8], tag: &[u8]) -> bool {
        self.tag(course, head, [load, &[]])[..].ct_eq(tag).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Course = Course { to: 3, rail: 1 };

    #[test]
    fn a_tag_is_of_one_key_one_course_one_head_and_one_load() {
        let key = Key::new(*b"sixteen bytes ok");
        let tag = key.tag(HERE, b"head", [b"load", b""]);
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
