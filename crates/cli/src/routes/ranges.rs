//! Ranges of hosts, and the certificate of packets to them in words.

use std::fmt;
use std::str::FromStr;

use crosstie_fabric::{Fabric, HostId};
use crosstie_routing::{HostRange, RangeCertificate, Routing, Taking, Turn, certify_ranges};
use serde::Serialize;

use crate::exit::Failure;

/// The ranges of hosts that are asked for, as in `0..7,3..5` or `all`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranges {
    All,
    These(Vec<HostRange>),
}

/// The most hosts of which all ranges are followed, from every host.
const MOST_HOSTS: usize = 64;

/// The most packets that are followed: from every host to every range.
const MOST_SPREADS: usize = 1 << 18;

impl FromStr for Ranges {
    type Err = String;

    fn from_str(text: &str) -> Result<Ranges, String> {
        if text == "all" {
            return Ok(Ranges::All);
        }
        let range = |part: &str| {
            let (first, last) = part.split_once("..")?;
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(HostRange { first: HostId(first), last: HostId(last) })
        };
        let ranges: Option<Vec<HostRange>> = text.split(',').map(range).collect();
        ranges.map(Ranges::These).ok_or_else(|| {
            "expected `all`, or ranges of hosts such as 0..7,3..5, which include both ends"
                .to_owned()
        })
    }
}

impl Ranges {
    /// The ranges on a network.
    fn on(&self, fabric: &Fabric) -> Result<Vec<HostRange>, Failure> {
        let (name, hosts) = (fabric.name(), fabric.hosts().len());
        let ranges = match self {
            Ranges::All if hosts > MOST_HOSTS => {
                return Err(Failure::user(format!(
                    "{name} has {hosts} hosts; all ranges are followed of at most {MOST_HOSTS}: \
                     name some, as in --ranges 0..{}",
                    hosts - 1
                )));
            }
            Ranges::All => {
                let range = |first, last| HostRange { first: HostId(first), last: HostId(last) };
                let hosts = hosts as u32;
                (0..hosts).flat_map(|a| (a + 1..hosts).map(move |b| range(a, b))).collect()
            }
            Ranges::These(ranges) => ranges.clone(),
        };
        if let Some(range) = ranges.iter().find(|range| range.last.0 as usize >= hosts) {
            return Err(Failure::user(format!(
                "{name} has hosts 0 to {}, --ranges asks for {}..{}",
                hosts - 1,
                range.first.0,
                range.last.0
            )));
        }
        if ranges.len() * hosts > MOST_SPREADS {
            return Err(Failure::user(format!(
                "{} ranges from each of {hosts} hosts are more than {MOST_SPREADS} packets: name \
                 fewer",
                ranges.len()
            )));
        }
        Ok(ranges)
    }
}

/// The proof that packets to ranges of hosts cannot deadlock, or the cycle along which they can.
#[derive(Debug, Serialize)]
pub struct RangeProof {
    deadlock_free: bool,
    /// How many ranges, each from every host.
    ranges: usize,
    /// How many are in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<usize>,
    /// Turns each of which waits for the next, and the last for the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cycle: Vec<String>,
}

impl RangeProof {
    /// Follows all routes and all ways to the ranges, and looks for an order of the turns.
    pub fn find(
        fabric: &Fabric,
        routes: &dyn Routing,
        ranges: &Ranges,
    ) -> Result<RangeProof, Failure> {
        let ranges = ranges.on(fabric)?;
        let count = ranges.len();
        let found =
            certify_ranges(fabric, routes, ranges, Taking::AtOnce).map_err(Failure::user)?;
        let deadlock_free = found.is_deadlock_free();
        let (turns, cycle) = match found {
            RangeCertificate::DeadlockFree { order } => (Some(order.len()), Vec::new()),
            RangeCertificate::Cycle { cycle } => {
                (None, cycle.into_iter().map(|turn| words(fabric, turn)).collect())
            }
        };
        Ok(RangeProof { deadlock_free, ranges: count, turns, cycle })
    }

