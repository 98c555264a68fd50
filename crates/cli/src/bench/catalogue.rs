//! The benchmarks there are.

use clap::builder::{PossibleValue, PossibleValuesParser};
use crosstie_lab::Preset;
use crosstie_study::Operation;
use serde::Serialize;
use toml::{Table as Toml, Value};

use crate::exit::Failure;
use crate::machine::one;

/// Something to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Benchmark {
    /// A message there and one back.
    Ping,
    /// A window of messages one way.
    Bandwidth,
    /// A window of messages both ways.
    BothWays,
    /// All other ranks send to rank 0 at once, or get what it has.
    Hotspot,
    /// All ranks send to all others.
    Exchange,
    /// A collective operation, by name.
    Collective(&'static str),
}

/// What a benchmark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Half of a round trip.
    HalfRoundTrip,
    /// The time until the last rank is done.
    Time,
    /// Payload per time, of so many messages.
    Bandwidth {
        /// Messages of an iteration.
        messages: u64,
    },
}

/// The ranks that do the work of an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Ranks {
    /// The host at the other end, point to point.
    pub peer: u32,
    /// True of real ranks, which do it more often.
    pub live: bool,
    /// True if they can read each other's memory.
    pub gets: bool,
}

/// Messages of a window, one way.
const WINDOW: u64 = 64;

/// How often a ping or a stream is repeated where it takes as long every time.
const ITERATIONS: i64 = 3;

/// How often a collective operation is done by real ranks.
const COLLECTIVE_ITERATIONS: i64 = 200;

/// Names that others know an operation by.
const ALIASES: [(&str, &str); 7] = [
    ("broadcast", "bcast"),
    ("all-gather", "allgather"),
    ("all-reduce", "allreduce"),
    ("reduce-scatter", "reduce_scatter"),
    ("exclusive-scan", "exscan"),
    ("all-to-all", "alltoall"),
    ("ping", "latency"),
];

/// Reads the name of a benchmark.
pub fn parser() -> PossibleValuesParser {
    PossibleValuesParser::new(Benchmark::all().into_iter().map(|benchmark| {
        let name = benchmark.name();
        let aliases = ALIASES.iter().filter(move |(of, _)| *of == name).map(|(_, alias)| *alias);
        PossibleValue::new(name).aliases(aliases)
    }))
}

/// The operation of a name, with its usual algorithm.
fn operation(name: &str) -> Operation {
    let all = Operation::all().into_iter();
    all.into_iter().find(|operation| operation.name() == name).expect("it declares itself")
}

/// What a complete exchange is to the rest of the laboratory.
const EXCHANGE: &str = "all-to-all";

/// The two directions of a hot spot, each with its sentence.
const DIRECTIONS: [(&str, &str); 2] = [
    ("write", "All other ranks send to rank 0 at once."),
    ("read", "All other ranks read memory of rank 0 at once; it sends where NICs serve no reads."),
];

/// Algorithms whose packets take turns.
pub const TAKES_TURNS: [&str; 3] = ["synchronous-shuffle", "group-shuffle", "modified-shuffle"];

/// The barrier whose release the network spreads.
pub const SPREAD: &str = "hardware";

impl Benchmark {
    /// All of them.
    pub fn all() -> Vec<Benchmark> {
        let names = Operation::all().map(|operation| operation.name());
        let operations = names.into_iter().map(Benchmark::Collective);
        let own = [
            Benchmark::Ping,
            Benchmark::Bandwidth,
            Benchmark::BothWays,
            Benchmark::Hotspot,
            Benchmark::Exchange,
        ];
        own.into_iter().chain(operations).collect()
    }

