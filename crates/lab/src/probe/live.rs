//! Machines that are real: ranks on the hosts of a box, or on this one.

use super::bench::{Bench, Driver, Notes, Stop};
use super::subject::Subject;
use super::truth::Truth;
use super::{Probe, ProbeOptions, Session};
use crate::live::{Assignment, Company, Lead, LiveError, Place, RawFound, RawPart};
use crate::{LabError, Silent};
use crosstie_box::Spec as BoxSpec;
use crosstie_model::{Architecture, Buffer};
use crosstie_units::{Bytes, Capacity, Rate, Time};
use crosstie_work::Rank;
use crosstie_work::probe::Microbenchmark;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is to be measured.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// The hosts of a box, by one of its rails.
    Box(&'a BoxSpec, usize),
    /// So many ranks of this machine.
    Here(u32),
    /// The ranks of a launcher's job.
    Job(&'a Lead),
}

/// How real ranks are measured.
#[derive(Debug, Clone, Copy)]
pub struct LiveProbe<'a> {
    /// On which machine.
    pub target: Target<'a>,
    /// The program that ranks are: `crosstie` itself.
    pub executable: &'a Path,
    /// Frames of the transmit ring.
    pub ring: u32,
}

/// How long a microbenchmark may take.
const LIMIT: Duration = Duration::from_secs(300);

/// How often one is begun: others may use the network too, and frames are not sent again.
const TRIES: usize = 5;

/// Frames of the pool: bursts are received by ranks that may have to wait for a core.
const POOL: u32 = 4096;

/// How often packets of a ring, floods and bursts are timed, so that a few may be disturbed.
const ROUNDS: u32 = 15;
const BURSTS: u32 = 9;

/// Senders of a flood and packets of each: long, because a receiver may have to wait for a core now
/// and then.
const FLOOD: (u32, u32) = (3, 600);

/// Frames of the transmit ring where it does not matter for what is measured; the system may allow
/// fewer.
const LONG_RING: u32 = 1024;

/// The longest burst.
const LONGEST: u32 = 1 << 14;

/// How long all wait before a flood or a burst: frames of the barrier are not sent again.
const SETTLE: Time = Time::from_ns(20_000_000);

/// How long a burst is waited for, beside what it takes: ranks may have to wait for a core.
const REST: Time = Time::from_ns(50_000_000);

/// What Ethernet, IP and UDP and the head of a raw frame add to what it carries, as a box counts
/// it.
const HEADS: u32 = 14 + 20 + 8 + crosstie_wire::datagram::HEAD as u32;

/// Measures real ranks; `progress` is told what has been measured. `None` if it was cancelled. One
/// thing is measured at a time, whatever the options say.
pub fn probe_live(
    live: LiveProbe<'_>,
    options: ProbeOptions<'_>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Option<Probe>, LabError> {
    let options = ProbeOptions { threads: NonZeroUsize::MIN, ..options };
    let (place, rails) = match live.target {
        Target::Box(spec, rail) => (Place::of_box(spec), Some(spec.rail_name(rail))),
        Target::Here(_) => (Ok(Place::here()), std::env::var("CROSSTIE_RAILS").ok()),
        Target::Job(lead) => (Ok(Place::of_job(lead)), std::env::var("CROSSTIE_RAILS").ok()),
    };
    let (key, place) = (live.target.key(), place.map_err(|error| wrong(live.target.key(), error))?);
    let in_job = matches!(live.target, Target::Job(_));
    let ranks = Ranks { place, in_job, key, executable: live.executable, rails, ring: live.ring };
    let found = match ranks.run(None, &[0, 1], options.cancel) {
        Ok(found) => found,
        Err(Stop::Cancelled) => return Ok(None),
        Err(Stop::Failed(error)) => return Err(*error),
    };
    let longest = found.iter().map(|found| found.longest).min().unwrap_or(0);
    let ring = found.iter().filter_map(|found| found.ring).min().unwrap_or(live.ring);
    let bench = Bench { driver: &ranks, options, progress };
    Session { bench, subject: subject(live.target, longest, ring) }.found()
}

impl Target<'_> {
    fn key(&self) -> &'static str {
        match self {
            Target::Box(..) => "--box",
            Target::Here(_) | Target::Job(_) => "--live",
        }
    }
}

/// What is known of it.
fn subject(target: Target<'_>, payload: u32, ring: u32) -> Subject<'_> {
    let (hosts, rate, buffer, loses) = match target {
        Target::Here(ranks) => (ranks, None, None, false),
        Target::Job(lead) => (lead.size() as u32, None, None, false),
        Target::Box(spec, rail) => {
            let rate = spec.rails[rail].rate;
            let buffer = match spec.rails[rail].buffer() {
                Capacity::Frames(frames) => frames,
                Capacity::Bytes(bytes) => (bytes.get() / u64::from(payload + HEADS)) as u32,
            };
            let hosts = spec.members(rail).len() as u32;
            let loses = rate.is_some() && spec.is_switched(rail);
            let buffer = Buffer { architecture: Architecture::Output, frames: buffer };
            (hosts, rate, loses.then_some(buffer), loses)
        }
    };
    let takes = |rate: Rate| {
        move |bytes: u32| rate.time_for(Bytes::new(u64::from(bytes + HEADS))).unwrap_or(Time::ZERO)
    };
    let cores = match target {
        // Each has a machine for itself.
        Target::Job(lead) if lead.hosts() == lead.size() => hosts,
        _ => std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
    };
    Subject {
        hosts,
        payload,
        least: 0,
        ring,
        slot: match rate {
            Some(rate) => Box::new(takes(rate)),
            None => Box::new(|_| Time::ZERO),
        },
        here: (0..hosts).map(Rank).collect(),
        behind: Vec::new(),
        uplink: 0,
        loses,
        // With more ranks on a machine than cores they would wait for each other.
        pairs: (cores / 2).max(1),
        written: 256,
        rounds: ROUNDS,
        flood: FLOOD,
        bursts: BURSTS,
        longest: LONGEST,
        tries: 3,
        settle: SETTLE,
        rest: REST,
        keeps_leaving: false,
        live: true,
        truth: Truth::Real {
            slot: rate.map(|rate| Box::new(takes(rate)) as Box<dyn Fn(u32) -> Time + Sync>),
            buffer,
        },
    }
}

/// Real ranks.
struct Ranks<'a> {
    place: Place<'a>,
    /// They are there already, all of them.
    in_job: bool,
    key: &'static str,
    executable: &'a Path,
    rails: Option<String>,
    ring: u32,
}

