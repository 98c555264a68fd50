//! `crosstie completions` and `crosstie man`: what the declaration of the command line can tell.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};

/// Shown under the help of `crosstie completions`.
pub const COMPLETION_EXAMPLES: &str = "\
Examples:
  crosstie completions bash > ~/.bash_completion
  crosstie completions fish > ~/.config/fish/completions/crosstie.fish";

/// Shown under the help of `crosstie man`.
pub const MANUAL_EXAMPLES: &str = "\
Examples:
  crosstie man | man -l -
  crosstie man --out ~/.local/share/man/man1";

/// Prints the completions of a shell.
pub fn completions(shell: Shell, console: &Console) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "crosstie", &mut script);
    console.print(&String::from_utf8_lossy(&script))?;
    Ok(Answer::Yes)
}

/// Prints the manual page, or writes one per verb into a folder.
pub fn man(folder: Option<&Path>, console: &Console) -> Exit {
    let command = Arguments::command();
    match folder {
        Some(folder) => {
            let refused = |error| {
                let place = folder.display();
                Failure::user(format!("cannot write manual pages to `{place}`: {error}"))
            };
            fs::create_dir_all(folder).map_err(refused)?;
            clap_mangen::generate_to(command, folder).map_err(refused)?;
            console.remark(format_args!("manual pages written to {}", folder.display()));
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).map_err(Failure::ours)?;
            console.print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Answer::Yes)
}
