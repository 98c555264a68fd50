//! Which algorithm a complete exchange should take, and why.
//!
//! Every direct algorithm of the thesis is priced, with the keys that fit the machine: omega of the
//! group shuffle, and W_g and the map of the modified shuffle. The price assumes that nothing is
//! lost, so each is also asked what it may lose ([`Risk`]). Those that lose nothing stand first,
//! the fastest before the others (within 1 %, the one that bears most); then those that may, and
//! those that do, in the order of how many senders meet at a port.

mod candidates;
mod risk;

pub use risk::Risk;

use super::{Cluster, Form, PacketCosts, PredictError, as_us};
use candidates::Candidates;
use crosstie_collective::algorithm::AllToAll;
use crosstie_collective::{Counting, Window};
use crosstie_model::price::{Price, pace, price};
use crosstie_model::{Cut, Exchange, Parameters};
use crosstie_study::Operation;
use crosstie_units::{Bytes, Time};
use serde::Serialize;
use toml::{Table, Value};

/// Times that are no further apart are the same, as far as prices can tell.
const RESOLUTION: f64 = 0.01;

/// What an algorithm may cost more than one that may lose packets, and still be the first choice
/// for certain.
const SAFETY: f64 = 0.05;

/// The window between two nodes of a machine that names no channel, W_FC, as in the thesis.
pub const USUAL_WINDOW: u32 = 32;

/// An exchange to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeQuestion<'a> {
    /// The size of a block.
    pub bytes: u64,
    /// How many nodes take part: p, at least 2.
    pub nodes: u32,
    /// Packets outstanding between two nodes at most, W_FC. `None`: any number.
    pub window: Option<u32>,
    /// The only algorithm that is wanted; `None`: all there are.
    pub algorithm: Option<&'a str>,
}

/// The algorithms of an exchange, the best first. Times are microseconds in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The size of a block.
    pub size: u64,
    /// How many nodes take part: p.
    pub nodes: u32,
    /// Packets of a block: k.
    pub packets: u64,
    /// What the first of them takes.
    pub packet: PacketCosts,
    /// The least time of nodes (5.1), and of uplinks (6.4) if there are any.
    pub forms: Vec<Form>,
    /// The algorithms, the best first.
    pub ranking: Vec<Choice>,
    /// Why prices do not tell which algorithm is the fastest, if they do not: that depends on what
    /// is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<String>,
    /// What a reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// An algorithm with its keys, and what it takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The algorithm as experiment files have it.
    pub algorithm: AllToAll,
    /// Its name.
    pub name: &'static str,
    /// Partners at a time, of a group shuffle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omega: Option<u32>,
    /// The global window, if it has one.
    #[serde(rename = "W_g", skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Hosts at each switch, if consecutive steps lead to different switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_per_switch: Option<u32>,
    /// When the last node is done.
    #[serde(serialize_with = "as_us")]
    pub time: Time,
    /// What holds it up.
    pub bottleneck: Limit,
    /// What it may lose.
    pub risk: Option<Risk>,
    /// Senders whose packets may meet at a port: the fewer, the less is lost.
    #[serde(skip)]
    meeting: u32,
}

impl Choice {
    /// The names of all algorithms. The first ones bear more: a global window keeps nodes in step,
    /// and one with fewer rounds waits for less; acknowledgements of pairs ride on data.
    pub const NAMES: [&str; 5] =
        ["modified-shuffle", "synchronous-shuffle", "group-shuffle", "pairwise", "shift"];

    /// What experiment files call this exchange of blocks of `bytes` bytes. Real ranks count
    /// packets that are not acknowledged for the global window.
    ///
    /// # Panics
    /// Never: an algorithm is a value of TOML.
    pub fn work(&self, bytes: u64, is_live: bool) -> Table {
        let algorithm = match self.algorithm {
            AllToAll::ModifiedShuffle {
                hosts_per_switch,
                buffer,
                reading,
                permutation,
                counts: _,
            } if is_live => AllToAll::ModifiedShuffle {
                hosts_per_switch,
                buffer,
                reading,
                permutation,
                counts: Counting::Unacknowledged,
            },
            algorithm => algorithm,
        };
        let algorithm = Value::try_from(algorithm).expect("an algorithm is a value of TOML");
        let size = ("size".to_owned(), format!("{bytes} B").into());
        let keys = Table::from_iter([size, ("algorithm".to_owned(), algorithm)]);
        Table::from_iter([("all-to-all".to_owned(), keys.into())])
    }
}

/// What limits an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The link of a node: k (p-1) g.
    NodeLink,
    /// The processor of a node: k (p-1) (O_s + O_r + U_r).
    Processor,
    /// The uplink of a switch: 6.4.
    Uplink,
    /// The feedback that the global window waits for: k (p-1) F / W_g.
    GlobalWindow,
    /// Rounds that wait for each other, and the way through the network: n T_w.
    Latency,
    /// The memory of a port, or of a switch, which cannot keep what waits.
    Memory,
}

impl Limit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Limit::NodeLink => "node link",
            Limit::Processor => "processor",
            Limit::Uplink => "uplink",
            Limit::GlobalWindow => "global window",
            Limit::Latency => "latency",
            Limit::Memory => "memory of the port",
        }
    }
}

