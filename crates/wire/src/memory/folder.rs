//! Where segments are, and what they are called.

use std::fmt;
use std::path::{Path, PathBuf};

use super::MemoryError;

const BEGINNING: &str = "crosstie-";
const DIGITS: usize = 32;

/// The folder of shared memory; the one for temporary files where a system has none.
pub(super) fn folder() -> PathBuf {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() }
}

/// How many bytes the folder holds, full or empty; as many as one likes where that is not known.
#[allow(clippy::unnecessary_cast)]
pub(super) fn room(folder: &Path) -> u64 {
    nix::sys::statvfs::statvfs(folder).map_or(u64::MAX, |found| {
        // Types differ between systems, and none is longer.
        (found.blocks() as u64).saturating_mul(found.fragment_size() as u64)
    })
}

/// The name of a segment: `crosstie-` and 32 hexadecimal digits that nobody can guess.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(String);

impl Name {
    /// A name that no segment has.
    pub(super) fn random() -> Result<Name, MemoryError> {
        let mut random = [0; DIGITS / 2];
        getrandom::fill(&mut random).map_err(|error| MemoryError::Random(error.into()))?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Name(format!("{BEGINNING}{digits}")))
    }

    /// The name that a peer tells; it must not lead to any other file.
    pub(super) fn parse(text: &str) -> Option<Name> {
        let digits = text.strip_prefix(BEGINNING)?;
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let sound = digits.len() == DIGITS && digits.bytes().all(digit);
        sound.then(|| Name(text.to_owned()))
    }

    /// As peers are told.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The file of the segment.
    pub(super) fn segment(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0)
    }

    /// The file of the bell beside it.
    pub(super) fn bell(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.bell", self.0))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_read_again_and_differ() {
        let (one, other) = (Name::random().unwrap(), Name::random().unwrap());
        assert_eq!(Name::parse(one.as_str()), Some(one.clone()));
        assert_ne!(one, other);
    }

    #[test]
    fn other_files_are_no_segments() {
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(Name::parse(&format!("crosstie-{digits}")).is_some());
        for text in [
            "",
            digits,
            "crosstie-",
            "crosstie-0123",
            "crosstie-0123456789abcdef0123456789abcdeF",
            "crosstie-0123456789abcdef0123456789abcde/",
            "crosstie-../../../../../../../etc/passwd1",
            "/crosstie-0123456789abcdef0123456789abcdef",
            "crosstie-0123456789abcdef0123456789abcdef.bell",
        ] {
            assert_eq!(Name::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_name_never_leaves_the_folder(text in ".*|crosstie-[0-9a-f./]{30,34}") {
            if let Some(name) = Name::parse(&text) {
                let path = name.segment(Path::new("/folder"));
                prop_assert_eq!(path.parent(), Some(Path::new("/folder")));
                prop_assert!(!text.contains(['/', '.', '\0']));
            }
        }
    }
}
