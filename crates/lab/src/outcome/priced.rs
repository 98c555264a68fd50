//! Rows of the model.

use super::Outcome;
use super::iterations::{self, Beside};
use crate::schedule::Script;
use crate::{LabError, World};
use crosstie_model::Parameters;
use crosstie_model::price::{self, Price, price};
use crosstie_sim::run::Played;
use crosstie_study::{Ping, Point, Stream, Work};
use crosstie_units::Bytes;
use crosstie_work::{ANSWER, Rank};

/// What the work of a point costs by the model.
pub(super) fn of(
    point: &Point,
    world: &World,
    work: &Work,
    script: Option<&Script>,
    confidence: f64,
    parameters: &Parameters,
) -> Result<Outcome, LabError> {
    // p counts those who take part [tam, 2.2.3]; of a ping and a stream they are two.
    let nodes = script.map_or(2, |script| script.schedule().ranks());
    // The ranges of the experiment file lie within the types.
    let bytes = |size: Bytes| size.get() as u32;
    let (price, count, moved) = match (work, script) {
        (&Work::Ping(Ping { size, iterations, .. }), _) => {
            let price = price::ping(parameters, bytes(size), nodes);
            (price, iterations, 2 * size.get())
        }
        (&Work::Stream(Stream { pairs: 2.., .. }), _) => {
            let help = "leave `work.stream.pairs` out, or choose another world";
            return Err(LabError::setting("work.stream.pairs", "the model prices one pair", help));
        }
        (&Work::Stream(Stream { size, window, iterations, both_ways, .. }), _) => {
            let price = match both_ways {
                false => price::stream(parameters, bytes(size), window, ANSWER, nodes),
                true => price::both_ways(parameters, bytes(size), window, ANSWER, nodes),
            };
            let ways = if both_ways { 2 } else { 1 };
            (price, iterations, ways * u64::from(window) * size.get())
        }
        (_, Some(script)) => {
            let priced = price(script.schedule(), parameters, nodes).map_err(|error| {
                let help = "mend the schedule: the model can only price one that ends";
                LabError::setting("work", error, help)
            })?;
            (priced, point.spec.schedule.iterations, script.schedule().bytes())
        }
        (_, None) => unreachable!("open-loop traffic has no price"),
    };
    let columns = [
        ("host_share", price::Resource::Host),
        ("gap_share", price::Resource::Gap),
        ("wire_share", price::Resource::Wire),
        ("compute_share", price::Resource::Compute),
    ];
    // Waiting for an uplink is part of the way.
    let share = |resource| match resource {
        price::Resource::Wire => {
            price.shares.share(resource) + price.shares.share(price::Resource::Uplink)
        }
        _ => price.shares.share(resource),
    };
    let shares = columns.map(|(name, resource)| (name.to_owned(), share(resource)));
    let played = played(&price, count, moved);
    let beside = Beside { columns: shares.to_vec(), notes: vec![note(&price)] };
    Ok(iterations::of(point, world, script, confidence, played, beside))
}

/// A price as if it had been played.
fn played(price: &Price, iterations: u32, bytes_per_iteration: u64) -> Played {
    let finish = (0..).map(Rank).zip(price.finish.iter().copied());
    Played {
        failure: None,
        iterations: vec![price.time; iterations as usize],
        finished: finish.collect(),
        time: price.time * u64::from(iterations),
        bytes_per_iteration,
        ..Played::default()
    }
}

/// What holds it up.
fn note(price: &Price) -> String {
    match &price.congestion {
        None => format!("bottleneck: {}", price.bottleneck),
        Some(congestion) => format!("bottleneck: {}: {congestion}", price.bottleneck),
    }
}