impl Ranks<'_> {
    /// Has ranks play a microbenchmark on these hosts.
    fn run(
        &self,
        benchmark: Option<Microbenchmark>,
        hosts: &[usize],
        cancel: &AtomicBool,
    ) -> Result<Vec<RawFound>, Stop> {
        let (executable, progress) = (self.executable, &Silent);
        let company = Company { executable, hosts, limit: LIMIT, cancel, progress };
        let ring = match &benchmark {
            // A NIC that has all of it goes on while its host waits for a core.
            Some(Microbenchmark::Burst(_) | Microbenchmark::Inflow(_)) => LONG_RING,
            _ => self.ring,
        };
        let (rails, pool) = (self.rails.clone(), POOL);
        let assignment = Assignment::Raw(RawPart { benchmark, rails, ring, pool });
        let mut tries = 1;
        loop {
            let found = self.place.run(&company, &assignment);
            match found.and_then(none_is_stuck) {
                Ok(found) => return found.ok_or(Stop::Cancelled),
                Err(LiveError::Rank { .. }) if tries < TRIES => tries += 1,
                Err(error) => return Err(Stop::Failed(Box::new(wrong(self.key, error)))),
            }
        }
    }
}

/// A rank that has waited in vain has failed, like one that cannot do its part.
fn none_is_stuck(found: Option<Vec<RawFound>>) -> Result<Option<Vec<RawFound>>, LiveError> {
    let stuck = found.iter().flatten().find_map(|found| found.stuck.clone());
    match stuck {
        Some(what) => Err(LiveError::Rank { what, said: String::new() }),
        None => Ok(found),
    }
}

impl Driver for Ranks<'_> {
    fn run(&self, probe: Microbenchmark, cancel: &AtomicBool) -> Result<Notes, Stop> {
        let ranks = probe.ranks();
        let hosts: Vec<usize> = ranks.iter().map(|rank| rank.0 as usize).collect();
        let found = if self.in_job {
            let all: Vec<usize> = (0..=hosts.iter().copied().max().unwrap_or(0)).collect();
            let found = Ranks::run(self, Some(probe), &all, cancel)?;
            hosts.iter().filter_map(|&rank| found.get(rank).cloned()).collect()
        } else {
            Ranks::run(self, Some(probe.among_themselves()), &hosts, cancel)?
        };
        let overflowed = found.iter().any(|found| found.overflow > 0);
        let filled = found.iter().any(|found| found.ring_full > 0);
        let notes = ranks
            .iter()
            .zip(found)
            .flat_map(|(&rank, found)| found.notes.into_iter().map(move |note| (rank, note)));
        Ok(Notes { notes: notes.collect(), overflowed, filled })
    }
}

fn wrong(key: &str, error: LiveError) -> LabError {
    match error {
        LiveError::Place { problem, help } => LabError::setting(key, problem, help),
        LiveError::Rank { .. } | LiveError::Late { .. } | LiveError::Unreadable { .. } => {
            let help = "leave the machine and its network alone meanwhile, and try again";
            LabError::setting(key, error, help)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_box() {
        let text = "hosts = 9\n[[rail]]\nrate = '100 Mbit/s'\nshape.switch.buffer = '95 frames'\n\
                    [[rail]]\nrate = '100 Mbit/s'\n[[rail]]\n";
        let spec: BoxSpec = toml::from_str(text).unwrap();
        let known = |rail| subject(Target::Box(&spec, rail), 1448, 32);
        let full = known(0);
        assert_eq!((full.hosts, full.here.len(), full.loses), (9, 9, true));
        // 1,514 bytes.
        assert_eq!((full.slot)(1448), Time::from_ns(121_120));
        assert!((full.truth.send_gap(1448).unwrap() - 121.12).abs() < 1e-9);
        assert_eq!((full.truth.send(1448), full.truth.parameters()), (None, None));
        let buffer = |frames| Some(Buffer { architecture: Architecture::Output, frames });
        assert_eq!(full.truth.buffer(false), buffer(95));
        // As many bytes as a thousand full frames have.
        assert_eq!(known(1).truth.buffer(false), buffer(1000));
        let free = known(2);
        assert_eq!((free.loses, (free.slot)(1448)), (false, Time::ZERO));
        assert_eq!((free.truth.buffer(false), free.truth.send_gap(9)), (None, None));
        let here = subject(Target::Here(3), 1448, 32);
        assert_eq!((here.hosts, here.loses), (3, false));
    }

    #[test]
    fn mistakes_are_told_at_the_option() {
        let error = LiveError::place("no box", "ask somebody");
        assert_eq!(wrong("--box", error).to_string(), "`--box`: no box\n  help: ask somebody");
        let late = LiveError::Late { after: LIMIT, said: String::new() };
        assert!(wrong("--live", late).to_string().contains("`--live`: the ranks were not done"));
    }
}
