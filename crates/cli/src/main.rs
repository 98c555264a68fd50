//! The `crosstie` command.
//!
//! | file | is |
//! |---|---|
//! | `arguments` | the declaration of the command line |
//! | `run`, `report`, `check`, `paper`, `bench`, `predict`, `probe`, `boxes`, `launch`, `rank`, `fabric`, `routes`, `rails`, `manual` | the verbs |
//! | `source` | networks from files, experiments and flags |
//! | `machine`, `sizes` | machines and message sizes on the command line |
//! | `experiment` | experiment files, checked all together |
//! | `console`, `progress` | where words go |
//! | `labelled` | what programs print, line by line |
//! | `joined` | verbs in the job of a launcher |
//! | `interrupt` | Ctrl-C |
//! | `exit` | exit codes, and failures by who is to blame |

mod arguments;
mod bench;
mod boxes;
mod check;
mod console;
mod exit;
mod experiment;
mod fabric;
mod interrupt;
mod joined;
#[cfg(unix)]
mod labelled;
mod launch;
mod machine;
mod manual;
mod paper;
mod predict;
mod probe;
mod progress;
mod rails;
mod rank;
mod report;
mod results;
mod routes;
mod run;
mod sizes;
mod source;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Verb};
use console::Console;

fn main() -> ExitCode {
    exit::conclude(|| {
        // Mistakes in the arguments end here, with exit code 2.
        let arguments = Arguments::try_parse().unwrap_or_else(|mistake| {
            let mistake = arguments::better(mistake);
            // Of the ranks of a launcher, which all have the same arguments, one tells.
            match mistake.use_stderr() && joined::let_rank_0_speak() {
                true => std::process::exit(mistake.exit_code()),
                false => mistake.exit(),
            }
        });
        let console = Console::new(&arguments.global);
        match arguments.verb {
            Verb::Run(run) => {
                joined::led(|lead| run::run(&run, arguments.global.threads, lead, &console))
            }
            Verb::Report(report) => report::report(&report, &console),
            Verb::Check { files } => check::check(&files, arguments.global.threads, &console),
            Verb::Paper(paper) => paper::paper(&paper, arguments.global.threads, &console),
            Verb::Bench(bench) if bench.is_live() => {
                joined::led(|lead| bench::bench(&bench, arguments.global.threads, lead, &console))
            }
            Verb::Bench(bench) => bench::bench(&bench, arguments.global.threads, None, &console),
            Verb::Predict(predict) => {
                predict::predict(&predict, arguments.global.threads, &console)
            }
            Verb::Probe(probe) if probe.is_live() => {
                joined::led(|lead| probe::probe(&probe, arguments.global.threads, lead, &console))
            }
            Verb::Probe(probe) => probe::probe(&probe, arguments.global.threads, None, &console),
            Verb::Box(arguments) => boxes::boxed(&arguments, &console),
            Verb::Launch(launch) => launch::launch(&launch, &console),
            Verb::Rank => rank::rank(),
            Verb::Fabric(fabric) => fabric::fabric(&fabric, &console),
            Verb::Routes(routes) => routes::routes(&routes, &console),
            Verb::Rails(rails) => rails::rails(&rails, &console),
            Verb::Completions { shell } => manual::completions(shell, &console),
            Verb::Man { out } => manual::man(out.as_deref(), &console),
        }
    })
}
