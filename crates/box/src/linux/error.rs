//! What could not be made.

use std::fmt;

/// Why there is no box, or why a program does not run in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxError {
    doing: String,
    cause: String,
    help: Option<String>,
}

impl BoxError {
    /// What was tried, after "cannot", and what came of it.
    pub(crate) fn new(doing: impl Into<String>, cause: impl fmt::Display) -> BoxError {
        BoxError { doing: doing.into(), cause: cause.to_string(), help: None }
    }

    /// With what to do about it.
    pub(crate) fn with_help(mut self, help: Option<String>) -> BoxError {
        self.help = self.help.or(help);
        self
    }

    /// What could not be done.
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// What to do about it, if that is known.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for BoxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.cause)?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for BoxError {}
