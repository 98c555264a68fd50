//! A rank, from its assignment to its report.

use crosstie_launch::Job;
use crosstie_wire::Comm;
use serde::Serialize;
use std::io::Write;

use super::place::ASSIGNMENT;
use super::{Assignment, RankError};

/// What the verb `rank` does: the part of one rank in what [`Place::run`](super::Place::run) has
/// all of them do.
///
/// # Errors
/// Whoever started this rank reads what it prints, so that it should print them.
pub fn rank() -> Result<(), RankError> {
    let text = std::env::var(ASSIGNMENT).map_err(|_| RankError::Idle)?;
    let assignment: Assignment =
        serde_json::from_str(&text).map_err(|error| RankError::Odd(error.to_string()))?;
    let (job, found) = assignment.play(Job::join()?)?;
    if let Some(found) = found {
        let mut output = std::io::stdout().lock();
        let told = output.write_all(&found).and_then(|()| output.flush());
        told.map_err(|error| RankError::Report(error.to_string()))?;
    }
    Ok(job.finish()?)
}

/// The tag of reports: the last that there is.
const TAG: u32 = crosstie_wire::comm::TAGS - 1;

/// The longest report of a rank.
const LONGEST: usize = 1 << 28;

/// Tells what this rank has found: all ranks tell rank 0, which has a list of all reports in their
/// order then.
///
/// # Errors
/// If a rank cannot be reached, or tells too much.
pub fn report<T: Serialize>(comm: &Comm, mine: &T) -> Result<Option<Vec<u8>>, RankError> {
    let wrong = |error: &dyn ToString| RankError::Report(error.to_string());
    let mine = serde_json::to_vec(mine).map_err(|error| wrong(&error))?;
    if comm.rank() != 0 {
        comm.send(0, TAG, &mine)?;
        return Ok(None);
    }
    let mut all = vec![b'['];
    all.extend(mine);
    for rank in 1..comm.size() {
        let bytes = comm.probe(rank, TAG)?.bytes;
        if bytes > LONGEST {
            let found = format!("found {bytes} bytes of rank {rank}, expected {LONGEST} at most");
            return Err(RankError::Report(found));
        }
        let mut other = vec![0u8; bytes];
        comm.recv(rank, TAG, &mut other)?;
        all.push(b',');
        all.extend(other);
    }
    all.push(b']');
    Ok(Some(all))
}
