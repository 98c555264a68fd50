//! A short name for a text: equal texts have equal fingerprints, different ones practically never.

use std::fmt;
use std::str::FromStr;

/// A 128-bit FNV-1a hash, printed as 32 hexadecimal digits.
///
/// It names content, and keeps nobody from forging it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl Fingerprint {
    /// The fingerprint of some bytes.
    pub fn of(bytes: &[u8]) -> Fingerprint {
        Fingerprint(OFFSET).with(bytes)
    }

    /// The fingerprint of what came before, followed by some more bytes.
    pub fn with(self, bytes: &[u8]) -> Fingerprint {
        Fingerprint(
            bytes.iter().fold(self.0, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME)),
        )
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Fingerprint, Self::Err> {
        u128::from_str_radix(text, 16).map(Fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_vectors() {
        for (text, digits) in [
            ("", "6c62272e07bb014262b821756295c58d"),
            ("a", "d228cb696f1a8caf78912b704e4a8964"),
            ("foobar", "343e1662793c64bf6f0d3597ba446f18"),
        ] {
            assert_eq!(Fingerprint::of(text.as_bytes()).to_string(), digits, "{text}");
            assert_eq!(digits.parse(), Ok(Fingerprint::of(text.as_bytes())));
        }
        assert_eq!(Fingerprint::of(b"foo").with(b"bar"), Fingerprint::of(b"foobar"));
    }
}
