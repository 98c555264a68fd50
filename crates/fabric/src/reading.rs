//! What all readers of network files share: the error, and the limits on what they accept.

use crate::FabricError;

/// The longest text a reader accepts.
const MAX_BYTES: usize = 64 << 20;

/// The most hosts that a number may ask for: a million is beyond every machine built.
pub(crate) const MAX_HOSTS: u64 = 1 << 20;

/// The most switch ports a file may ask for, linked or not: a few bytes of text can claim 65,535.
pub(crate) const MAX_PORTS: u64 = 1 << 24;

/// What is wrong with a network file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The text is not what the format asks for.
    #[error("line {line}: found {found}, expected {expected}")]
    Unexpected {
        /// The line, counted from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
    },
    /// The text is too long.
    #[error("the file has {bytes} bytes; at most {MAX_BYTES} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The text is well-formed, but what it describes is no network.
    #[error(transparent)]
    Network(#[from] FabricError),
}

/// Refuses a text that is too long to be looked at.
pub(crate) fn check_length(text: &str) -> Result<(), ReadError> {
    if text.len() > MAX_BYTES { Err(ReadError::TooLong { bytes: text.len() }) } else { Ok(()) }
}

/// Refuses more switch ports than a file may ask for.
pub(crate) fn check_ports(ports: u64) -> Result<(), FabricError> {
    if ports <= MAX_PORTS {
        return Ok(());
    }
    let what = format!("{ports} switch ports; at most {MAX_PORTS} are read from a file");
    Err(FabricError::TooLarge { what })
}

/// Text from a file, in quotes, cut short and without control characters: it may be anything.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let clean: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    format!("`{clean}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_clean() {
        assert_eq!(quoted("router"), "`router`");
        assert_eq!(quoted("a\u{7}b\n"), "`a\\u{7}b\\n`");
        assert_eq!(quoted(&"x".repeat(1000)), format!("`{}...`", "x".repeat(40)));
    }

    #[test]
    fn a_text_may_be_too_long() {
        assert_eq!(check_length("short"), Ok(()));
        let long = " ".repeat(MAX_BYTES + 1);
        let error = check_length(&long).unwrap_err();
        assert_eq!(error.to_string(), "the file has 67108865 bytes; at most 67108864 are read");
    }
}
