//! Claims that are arithmetic: the formulas of chapters 5 and 6, evaluated.

use super::super::EXCHANGE;
use super::{HIERARCHIES, Hierarchy, UPLINK};
use crate::paper::numbers;
use crosstie_collective::algorithm::{AllToAll, Pairs, Permutation};
use crosstie_collective::{
    Collective, Counting, Op, Operation, Rank, Reading, Step, global_window,
};
use crosstie_study::paper::{Estimate, Measured, Truth};
use crosstie_units::Bytes;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What the chapters publish, by claim.
static PUBLISHED: LazyLock<BTreeMap<String, f64>> = LazyLock::new(|| numbers(&EXCHANGE));

fn published(id: &str) -> f64 {
    *PUBLISHED.get(id).unwrap_or_else(|| panic!("no claim `{id}` has a number"))
}

/// What a cluster takes for a full packet, in us.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    /// O_s + O_r + U_r.
    pub ends: f64,
    /// g.
    pub gap: f64,
    /// L.
    pub latency: f64,
}

impl Cluster {
    /// Table 5.2 for p nodes on the IBM 8275-326 or the IBM 8275-416.
    pub fn of_table_5_2(switch: &str, nodes: u32) -> Cluster {
        let value = |what: &str| published(&format!("t5.2.{what}"));
        let latency = |what: &str| value(&format!("L{switch}.{what}"));
        Cluster {
            ends: value("O_s") + value("O_r") + value("U_r"),
            gap: value("g_s").max(value("g_r")),
            latency: latency("slope") * f64::from(nodes) + latency("const"),
        }
    }

    /// T_w: what a round takes beside its packets.
    fn wait(self) -> f64 {
        self.ends + self.latency - self.gap
    }

    /// Eqs. 5.1 to 5.4: the time of an exchange of k packets with each of p - 1 nodes.
    pub fn time(self, packets: u32, nodes: u32, rounds: u32) -> f64 {
        let packets = f64::from(packets) * f64::from(nodes - 1);
        packets * self.gap + f64::from(rounds) * self.wait()
    }
}

/// Rounds of an exchange among an even number of nodes.
pub(super) fn rounds(algorithm: &str, nodes: u32, group: u32) -> Option<u32> {
    Some(match algorithm {
        "sync" | "synchronous-shuffle" => 1,
        "group" | "group-shuffle" => (nodes - 1).div_ceil(group),
        "pairwise" | "shift" => nodes - 1,
        _ => return None,
    })
}

/// The groups of chapter 5.
pub(super) fn group(nodes: u32) -> u32 {
    if nodes == 8 { 4 } else { 5 }
}

/// Eq. 6.4 in MB/s for a node: what a switch exchanges with others goes through its uplink both
/// ways.
pub(super) fn best(hierarchy: Hierarchy) -> f64 {
    let (nodes, here) = (f64::from(hierarchy.nodes()), f64::from(hierarchy.here));
    (nodes - 1.0) * published("ch6.uplink.capacity") / (2.0 * (nodes - here) * here)
}

/// Packets that the nodes of a switch send to others in a pass.
fn crossing(hierarchy: Hierarchy) -> f64 {
    f64::from((hierarchy.nodes() - hierarchy.here) * hierarchy.here)
}

