//! Where switches keep packets, and how many: B_L [tam, app. A].

use super::bench::{Notes, Stop};
use super::subject::Subject;
use super::{Alone, Session, us};
use crosstie_model::fit::{Finding, Line, Slope, classify, line};
use crosstie_model::{Architecture, Buffer};
use crosstie_units::Time;
use crosstie_work::probe::Burst;
use crosstie_work::{Note, Rank};

/// What bursts say about the buffers of a switch.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Bursts between so many sources and sinks, as far as anything of them was lost.
    pub bursts: Vec<Bursts>,
    /// Between how many groups of sources and sinks there were bursts: none where too few hosts
    /// share a switch, and where the network loses nothing.
    pub tried: usize,
    /// Whether nodes have lost packets, too, for want of room.
    pub overflowed: bool,
    /// Where packets are kept, and how many; or which places are possible.
    pub finding: Finding,
    /// What it is in truth, where that is known.
    pub truth: Option<Buffer>,
    /// By how many frames a port may keep more or fewer, because nobody knows whether one that is
    /// leaving keeps its place.
    pub open: u32,
}

/// Bursts of several lengths from S sources to R sinks.
#[derive(Debug, Clone, PartialEq)]
pub struct Bursts {
    /// How many sent: S.
    pub sources: u32,
    /// How many received: R.
    pub sinks: u32,
    /// The lengths, and what share came through: k and rho.
    pub points: Vec<(u32, f64)>,
    /// rho over 1/k: its slope is how many packets wait, and its intercept R g_s / (S g_r).
    pub line: Line,
    /// How many packets beside those that wait have a place, because they keep theirs until their
    /// last bit has left.
    pub leaving: u32,
}

impl Capacity {
    /// Where nodes have lost packets, bursts tell nothing about switches.
    fn new(
        (bursts, overflowed): (Vec<Bursts>, bool),
        tried: usize,
        finding: Finding,
        truth: Option<Buffer>,
    ) -> Capacity {
        let nothing = Finding::NotResolved { candidates: Vec::new() };
        let finding = if overflowed { nothing } else { finding };
        Capacity { bursts, tried, overflowed, finding, truth, open: 0 }
    }

    /// By how many frames the number may be off, as far as slopes tell, if it was found.
    pub fn resolution(&self) -> Option<f64> {
        match &self.finding {
            Finding::Resolved { buffer, error, .. } => {
                Some(error * f64::from(buffer.frames) + f64::from(self.open))
            }
            Finding::NotResolved { .. } => None,
        }
    }

    /// The share by which the number of packets is off, if it was found, in the right place, and
    /// the truth is known.
    pub fn error(&self) -> Option<f64> {
        match (&self.finding, self.truth) {
            (Finding::Resolved { buffer, .. }, Some(truth))
                if buffer.architecture == truth.architecture =>
            {
                Some((f64::from(buffer.frames) / f64::from(truth.frames) - 1.0).abs())
            }
            _ => None,
        }
    }
}

/// Sources and sinks on one switch. One sink only tells memory at inputs from others: with several,
/// heads of lines block each other there.
const HERE: [(usize, usize); 8] = [(2, 1), (3, 1), (4, 1), (8, 1), (3, 2), (4, 2), (8, 2), (12, 3)];
/// Sources behind other switches.
const BEHIND: [(usize, usize); 5] = [(2, 1), (4, 1), (8, 1), (4, 2), (8, 2)];
/// So much must be lost of a burst, so that buffers were full for a good part of it.
const LOSS: f64 = 0.1;
/// So much of the variance a line explains that is one.
const STRAIGHT: f64 = 0.998;
/// Lengths of bursts as halves of the first of which so much is lost.
const HALVES: [u32; 4] = [2, 3, 4, 6];

