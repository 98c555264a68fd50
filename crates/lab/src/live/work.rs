//! The work of a point, played by real ranks.

use crosstie_study::{Spec, Work};
use crosstie_wire::start::Job;
use crosstie_wire::{Comm, Options};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::machine::Machine;
use super::{RankError, report};
use crate::schedule::Script;
use crate::world::application;

/// What ranks have to know of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkPart {
    /// Its spec, as text.
    pub spec: String,
    /// The hosts of its fabric.
    pub hosts: u32,
    /// The rails that ranks use; `None`: all.
    pub rails: Option<String>,
    /// Where the file of the schedule is, if it is in one.
    pub goal: Option<PathBuf>,
}

/// What a rank has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// What its iterations took, in picoseconds, if it keeps the time.
    pub iterations: Vec<u64>,
    /// When it was done, in picoseconds from when all began.
    pub finish: u64,
    /// Payload that an iteration moves.
    pub bytes_per_iteration: u64,
    /// Packets that it has sent again.
    pub resent: u64,
    /// What it ran on.
    pub machine: Machine,
}

impl WorkPart {
    /// Plays the part of this rank, and reports.
    pub(super) fn play(&self, job: Job) -> Result<(Job, Option<Vec<u8>>), RankError> {
        let spec = Spec::from_toml("assignment", &self.spec).map_err(Box::new)?;
        if matches!(spec.work, Work::Traffic(_)) {
            return Err(RankError::Odd("open-loop traffic is no work for ranks".to_owned()));
        }
        let locate = |path: &str| self.goal.clone().unwrap_or_else(|| path.into());
        let script = Script::of(&spec, spec.ranks(self.hosts), &locate)?;
        let mut application = application(&spec.work, script.as_ref(), spec.schedule.iterations);
        let comm = Comm::of(job, self.options(&spec))?;
        let takes_part = application.ranks().iter().any(|rank| rank.0 as usize == comm.rank());
        comm.barrier()?;
        let begin = Instant::now();
        let played = match takes_part {
            true => comm.play(&mut *application)?,
            false => crosstie_wire::Played::default(),
        };
        let finish = begin.elapsed();
        let rails = comm.statistics();
        let found = Found {
            iterations: played.iterations.iter().map(|took| took.ps()).collect(),
            finish: u64::try_from(finish.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000),
            bytes_per_iteration: application.bytes_per_iteration(),
            resent: rails.iter().map(|rail| rail.retransmissions).sum(),
            machine: Machine::here(&rails),
        };
        let all = report(&comm, &found)?;
        Ok((comm.release()?, all))
    }

    /// How ranks reach each other.
    fn options(&self, spec: &Spec) -> Options {
        let usual = Options::default();
        Options {
            rails: self.rails.clone(),
            policy: spec.policy,
            channel: spec.channel,
            memory: spec.live.memory,
            patience: Duration::from_nanos(spec.live.patience.ps() / 1000),
            eager: spec.message.as_ref().map_or(usual.eager, |message| message.eager.get()),
        }
    }
}
