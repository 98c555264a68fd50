//! The ways to do something, with their prices.

use super::{PredictError, Question, Subject, as_us};
use crosstie_collective::{Builder, Rank, Schedule, Tag};
use crosstie_model::price::{Price, Resource, Shares, What, price_on};
use crosstie_model::{Cluster, Transfer};
use crosstie_study::Operation;
use crosstie_units::{Bytes, Time};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// A way to do it, and what it takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The algorithm of a collective operation.
    pub algorithm: Option<String>,
    /// When the last node is done.
    #[serde(serialize_with = "as_us")]
    pub time: Time,
    /// What processors have of it, that send and receive.
    #[serde(serialize_with = "as_us")]
    pub host: Time,
    /// What NICs have of it.
    #[serde(serialize_with = "as_us")]
    pub gap: Time,
    /// What the way through the network has of it.
    #[serde(serialize_with = "as_us")]
    pub wire: Time,
    /// What waiting for uplinks between switches has of it.
    #[serde(serialize_with = "as_us", skip_serializing_if = "is_none")]
    pub uplink: Time,
    /// What processors have of it, that compute.
    #[serde(serialize_with = "as_us")]
    pub compute: Time,
    /// What holds it up.
    pub bottleneck: Bottleneck,
    /// What each rail carries, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rails: Vec<RailShare>,
    /// The critical path, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<PathStep>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(time: &Time) -> bool {
    *time == Time::ZERO
}

/// What a rail carries, over all ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RailShare {
    /// Bytes of messages, with those of headers and control messages.
    pub bytes: u64,
    /// Their share of those on all rails.
    pub share: f64,
    /// How long NICs send them.
    #[serde(serialize_with = "as_us")]
    pub busy: Time,
}

/// What holds something up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bottleneck {
    /// The resource: host, gap, wire, uplink, compute or buffer.
    pub resource: &'static str,
    /// The stage, as the thesis writes it.
    pub stage: &'static str,
    /// What the buffer cannot keep.
    pub congestion: Option<String>,
}

/// A stretch of the critical path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathStep {
    /// Whose processor or NIC it is; of a wire, who sends.
    pub rank: u32,
    /// What is done.
    pub what: &'static str,
    /// What takes the time.
    pub resource: &'static str,
    /// When it begins.
    #[serde(serialize_with = "as_us")]
    pub from: Time,
    /// When it ends.
    #[serde(serialize_with = "as_us")]
    pub to: Time,
}

/// All ways, or the one asked for; the fastest first.
pub(super) fn ranking(
    cluster: &Cluster,
    question: &Question,
    bytes: u64,
) -> Result<Vec<Candidate>, PredictError> {
    let mut all = match question.subject {
        Subject::Transfer | Subject::Exchange => vec![between_two(cluster, question, bytes)],
        Subject::Collective(name) => collective(cluster, question, name, bytes)?,
    };
    all.sort_by_key(|candidate| candidate.time);
    Ok(all)
}

fn between_two(cluster: &Cluster, question: &Question, bytes: u64) -> Candidate {
    let &Question { subject, nodes, .. } = question;
    let exchange = subject == Subject::Exchange;
    let schedule = || two(bytes, exchange);
    if !cluster.is_plain() {
        let price = price_on(&schedule(), cluster, nodes).expect("every receive has its send");
        return Candidate { algorithm: None, ..candidate(question, String::new(), &price) };
    }
    let parameters = cluster.first();
    let Transfer { time, host, gap, wire, bottleneck, .. } = match exchange {
        false => Transfer::one_way(parameters, bytes, nodes),
        true => Transfer::exchange(parameters, bytes, nodes),
    };
    let shares = Shares { host, gap, wire, ..Shares::default() };
    let most = [Resource::Host, Resource::Gap, Resource::Wire];
    let most = most.into_iter().max_by(|a, b| shares.share(*a).total_cmp(&shares.share(*b)));
    let resource = most.expect("there are three");
    // A message of few packets is held up by its way; one of many by a stage.
    let stage = match resource {
        Resource::Wire => "L",
        _ => bottleneck.symbol(),
    };
    let path = question.path.then(|| {
        let price = price_on(&schedule(), cluster, nodes);
        steps(&price.expect("every receive has its send"))
    });
    Candidate {
        algorithm: None,
        time,
        host,
        gap,
        wire,
        uplink: Time::ZERO,
        compute: Time::ZERO,
        bottleneck: Bottleneck { resource: resource.name(), stage, congestion: None },
        rails: Vec::new(),
        path,
    }
}

/// A message, or two in opposite directions.
fn two(bytes: u64, exchange: bool) -> Schedule {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let mut builder = Builder::new(2);
    let ways = [(Rank(0), Rank(1)), (Rank(1), Rank(0))];
    for &(from, to) in &ways[..if exchange { 2 } else { 1 }] {
        builder.send(from, to, Tag(0), bytes);
        builder.receive(to, from, Tag(0), bytes);
    }
    builder.finish().expect("nothing waits for anything")
}

