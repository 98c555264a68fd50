//! Somebody else on a rail: real frames that no rank has asked for.

use crosstie_launch::Job;
use crosstie_study::{Competitor, Spec};
use crosstie_units::Time;
use crosstie_wire::raw::{Endpoint, RawError, RawOptions, Written};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::RankError;

/// How long is waited before the ring is looked at again: less than it takes to drain.
const MOMENT: Duration = Duration::from_micros(100);

/// How often the other end looks at what has come: the pool holds much more.
const LOOK: Duration = Duration::from_millis(2);

/// Frames that wait at the other end at most.
const POOL: u32 = 4096;

/// What a competitor has got across, as its receiver has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crossed {
    /// Which competitor.
    pub competitor: u32,
    /// Payload that has arrived.
    pub bytes: u64,
    /// Frames that are missing.
    pub lost: u64,
}

/// The part of a rank in one competitor.
pub(super) struct Rival {
    number: u32,
    competitor: Competitor,
    endpoint: Endpoint,
    sends: bool,
}

/// The rank that lends a host's competitors its process: the first one there.
pub(super) fn rank_of(host: u32, pes: u32) -> u32 {
    host.saturating_mul(pes)
}

impl Rival {
    /// Those in which this rank has a part, once all ranks of the job have come here. `rails` are
    /// their names.
    pub fn meet(job: &mut Job, spec: &Spec, rails: &[&str]) -> Result<Vec<Rival>, RankError> {
        let mut rivals = Vec::new();
        for (number, competitor) in (0..).zip(&spec.competitors) {
            let rail = rails.get(competitor.rail as usize).ok_or_else(|| {
                let problem = format!("competitor {number} has a rail without a name");
                RankError::Odd(problem)
            })?;
            let rails = Some((*rail).to_owned());
            let options = RawOptions { rails, ring: competitor.window, pool: POOL };
            let mut endpoint = Endpoint::open(job, &options)?;
            let [from, to] = [competitor.from, competitor.to]
                .map(|host| rank_of(host, spec.cluster.pes) as usize);
            let sends = endpoint.rank() == from;
            if sends || endpoint.rank() == to {
                endpoint.bind(if sends { to } else { from })?;
                rivals.push(Rival { number, competitor: competitor.clone(), endpoint, sends });
            }
        }
        Ok(rivals)
    }

    /// Plays its part from a beginning on, until the work is over; what has crossed, if it
    /// receives.
    pub fn play(mut self, begin: Instant, over: &AtomicBool) -> Result<Option<Crossed>, RankError> {
        match self.sends {
            true => self.send(begin, over).map(|()| None),
            false => self.receive(over).map(Some),
        }
    }

    /// Keeps the ring full while it is time.
    fn send(&mut self, begin: Instant, over: &AtomicBool) -> Result<(), RankError> {
        let at = |time: Time| begin + Duration::from(time);
        let (first, last) = (at(self.competitor.begin), at(self.competitor.end));
        let load = vec![0x5a; self.endpoint.longest()];
        let message = usize::try_from(self.competitor.size.get()).unwrap_or(usize::MAX);
        let mut left = message;
        while !over.load(Ordering::Relaxed) && Instant::now() < last {
            let early = first.saturating_duration_since(Instant::now());
            if !early.is_zero() {
                std::thread::sleep(early.min(LOOK));
                continue;
            }
            let bytes = left.min(load.len());
            match self.endpoint.write(&load[..bytes]) {
                Ok(Written::Taken) => left = if left == bytes { message } else { left - bytes },
                // A rail that is down takes nothing for a while.
                Ok(Written::RingFull) | Err(RawError::Write { .. }) => std::thread::sleep(MOMENT),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Counts what comes.
    fn receive(&mut self, over: &AtomicBool) -> Result<Crossed, RankError> {
        let mut bytes = 0;
        loop {
            let is_last = over.load(Ordering::Relaxed);
            while let Some(frame) = self.endpoint.read()? {
                bytes += frame.bytes.len() as u64;
            }
            if is_last {
                let lost = self.endpoint.count().missing;
                return Ok(Crossed { competitor: self.number, bytes, lost });
            }
            std::thread::sleep(LOOK);
        }
    }
}