impl Session<'_> {
    /// The buffers of a switch, as hosts see them, and as those behind other switches do.
    pub(super) fn buffers(&self, full: &Alone) -> Result<(Capacity, Option<Capacity>), Stop> {
        // Even if all of a burst goes through one port, and is received by one processor.
        let drain = self.slot(self.subject.payload).max(us(full.processor()));
        let Subject { here, behind, loses, .. } = &self.subject;
        let fits = |&(sources, sinks): &(usize, usize)| *loses && sources + sinks <= here.len();
        let cases: Vec<_> = HERE
            .into_iter()
            .filter(fits)
            .map(|(sources, sinks)| (here[sinks..sinks + sources].to_vec(), here[..sinks].to_vec()))
            .collect();
        let mut host = self.buffer(&cases, drain)?;
        // A machine that had something else to do may have less the next time.
        let is_open = |host: &Capacity| match &host.finding {
            Finding::Resolved { .. } => false,
            Finding::NotResolved { candidates } => candidates.is_empty() && host.bursts.len() > 1,
        };
        let mut tries = 1;
        while is_open(&host) && tries < self.subject.tries {
            host = self.buffer(&cases, drain)?;
            tries += 1;
        }
        let uplink = self.uplink(&host, here, behind, drain)?;
        Ok((host, uplink))
    }

    /// The buffers of a switch, by bursts between hosts of it.
    fn buffer(&self, cases: &[(Vec<Rank>, Vec<Rank>)], drain: Time) -> Result<Capacity, Stop> {
        let (bursts, overflowed) = self.all_bursts(cases, drain)?;
        let at_one: Vec<Slope> =
            bursts.iter().filter(|b| b.sinks == 1).map(Bursts::slope).collect();
        let all: Vec<Slope> = bursts.iter().map(Bursts::slope).collect();
        let finding = match classify(&at_one) {
            found @ Finding::Resolved {
                buffer: Buffer { architecture: Architecture::Input, .. },
                ..
            } => found,
            _ => classify(&all),
        };
        let truth = self.subject.truth.buffer(false);
        let found = Capacity::new((bursts, overflowed), cases.len(), finding, truth);
        Ok(Capacity { open: u32::from(!self.subject.keeps_leaving), ..found })
    }

    /// What comes by an uplink that is faster than the links of hosts.
    fn uplink(
        &self,
        host: &Capacity,
        here: &[Rank],
        behind: &[Rank],
        drain: Time,
    ) -> Result<Option<Capacity>, Stop> {
        let most = self.subject.uplink;
        // Evenly from all over the place, so that no other uplink has more than its share.
        let spread = |count: usize| (0..count).map(|i| behind[i * behind.len() / count]).collect();
        let fits = |&(sources, sinks): &(usize, usize)| {
            sources <= behind.len().min(most) && sinks <= here.len()
        };
        let cases: Vec<_> = BEHIND
            .into_iter()
            .filter(fits)
            .map(|(sources, sinks)| (spread(sources), here[..sinks].to_vec()))
            .collect();
        if cases.is_empty() || !self.subject.loses {
            return Ok(None);
        }
        let (bursts, overflowed) = self.all_bursts(&cases, drain)?;
        // They all come by one port, so that the place cannot be told from here: it is the one that
        // hosts see.
        let finding = match host.finding {
            Finding::Resolved { buffer: Buffer { architecture, .. }, .. } => {
                by_one_port(&bursts, architecture)
            }
            Finding::NotResolved { .. } => Finding::NotResolved { candidates: Vec::new() },
        };
        let truth = self.subject.truth.buffer(true);
        Ok(Some(Capacity::new((bursts, overflowed), cases.len(), finding, truth)))
    }

    /// Bursts between several groups of hosts, as far as anything was lost; and whether nodes have
    /// lost any of it.
    fn all_bursts(
        &self,
        cases: &[(Vec<Rank>, Vec<Rank>)],
        drain: Time,
    ) -> Result<(Vec<Bursts>, bool), Stop> {
        let found = self.bench.map(cases, |(sources, sinks)| {
            let (bytes, rest) = (self.subject.payload, drain * 16 + self.subject.rest);
            let (sources, sinks, bursts) = (sources.clone(), sinks.clone(), Vec::new());
            let settle = self.subject.settle;
            let mut burst = Burst { sources, sinks, bytes, bursts, settle, drain, rest };
            let found = self.bursts(&mut burst)?;
            let Burst { sources, sinks, .. } = burst;
            let (sources, sinks) = (sources.len(), sinks.len());
            self.bench.tell(format!("bursts from {sources} sources to {sinks} sinks"));
            Ok(found)
        })?;
        let overflowed = found.iter().any(|&(_, overflowed)| overflowed);
        Ok((found.into_iter().filter_map(|(bursts, _)| bursts).collect(), overflowed))
    }

    /// Bursts of lengths that tell something; `None` if nothing is lost of the longest.
    fn bursts(&self, burst: &mut Burst) -> Result<(Option<Bursts>, bool), Stop> {
        let (sources, sinks) = (burst.sources.len() as u32, burst.sinks.len() as u32);
        let mut first = 16 * sources * sinks;
        loop {
            burst.bursts = vec![first; self.subject.bursts.min(3) as usize];
            let (points, overflowed) = self.shares(burst)?;
            if points[0].1 <= 1.0 - LOSS {
                break;
            }
            first *= 2;
            if first > self.subject.longest {
                return Ok((None, overflowed));
            }
        }
        let lengths = HALVES.map(|halves| first / 2 * halves);
        burst.bursts = (0..self.subject.bursts).flat_map(|_| lengths).collect();
        let mut tries = 1;
        let (points, line, overflowed) = loop {
            let (points, overflowed) = self.shares(burst)?;
            let over: Vec<(f64, f64)> =
                points.iter().map(|&(k, rho)| (1.0 / f64::from(k), rho)).collect();
            let line = line(&over).expect("bursts of several lengths give a line");
            // What is no line was disturbed.
            if line.r_squared > STRAIGHT || tries >= self.subject.tries {
                break (points, line, overflowed);
            }
            tries += 1;
        };
        let leaving = if self.subject.keeps_leaving { sinks } else { 0 };
        Ok((Some(Bursts { sources, sinks, points, line, leaving }), overflowed))
    }

    /// The shares of bursts that come through, and whether nodes have lost any of the rest. Of a
    /// length that there is several times it is the share below which a quarter of them lies:
    /// sources that had to wait for a core have sent one after the other, and lost less.
    fn shares(&self, burst: &Burst) -> Result<(Vec<(u32, f64)>, bool), Stop> {
        let Notes { notes, overflowed, .. } = self.bench.run(burst.clone())?;
        let mut lengths = burst.bursts.clone();
        lengths.sort_unstable();
        lengths.dedup();
        let share = |&length: &u32| {
            // What each sink has noted of bursts of this length, in order.
            let of = |sink: &Rank| {
                let part = |&(rank, note): &(Rank, Note)| match note {
                    Note::Received { burst, packets } if burst == length && rank == *sink => {
                        Some(packets)
                    }
                    _ => None,
                };
                notes.iter().filter_map(part).collect::<Vec<u32>>()
            };
            let parts: Vec<Vec<u32>> = burst.sinks.iter().map(of).collect();
            let times = parts.iter().map(Vec::len).min().unwrap_or(0);
            let mut received: Vec<u32> =
                (0..times).map(|time| parts.iter().map(|part| part[time]).sum()).collect();
            received.sort_unstable();
            let quarter = received.get(times / 4).copied().unwrap_or(0);
            (length, f64::from(quarter) / f64::from(length))
        };
        Ok((lengths.iter().map(share).collect(), overflowed))
    }
}

