//! What only the ranks of a job know.

use std::fmt;

use super::StartError;

/// Sixteen random bytes by which ranks of a job know each other, and which nobody else should.
///
/// It is as secret as the way by which ranks learn it: whoever can read what goes between a
/// launcher and its ranks, or the environment of a rank, can read it.
/// [`Job::secret`](super::Job::secret) has more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; Secret::LENGTH]);

impl Secret {
    /// How many bytes it has.
    pub const LENGTH: usize = 16;

    /// Draws one.
    pub fn random() -> Result<Secret, StartError> {
        let mut bytes = [0; Secret::LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|error| StartError::Randomness { cause: error.to_string() })?;
        Ok(Secret(bytes))
    }

    /// One with these bytes.
    pub fn from_bytes(bytes: [u8; Secret::LENGTH]) -> Secret {
        Secret(bytes)
    }

    /// Reads two hexadecimal digits for each byte; `None` if the text is anything else.
    pub fn from_hex(text: &str) -> Option<Secret> {
        let text = text.as_bytes();
        let mut bytes = [0; Secret::LENGTH];
        if text.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.chunks(2)) {
            for digit in digits {
                let value = char::from(*digit).to_digit(16)?;
                *byte = *byte << 4 | value as u8;
            }
        }
        Some(Secret(bytes))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; Secret::LENGTH] {
        &self.0
    }
}

/// Does not tell it, because debugging output ends in files.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_read() {
        let secret = Secret::from_hex("000102030405060708090a0b0c0d0eFf").unwrap();
        assert_eq!(secret.bytes()[..4], [0, 1, 2, 3]);
        assert_eq!(secret.bytes()[14..], [0x0e, 0xff]);
        for wrong in
            ["", "00", "000102030405060708090a0b0c0d0ef", "000102030405060708090a0b0c0d0efg"]
        {
            assert_eq!(Secret::from_hex(wrong), None, "{wrong}");
        }
        assert_eq!(Secret::from_hex(&"\u{e9}".repeat(16)), None, "as many bytes, but no digits");
    }

    #[test]
    fn two_are_not_alike_and_none_is_shown() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(format!("{one:?}"), "Secret(..)");
    }
}
