//! Ranks on the hosts of a box.

use crosstie_box::{Cluster, Command, RanksError, Timetable};

use super::LiveError;
use super::listening::Listening;
use super::place::{Company, Ended, Failure, Stop};

/// Runs them until all have ended, while happens to rails what the box says.
pub(super) fn run(
    cluster: &Cluster,
    company: &Company<'_>,
    variables: &[(&str, String)],
) -> Result<Ended, LiveError> {
    let system = |error: std::io::Error| LiveError::place(error, "try again when less is open");
    let (found, report) = std::io::pipe().map_err(system)?;
    let (said, words) = std::io::pipe().map_err(system)?;
    let listening = Listening::new(found, said);
    let mut refused = None;
    let command = |rank: usize| {
        let command = Command::new(company.words());
        let command =
            variables.iter().fold(command, |command, (name, value)| command.env(name, value));
        let output = if rank == 0 { report.try_clone() } else { words.try_clone() };
        match output.and_then(|output| Ok((output, words.try_clone()?))) {
            Ok((output, errors)) => command.stdout(output).stderr(errors),
            Err(error) => {
                refused = Some(error);
                command
            }
        }
    };
    let timetable = Timetable::new();
    let ended = std::thread::scope(|scope| {
        let events = scope.spawn(|| timetable.play(cluster, |_| {}));
        let ended = cluster.run_ranks_until(company.hosts, command, company.limit, company.cancel);
        timetable.stop();
        match events.join() {
            Ok(Err(error)) if ended.is_ok() => Err(RanksError::Box(error)),
            _ => ended,
        }
    });
    drop((report, words));
    let (found, said, _) = listening.finish();
    if let Some(error) = refused {
        return Err(system(error));
    }
    let failure = match ended {
        Ok(()) => None,
        Err(RanksError::Stopped) => Some(Failure::Stopped(Stop::Cancelled)),
        Err(RanksError::Late { .. }) => Some(Failure::Stopped(Stop::Late)),
        Err(error @ (RanksError::Rank { .. } | RanksError::Failed { .. })) => {
            Some(Failure::Rank(error.to_string()))
        }
        Err(error @ (RanksError::Box(_) | RanksError::Serve(_))) => {
            return Err(LiveError::place(error, "make the box anew"));
        }
    };
    Ok(Ended { found, said, failure })
}