impl Bursts {
    /// How many packets are kept: B~. Beside those that wait one may be leaving to each sink.
    pub fn frames(&self) -> f64 {
        self.line.slope + f64::from(self.leaving)
    }

    fn slope(&self) -> Slope {
        Slope { sources: self.sources, sinks: self.sinks, frames: self.frames() }
    }
}

/// What one port has, by a place that is known.
fn by_one_port(bursts: &[Bursts], architecture: Architecture) -> Finding {
    // Heads of lines block each other with several sinks.
    let told = bursts.iter().filter(|b| architecture != Architecture::Input || b.sinks == 1);
    let slopes: Vec<Slope> = told.map(|b| Slope { sources: 1, ..b.slope() }).collect();
    match classify(&slopes) {
        // At one input or shared is the same from here, and so is at the output with one sink.
        Finding::NotResolved { candidates } if candidates.contains(&architecture) => {
            let ports = |slope: &Slope| match architecture {
                Architecture::Output => f64::from(slope.sinks),
                Architecture::Input | Architecture::Shared => 1.0,
            };
            let each = slopes.iter().map(|slope| slope.frames / ports(slope));
            let (least, most) =
                each.clone().fold((f64::INFINITY, 0.0f64), |(least, most), frames| {
                    (least.min(frames), most.max(frames))
                });
            let mean = each.sum::<f64>() / slopes.len() as f64;
            let buffer = Buffer { architecture, frames: mean.round().max(1.0) as u32 };
            let error = (most - least) / 2.0 / mean;
            Finding::Resolved { buffer, error, next: f64::INFINITY }
        }
        found => found,
    }
}
