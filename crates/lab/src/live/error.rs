//! Why ranks have found nothing.

use crosstie_study::Diagnostic;
use crosstie_wire::CommError;
use std::time::Duration;

use crate::LabError;

/// Why a place has nothing to tell of its ranks.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Ranks cannot run there.
    #[error("{problem}\n  help: {help}")]
    Place {
        /// What cannot be had.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A rank has failed, and the others were ended.
    #[error("{what}{}", beside(said))]
    Rank {
        /// Which, and how.
        what: String,
        /// What ranks said before, the first of it.
        said: String,
    },
    /// They took too long.
    #[error("the ranks were not done after {} s{}", after.as_secs_f64(), beside(said))]
    Late {
        /// How long it was waited.
        after: Duration,
        /// What ranks said meanwhile, the first of it.
        said: String,
    },
    /// What rank 0 has written is not what was expected.
    #[error("what ranks have found cannot be read: {problem}")]
    Unreadable {
        /// Why.
        problem: String,
    },
}

fn beside(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

impl LiveError {
    pub(crate) fn place(problem: impl ToString, help: impl ToString) -> LiveError {
        LiveError::Place { problem: problem.to_string(), help: help.to_string() }
    }

    /// Whether ranks have run: what came of it is then a result, if no good one.
    pub fn is_an_outcome(&self) -> bool {
        matches!(self, LiveError::Rank { .. } | LiveError::Late { .. })
    }
}

/// Why a rank cannot do its part.
#[derive(Debug, thiserror::Error)]
pub enum RankError {
    /// Nobody has told it what to do.
    #[error(
        "there is no assignment: this verb is for ranks that `crosstie run`, `bench` and others start"
    )]
    Idle,
    /// What it was told makes no sense.
    #[error("the assignment is not understood: {0}; all hosts should have the same version")]
    Odd(String),
    /// The spec of a point is not sound.
    #[error(transparent)]
    Spec(#[from] Box<Diagnostic>),
    /// Its launcher does not answer as it should.
    #[error(transparent)]
    Start(#[from] crosstie_launch::StartError),
    /// The work of a point cannot be done.
    #[error(transparent)]
    Work(#[from] LabError),
    /// It cannot talk to other ranks.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// It has no raw endpoint, or that fails.
    #[error(transparent)]
    Raw(#[from] crosstie_wire::raw::RawError),
    /// A raw endpoint is to send a message that the network spreads.
    #[error(
        "found a send to several ranks at once, expected one for each: raw endpoints send single \
         frames"
    )]
    NoCast,
    /// A raw endpoint is to read memory of another rank.
    #[error("found a get, expected messages: raw endpoints cannot read the memory of other ranks")]
    NoGet,
    /// Nothing has come to a raw endpoint for long.
    #[error(
        "rank {rank} waits for {what} and nothing has come for {waited:?}: a frame was lost that \
         is not sent again; let others stop using the network, and try again"
    )]
    Stuck {
        /// The rank that waits.
        rank: usize,
        /// What it waits for.
        what: String,
        /// How long it has waited.
        waited: Duration,
    },
    /// What was found cannot be told.
    #[error("cannot report: {0}")]
    Report(String),
}
