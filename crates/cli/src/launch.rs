//! `crosstie launch`: a program as several ranks on this machine.

#[cfg(unix)]
mod session;

use std::ffi::OsString;

use clap::{Args, value_parser};

use crate::console::Console;
use crate::exit::Exit;

/// More ranks than any machine has use for.
const MOST: i64 = 4096;

const EXAMPLES: &str = "\
Examples:
  crosstie launch -n 4 -- ./program                    four ranks of a program
  crosstie launch -n 4 --label -- ./program
      whose lines begin with their rank
  crosstie launch -n 2 --rails eth0,eth1 -- ./program  over these NICs alone
  crosstie launch -n 2 --json -- NPmpich2 -u 65536
      programs of MPICH are ranks too

Rank 0 has standard input; what ranks print comes line by line. When one of them
fails, the others are asked to end (SIGTERM), and killed 2 s later; so they are
by Ctrl-C, and at once by a second one. Nothing that ranks have started outlives
them. The exit code is that of the first rank that failed, or 128 and the number
of the signal that ended it; 130 after Ctrl-C.

Ranks find each other as under mpiexec.hydra or `srun --mpi=pmi2`, which start
them on several machines: PMI_RANK, PMI_SIZE and PMI_FD are in their
environment, beside all that is in this one. With --json, how ranks ended goes
to stdout, and what they print to stderr.";

/// Arguments of `crosstie launch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(not(unix), allow(dead_code))]
pub struct LaunchArguments {
    /// How many ranks
    #[arg(short = 'n', long = "ranks", value_name = "N")]
    #[arg(value_parser = value_parser!(u32).range(1..=MOST))]
    ranks: u32,

    /// Begin every line with the rank that prints it
    #[arg(long, short)]
    label: bool,

    /// The rails that ranks use, as CROSSTIE_RAILS in their environment [default: all]
    #[arg(long, value_name = "LIST")]
    rails: Option<String>,

    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", required = true, num_args = 1.., trailing_var_arg = true)]
    program: Vec<OsString>,
}

/// Starts ranks, and waits for their end.
#[cfg(unix)]
pub fn launch(arguments: &LaunchArguments, console: &Console) -> Exit {
    session::run(arguments, console)
}

/// Tells that there is nothing to start them with.
#[cfg(not(unix))]
pub fn launch(_: &LaunchArguments, _: &Console) -> Exit {
    Err(crate::exit::Failure::user(
        "ranks are started with sockets and signals as only Unix has them\n\
         help: run it on Linux or another Unix; all of Crosstie that simulates works here",
    ))
}
