//! What does not fit, told at its key.

use std::fmt;

/// A choice that does not fit: in itself, to what is beside it, or with the file that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The key, counted from the choice: `hot-spot.host`.
    pub key: String,
    /// The mistake in a few words.
    pub title: String,
    /// What was found and what was expected.
    pub problem: String,
    /// What to do, where it is not plain.
    pub help: Option<String>,
    /// The file that is at fault, as the choice names it.
    pub file: Option<String>,
}

impl Misfit {
    /// Something wrong at a key: the mistake in a few words, and what was found and what was
    /// expected.
    pub fn new(
        key: impl Into<String>,
        title: impl Into<String>,
        problem: impl Into<String>,
    ) -> Misfit {
        let (key, title, problem) = (key.into(), title.into(), problem.into());
        Misfit { key, title, problem, help: None, file: None }
    }

    /// With what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Misfit {
        self.help = Some(help.into());
        self
    }

    /// With the file that is at fault.
    pub fn in_file(mut self, file: &str) -> Misfit {
        self.file = Some(file.to_owned());
        self
    }

    /// The same, seen from the choice that this one is a part of.
    pub fn under(mut self, key: &str) -> Misfit {
        self.key = format!("{key}.{}", self.key);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.problem)
    }
}

impl std::error::Error for Misfit {}
