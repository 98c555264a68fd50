//! The communication parameters of a machine, measured as on a real one [tam, app. A].
//!
//! [`probe()`] runs the microbenchmarks of [`work`](crosstie_work::probe) on the machine of a spec,
//! [`probe_live`] on real ranks with raw endpoints, and both fit parameters to what they say. It
//! looks at nothing but the clocks and counters of processes, the rate of links and the size of the
//! ring, which are inputs of the thesis's algorithms too, and at which host is on which switch.
//! What the spec says beside that is put next to each result as the truth.
//!
//! | parameter | from | where it cannot be seen |
//! |---|---|---|
//! | O_s | 8 packets written one after the other | |
//! | g_s | what 512 further packets take, where the ring is full | O_s is no shorter: g_r instead |
//! | O_r | how much longer a segment of a computation takes when a packet comes | O_r <= 2 U_r, or nothing interrupts: 0, and U_r has both |
//! | U_r | receiving a packet that is there | |
//! | g_r | a flood | packets can come faster than O_r + U_r, so that the processor falls behind; or there are too few senders: g_s instead |
//! | L | RTT / 2 less the rest, for more and more pairs in step | |
//! | B_L | bursts | the buffers hold all that is sent |
//!
//! A transmit ring without an end is given one for the time of the measurement, as every real one
//! has: what a NIC takes does not depend on it. Costs are fitted over lengths of packets as
//! processes see them; what NICs add is in the fixed part. Frames are padded to their least length,
//! so gaps and L are fitted to longer ones. What only one of several lengths tells is no function,
//! and not resolved.

mod bench;
mod buffer;
mod cost;
mod file;
mod live;
mod simulated;
mod subject;
#[cfg(test)]
mod tests;
mod truth;

pub use buffer::{Bursts, Capacity};
pub use cost::{Fit, Measured, Sample};
pub use live::{LiveProbe, Target, probe_live};
pub use simulated::probe;

use crate::LabError;
use bench::{Bench, Notes, Stop};
use cost::deciles;
pub use crosstie_model::fit::Finding;
use crosstie_model::fit::{Term, trimmed_mean};
use crosstie_model::{Cost, Parameters};
use crosstie_units::{Bytes, Time};
use crosstie_work::probe::{Inflow, Pairs, ReceiveOverhead, TransmitRing};
use crosstie_work::{Note, Rank};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use subject::Subject;

/// How to probe.
#[derive(Clone, Copy)]
pub struct ProbeOptions<'a> {
    /// How often round trips and receptions are timed: [`ITERATIONS`](ProbeOptions::ITERATIONS),
    /// or more.
    pub iterations: u32,
    /// How many runs at a time.
    pub threads: NonZeroUsize,
    /// Once set, it is given up.
    pub cancel: &'a AtomicBool,
}

impl ProbeOptions<'_> {
    /// As often as in the thesis.
    pub const ITERATIONS: u32 = 200;
}

/// What a machine was found to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// How many nodes it has.
    pub nodes: u32,
    /// The parameters, as a model takes them. What was not resolved is a bound, or what stands for
    /// it.
    pub parameters: Parameters,
    /// O_s, g_s, L, g_r, O_r, U_r: what was measured and how well it fits.
    pub costs: Vec<Measured>,
    /// B_L at the ports of hosts.
    pub buffer: Capacity,
    /// The same for what comes from other switches, if there are any.
    pub uplink: Option<Capacity>,
    /// The parameters that follow from the spec, where it is one of Ethernet. There is no jitter
    /// in them, and no forwarding engine that pairs share.
    pub truth: Option<Parameters>,
}

impl Probe {
    /// What stands in the parameters for a cost that was not resolved: another by its symbol, or 0.
    pub fn stand_in(&self, cost: &Measured) -> Option<&'static str> {
        cost.fit.as_ref().err()?;
        let found = |symbol: &&str| {
            self.costs.iter().any(|cost| cost.symbol == *symbol && cost.fit.is_ok())
        };
        match cost.symbol {
            "g_s" | "g_r" => ["g_s", "g_r", "O_s"].into_iter().find(found).or(Some("0")),
            _ => Some("0"),
        }
    }
}