/// Ranks all algorithms of an exchange, or the one that was asked for.
pub fn advise(cluster: &Cluster, question: &ExchangeQuestion<'_>) -> Result<Advice, PredictError> {
    let &ExchangeQuestion { bytes, nodes, algorithm: asked, .. } = question;
    let parameters = cluster.parameters();
    let packets = Cut::new(parameters, bytes, nodes).packets;
    let exchange = Exchange { ranks: nodes, packets };
    let candidates = Candidates::new(parameters, exchange, question);
    let mut ranking = Vec::new();
    for algorithm in candidates.all() {
        let name = algorithm.declaration().name;
        if asked.is_none_or(|asked| asked == name) {
            ranking.push(choice(parameters, &candidates, question, algorithm)?);
        }
    }
    ranking.sort_by_key(|choice| match &choice.risk {
        None => (0, 0, choice.time),
        Some(risk) => (risk.level(), choice.meeting, choice.time),
    });
    prefer(&mut ranking);
    Ok(Advice {
        size: bytes,
        nodes,
        packets,
        packet: PacketCosts::of(parameters, bytes, nodes),
        forms: super::form::exchange_among(parameters, bytes, nodes),
        unresolved: unresolved(&ranking, risk::chance(parameters, exchange)),
        ranking,
        remarks: candidates.remarks(),
    })
}

/// Why prices do not tell which algorithm is the fastest, if they do not.
fn unresolved(ranking: &[Choice], chance: Option<&str>) -> Option<String> {
    let first = ranking.first()?;
    if let Some(why) = chance {
        return Some(why.to_owned());
    }
    if first.risk.is_some() {
        return Some(
            "each algorithm may lose packets, and prices assume that none does".to_owned(),
        );
    }
    let may_lose = |choice: &&Choice| choice.risk.as_ref().is_some_and(|risk| risk.level() == 1);
    let rival = ranking.iter().filter(may_lose).min_by_key(|choice| choice.time)?;
    let times = first.time.seconds() / rival.time.seconds();
    (times > 1.0 + SAFETY).then(|| {
        format!(
            "{} loses nothing, but takes {times:.2} times as long as {} if that loses nothing",
            first.name, rival.name
        )
    })
}

/// Puts the one that bears most first, of those that lose nothing and take the same as the first as
/// far as a price can tell: they are in that order among the [names](Choice::NAMES).
fn prefer(ranking: &mut [Choice]) {
    let Some(first) = ranking.first().filter(|choice| choice.risk.is_none()) else { return };
    let most = first.time.ps() + (first.time.ps() as f64 * RESOLUTION) as u64;
    let is_same = |choice: &Choice| choice.risk.is_none() && choice.time.ps() <= most;
    let place = |name| Choice::NAMES.iter().position(|other| *other == name);
    let same = ranking.iter().enumerate().filter(|(_, choice)| is_same(choice));
    let best = same.min_by_key(|(_, choice)| place(choice.name)).map_or(0, |(number, _)| number);
    ranking[..=best].rotate_right(1);
}

fn choice(
    parameters: &Parameters,
    candidates: &Candidates<'_>,
    question: &ExchangeQuestion<'_>,
    algorithm: AllToAll,
) -> Result<Choice, PredictError> {
    let &ExchangeQuestion { bytes, nodes, .. } = question;
    let operation = Operation::AllToAll { algorithm, size: Bytes::new(bytes) };
    let schedule = operation
        .collective(nodes)
        .map_err(|error| PredictError::Operation { what: "exchange", error })?
        .schedule;
    let name = algorithm.declaration().name;
    let price = price(&schedule, parameters, nodes)
        .map_err(|error| PredictError::Price { what: format!("exchange, {name}"), error })?;
    let window = schedule.injection().window;
    let risk = match price.congestion {
        Some(congestion) => Some(Risk::Overflows(congestion.to_string())),
        None => risk::of(parameters, candidates.exchange(), question.window, algorithm, window),
    };
    let meeting = risk::meeting(candidates.exchange(), algorithm, window);
    let omega = match algorithm {
        AllToAll::GroupShuffle { group, .. } => Some(group),
        _ => None,
    };
    let hosts_per_switch = match algorithm {
        AllToAll::ModifiedShuffle { hosts_per_switch, .. } => hosts_per_switch,
        _ => None,
    };
    Ok(Choice {
        algorithm,
        name,
        omega,
        window: window.map(|window| window.packets),
        hosts_per_switch,
        time: price.time,
        bottleneck: bottleneck(parameters, question, window, &price),
        risk,
        meeting,
    })
}

/// What takes most of the time of a price: the largest of the bounds, or what they do not explain.
fn bottleneck(
    parameters: &Parameters,
    question: &ExchangeQuestion<'_>,
    window: Option<Window>,
    price: &Price,
) -> Limit {
    if price.congestion.is_some() {
        return Limit::Memory;
    }
    let &ExchangeQuestion { bytes, nodes, .. } = question;
    let cut = Cut::new(parameters, bytes, nodes);
    let all = u64::from(nodes - 1);
    let of_all = |full: Time, last: Time| (full * (cut.packets - 1) + last) * all;
    let busy = |packet: crosstie_model::Packet| packet.send + packet.receive;
    let mut bounds = vec![
        (of_all(cut.full.gap(), cut.last.gap()), Limit::NodeLink),
        (of_all(busy(cut.full), busy(cut.last)), Limit::Processor),
    ];
    if let Some(uplink) = parameters.uplink.filter(|uplink| uplink.hosts < nodes) {
        let exchange = Exchange { ranks: nodes, packets: cut.packets };
        let payload = bytes.min(parameters.packet.get());
        bounds.push((exchange.of_uplinks(&uplink, payload), Limit::Uplink));
    }
    if let Some(window) = window {
        bounds.push((pace(parameters, nodes, window) * (cut.packets * all), Limit::GlobalWindow));
    }
    // Of equal ones the first.
    let (most, limit) = bounds
        .into_iter()
        .reduce(|most, next| if next.0 > most.0 { next } else { most })
        .expect("a node has a link");
    if price.time.ps().saturating_sub(most.ps()) > most.ps() { Limit::Latency } else { limit }
}

#[cfg(test)]
mod tests;