    /// The one of a name.
    pub fn find(name: &str) -> Option<Benchmark> {
        let known = ALIASES.iter().find(|(_, alias)| *alias == name).map_or(name, |(of, _)| *of);
        Benchmark::all().into_iter().find(|benchmark| benchmark.name() == known)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Benchmark::Ping => "ping",
            Benchmark::Bandwidth => "bw",
            Benchmark::BothWays => "bibw",
            Benchmark::Hotspot => "hotspot",
            Benchmark::Exchange => "exchange",
            Benchmark::Collective(name) => name,
        }
    }

    /// What it does, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Benchmark::Ping => "A message there and one back; the latency is half of that.",
            Benchmark::Bandwidth => "64 messages back to back, one way.",
            Benchmark::BothWays => "64 messages back to back, both ways at once.",
            Benchmark::Hotspot => "One rank against all others: what they carry together.",
            Benchmark::Exchange => "A complete exchange: what each rank sends and receives.",
            Benchmark::Collective(name) => operation(name).sentence(),
        }
    }

    /// Whether all ranks take part.
    pub fn is_collective(self) -> bool {
        matches!(self, Benchmark::Hotspot | Benchmark::Exchange | Benchmark::Collective(_))
    }

    /// Returns true if many messages are under way at once.
    pub fn is_stream(self) -> bool {
        matches!(self, Benchmark::Bandwidth | Benchmark::BothWays)
    }

    /// What it is about, among a number of ranks.
    pub fn quantity(self, ranks: u32) -> Quantity {
        match self {
            Benchmark::Ping => Quantity::HalfRoundTrip,
            Benchmark::Bandwidth => Quantity::Bandwidth { messages: WINDOW },
            Benchmark::BothWays => Quantity::Bandwidth { messages: 2 * WINDOW },
            Benchmark::Hotspot | Benchmark::Exchange => {
                Quantity::Bandwidth { messages: u64::from(ranks.saturating_sub(1)) }
            }
            Benchmark::Collective(_) => Quantity::Time,
        }
    }

    /// The smallest and the largest size it usually has; `None` where there is no size.
    pub fn sizes(self) -> Option<(u64, u64)> {
        match self {
            Benchmark::Ping | Benchmark::Bandwidth | Benchmark::BothWays => Some((1, 1 << 20)),
            Benchmark::Hotspot | Benchmark::Exchange => Some((64, 1 << 20)),
            Benchmark::Collective(name) if !operation(name).keys().contains(&"size") => None,
            Benchmark::Collective(EXCHANGE) => Some((8, 1 << 14)),
            Benchmark::Collective(_) => Some((8, 1 << 18)),
        }
    }

    /// Its algorithms, each with its sentence.
    pub fn described(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Benchmark::Exchange => Benchmark::Collective(EXCHANGE).described(),
            Benchmark::Collective(name) => (operation(name).algorithms().into_iter())
                .map(|algorithm| (algorithm.name, algorithm.sentence))
                .collect(),
            Benchmark::Hotspot => DIRECTIONS.to_vec(),
            Benchmark::Ping | Benchmark::Bandwidth | Benchmark::BothWays => Vec::new(),
        }
    }

    /// The algorithm that it takes if nobody names one.
    pub fn usual_algorithm(self) -> Option<String> {
        match self {
            Benchmark::Exchange => Benchmark::Collective(EXCHANGE).usual_algorithm(),
            Benchmark::Collective(name) => Some(operation(name).algorithm().name.to_owned()),
            Benchmark::Ping | Benchmark::Bandwidth | Benchmark::BothWays | Benchmark::Hotspot => {
                None
            }
        }
    }

    /// The algorithms that were asked for; one that is `None` is the usual one.
    pub fn algorithms(self, asked: Option<&str>) -> Result<Vec<Option<String>>, Failure> {
        let known: Vec<&str> = self.described().into_iter().map(|(name, _)| name).collect();
        // Both directions of a hot spot belong together.
        let asked = asked.or((self == Benchmark::Hotspot).then_some("all"));
        match asked {
            None => Ok(vec![None]),
            Some(_) if known.is_empty() => {
                let name = self.name();
                Err(Failure::user(format!("--algorithm: {name} has no algorithms to choose from")))
            }
            // Not every machine lets packets take turns: those algorithms are asked for by name.
            Some("all") => Ok(known
                .iter()
                .filter(|name| !TAKES_TURNS.contains(name))
                .map(|name| Some((*name).to_owned()))
                .collect()),
            Some(name) if known.contains(&name) => Ok(vec![Some(name.to_owned())]),
            Some(name) => Err(Failure::user(format!(
                "--algorithm: found `{name}`, expected all, {}",
                known.join(", ")
            ))),
        }
    }

    /// How often real ranks do it: often enough to tell the usual from the exception, and not for
    /// long.
    pub fn live_iterations(self, size: u64) -> i64 {
        match (self, size) {
            (Benchmark::Hotspot | Benchmark::Exchange | Benchmark::Collective(_), _) => {
                COLLECTIVE_ITERATIONS
            }
            (Benchmark::Ping, ..=8192) => 1000,
            (Benchmark::Ping, ..=131_072) => 200,
            (Benchmark::Ping, _) => 50,
            (Benchmark::Bandwidth | Benchmark::BothWays, ..=1024) => 200,
            (Benchmark::Bandwidth | Benchmark::BothWays, ..=65_536) => 50,
            (Benchmark::Bandwidth | Benchmark::BothWays, _) => 10,
        }
    }

    /// The work of an experiment, on the ranks of a side.
    pub fn work(self, size: u64, algorithm: Option<&str>, ranks: Ranks) -> Toml {
        let Ranks { peer, live, gets } = ranks;
        let mut keys = Toml::new();
        if self.sizes().is_some() {
            keys.insert("size".to_owned(), Value::String(format!("{size} B")));
        }
        let name = match self {
            Benchmark::Hotspot if algorithm == Some("read") && gets => "read",
            Benchmark::Hotspot => {
                keys.insert("algorithm".to_owned(), "linear".into());
                if algorithm == Some("read") { "scatter" } else { "gather" }
            }
            Benchmark::Exchange | Benchmark::Collective(_) => {
                if let Some(algorithm) = algorithm {
                    keys.insert("algorithm".to_owned(), algorithm.into());
                }
                if let Benchmark::Collective(name) = self { name } else { EXCHANGE }
            }
            Benchmark::Ping => "ping",
            Benchmark::Bandwidth | Benchmark::BothWays => {
                keys.insert("window".to_owned(), Value::Integer(WINDOW as i64));
                keys.insert("both-ways".to_owned(), (self == Benchmark::BothWays).into());
                "stream"
            }
        };
        if !self.is_collective() {
            keys.insert("to".to_owned(), i64::from(peer).into());
            let iterations = if live { self.live_iterations(size) } else { ITERATIONS };
            keys.insert("iterations".to_owned(), iterations.into());
        }
        one(name, keys)
    }
}

impl Quantity {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::HalfRoundTrip => "latency",
            Quantity::Time => "time",
            Quantity::Bandwidth { .. } => "bandwidth",
        }
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::HalfRoundTrip | Quantity::Time => "us",
            Quantity::Bandwidth { .. } => "MB/s",
        }
    }
}

/// Everything there is, for programs.
#[derive(Serialize)]
pub struct Listing {
    benchmarks: Vec<Entry>,
    presets: Vec<Described>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    sentence: &'static str,
    algorithms: Vec<Described>,
}

#[derive(Serialize)]
struct Described {
    name: &'static str,
    sentence: &'static str,
}

impl Listing {
    /// Of these benchmarks, and all presets.
    pub fn of(benchmarks: &[Benchmark]) -> Listing {
        let entry = |benchmark: &Benchmark| Entry {
            name: benchmark.name(),
            sentence: benchmark.sentence(),
            algorithms: (benchmark.described().into_iter())
                .map(|(name, sentence)| Described { name, sentence })
                .collect(),
        };
        Listing {
            benchmarks: benchmarks.iter().map(entry).collect(),
            presets: (Preset::ALL.iter())
                .map(|preset| Described { name: preset.name, sentence: preset.title })
                .collect(),
        }
    }
}
