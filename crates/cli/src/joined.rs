//! Verbs in the job of a launcher: rank 0 does what it was asked to, with all ranks; the others
//! only take part.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crosstie_lab::live::{Lead, Standing};

use crate::exit::{Answer, Exit, Failure};

/// How long other ranks let rank 0 speak first. It knows more, and a launcher ends the others when
/// it has failed.
const AFTER: Duration = Duration::from_secs(3);

/// Runs a verb that wants real ranks, with those that a launcher has started if there are any.
pub fn led(verb: impl FnOnce(Option<&Lead>) -> Exit) -> Exit {
    match Standing::find() {
        Ok(Standing::Alone) => verb(None),
        Ok(Standing::Leads(lead)) => verb(Some(&lead)),
        Ok(Standing::Follows(follower)) => match follower.serve() {
            Ok(()) => Ok(Answer::Yes),
            Err(error) => Err(after_rank_0(error)),
        },
        Err(error) => Err(after_rank_0(error)),
    }
}

/// A failure that rank 0 may have too, and then tells.
fn after_rank_0(error: impl std::fmt::Display) -> Failure {
    let_rank_0_speak();
    Failure::user(match rank() {
        Some(rank) => format!("rank {rank}: {error}"),
        None => error.to_string(),
    })
}

/// Waits if this is another rank of a job than 0, so that what all have to say is said once:
/// whether it is.
pub fn let_rank_0_speak() -> bool {
    let follows = rank().is_some_and(|rank| rank != "0");
    if follows {
        thread::sleep(AFTER);
    }
    follows
}

/// The rank that this is, if a launcher tells.
pub fn rank() -> Option<String> {
    ["PMI_RANK", "PMI_ID"].into_iter().find_map(|name| std::env::var(name).ok())
}

/// Refuses hosts that ranks of a launcher cannot come to.
pub fn stay(lead: &Lead, boxed: Option<&Path>, live: Option<&str>) -> Result<(), Failure> {
    let option = match (boxed, live) {
        (Some(_), _) => "--box",
        (None, Some(names)) if names != "localhost" => "--live",
        _ => return Ok(()),
    };
    let found = boxed.map_or_else(|| live.unwrap_or_default().into(), Path::to_string_lossy);
    Err(Failure::user(format!(
        "{option}: found `{found}`, expected none: a launcher has started this command as {} ranks, which stay \
         where they are\n  help: say `--live` to use them, or run the command without a launcher",
        lead.size()
    )))
}

/// What there is to know of the ranks of a job.
pub fn title(lead: &Lead) -> String {
    let hosts = if lead.hosts() == 1 { "host" } else { "hosts" };
    format!("A launcher's job of {} ranks on {} {hosts}", lead.size(), lead.hosts())
}
