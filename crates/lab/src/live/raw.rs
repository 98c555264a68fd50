//! Microbenchmarks, played by real ranks on raw endpoints.

use crosstie_launch::Job;
use crosstie_wire::raw::{Endpoint, RawOptions};
use crosstie_wire::{Comm, Options};
use crosstie_work::Note;
use crosstie_work::probe::Microbenchmark;
use serde::{Deserialize, Serialize};

use super::play::{Played, on_frames};
use super::{RankError, report};

/// What ranks have to know to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawPart {
    /// What they play; `None`: they only find out what frames there are.
    pub benchmark: Option<Microbenchmark>,
    /// The rail.
    pub rails: Option<String>,
    /// Frames of the transmit ring.
    pub ring: u32,
    /// Frames of the pool.
    pub pool: u32,
}

/// What a rank has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RawFound {
    /// What it has noted.
    pub notes: Vec<Note>,
    /// Frames that found no room at this rank.
    pub overflow: u64,
    /// How often its transmit ring was full.
    pub ring_full: u64,
    /// The most bytes that a frame carries.
    pub longest: u32,
    /// How many of these the transmit ring holds, where the system tells.
    pub ring: Option<u32>,
    /// What it waited for in vain: frames are not sent again.
    pub stuck: Option<String>,
}

impl RawPart {
    /// Plays the part of this rank, and reports.
    pub(super) fn play(&self, mut job: Job) -> Result<(Job, Option<Vec<u8>>), RankError> {
        let &RawPart { ref benchmark, ref rails, ring, pool } = self;
        let options = RawOptions { rails: rails.clone(), ring, pool };
        let mut endpoint = Endpoint::open(&mut job, &options)?;
        let longest = endpoint.longest();
        let ring = endpoint.ring(longest)?;
        let played = match benchmark {
            Some(benchmark) => on_frames(&mut endpoint, &mut benchmark.clone().program()),
            None => Ok(Played::default()),
        };
        let (notes, stuck) = match played {
            Ok(played) => (played.notes, None),
            Err(stuck @ RankError::Stuck { .. }) => (Vec::new(), Some(stuck.to_string())),
            Err(error) => return Err(error),
        };
        let count = endpoint.count();
        let (overflow, ring_full) = (count.overflow(), count.ring_full);
        // Nobody leaves while others still send to it.
        job.fence()?;
        drop(endpoint);
        let longest = longest as u32;
        let found = RawFound { notes, overflow, ring_full, longest, ring, stuck };
        let comm = Comm::of(job, Options { rails: rails.clone(), ..Options::default() })?;
        let all = report(&comm, &found)?;
        Ok((comm.release()?, all))
    }
}
