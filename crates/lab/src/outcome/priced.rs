//! Rows of the model.

use super::iterations::Beside;
use super::{Outcome, iterations as played_iterations};
use crate::predict::{RailShare, rail_shares};
use crate::schedule::Script;
use crate::{LabError, World};
use crosstie_model::Cluster;
use crosstie_model::price::{self, Price, iterations};
use crosstie_sim::run::Played;
use crosstie_study::{Ping, Point, Spec, Stream, Work};
use crosstie_units::{Bytes, Time};
use crosstie_work::{ANSWER, Rank};

/// Prices of the iterations of some work, until they repeat themselves; how many iterations there
/// are, and the bytes that each moves.
pub(super) struct Priced {
    pub prices: Vec<Price>,
    count: u32,
    moved: u64,
}

impl Priced {
    /// The prices of closed-loop work.
    pub fn of(
        spec: &Spec,
        work: &Work,
        script: Option<&Script>,
        cluster: &Cluster,
    ) -> Result<Priced, LabError> {
        // The ranges of the experiment file lie within the types.
        let bytes = |size: Bytes| size.get() as u32;
        let own;
        let (schedule, count, moved) = match (work, script) {
            (&Work::Ping(Ping { size, iterations, .. }), _) => {
                own = price::ping(bytes(size));
                (&own, iterations, 2 * size.get())
            }
            (&Work::Stream(Stream { pairs: 2.., .. }), _) => {
                let help = "leave `work.stream.pairs` out, or choose another world";
                let problem = "the model prices one pair";
                return Err(LabError::setting("work.stream.pairs", problem, help));
            }
            (&Work::Stream(Stream { size, window, iterations, both_ways, .. }), _) => {
                own = match both_ways {
                    false => price::stream(bytes(size), window, ANSWER),
                    true => price::both_ways(bytes(size), window, ANSWER),
                };
                let ways = if both_ways { 2 } else { 1 };
                (&own, iterations, ways * u64::from(window) * size.get())
            }
            (_, Some(script)) => {
                let (count, schedule) = (spec.schedule.iterations, script.schedule());
                (schedule, count, schedule.bytes())
            }
            (_, None) => unreachable!("open-loop traffic has no price"),
        };
        // p counts the ranks that take part [tam, 2.2.3]: two in a ping and in a stream.
        let prices = iterations(schedule, cluster, schedule.ranks(), count).map_err(|error| {
            let help = "mend the schedule: the model can only price one that ends";
            LabError::setting("work", error, help)
        })?;
        Ok(Priced { prices, count, moved })
    }
}

/// What the work of a point costs by the model.
pub(super) fn of(
    point: &Point,
    world: &World,
    work: &Work,
    script: Option<&Script>,
    confidence: f64,
    cluster: &Cluster,
) -> Result<Outcome, LabError> {
    let Priced { prices, count, moved } = Priced::of(&point.spec, work, script, cluster)?;
    let columns = [
        ("host_share", price::Resource::Host),
        ("gap_share", price::Resource::Gap),
        ("wire_share", price::Resource::Wire),
        ("compute_share", price::Resource::Compute),
    ];
    // Waiting for an uplink is part of the way.
    let whole = prices.iter().map(|price| price.shares).reduce(|all, other| all + other);
    let whole = whole.expect("there is an iteration");
    let share = |resource| match resource {
        price::Resource::Wire => whole.share(resource) + whole.share(price::Resource::Uplink),
        _ => whole.share(resource),
    };
    let shares = columns.map(|(name, resource)| (name.to_owned(), share(resource)));
    let played = played(&prices, count, moved);
    let notes = [note(&prices[0])].into_iter().chain(carried(&prices)).chain(estimated(cluster));
    let beside = Beside { columns: shares.to_vec(), notes: notes.collect() };
    Ok(played_iterations::of(point, world, script, confidence, played, beside))
}

/// Prices as if they had been played, one after the other, again and again.
fn played(prices: &[Price], count: u32, bytes_per_iteration: u64) -> Played {
    let times = prices.iter().map(|price| price.time).cycle().take(count as usize);
    let iterations: Vec<Time> = times.collect();
    let last = &prices[(count as usize - 1) % prices.len()];
    let finish = (0..).map(Rank).zip(last.finish.iter().copied());
    Played {
        failure: None,
        finished: finish.collect(),
        time: iterations.iter().fold(Time::ZERO, |sum, &time| sum + time),
        iterations,
        bytes_per_iteration,
        ..Played::default()
    }
}

/// Which share of the bytes each rail carries, if there are several.
fn carried(prices: &[Price]) -> Option<String> {
    let shares = rail_shares(prices);
    let share = |rail: &RailShare| format!("{:.1} %", 100.0 * rail.share);
    let words: Vec<String> = shares.iter().map(share).collect();
    (!shares.is_empty()).then(|| format!("rails carry {}", words.join(", ")))
}

/// What the price only estimates, if there is anything.
pub(crate) fn estimated(cluster: &Cluster) -> Option<String> {
    let keys = cluster.estimated();
    (!keys.is_empty()).then(|| format!("only estimated by the model: {}", keys.join(", ")))
}

/// What holds it up.
fn note(price: &Price) -> String {
    match &price.congestion {
        None => format!("bottleneck: {}", price.bottleneck),
        Some(congestion) => format!("bottleneck: {}: {congestion}", price.bottleneck),
    }
}
