//! Where words go: data to stdout, everything else to stderr.

use std::env;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use crosstie_report::Terminal;
use serde::Serialize;

use crate::arguments::{Colour, Global};
use crate::exit::Failure;

/// The version of every JSON document the command prints. It changes when a reader of the old form
/// would go wrong.
const FORMAT: u32 = 1;

/// Lines are no longer than this where the width of the terminal is not known.
const WIDTH: usize = 100;

/// What the user wants to see, and how.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    /// Data as JSON.
    pub json: bool,
    /// No progress, no remarks.
    pub quiet: bool,
    colour: Colour,
}

/// A JSON document: the version first, then the data.
#[derive(Serialize)]
struct Document<'a, T> {
    format: u32,
    #[serde(flatten)]
    data: &'a T,
}

impl Console {
    /// The console that the global flags describe.
    pub fn new(global: &Global) -> Console {
        Console { json: global.json, quiet: global.quiet, colour: global.color }
    }

    /// What stdout can show.
    pub fn terminal(&self) -> Terminal {
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Terminal {
            width: width.unwrap_or(WIDTH),
            unicode: shows_unicode(|name| env::var(name).ok()),
            colour: self.colours(io::stdout().is_terminal()),
        }
    }

    /// Whether messages on stderr may have colours.
    pub fn colours_messages(&self) -> bool {
        self.colours(io::stderr().is_terminal())
    }

    /// Whether progress can be drawn, and redrawn, on stderr.
    pub fn draws_progress(&self) -> bool {
        io::stderr().is_terminal()
    }

    fn colours(&self, terminal: bool) -> bool {
        match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                terminal
                    && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && env::var_os("TERM").is_none_or(|value| value != "dumb")
            }
        }
    }

    /// Prints data on stdout. A reader that has gone away, such as `head`, is no failure.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::user(format!("cannot write to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints text for people on stdout. It may quote anything that stood in a file.
    pub fn tell(&self, text: &str) -> Result<(), Failure> {
        self.print(&harmless(text))
    }

    /// Prints one versioned JSON document on one line of stdout.
    pub fn print_json(&self, data: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(&Document { format: FORMAT, data });
        self.print(&(text.map_err(Failure::ours)? + "\n"))
    }

    /// A remark on stderr, unless the user wants quiet.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            complain(&text.to_string());
        }
    }
}

/// A message on stderr. If even stderr is closed there is nobody left to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A text without characters that would command the terminal instead of being shown.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// Whether more than ASCII can be shown. UTF-8 is everywhere, so only a locale that names another
/// character set says no, and the console of the Linux kernel, whose font lacks the signs.
fn shows_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let charset = locale.split_once('.').map_or("utf-8", |(_, charset)| charset);
    let charset = charset.split('@').next().unwrap_or_default();
    matches!(charset.to_ascii_lowercase().as_str(), "utf-8" | "utf8")
        && set("TERM").is_none_or(|term| term != "linux")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_character_set_rules_unicode_out() {
        for (variables, expected) in [
            (&[][..], true),
            (&[("LANG", "C")], true),
            (&[("LANG", "de_DE.UTF-8@euro")], true),
            (&[("LANG", "de_DE.ISO-8859-15@euro")], false),
            (&[("LC_ALL", "en_GB.utf8"), ("LANG", "en_GB.ISO-8859-1")], true),
            (&[("LC_ALL", ""), ("LANG", "en_GB.ISO-8859-1")], false),
            (&[("TERM", "linux")], false),
        ] {
            let find = |name: &str| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(shows_unicode(find), expected, "{variables:?}");
        }
    }

    #[test]
    fn text_from_files_cannot_command_the_terminal() {
        assert_eq!(harmless("ring\x1b[2J of 4\n"), "ring\u{fffd}[2J of 4\n");
    }

    #[test]
    fn the_user_decides_on_colour_against_everything_else() {
        let console = |colour| Console { json: false, quiet: false, colour };
        assert!(console(Colour::Always).colours(false));
        assert!(!console(Colour::Never).colours(true));
        assert!(!console(Colour::Auto).colours(false), "not into a file");
    }
}
