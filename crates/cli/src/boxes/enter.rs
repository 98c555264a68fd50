//! Programs on another host of the box that this process is in.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};

use crosstie_box::{Command, here};

use super::session::{foreground, shell};
use crate::exit::{Exit, Failure};

/// Options of `ssh` that have a value.
const VALUED: &str = "BbcDEeFIiJLlmOopQRSWw";

/// Runs a program on a host: what stands behind `--` as it is, else a line for a shell.
pub fn enter(words: &[OsString]) -> Exit {
    let Some((host, rest)) = words.split_first() else {
        return Err(Failure::user("expected a host"));
    };
    let host = host.to_string_lossy();
    match rest.split_first() {
        Some((dashes, command)) if dashes == "--" && !command.is_empty() => {
            execute(&host, command.to_vec())
        }
        Some((dashes, _)) if dashes == "--" => execute(&host, vec![shell()]),
        Some(_) => execute(&host, by_a_shell(rest)),
        None => execute(&host, vec![shell()]),
    }
}

/// A line for a shell, whose words were taken apart by another.
fn by_a_shell(line: &[OsString]) -> Vec<OsString> {
    vec!["/bin/sh".into(), "-c".into(), line.join(OsStr::new(" "))]
}

fn execute(host: &str, words: Vec<OsString>) -> Exit {
    let command = Command::new(words);
    let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
    let command = if interactive { command.in_foreground() } else { command };
    foreground(here(host, &command).map_err(Failure::user)?)
}

/// The same with the arguments of `ssh`, whose options mean nothing here.
pub fn ssh(arguments: &[OsString]) -> Exit {
    let mut rest = arguments.iter();
    let host = loop {
        let Some(word) = rest.next() else {
            return Err(Failure::user("expected a host after the options"));
        };
        let text = word.to_string_lossy();
        match text.strip_prefix('-') {
            None => break text.into_owned(),
            Some(options) => {
                // A value stands behind its option, or is the next word.
                if let Some(at) = options.find(|option| VALUED.contains(option))
                    && at + 1 == options.len()
                {
                    rest.next();
                }
            }
        }
    };
    let host = host.rsplit_once('@').map_or(host.as_str(), |(_, host)| host);
    let line: Vec<OsString> = rest.cloned().collect();
    execute(host, if line.is_empty() { vec![shell()] } else { by_a_shell(&line) })
}