/// Measures a claim; nothing if it is no arithmetic.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let four_by_four = Hierarchy { here: 4, switches: 4 };
    let hierarchy = |name: &str| match name {
        "4x4" | "fig6" => Some(four_by_four),
        name => Hierarchy::named(name),
    };
    let window = |hierarchy: Hierarchy, buffer, reading| {
        f64::from(global_window(hierarchy.nodes(), hierarchy.here, buffer, reading))
    };
    let mega = f64::from(1 << 20);
    let found = match words[..] {
        ["t5", "1"] => return Some(table_5_1()),
        ["t5", "1", nodes, algorithm, what] => {
            let nodes: u32 = nodes.strip_prefix('p')?.parse().ok()?;
            f64::from(cell(algorithm, nodes, what)?)
        }
        ["t5", "2", "duplex"] => Cluster::of_table_5_2("326", 16).ends,
        ["eq5", "pair", "over", "shift"] => {
            let cluster = Cluster::of_table_5_2("326", 16);
            let time = |algorithm| Some(cluster.time(64, 16, rounds(algorithm, 16, 5)?));
            time("pairwise")? / time("shift")?
        }
        ["eq5", "sync", "over", "bound"] => {
            let cluster = Cluster::of_table_5_2("326", 16);
            // Eq. 5.1 as it is printed.
            let bound = (64.0 * 15.0 - 1.0) * cluster.gap + cluster.ends + cluster.latency;
            cluster.time(64, 16, 1) / bound
        }
        ["fig5", "2", "optimal", switch, nodes] => {
            let nodes: u32 = nodes.strip_prefix('p')?.parse().ok()?;
            let time = Cluster::of_table_5_2(switch, nodes).time(64, nodes, 1);
            time / (64.0 * f64::from(nodes - 1))
        }
        ["fig5", "3", "asymptote"] => 1492.0 / published("t5.2.g_r"),
        ["fig5", "3", "best", "fraction"] => {
            published("fig5.3.best.synchronous") * published("t5.2.g_r") / 1492.0
        }
        ["fig5", "6", "sync", "KB"] => 512.0 * 1492.0 / 1024.0,
        ["fig5", "6", what, "MB"] => {
            published(&format!("fig5.6.{what}.limit")) * 15.0 * 1492.0 / mega
        }
        ["ch6", "fig6", "3", "nu"] => crossing(four_by_four) / 15.0,
        ["ch6", "fig6", "3", "Wg"] => window(four_by_four, 30, Reading::Data),
        // The window is full with the packet of the step in which the block is, and one for each
        // further step.
        ["ch6", "fig6", "3", "detect"] => window(four_by_four, 30, Reading::Data) - 1.0,
        ["ch6", "shape", "fig6", "3"] => return plain_and_mapped(),
        ["ch6", "eta", "onschedule", switch] => {
            (Cluster::of_table_5_2(switch, 16).latency / published("t5.2.g_s")).ceil()
        }
        ["ch6", name, "nu"] => {
            let hierarchy = hierarchy(name)?;
            crossing(hierarchy) / f64::from(hierarchy.nodes() - 1)
        }
        ["ch6", name, "crossing"] => crossing(hierarchy(name)?),
        ["ch6", name, "volume"] => 2.0 * crossing(hierarchy(name)?),
        ["ch6", name, "Wg", reading] => {
            let reading = match reading {
                "theory" => Reading::Data,
                "floor2" => Reading::Floor,
                _ => Reading::Published,
            };
            window(hierarchy(name)?, UPLINK, reading)
        }
        ["ch6", "Wg", "series"] => {
            let window = |hierarchy| window(hierarchy, UPLINK, Reading::Published);
            return Some(all(window));
        }
        ["ch6", "best", "series"] => return Some(all(best)),
        ["ch6", name, "best"] => best(hierarchy(name)?),
        ["ch6", "8x4", "efficiency"] => published("ch6.8x4.achieved") / published("ch6.8x4.best"),
        // Of 8x4 the thesis states what was achieved, which is measured elsewhere.
        ["ch6", name @ ("8x2" | "8x3" | "6x4"), "achieved"] => {
            let of = |what: &str| published(&format!("ch6.{name}.{what}"));
            of("efficiency") * of("best")
        }
        _ => return None,
    };
    Some(Measured::exact(found))
}

/// A number for each hierarchy, in the order of the chapter.
fn all(of: impl Fn(Hierarchy) -> f64) -> Measured {
    Measured::Series(HIERARCHIES.map(|hierarchy| Estimate::exact(of(hierarchy))).to_vec())
}

/// A cell of Table 5.1, counted in the schedule.
fn cell(algorithm: &str, nodes: u32, what: &str) -> Option<u32> {
    let rounds = rounds_of(&schedule(algorithm, nodes)?);
    Some(match what {
        "fanout" => rounds.iter().map(|round| round.len() as u32).max()?,
        "rounds" => rounds.len() as u32,
        "stalls" => rounds.len() as u32 - 1,
        _ => return None,
    })
}

/// Table 5.1 for every even number of nodes up to 32 and every size of groups, counted in schedules
/// and by its formulas.
fn table_5_1() -> Measured {
    let (mut count, mut wrong) = (0, Vec::new());
    for nodes in (2..=32).step_by(2) {
        let mut check = |name: String, exchange: AllToAll, fan_out: u32| {
            let found = rounds_of(&played(exchange, nodes));
            let widest = found.iter().map(Vec::len).max().unwrap_or(0) as u32;
            let expected = (fan_out, (nodes - 1).div_ceil(fan_out));
            count += 1;
            if (widest, found.len() as u32) != expected {
                wrong.push(format!("{name} among {nodes}"));
            }
        };
        check("synchronous".to_owned(), AllToAll::SYNCHRONOUS_SHUFFLE, nodes - 1);
        check("pairwise".to_owned(), AllToAll::PAIRWISE, 1);
        check("shift".to_owned(), AllToAll::Shift {}, 1);
        for omega in 1..nodes {
            check(format!("groups of {omega}"), groups(omega), omega);
        }
    }
    let text = match wrong.is_empty() {
        true => format!("{count} schedules among 2 to 32 nodes have these"),
        false => format!("not so: {}", wrong.join(", ")),
    };
    Measured::shape(Truth::of(wrong.is_empty()), text)
}