fn collective(
    cluster: &Cluster,
    question: &Question,
    name: &'static str,
    bytes: u64,
) -> Result<Vec<Candidate>, PredictError> {
    let nodes = question.nodes;
    let asked = |algorithm: &&str| question.algorithm.as_deref().is_none_or(|a| a == *algorithm);
    let mut all = Vec::new();
    for algorithm in question.subject.algorithms().into_iter().filter(asked) {
        let full = cluster.first().packet;
        let in_packets =
            operation(name, algorithm, bytes, Some(full)).filter(|_| bytes > full.get());
        let usual = operation(name, algorithm, bytes, None).expect("it declares itself");
        for (operation, segment) in [(Some(usual), None), (in_packets, Some(full))] {
            let Some(operation) = operation else { continue };
            let schedule = match (operation.collective(nodes), segment) {
                (Ok(made), _) => made.schedule,
                // So small segments may be too many.
                (Err(_), Some(_)) => continue,
                (Err(error), None) => return Err(PredictError::Operation { what: name, error }),
            };
            let called = match segment {
                None => algorithm.to_owned(),
                Some(segment) => format!("{algorithm}, segments of {} B", segment.get()),
            };
            let price = price_on(&schedule, cluster, nodes).map_err(|error| {
                PredictError::Price { what: format!("{name}, {called}"), error }
            })?;
            all.push(candidate(question, called, &price));
        }
    }
    Ok(all)
}

/// Returns true if an algorithm of an operation sends each message to one rank: only such messages
/// have a price.
pub(super) fn has_price(name: &str, algorithm: &str) -> bool {
    // Of three ranks one sends to the two others at once, if any rank does.
    let made = operation(name, algorithm, 1, None).map(|operation| operation.collective(3));
    made.and_then(Result::ok).is_none_or(|made| made.schedule.first_cast().is_none())
}

/// An operation by the names of it and of its algorithm; `None` if that cuts nothing into segments
/// and is to.
fn operation(name: &str, algorithm: &str, bytes: u64, segment: Option<Bytes>) -> Option<Operation> {
    let mut keys = Table::new();
    if let Some(segment) = segment {
        keys.insert("segment".to_owned(), segment.to_string().into());
    }
    let mut work = Table::new();
    work.insert("algorithm".to_owned(), table(algorithm, keys).into());
    if Subject::find(name).is_some_and(Subject::has_size) {
        work.insert("size".to_owned(), format!("{bytes} B").into());
    }
    Operation::deserialize(Value::Table(table(name, work))).ok()
}

fn table(key: &str, value: Table) -> Table {
    Table::from_iter([(key.to_owned(), Value::Table(value))])
}

fn candidate(question: &Question, algorithm: String, price: &Price) -> Candidate {
    let Shares { host, gap, wire, uplink, compute } = price.shares;
    let stage = match price.bottleneck {
        Resource::Host => slower_side(price),
        Resource::Gap => slower_nic(price),
        Resource::Wire => "L",
        Resource::Uplink => "c_2",
        Resource::Compute => "computing",
        Resource::Buffer => "B_L",
    };
    Candidate {
        algorithm: Some(algorithm),
        time: price.time,
        host,
        gap,
        wire,
        uplink,
        compute,
        bottleneck: Bottleneck {
            resource: price.bottleneck.name(),
            stage,
            congestion: price.congestion.map(|congestion| congestion.to_string()),
        },
        rails: rail_shares(std::slice::from_ref(price)),
        path: question.path.then(|| steps(price)),
    }
}

/// What each of several rails carries in some iterations, on average.
pub(crate) fn rail_shares(prices: &[Price]) -> Vec<RailShare> {
    let (rails, count) = (prices[0].rails.len(), prices.len() as u64);
    if rails < 2 {
        return Vec::new();
    }
    let sum = |of: &dyn Fn(&Price) -> u64| prices.iter().map(of).sum::<u64>();
    let all = sum(&|price| price.rails.iter().map(|rail| rail.bytes).sum());
    let share = |rail: usize| {
        let bytes = sum(&|price| price.rails[rail].bytes);
        let busy = sum(&|price| price.rails[rail].busy.ps()) / count;
        let share = bytes as f64 / all.max(1) as f64;
        RailShare { bytes: bytes / count, share, busy: Time::from_ps(busy) }
    };
    (0..rails).map(share).collect()
}

/// Whether processors send or receive for longer, on the critical path.
fn slower_side(price: &Price) -> &'static str {
    let spent = |what: What| -> u64 {
        let path = price.path.iter().filter(|stretch| stretch.what == what);
        path.map(|stretch| (stretch.to - stretch.from).ps()).sum()
    };
    if spent(What::Send) > spent(What::Receive) { "O_s" } else { "O_r + U_r" }
}

/// Whether NICs that send or that receive hold up for longer, on the critical path. Behind a wire
/// it is those that receive.
fn slower_nic(price: &Price) -> &'static str {
    let (mut sending, mut receiving, mut behind_wire) = (0, 0, false);
    for stretch in &price.path {
        match stretch.what {
            What::Gap | What::AwaitGap => {
                let side = if behind_wire { &mut receiving } else { &mut sending };
                *side += (stretch.to - stretch.from).ps();
            }
            what => behind_wire = what == What::Wire,
        }
    }
    if receiving > sending { "g_r" } else { "g_s" }
}

fn steps(price: &Price) -> Vec<PathStep> {
    let step = |stretch: &crosstie_model::price::Stretch| PathStep {
        rank: stretch.rank.0,
        what: match stretch.what {
            What::Compute => "computes",
            What::Send => "sends: O_s",
            What::Receive => "receives: O_r + U_r",
            What::AwaitHost => "waits for its processor",
            What::Gap => "packets follow each other: g",
            What::AwaitGap => "waits for its NIC",
            What::Wire => "a packet is on its way: L",
            What::AwaitUplink => "waits for an uplink: c_2",
        },
        resource: stretch.what.resource().name(),
        from: stretch.from,
        to: stretch.to,
    };
    price.path.iter().map(step).collect()
}
