//! Rows of open-loop traffic.

use super::{Columns, Outcome, channels, competition, extend};
use crate::{LabError, World};
use crosstie_fabric::{Channel, ChannelId, Node};
use crosstie_measure::Saturation;
use crosstie_routing::Summary;
use crosstie_sim::run::{Effort, Ending, Findings, Measured, SearchSpec, Searched, Trial};
use crosstie_study::{Goal, Point, Row, SideTables, Status};
use crosstie_units::Time;
use std::ops::ControlFlow;

/// Runs a point; `None` if `watch` breaks it off.
pub(super) fn of(
    point: &Point,
    world: &World,
    trial: &Trial<'_>,
    goal: Goal,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Outcome>, LabError> {
    let unforeseen = |reason: String| LabError::Unforeseen { point: point.index, reason };
    let mut notes = world.remarks().to_vec();
    let (columns, findings, status) = match goal {
        Goal::Load(load) => {
            let found = trial.run(load, watch).map_err(|error| unforeseen(error.to_string()))?;
            let Some(findings) = found else { return Ok(None) };
            notes.insert(0, findings.note(trial.blueprint));
            let status = match findings.ending {
                Ending::Converged => Status::Converged,
                Ending::Saturated => Status::Saturated,
                Ending::NotConverged(_) => Status::NotConverged,
                Ending::Deadlocked(_) => Status::Deadlocked,
            };
            (columns(world, &findings), findings, status)
        }
        Goal::Saturation(spec) => {
            let search = SearchSpec { precision: spec.precision, budget: spec.work() };
            let found = trial.search(search, watch);
            let Some(searched) = found.map_err(|error| unforeseen(error.to_string()))? else {
                return Ok(None);
            };
            let status = match searched.saturation {
                None => {
                    notes.insert(0, searched.limit.note(trial.blueprint));
                    Status::Deadlocked
                }
                Some(saturation) => {
                    notes.push(search_note(&searched, &saturation, spec, trial.effort));
                    let resolved = saturation.resolved;
                    if resolved { Status::Converged } else { Status::NotConverged }
                }
            };
            (search_columns(world, &searched), searched.limit, status)
        }
    };
    if let Some(measured) = &findings.measured {
        let end = world.cycle() * findings.cycles;
        notes.extend(competition::notes(point, &measured.carried, end));
    }
    notes.retain(|note| !note.is_empty());
    let row = Row::of(point, status, notes.join("; "), columns);
    let channels = match &findings.measured {
        Some(measured) if point.spec.measure.channels => {
            channels::rows(point, world, &measured.channels)
        }
        _ => Vec::new(),
    };
    Ok(Some(Outcome { row, side: SideTables { channels, ..SideTables::default() } }))
}

/// The columns of one run.
fn columns(world: &World, findings: &Findings) -> Columns {
    let Some(measured) = &findings.measured else {
        return vec![("offered".to_owned(), findings.load)];
    };
    let mut columns = load_columns(world, findings, measured);
    if let Some(latency) = measured.latency {
        let latencies = &measured.latencies;
        let whole = |cycles: Option<u64>| cycles.map(|cycles| cycles as f64);
        extend(
            &mut columns,
            [
                ("latency_mean", Some(latency.mean)),
                ("latency_ci", Some(latency.half_width)),
                ("latency_p50", whole(latencies.quantile(0.5))),
                ("latency_p99", whole(latencies.quantile(0.99))),
                ("latency_p999", whole(latencies.quantile(0.999))),
                ("latency_max", whole(latencies.max())),
            ],
        );
    }
    columns
}

/// The columns of a search: those of the run at the limit, but for latency, which belongs to one
/// load and not to the search.
fn search_columns(world: &World, searched: &Searched) -> Columns {
    let limit = &searched.limit;
    let (Some(saturation), Some(measured)) = (searched.saturation, &limit.measured) else {
        return vec![("offered".to_owned(), limit.load)];
    };
    let mut columns = load_columns(world, limit, measured);
    let low = saturation.carried.unwrap_or(0.0);
    // The middle of an interval that is too wide is no result.
    let found = saturation.refused.filter(|_| saturation.resolved);
    extend(
        &mut columns,
        [
            ("saturation", found.map(|high| f64::midpoint(low, high))),
            ("saturation_low", Some(low)),
            ("saturation_high", saturation.refused),
        ],
    );
    columns
}

/// What a search found, and what it could not tell.
fn search_note(
    searched: &Searched,
    saturation: &Saturation,
    spec: crosstie_study::Saturation,
    effort: Effort,
) -> String {
    let Searched { runs, limit, longest, .. } = searched;
    let precision = spec.precision;
    let found = match (saturation.carried, saturation.refused) {
        (Some(carried), None) if saturation.resolved => {
            return format!("even a load of {carried} is carried: the network does not saturate");
        }
        (Some(carried), Some(refused)) => {
            format!("saturation lies between {carried:.4} and {refused:.4}")
        }
        (Some(carried), None) => format!("saturation lies above {carried:.4}"),
        (None, Some(refused)) => format!("saturation lies below {refused:.4}"),
        (None, None) => "nothing is known about saturation".to_owned(),
    };
    let doubt = match (saturation.resolved, saturation.carried, saturation.refused) {
        (true, ..) => String::new(),
        (false, None, Some(refused)) if refused <= precision => {
            " and not even the lowest load tried is carried: lower measure.saturation.precision"
                .to_owned()
        }
        (false, ..) => {
            let budget = match spec.budget {
                // As people write it.
                Time::ZERO => "0 s".to_owned(),
                budget => budget.to_string(),
            };
            format!(
                ", asked for to ±{precision}: runs of {longest} cycles are too short to tell loads \
                 in between; a larger measure.saturation.budget than {budget} allows longer ones"
            )
        }
    };
    let longer = match *longest > effort.max_cycles {
        true => format!(" of up to {longest} cycles"),
        false => String::new(),
    };
    format!(
        "{found}{doubt}; searched in {runs} runs{longer}, the other columns are those of the one \
         at load {:.4}",
        limit.load
    )
}

/// All columns but latency and saturation.
fn load_columns(world: &World, findings: &Findings, measured: &Measured) -> Columns {
    let fabric = &world.network().fabric;
    let per_rail = fabric.channels().len();
    let channels = measured.channels.iter().take(per_rail * world.rails() as usize);
    let between_switches = |id: usize| {
        let Channel { from, to } = fabric.channel(ChannelId((id % per_rail) as u32));
        matches!((from.node, to.node), (Node::Switch(_), Node::Switch(_)))
    };
    let busy = Spread::of(
        channels
            .clone()
            .enumerate()
            .filter(|&(id, _)| between_switches(id))
            .map(|(_, c)| c.utilisation),
    );
    let blocked = Spread::of(channels.map(|channel| channel.blocked));
    let summary = world.network().summary.as_ref().filter(|_| world.uses_fabric());
    let mut columns = Columns::new();
    extend(
        &mut columns,
        [
            ("offered", Some(measured.offered)),
            ("accepted", Some(measured.accepted.mean)),
            ("accepted_ci", Some(measured.accepted.half_width)),
            ("network_mean", measured.network_mean),
            ("hops_mean", measured.switches_mean),
            ("packets", Some(measured.packets as f64)),
            ("warmup", Some(measured.warm_up as f64)),
            ("cycles", Some((findings.cycles - measured.warm_up) as f64)),
            ("utilisation_mean", busy.map(|busy| busy.mean)),
            ("utilisation_max", busy.map(|busy| busy.max)),
            ("blocked_mean", blocked.map(|blocked| blocked.mean)),
            ("blocked_max", blocked.map(|blocked| blocked.max)),
            ("minimal_share", summary.map(Summary::minimal_share)),
            ("stops_mean", summary.map(Summary::mean_stops)),
            ("pool_peak", measured.pool_peak.map(f64::from)),
        ],
    );
    columns
}

/// Mean and maximum of shares of time.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    max: f64,
}

impl Spread {
    /// `None` of nothing.
    fn of(shares: impl Iterator<Item = f64>) -> Option<Spread> {
        let (count, sum, max) =
            shares.fold((0u32, 0.0, 0.0f64), |(n, sum, max), x| (n + 1, sum + x, max.max(x)));
        (count > 0).then(|| Spread { mean: sum / f64::from(count), max })
    }
}
