//! The work of a point, played by real ranks.

use crosstie_launch::Job;
use crosstie_study::{Spec, Work};
use crosstie_units::{Bytes, Time};
use crosstie_wire::{Comm, Options};
use crosstie_work::{Application, Rank, injection};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::competitor::{Crossed, Rival};
use super::load::{Load, Watch};
use super::machine::Machine;
use super::play::{Played, on_messages};
use super::record::{Record, Recorder};
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
    /// What it did when, where that is short.
    pub records: Vec<Record>,
    /// What competitors have sent to its host.
    pub crossed: Vec<Crossed>,
    /// What it ran on.
    pub machine: Machine,
    /// What else that did meanwhile, where it tells.
    pub load: Option<Load>,
}

impl WorkPart {
    /// Plays the part of this rank, and reports.
    pub(super) fn play(&self, mut job: Job) -> Result<(Job, Option<Vec<u8>>), RankError> {
        let spec = Spec::from_toml("assignment", &self.spec).map_err(Box::new)?;
        if matches!(spec.work, Work::Traffic(_)) {
            return Err(RankError::Odd("open-loop traffic is no work for ranks".to_owned()));
        }
        let locate = |path: &str| self.goal.clone().unwrap_or_else(|| path.into());
        let script = Script::of(&spec, spec.ranks(self.hosts), &locate)?;
        let mut application = application(&spec.work, script.as_ref(), spec.schedule.iterations);
        let rails: Vec<&str> = self.rails.iter().flat_map(|rails| rails.split(',')).collect();
        let rivals = Rival::meet(&mut job, &spec, &rails)?;
        let comm = Comm::of(job, self.options(&spec, script.as_ref()))?;
        let iterations = u64::from(spec.schedule.iterations);
        let is_short = script.as_ref().is_some_and(|script| script.is_short(iterations));
        comm.barrier()?;
        let watch = Watch::begin();
        let begin = Instant::now();
        let over = AtomicBool::new(false);
        let (done, crossed) = std::thread::scope(|scope| {
            let over = &over;
            let rivals: Vec<_> =
                rivals.into_iter().map(|it| scope.spawn(move || it.play(begin, over))).collect();
            let done = perform(&comm, &mut *application, is_short).and_then(|done| {
                let finish = begin.elapsed();
                // Somebody else goes on until all are done.
                if !spec.competitors.is_empty() {
                    comm.barrier()?;
                }
                Ok((done, finish))
            });
            over.store(true, Ordering::Relaxed);
            let crossed = rivals.into_iter().map(|it| {
                it.join().unwrap_or_else(|_| Err(RankError::Odd("a competitor broke".to_owned())))
            });
            (done, crossed.collect::<Result<Vec<_>, RankError>>())
        });
        let ((played, records), finish) = done?;
        let load = watch.end();
        let rails = comm.statistics();
        let found = Found {
            iterations: played.iterations.iter().map(|took| took.ps()).collect(),
            finish: Time::from(finish).ps(),
            bytes_per_iteration: application.bytes_per_iteration(),
            resent: rails.iter().map(|rail| rail.retransmissions).sum(),
            records,
            crossed: crossed?.into_iter().flatten().collect(),
            machine: Machine::here(&rails),
            load,
        };
        let all = report(&comm, &found)?;
        Ok((comm.release()?, all))
    }

    /// How ranks reach each other.
    fn options(&self, spec: &Spec, script: Option<&Script>) -> Options {
        let usual = Options::default();
        let message = spec.message.as_ref();
        Options {
            rails: self.rails.clone(),
            policy: spec.policy,
            channel: spec.channel,
            memory: spec.live.memory,
            patience: spec.live.patience.into(),
            eager: message.map_or(usual.eager, |message| message.eager.get()),
            credit: message.and_then(|message| message.credit).map(Bytes::get),
            synchronous: message.is_some_and(|message| message.synchronous),
            injection: script.map_or(usual.injection, |script| injection(script.schedule())),
            ..usual
        }
    }
}

/// Plays the part of a rank, if it has one; what it did when, where that is wanted.
fn perform(
    comm: &Comm,
    application: &mut dyn Application,
    recorded: bool,
) -> Result<(Played, Vec<Record>), RankError> {
    let rank = Rank(comm.rank() as u32);
    if !application.ranks().contains(&rank) {
        return Ok(Default::default());
    }
    if !recorded {
        return Ok((on_messages(comm, application)?, Vec::new()));
    }
    let mut recorder = Recorder::new(application, rank);
    let played = on_messages(comm, &mut recorder)?;
    Ok((played, recorder.finish()))
}
