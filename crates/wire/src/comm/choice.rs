//! Which algorithm a collective operation takes.
//!
//! All ranks must choose alike, so all that a choice depends on is agreed when they meet: their
//! machines, the rates of rails and the length of their datagrams as rank 0 knows them, and what
//! each call has in common. The model ranks the algorithms of an operation once for every power of
//! two of its length; after that a choice is looked up.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use crosstie_collective::algorithm::{AllReduce, Barrier, Broadcast};
use crosstie_collective::{Operation, Rank as Number};
use crosstie_launch::Job;
use crosstie_model::{Advice, Cluster, Cost, Messages, Parameters};
use crosstie_protocol::PolicyKind;
use crosstie_protocol::message::MessageSpec;
use crosstie_units::{Bytes, Time};

use super::collective::Needs;
use super::connect::Connected;
use super::{Comm, CommError, Options};
use crate::rail::RailError;

/// With this number of ranks per core or more, a rank that waits for a message waits until all
/// others have had their turn: the algorithm with the fewest messages is the fastest.
const CROWDED: u32 = 4;

/// From this many bytes on, ranks that share a core take what moves the fewest bytes.
const LONG: u64 = 64 << 10;

/// Algorithms of collective operations, by the names of both.
///
/// ```
/// use crosstie_wire::Algorithms;
///
/// let algorithms: Algorithms = "all-reduce=ring,broadcast=binomial".parse().unwrap();
/// assert_eq!(algorithms.of("all-reduce"), Some("ring"));
/// assert!("all-reduce=circle".parse::<Algorithms>().unwrap_err().contains("rabenseifner"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Algorithms(BTreeMap<&'static str, &'static str>);

impl Algorithms {
    /// The algorithm of an operation, if there is one for it.
    pub fn of(&self, operation: &str) -> Option<&'static str> {
        self.0.get(operation).copied()
    }
}

impl FromStr for Algorithms {
    type Err = String;

    /// Operations and their algorithms with commas between. The error says what was expected.
    fn from_str(text: &str) -> Result<Algorithms, String> {
        let mut all = BTreeMap::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let Some((operation, algorithm)) = pair.split_once('=') else {
                let example = "all-reduce=ring,broadcast=binomial";
                return Err(format!(
                    "operations and their algorithms, such as {example}, where there is `{pair}`"
                ));
            };
            let (operation, algorithm) = (operation.trim(), algorithm.trim());
            let operations = Operation::all();
            let Some(known) = operations.iter().find(|known| known.name() == operation) else {
                let names: Vec<&str> = operations.iter().map(|known| known.name()).collect();
                return Err(format!("one of {} for `{operation}`", names.join(", ")));
            };
            let algorithms = known.algorithms();
            let Some(by) = algorithms.iter().find(|by| by.name == algorithm) else {
                let names: Vec<&str> = algorithms.iter().map(|by| by.name).collect();
                return Err(format!("{operation} by one of {}", names.join(", ")));
            };
            if all.insert(known.name(), by.name).is_some() {
                return Err(format!("one algorithm of {operation}"));
            }
        }
        Ok(Algorithms(all))
    }
}

/// What is asked once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Question {
    operation: &'static str,
    /// 0, 1, or more: what keeps the order of ranks for one of these may not do so for another.
    root: u32,
    /// Lengths up to two to the power of this.
    class: u32,
    in_order: bool,
    own_lengths: bool,
}

/// Chooses algorithms.
pub(super) struct Choice {
    named: Algorithms,
    ranks: u32,
    /// True if there are too many ranks per core for anything but the fewest messages.
    crowded: bool,
    reach: Reach,
    advice: RefCell<Advice>,
    known: RefCell<HashMap<Question, Operation>>,
}

/// How ranks reach each other.
struct Reach {
    machines: Vec<usize>,
    policy: PolicyKind,
    messages: MessageSpec,
    /// Bytes that a datagram of each rail carries, about.
    payload: Vec<u64>,
}