    /// Returns true if packets to the ranges are proved free of deadlock.
    pub fn is_deadlock_free(&self) -> bool {
        self.deadlock_free
    }
}

/// What a packet holds, and by which channel it came.
fn words(fabric: &Fabric, turn: Turn) -> String {
    let holds = fabric.describe(turn.holds);
    match turn.came_by {
        Some(came_by) => format!("{holds}, having come by {}", fabric.describe(came_by)),
        None => holds,
    }
}

impl fmt::Display for RangeProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = match self.ranges {
            1 => "1 range".to_owned(),
            ranges => format!("{ranges} ranges"),
        };
        if let Some(turns) = self.turns {
            return writeln!(
                f,
                "  deadlock-free: {ranges} from every host, order of {turns} turns"
            );
        }
        writeln!(f, "  can deadlock: {ranges}, packets wait for each other in a circle")?;
        for turn in &self.cycle {
            writeln!(f, "    {turn}")?;
        }
        writeln!(f, "    and again from the first")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_routing::{Shortest, TreeAdaptive};

    #[test]
    fn ranges_are_read() {
        let range = |first, last| HostRange { first: HostId(first), last: HostId(last) };
        assert_eq!("all".parse(), Ok(Ranges::All));
        let these = Ranges::These(vec![range(0, 7), range(3, 3)]);
        assert_eq!("0..7, 3..3".parse(), Ok(these));
        for wrong in ["", "7", "3..1", "0..x", "0..7,", "-1..2", "0..4294967296"] {
            let error = wrong.parse::<Ranges>().unwrap_err();
            assert!(error.contains("such as 0..7,3..5"), "{error}");
        }
    }

    #[test]
    fn all_ranges_of_a_tree_certify() {
        let tree = crosstie_fabric::tree(2, 3).unwrap();
        let routes = TreeAdaptive::new(&tree).unwrap();
        let proof = RangeProof::find(&tree, &routes, &Ranges::All).unwrap();
        assert!(proof.is_deadlock_free());
        let text = proof.to_string();
        assert!(
            text.starts_with("  deadlock-free: 28 ranges from every host, order of "),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let tree = crosstie_fabric::tree(2, 3).unwrap();
        let large = crosstie_fabric::tree(4, 4).unwrap();
        let refusal = |fabric: &Fabric, routes: &dyn Routing, ranges: &str| match RangeProof::find(
            fabric,
            routes,
            &ranges.parse().unwrap(),
        ) {
            Err(Failure::User(text)) => text,
            other => panic!("{other:?}"),
        };
        let routes = TreeAdaptive::new(&tree).unwrap();
        let beyond = refusal(&tree, &routes, "0..7,1..8");
        assert!(beyond.contains("hosts 0 to 7, --ranges asks for 1..8"), "{beyond}");
        let many = refusal(&large, &TreeAdaptive::new(&large).unwrap(), "all");
        assert!(many.contains("as in --ranges 0..255"), "{many}");
        let no_ways = refusal(&tree, &Shortest::new(&tree), "0..3");
        assert!(no_ways.contains("`tree-adaptive` and `tree-det"), "{no_ways}");
    }

    #[test]
    fn a_cycle_is_shown_turn_by_turn() {
        let tree = crosstie_fabric::tree(2, 2).unwrap();
        let routes = TreeAdaptive::new(&tree).unwrap();
        let all = Ranges::All.on(&tree).unwrap();
        let RangeCertificate::Cycle { cycle } =
            certify_ranges(&tree, &routes, all, Taking::OneByOne).unwrap()
        else {
            panic!("forks that take outputs one by one wait for each other");
        };
        let cycle = cycle.into_iter().map(|turn| words(&tree, turn)).collect();
        let proof = RangeProof { deadlock_free: false, ranges: 6, turns: None, cycle };
        let text = proof.to_string();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(text.matches(", having come by ").count(), 2, "{text}");
    }
}
