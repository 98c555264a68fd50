//! `crosstie box`: a cluster on this machine, for any program.

#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod terminal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use crosstie_box::Spec;
use crosstie_study::{Diagnostic, box_file};

use crate::console::Console;
use crate::exit::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  crosstie box experiments/box/unequal-rails.toml -- hostname
  crosstie box experiments/box/two-rails.toml --shell host0
  crosstie box two-rails.toml --on host0 -- mpirun --host host0,host1 ./program
  crosstie box dying-rail.toml --trace results/dying -- ./program
  crosstie box enter host1 -- ip address  from a program on another host
  crosstie box --check                    what does this machine allow?

The program runs on every host, with CROSSTIE_HOST, CROSSTIE_HOSTS and
CROSSTIE_RAILS in its environment; its output is labelled by host. Hosts know
each other by name, and reach each other by `ssh`. The exit code is the first of
the programs' that is not 0. docs/box.md tells more.

With --trace, what each rail carried every 100 ms is kept in a folder, summed up
on stderr at the end, and drawn by `crosstie report FOLDER`. With --json the sum
and how the programs ended go to stdout, and what programs print goes to stderr.";

/// Arguments of `crosstie box`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct BoxArguments {
    #[command(subcommand)]
    inside: Option<Inside>,

    /// The file that describes hosts and rails
    #[arg(value_name = "FILE", required_unless_present = "check")]
    file: Option<PathBuf>,

    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", last = true)]
    program: Vec<OsString>,

    /// Run the program on this host only, with standard input and output as they are
    #[arg(long, value_name = "HOST", conflicts_with = "shell")]
    on: Option<String>,

    /// Open a shell on this host
    #[arg(long, value_name = "HOST", conflicts_with = "program")]
    shell: Option<String>,

    /// Be root in the box: change links, capture frames
    #[arg(long)]
    root: bool,

    /// Keep what each rail carries, every 100 ms, in this folder; a trace that is there is
    /// replaced
    #[arg(long, value_name = "FOLDER")]
    trace: Option<PathBuf>,

    /// Say what this machine allows, and whether the file is sound
    #[arg(long, conflicts_with_all = ["program", "on", "shell", "trace"])]
    check: bool,
}

/// What can be done on a host of a box.
#[derive(Debug, Subcommand)]
enum Inside {
    /// Run a program on another host of the box that this is a host of
    #[command(after_help = ENTER_EXAMPLES)]
    Enter {
        /// The host; then `--` and a program with its arguments, or a line for a shell as `ssh`
        /// takes it
        #[arg(value_names = ["HOST", "COMMAND"], num_args = 1.., required = true)]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// The same with the arguments of `ssh`
    #[command(hide = true, disable_help_flag = true)]
    Ssh {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

const ENTER_EXAMPLES: &str = "\
Examples:
  crosstie box enter host1 -- hostname
  crosstie box enter host1 'cd /tmp && ls'
  crosstie box enter host1  a shell

Launchers that start programs by `ssh` need not be told: hosts of a box have an
`ssh` that does this.";

/// Makes a box and runs programs in it, or does something on a host of one.
pub fn boxed(arguments: &BoxArguments, console: &Console) -> Exit {
    let file = arguments.file.as_deref().map(|file| load(file, console)).transpose()?;
    on_this_system(arguments, file, console)
}

/// A box, and the text that describes it.
pub struct BoxFile {
    /// The text.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub text: String,
    /// What it says.
    pub spec: Spec,
}

#[cfg(target_os = "linux")]
fn on_this_system(arguments: &BoxArguments, file: Option<BoxFile>, console: &Console) -> Exit {
    match (&arguments.inside, file) {
        (Some(Inside::Enter { words }), _) => enter::enter(words),
        (Some(Inside::Ssh { arguments }), _) => enter::ssh(arguments),
        (None, _) if arguments.check => session::check(console),
        (None, Some(file)) => session::run(arguments, &file, console),
        // The parser does not let it come here.
        (None, None) => Err(Failure::user("expected a file that describes hosts and rails")),
    }
}

#[cfg(not(target_os = "linux"))]
fn on_this_system(_: &BoxArguments, _: Option<BoxFile>, _: &Console) -> Exit {
    Err(Failure::user(
        "a box is made of namespaces, veth pairs and token buckets, which only Linux has\n\
         help: run it on Linux, or in a virtual machine with Linux; all else of Crosstie works here",
    ))
}

/// Reads a box file.
pub fn load(file: &Path, console: &Console) -> Result<BoxFile, Failure> {
    let read = || {
        let text = box_file::text(file)?;
        let spec = box_file::parse(&file.display().to_string(), &text)?;
        Ok(BoxFile { text, spec })
    };
    read().map_err(|mistake: Diagnostic| {
        Failure::rendered(mistake.render(console.colours_messages()))
    })
}