/// Bytes per second of a rail of unknown rate.
const USUAL: u64 = 1_250_000_000;

/// Bytes of an envelope.
const ENVELOPE: u64 = crate::envelope::ENVELOPE as u64;

/// Bytes of Ethernet, IP and UDP around those of a datagram.
const AROUND: u64 = 66;

impl Choice {
    /// The same for all ranks of a job. Rates of rails are those that the system of rank 0 says
    /// they have.
    pub fn agreed(
        job: &mut Job,
        options: &Options,
        connected: &Connected,
    ) -> Result<Choice, CommError> {
        let Connected { engine, machines, ranks_per_core, .. } = connected;
        let crowded = *ranks_per_core >= CROWDED;
        let rails = engine.statistics();
        let mut told: Vec<(u64, u64)> = Vec::new();
        if !rails.is_empty() {
            let mine = rails.iter().map(|rail| format!("{} {}", nominal(&rail.name), rail.longest));
            let mine = mine.collect::<Vec<_>>().join("\n");
            let text = String::from_utf8(job.broadcast(mine.as_bytes())?).unwrap_or_default();
            let read = |line: &str| {
                let (rate, payload) = line.split_once(' ')?;
                Some((rate.parse().ok()?, payload.parse().ok()?))
            };
            let read = text.lines().map(read).collect::<Option<Vec<_>>>();
            let fits = read.filter(|read| read.len() == rails.len());
            told = fits.ok_or(RailError::Odd { rank: 0 })?;
        }
        let (rates, payload): (Vec<u64>, Vec<u64>) = told.into_iter().unzip();
        let reach = Reach {
            machines: machines.clone(),
            policy: options.policy,
            messages: options.profile().message,
            payload,
        };
        Ok(Choice::new(options.algorithms.clone(), reach, crowded, &rates))
    }

    fn new(named: Algorithms, reach: Reach, crowded: bool, rates: &[u64]) -> Choice {
        Choice {
            named,
            ranks: reach.machines.len() as u32,
            crowded,
            advice: RefCell::new(reach.advice(rates)),
            reach,
            known: RefCell::default(),
        }
    }

    /// Rails have other rates than was known.
    fn learn(&self, rates: &[u64]) {
        *self.advice.borrow_mut() = self.reach.advice(rates);
        self.known.borrow_mut().clear();
    }

    /// The operation by the algorithm that all ranks choose for it.
    pub fn choose(&self, asked: &Operation, needs: &Needs) -> Operation {
        let root = asked.root().unwrap_or(0);
        let question = Question {
            operation: asked.name(),
            root: root.min(2),
            class: u64::BITS - needs.bytes.saturating_sub(1).leading_zeros(),
            in_order: needs.in_order,
            own_lengths: needs.own_lengths,
        };
        let mut known = self.known.borrow_mut();
        let chosen = known.entry(question).or_insert_with(|| self.decide(asked, root, &question));
        with_segments(chosen.asked(root, Bytes::new(needs.bytes.max(1))), needs.bytes)
    }

    fn decide(&self, asked: &Operation, root: u32, question: &Question) -> Operation {
        let size = 1 << question.class.min(40);
        let able: Vec<Operation> = Operation::by_every_algorithm(root, Bytes::new(size), None)
            .into_iter()
            .filter(|by| by.name() == asked.name())
            .map(|by| with_segments(by, size))
            .filter(|by| !question.in_order || by.check_order(self.ranks).is_ok())
            .filter(|by| !question.own_lengths || by.check_own_lengths().is_ok())
            // Some permutations do not fit some numbers of ranks.
            .filter(|by| by.program(self.ranks, Number(0)).is_ok())
            .collect();
        let named = self.named.of(asked.name());
        let by_name = able.iter().find(|by| Some(by.algorithm().name) == named);
        let few = |by: &&Operation| match by {
            Operation::Barrier { algorithm } => *algorithm == Barrier::Linear {},
            Operation::AllReduce { algorithm, .. } => {
                size < LONG && *algorithm == AllReduce::Linear {}
            }
            _ => false,
        };
        let by_few = able.iter().find(few).filter(|_| self.crowded);
        let mut advice = self.advice.borrow_mut();
        let advised = || {
            let timed = able.iter().filter_map(|by| Some((advice.time(by)?, by)));
            timed.min_by_key(|(time, _)| *time).map(|(_, by)| by)
        };
        *by_name.or(by_few).or_else(advised).unwrap_or(asked)
    }
}