fn groups(omega: u32) -> AllToAll {
    AllToAll::GroupShuffle { group: omega, pairs: Pairs::EdgeColour, hosts_per_switch: None }
}

fn schedule(algorithm: &str, nodes: u32) -> Option<Collective> {
    let algorithm = match algorithm {
        "sync" => AllToAll::SYNCHRONOUS_SHUFFLE,
        "group" => groups(group(nodes)),
        "pairwise" => AllToAll::PAIRWISE,
        "shift" => AllToAll::Shift {},
        _ => return None,
    };
    Some(played(algorithm, nodes))
}

fn played(algorithm: AllToAll, nodes: u32) -> Collective {
    let exchange = Operation::AllToAll { algorithm, size: Bytes::new(1) };
    exchange.collective(nodes).expect("an exchange among an even number of ranks")
}

/// The peers to which rank 0 sends, by rounds: sends of a round wait for the same operations.
fn rounds_of(collective: &Collective) -> Vec<Vec<u32>> {
    let schedule = &collective.schedule;
    let first = Rank(0);
    let mut rounds: Vec<(usize, Vec<u32>)> = Vec::new();
    for (place, op) in schedule.ops(first).iter().enumerate() {
        let Step::Send { to, .. } = op.step else { continue };
        // Operations of rank 0 are the first of all.
        let waits = schedule.needs(place).iter().map(|need| need.op.0 as usize + 1).max();
        let waits = waits.unwrap_or(0);
        match rounds.last_mut() {
            Some((known, peers)) if *known == waits => peers.push(to.0),
            _ => rounds.push((waits, vec![to.0])),
        }
    }
    rounds.into_iter().map(|(_, peers)| peers).collect()
}

/// The peer to which each of 16 nodes at four switches sends in each step of an XOR shuffle.
fn steps(mapped: bool) -> Vec<Vec<u32>> {
    let shuffle = AllToAll::SynchronousShuffle {
        permutation: Some(Permutation::Xor),
        hosts_per_switch: mapped.then_some(4),
        window: None,
        counts: Counting::Unacknowledged,
    };
    let collective = played(shuffle, 16);
    let schedule = &collective.schedule;
    let sends = |rank: u32| {
        let ops = schedule.ops(Rank(rank)).iter();
        let to = |op: &Op| match op.step {
            Step::Send { to, .. } => Some(to.0),
            _ => None,
        };
        ops.filter_map(to).collect()
    };
    (0..16).map(sends).collect()
}

/// Section 6.2.2: from step 4 on nothing gets through to switch 3. How many packets for it others
/// add before their windows are full, and how many consecutive steps go to one other switch.
fn plain_and_mapped() -> Option<Measured> {
    let (blocked, first) = (3, 4);
    let window = global_window(16, 4, 30, Reading::Data) as usize;
    let added = |steps: &[Vec<u32>], switch: u32| -> usize {
        let of_node = |node: u32| {
            let later = steps[node as usize][first - 1..].iter();
            later.filter(|&&to| to / 4 == blocked).count().min(window)
        };
        (4 * switch..4 * switch + 4).map(of_node).sum()
    };
    let longest = |steps: &[Vec<u32>]| {
        let of_node = |(node, steps): (usize, &Vec<u32>)| {
            let mut runs = vec![0];
            let mut last = None;
            for switch in steps.iter().map(|to| to / 4) {
                if last != Some(switch) {
                    runs.push(0);
                }
                last = Some(switch);
                if switch != node as u32 / 4 {
                    *runs.last_mut().expect("there is one") += 1;
                }
            }
            runs.into_iter().max().unwrap_or(0)
        };
        steps.iter().enumerate().map(of_node).max().unwrap_or(0)
    };
    let (plain, mapped) = (steps(false), steps(true));
    let [one, zero] = [1, 0].map(|switch| added(&plain, switch));
    let runs = [&plain, &mapped].map(|steps| longest(steps));
    let holds = [one, zero] == [16, 16] && one + zero > 30 && runs == [4, 1];
    let text = format!(
        "plain: switches 1 and 0 add {one} and {zero} packets, 30 have room, and {} consecutive steps go to one other \
         switch; with the map {}",
        runs[0], runs[1]
    );
    Some(Measured::shape(Truth::of(holds), text))
}
