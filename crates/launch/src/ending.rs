//! How ranks end.

use std::fmt;

use nix::sys::signal::Signal;

/// How a rank ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With a code.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

impl Ending {
    /// Whether it ended with code 0.
    pub fn success(self) -> bool {
        self == Ending::Exited(0)
    }

    /// The code by which a shell would tell of it.
    pub fn code(self) -> u8 {
        match self {
            Ending::Exited(code) => code as u8,
            Ending::Killed(signal) => 128u8.wrapping_add(signal as u8),
        }
    }
}

/// What it did, after its name: `ended with code 7`.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Ending::Exited(code) => write!(f, "ended with code {code}"),
            Ending::Killed(number) => match Signal::try_from(number) {
                Ok(signal) => write!(f, "was ended by signal {number}, {signal}"),
                Err(_) => write!(f, "was ended by signal {number}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_have_codes_and_words() {
        for (ending, code, words) in [
            (Ending::Exited(0), 0, "ended with code 0"),
            (Ending::Exited(7), 7, "ended with code 7"),
            (Ending::Killed(11), 139, "was ended by signal 11, SIGSEGV"),
            (Ending::Killed(64), 192, "was ended by signal 64"),
        ] {
            assert_eq!((ending.code(), ending.to_string().as_str()), (code, words));
            assert_eq!(ending.success(), code == 0);
        }
    }
}
