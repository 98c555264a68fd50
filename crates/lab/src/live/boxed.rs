//! Ranks on the hosts of a box.

use crosstie_box::{Cluster, Command, Timetable};
use crosstie_wire::start::{BoxedError, run_in_box_until};

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
        let ended =
            run_in_box_until(cluster, company.hosts, command, company.limit, company.cancel);
        timetable.stop();
        match events.join() {
            Ok(Err(error)) if ended.is_ok() => Err(BoxedError::Box(error)),
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
        Err(BoxedError::Stopped) => Some(Failure::Stopped(Stop::Cancelled)),
        Err(BoxedError::Late { .. }) => Some(Failure::Stopped(Stop::Late)),
        Err(error @ (BoxedError::Rank { .. } | BoxedError::Failed { .. })) => {
            Some(Failure::Rank(error.to_string()))
        }
        Err(error @ (BoxedError::Box(_) | BoxedError::Serve(_))) => {
            return Err(LiveError::place(error, "make the box anew"));
        }
    };
    Ok(Ended { found, said, failure })
}