/// The numbers of bytes that packets have, as far as they fit in one.
const SIZES: [u32; 5] = [1, 64, 256, 512, 1024];
/// The most packets of a transmit ring that are timed together, and how often.
const MOST_WRITTEN: u32 = 1024;
const ROUNDS: u32 = 5;
/// What a ring holds if it has no end.
const RING: u32 = 32;
/// The most senders of a flood, and packets of each.
const FLOOD: (u32, u32) = (15, 200);
/// How long a segment of a computation is.
const SEGMENT: Time = Time::from_ns(2_000);
/// So much longer must a gap be than what would hide it.
const CLEAR: f64 = 1.05;

/// A machine on the bench.
struct Session<'a> {
    bench: Bench<'a>,
    subject: Subject<'a>,
}

/// What packets of one length take of nodes.
struct Alone {
    bytes: u32,
    send: Sample,
    send_gap: Sample,
    receive: Sample,
    pickup: Sample,
    /// In microseconds.
    rtt: f64,
}

impl Alone {
    /// What a packet takes of the processor of its receiver.
    fn processor(&self) -> f64 {
        self.receive.value + self.pickup.value
    }
}

impl Session<'_> {
    /// What the machine was found to be; `None` if it was cancelled.
    fn found(&self) -> Result<Option<Probe>, LabError> {
        match self.probe() {
            Ok(probe) => Ok(Some(probe)),
            Err(Stop::Cancelled) => Ok(None),
            Err(Stop::Failed(error)) => Err(*error),
        }
    }

    fn probe(&self) -> Result<Probe, Stop> {
        let sizes = self.sizes();
        let alone = self.bench.map(&sizes, |&bytes| self.alone(bytes))?;
        let receive_gap = self.bench.map(&alone, |alone| self.inflow(alone))?;
        let latency = self.latency(&alone)?;
        let (buffer, uplink) = self.buffers(alone.last().expect("there is a full packet"))?;
        let of = |of: fn(&Alone) -> &Sample| alone.iter().map(|alone| of(alone).clone()).collect();
        let line = |symbol, key, samples| Measured::new(symbol, key, samples, &Term::ALL[..2]);
        let costs = vec![
            line("O_s", "send", of(|alone| &alone.send)),
            line("g_s", "send-gap", of(|alone| &alone.send_gap)),
            Measured::new("L", "latency", latency, &Term::ALL),
            line("g_r", "receive-gap", receive_gap),
            line("O_r", "receive", of(|alone| &alone.receive)),
            line("U_r", "pickup", of(|alone| &alone.pickup)),
        ];
        let found = |place: usize| costs[place].fit.as_ref().ok().map(|fit| fit.cost);
        let none = Cost::default();
        let gap = found(1).or(found(3)).or(found(0)).unwrap_or(none);
        let parameters = Parameters {
            packet: Bytes::new(self.subject.payload.into()),
            least: Bytes::new(self.subject.least.into()),
            send: found(0).unwrap_or(none),
            send_gap: gap,
            latency: found(2).unwrap_or(none),
            receive_gap: found(3).unwrap_or(gap),
            receive: found(4).unwrap_or(none),
            pickup: found(5).unwrap_or(none),
            copy: None,
            buffer: match buffer.finding {
                Finding::Resolved { buffer, .. } => Some(buffer),
                Finding::NotResolved { .. } => None,
            },
            uplink: None,
        };
        let (nodes, truth) = (self.hosts(), self.subject.truth.parameters());
        Ok(Probe { nodes, parameters, costs, buffer, uplink, truth })
    }

    fn sizes(&self) -> Vec<u32> {
        let payload = self.subject.payload;
        SIZES.into_iter().filter(|&bytes| bytes < payload).chain([payload]).collect()
    }

    fn hosts(&self) -> u32 {
        self.subject.hosts
    }

    /// The host across the bisection.
    fn far(&self) -> Rank {
        Rank(self.hosts() / 2)
    }

    /// What a packet of so many bytes takes on the link of a host.
    fn slot(&self, bytes: u32) -> Time {
        (self.subject.slot)(bytes)
    }

    /// What timings say, with their spread where they are real.
    fn sample(&self, bytes: u32, nodes: u32, timings: &[f64], truth: Option<f64>) -> Sample {
        let mut sample = Sample::new(bytes, nodes, timings, truth);
        if self.subject.live {
            sample.spread = deciles(timings);
        }
        sample
    }

    fn alone(&self, bytes: u32) -> Result<Alone, Stop> {
        let [rtt, pickup, kept, noise] = self.reception(bytes)?;
        let mut receive = self.sample(bytes, 2, &kept, self.subject.truth.receive(bytes));
        receive.discarded = noise.len();
        if kept.is_empty() {
            receive.left_out = Some("nothing was seen of it between 2 U_r and RTT / 2");
        } else if self.subject.live && kept.len() < noise.len() {
            // What is seen now and then is something else.
            receive.left_out = Some("few segments were longer, as by chance");
            receive.value = 0.0;
        }
        let mut pickup = self.sample(bytes, 2, &pickup, self.subject.truth.pickup(bytes));
        let rtt = trimmed_mean(&rtt).unwrap_or(0.0);
        if self.subject.live && 2.0 * pickup.value > rtt {
            pickup.left_out = Some("the echo was not there after 2 RTT");
        }
        // The ring drains, and whoever receives it is ready for more.
        let drain = us(receive.value + pickup.value).max(self.slot(bytes)) * 2;
        let (send, send_gap) = self.transmit(bytes, drain)?;
        self.bench.tell(format!("O_s, g_s, O_r and U_r for {bytes} B"));
        Ok(Alone { bytes, send, send_gap, receive, pickup, rtt })
    }

    /// O_s and g_s.
    fn transmit(&self, bytes: u32, drain: Time) -> Result<(Sample, Sample), Stop> {
        let ring = self.subject.ring;
        // A neighbour, so that nothing else is in the way.
        let (from, to) = (Rank(0), Rank(1));
        let most = self.subject.written.max((8 * ring).next_power_of_two());
        let long = TransmitRing { from, to, bytes, ring, most, rounds: self.subject.rounds, drain };
        let took = |notes: &[(Rank, Note)], count: u32| -> Vec<f64> {
            let took = |&(_, note): &(Rank, Note)| match note {
                Note::Written { packets, took } if packets == count => Some(took.seconds() * 1e6),
                _ => None,
            };
            notes.iter().filter_map(took).collect()
        };
        let Notes { notes: written, filled, .. } = self.bench.run(long)?;
        let counts: Vec<u32> = long.counts().collect();
        let &[.., half, all] = &counts[..] else { unreachable!("8 and 16 are always among them") };
        let (least, most) = (took(&written, half), took(&written, all));
        let further = |(least, most): (&f64, &f64)| (most - least) / f64::from(all - half);
        let gaps: Vec<f64> = least.iter().zip(&most).map(further).collect();
        // O_s is seen of a ring that is empty, and its NIC may be slower than everything behind it.
        let drain = drain.max(us(trimmed_mean(&gaps).unwrap_or(0.0)) * 2);
        let short = TransmitRing { most: 8, rounds: self.iterations(), drain, ..long };
        let written = self.bench.run(short)?.notes;
        let each: Vec<f64> = took(&written, 8).iter().map(|took| took / 8.0).collect();
        let send = self.sample(bytes, 2, &each, self.subject.truth.send(bytes));
        let mut gap = self.sample(bytes, 2, &gaps, self.subject.truth.send_gap(bytes));
        if !filled {
            gap.left_out = Some("the ring was never full");
        } else if gap.value < CLEAR * send.value {
            gap.left_out = Some("O_s hides it");
        } else if bytes < self.subject.least {
            gap.left_out = Some(PADDED);
        }
        Ok((send, gap))
    }

    fn iterations(&self) -> u32 {
        self.bench.options.iterations.max(1)
    }

    /// Round trips, pick-ups, receptions, and what was taken for noise, in microseconds.
    fn reception(&self, bytes: u32) -> Result<[Vec<f64>; 4], Stop> {
        let (master, slave, iterations) = (Rank(0), self.far(), self.iterations());
        let (segment, idle) = (SEGMENT, self.subject.live);
        let probe = ReceiveOverhead { master, slave, bytes, iterations, segment, idle };
        let mut found = [const { Vec::new() }; 4];
        for (_, note) in self.bench.run(probe)?.notes {
            let (place, took) = match note {
                Note::RoundTrip { took } => (0, took),
                Note::PickedUp { took } => (1, took),
                Note::Stolen { took, kept: true } => (2, took),
                Note::Stolen { took, kept: false } => (3, took),
                Note::Written { .. } | Note::Arrived { .. } | Note::Received { .. } => continue,
            };
            found[place].push(took.seconds() * 1e6);
        }
        Ok(found)
    }

    /// g_r.
    fn inflow(&self, alone: &Alone) -> Result<Sample, Stop> {
        let bytes = alone.bytes;
        let receiver = Rank(self.hosts() - 1);
        let (most, packets) = self.subject.flood;
        let processor = alone.processor();
        let sender = alone.send_gap.value.max(alone.send.value);
        let slot = us(sender.max(processor));
        let senders: Vec<Rank> = (0..receiver.0.min(most)).map(Rank).collect();
        let (count, all) = (senders.len() as f64, u64::from(packets) * senders.len() as u64);
        // Real senders need the cores of the receiver while they begin.
        let begin = if self.subject.live { slot * u64::from(packets / 6) } else { Time::ZERO };
        let rise = us(4.0 * alone.rtt).max(begin);
        let probe = Inflow {
            senders,
            receiver,
            bytes,
            packets,
            settle: self.subject.settle,
            rise,
            window: slot * u64::from(packets / 2),
            every: slot * 2 * all + us(8.0 * alone.rtt),
            rounds: self.subject.rounds,
        };
        let gap = |(_, note)| match note {
            Note::Arrived { packets, took } if packets > 1 => {
                Some(took.seconds() * 1e6 / f64::from(packets - 1))
            }
            _ => None,
        };
        let gaps: Vec<f64> = self.bench.run(probe)?.notes.into_iter().filter_map(gap).collect();
        self.bench.tell(format!("g_r for {bytes} B"));
        let mut sample = self.sample(bytes, 2, &gaps, self.subject.truth.receive_gap(bytes));
        // A processor that is interrupted faster than it can pick up falls behind, by how much
        // depends on both.
        let fastest = (self.slot(bytes).seconds() * 1e6).max(sender / count);
        if sample.value.min(fastest) < CLEAR * processor {
            sample.left_out = Some("O_r + U_r hides it");
        } else if sample.value < CLEAR * sender / count {
            sample.left_out = Some("there are too few senders for a flood");
        } else if bytes < self.subject.least {
            sample.left_out = Some(PADDED);
        }
        Ok(sample)
    }

    /// L, for packets of all lengths and more and more pairs.
    fn latency(&self, alone: &[Alone]) -> Result<Vec<Sample>, Stop> {
        let half = self.hosts() / 2;
        let most = half.min(self.subject.pairs);
        // Where O_r is never seen it is in U_r; where it is seen of some only, it is missing from
        // the rest of the others. On a real clock one length alone may be chance.
        let least = if self.subject.live { 2 } else { 1 };
        let seen = alone.iter().filter(|alone| alone.receive.left_out.is_none()).count() >= least;
        let doubled = std::iter::successors(Some(1u32), |count| count.checked_mul(2));
        let counts: Vec<u32> = doubled.take_while(|&count| count < most).chain([most]).collect();
        let cases: Vec<(&Alone, u32)> = alone
            .iter()
            .flat_map(|alone| counts.iter().map(move |&count| (alone, count)))
            .collect();
        self.bench.map(&cases, |&(alone, count)| {
            let Alone { bytes, send, receive, pickup, rtt, .. } = alone;
            let probe = Pairs {
                pairs: (0..count).map(|left| (Rank(left), Rank(half + left))).collect(),
                bytes: *bytes,
                iterations: self.iterations(),
                every: Some(us(2.0 * rtt) + self.slot(*bytes) * u64::from(count)),
            };
            let receive_value = if seen { receive.value } else { 0.0 };
            let rest = send.value + receive_value + pickup.value;
            let latency = |(_, note)| match note {
                Note::RoundTrip { took } => Some(took.seconds() * 5e5 - rest),
                _ => None,
            };
            let notes = self.bench.run(probe)?.notes;
            let found: Vec<f64> = notes.into_iter().filter_map(latency).collect();
            self.bench.tell(format!("L for {bytes} B between {count} pairs"));
            let truth = self.subject.truth.latency(*bytes, count);
            let mut sample = self.sample(*bytes, 2 * count, &found, truth);
            if *bytes < self.subject.least {
                sample.left_out = Some(PADDED);
            } else if sample.value <= 0.0 {
                sample.left_out = Some("the rest takes longer than half of a round trip");
            } else if seen && receive.left_out.is_some() {
                sample.left_out = Some("its O_r was not seen");
            }
            Ok(sample)
        })
    }
}

/// Why a short frame is not fitted.
const PADDED: &str = "its frame is padded";

fn us(us: f64) -> Time {
    Time::from_ps((us * 1e6).ceil() as u64)
}