/// Most segments that a vector is cut into.
const SEGMENTS: u64 = 4096;

/// The same with longer segments, where there would be very many.
fn with_segments(mut operation: Operation, bytes: u64) -> Operation {
    if let Operation::Broadcast {
        algorithm: Broadcast::Chain { segment } | Broadcast::SegmentedBinomial { segment },
        ..
    } = &mut operation
    {
        *segment = Broadcast::SEGMENT.max(Bytes::new(bytes.div_ceil(SEGMENTS)));
    }
    operation
}

/// Bytes per second of a rail as its system says, or 0 if it does not.
fn nominal(device: &str) -> u64 {
    if device.contains('/') {
        return 0;
    }
    let text = std::fs::read_to_string(format!("/sys/class/net/{device}/speed")).ok();
    let megabits = text.and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
    // Far above what there is.
    megabits.clamp(0, 100_000_000) as u64 * 125_000
}

impl Reach {
    fn advice(&self, rates: &[u64]) -> Advice {
        // What a rank takes to combine a byte.
        let combine = Time::from_ps(250);
        Advice::new(&self.machines, [self.memory(), self.rails(rates)], combine)
    }

    /// Ranks of one machine: a message is one copy, by its receiver.
    fn memory(&self) -> Cluster {
        let ns = |ns| Cost::fixed(Time::from_ns(ns));
        let parameters = Parameters {
            packet: Bytes::new(1 << 30),
            send: ns(100),
            send_gap: ns(50),
            latency: ns(150),
            receive_gap: ns(50),
            receive: Cost {
                fixed: Time::from_ns(100),
                byte: Time::from_ps(100),
                ..Cost::default()
            },
            ..Parameters::default()
        };
        Cluster::of_rails([parameters])
    }

    /// Rails of these rates in bytes per second; 0 if unknown.
    fn rails(&self, rates: &[u64]) -> Cluster {
        let rail = |(&rate, &payload): (&u64, &u64)| {
            let rate = if rate == 0 { USUAL } else { rate };
            let byte = Time::from_ps((1_000_000_000_000 / rate).max(1));
            let gap = Cost { fixed: byte * AROUND, byte, ..Cost::default() };
            let host = Cost { fixed: Time::from_ns(400), ..Cost::default() };
            Parameters {
                packet: Bytes::new(payload.max(1)),
                send: host,
                send_gap: gap,
                latency: Cost { fixed: Time::from_ns(2500) + gap.fixed, ..gap },
                receive_gap: gap,
                receive: host,
                ..Parameters::default()
            }
        };
        if rates.is_empty() {
            return self.memory();
        }
        let messages = Some(Messages { spec: self.messages, header: ENVELOPE });
        let rails = Cluster::of_rails(rates.iter().zip(&self.payload).map(rail));
        Cluster { policy: self.policy, messages, ..rails }
    }
}

impl Comm {
    /// Lets all ranks choose algorithms of collective operations by the rates that rank 0 has
    /// measured of its rails, instead of those that its system says they have. A collective
    /// operation: all ranks must call it, best after some long messages.
    pub fn agree_on_rates(&self) -> Result<(), CommError> {
        let rails = self.statistics();
        let rate = |rail: &crate::RailStatistics| match rail.rate {
            Some(rate) => rate as u64,
            None => nominal(&rail.name),
        };
        let mut rates: Vec<u64> = rails.iter().map(rate).collect();
        self.broadcast(0, &mut rates)?;
        if !rates.is_empty() {
            self.choice.learn(&rates);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
