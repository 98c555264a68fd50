//! Ranks from their start to their end.

use std::io::{self, PipeReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crosstie_launch::{Ender, Ending, LaunchError, Launcher, Outcome, RankEnd};
use crosstie_wire::memory::sweep_up;
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::LaunchArguments;
use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::labelled;

/// The code of a program that was ended because nobody reads what it prints: 128 and SIGPIPE.
const UNREAD: u8 = 141;

/// Starts the ranks, prints what they print, and tells how they ended.
pub fn run(arguments: &LaunchArguments, console: &Console) -> Exit {
    let mut launcher = Launcher::new(arguments.ranks as usize, &arguments.program);
    if let Some(rails) = &arguments.rails {
        launcher = launcher.env("CROSSTIE_RAILS", rails);
    }
    // Signals from here on are for the ranks.
    let interrupted = Arc::new(AtomicBool::new(false));
    let signals = watch(&interrupted)
        .map_err(|error| Failure::ours(format!("cannot watch for signals: {error}")))?;
    let mut pipes = Vec::new();
    let group = launcher.start(|_| {
        let (output, to_output) = io::pipe()?;
        let (errors, to_errors) = io::pipe()?;
        pipes.push((output, errors));
        Ok([None, Some(to_output.into()), Some(to_errors.into())])
    });
    let group = group.map_err(refused)?;
    let ender = group.ender().map_err(|cause| {
        refused(LaunchError::System { doing: "prepare for the end of ranks", cause })
    })?;
    let readers = print(pipes, arguments.label, console);
    let outcome = pass_on(signals, ender, || group.wait());
    // Nobody is left who could print anything.
    let mut unread = false;
    for reader in readers {
        // A reader that panicked has told of it.
        unread |= reader.join().unwrap_or(false);
    }
    let mut outcome = outcome.map_err(refused)?;
    // At a terminal ranks are told of Ctrl-C too, and may all have ended by it before they could be
    // asked to.
    outcome.interrupted |= interrupted.load(Ordering::Relaxed);
    if outcome.failure.is_some() || outcome.interrupted {
        // The memory of a rank that was killed before all had met still has its name.
        sweep_up();
    }
    conclude(&outcome, unread, console)
}

/// Takes over the signals that end ranks; each of them sets a flag.
fn watch(flag: &Arc<AtomicBool>) -> io::Result<Signals> {
    let ending = [SIGINT, SIGTERM, SIGHUP];
    for signal in ending {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Signals::new(ending)
}

fn refused(error: LaunchError) -> Failure {
    Failure::user(error)
}

/// Starts threads that print what ranks print.
fn print(
    pipes: Vec<(PipeReader, PipeReader)>,
    label: bool,
    console: &Console,
) -> Vec<JoinHandle<bool>> {
    let to_stdout = if console.json { labelled::to_stderr } else { labelled::to_stdout };
    let mut readers = Vec::new();
    for (rank, (output, errors)) in pipes.into_iter().enumerate() {
        let label = if label { format!("{rank}: ") } else { String::new() };
        let same = label.clone();
        readers.push(thread::spawn(move || labelled::copy(output, &same, to_stdout)));
        readers.push(thread::spawn(move || labelled::copy(errors, &label, labelled::to_stderr)));
    }
    readers
}

/// Lets signals end ranks while these are waited for.
fn pass_on<T>(mut signals: Signals, ender: Ender, wait: impl FnOnce() -> T) -> T {
    let handle = signals.handle();
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in &mut signals {
                ender.end();
            }
        });
        let outcome = wait();
        handle.close();
        outcome
    })
}

/// What the endings of ranks come to; `unread` if nobody was left to read what they print.
fn conclude(outcome: &Outcome, unread: bool, console: &Console) -> Exit {
    if console.json {
        console.print_json(&Listing::of(outcome))?;
    }
    if outcome.interrupted {
        console.remark("interrupted: all ranks have been ended");
        return Ok(Answer::Interrupted);
    }
    let Some(failure) = &outcome.failure else { return Ok(Answer::Yes) };
    match outcome.ranks.len() {
        _ if unread && failure.code() == UNREAD => {}
        1 => console.remark(failure),
        _ => console.remark(format_args!("{failure}; the others were told to end")),
    }
    Ok(Answer::Code(failure.code()))
}

/// How a job ended, as data.
#[derive(Serialize)]
struct Listing {
    ranks: Vec<RankListing>,
    failure: Option<FailureListing>,
    interrupted: bool,
}

#[derive(Serialize)]
struct RankListing {
    rank: usize,
    code: Option<i32>,
    signal: Option<i32>,
    seconds: f64,
}

/// What the first rank that failed has done.
#[derive(Serialize)]
struct FailureListing {
    rank: usize,
    code: u8,
    what: String,
}

impl Listing {
    fn of(outcome: &Outcome) -> Listing {
        let failure = outcome.failure.as_ref().map(|failure| FailureListing {
            rank: failure.rank(),
            code: failure.code(),
            what: failure.to_string(),
        });
        let ranks = outcome.ranks.iter().enumerate().map(RankListing::of).collect();
        Listing { ranks, failure, interrupted: outcome.interrupted }
    }
}

impl RankListing {
    fn of((rank, end): (usize, &RankEnd)) -> RankListing {
        let (code, signal) = match end.ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Killed(signal) => (None, Some(signal)),
        };
        RankListing { rank, code, signal, seconds: end.after.as_secs_f64() }
    }
}
