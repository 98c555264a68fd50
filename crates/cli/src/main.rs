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
        let arguments = Arguments::parse();
        let console = Console::new(&arguments.global);
        match arguments.verb {
            Verb::Run(run) => run::run(&run, arguments.global.threads, &console),
            Verb::Report(report) => report::report(&report, &console),
            Verb::Check { files } => check::check(&files, arguments.global.threads, &console),
            Verb::Paper(paper) => paper::paper(&paper, arguments.global.threads, &console),
            Verb::Bench(bench) => bench::bench(&bench, arguments.global.threads, &console),
            Verb::Predict(predict) => predict::predict(&predict, &console),
            Verb::Probe(probe) => probe::probe(&probe, arguments.global.threads, &console),
            Verb::Box(arguments) => boxes::boxed(&arguments, &console),
            Verb::Launch(launch) => launch::launch(&launch, &console),
            Verb::Rank => rank::rank(),
            Verb::Fabric(fabric) => fabric::fabric(&fabric, &console),
            Verb::Routes(routes) => routes::routes(&routes, &console),
            Verb::Rails(rails) => rails::rails(&rails, &console),
            Verb::Completions { shell } => manual::completions(shell, &console),
            Verb::Man { dir } => manual::man(dir.as_deref(), &console),
        }
    })
}
