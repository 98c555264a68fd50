//! Ranks on this machine.

use crosstie_launch::Launcher;
use crosstie_wire::memory::sweep_up;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::LiveError;
use super::listening::Listening;
use super::place::{Company, Ended, Failure, Stop};

/// How often it is looked whether they should end.
const LOOK: Duration = Duration::from_millis(20);

/// Runs them until all have ended.
pub(super) fn run(company: &Company<'_>, variables: &[(&str, String)]) -> Result<Ended, LiveError> {
    let system = |error: std::io::Error| LiveError::place(error, "try again when less is open");
    let (found, report) = std::io::pipe().map_err(system)?;
    let (said, words) = std::io::pipe().map_err(system)?;
    let listening = Listening::new(found, said);
    let launcher = Launcher::new(company.hosts.len(), company.words());
    let launcher =
        variables.iter().fold(launcher, |launcher, (name, value)| launcher.env(name, value));
    let group = launcher.start(|rank| {
        let output = if rank == 0 { report.try_clone() } else { words.try_clone() };
        let input = File::open("/dev/null")?;
        Ok([Some(input.into()), Some(output?.into()), Some(words.try_clone()?.into())])
    });
    drop((report, words));
    let help = "check the installation of `crosstie`";
    let group = group.map_err(|error| LiveError::place(error, help))?;
    let ender = group.ender().map_err(system)?;
    let (begin, over) = (Instant::now(), AtomicBool::new(false));
    let (outcome, stopped) = std::thread::scope(|scope| {
        let watch = || -> Option<Stop> {
            while !over.load(Ordering::Relaxed) {
                if let Some(stop) = company.stop(begin) {
                    // The second wish leaves them no time.
                    ender.end();
                    ender.end();
                    return Some(stop);
                }
                std::thread::park_timeout(LOOK);
            }
            None
        };
        let watch = scope.spawn(watch);
        let outcome = group.wait();
        over.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        (outcome, watch.join().unwrap_or_default())
    });
    let (found, said, _) = listening.finish();
    let outcome = outcome.map_err(|error| LiveError::place(error, help))?;
    if outcome.failure.is_some() || outcome.interrupted {
        // The memory of a rank that was killed before all had met still has its name.
        sweep_up();
    }
    let failure = match (stopped, outcome.failure) {
        (Some(stop), Some(_)) => Some(Failure::Stopped(stop)),
        (_, failure) => failure.map(|failure| Failure::Rank(failure.to_string())),
    };
    Ok(Ended { found, said, failure })
}
