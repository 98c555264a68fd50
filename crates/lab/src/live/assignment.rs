//! What ranks are told to do.

use crosstie_launch::Job;
use serde::{Deserialize, Serialize};

use super::{RankError, RawPart, WorkPart};

/// What all ranks of a place are told to do. A further part is an arm here and one in
/// `Assignment::play`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// Play the work of a point.
    Work(WorkPart),
    /// Play a microbenchmark on raw endpoints.
    Raw(RawPart),
}

impl Assignment {
    /// Does what this rank of a job has to do. Rank 0 comes back with what all have
    /// [found](super::report).
    pub(super) fn play(&self, job: Job) -> Result<(Job, Option<Vec<u8>>), RankError> {
        match self {
            Assignment::Work(part) => part.play(job),
            Assignment::Raw(part) => part.play(job),
        }
    }
}
