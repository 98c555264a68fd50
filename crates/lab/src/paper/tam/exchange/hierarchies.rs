//! Measures of exchanges on two levels of switches: Figures 6.7 to 6.10.

use super::super::congestion::demanded;
use super::formulas::best;
use super::runs::{NEARLY, Run, at, line, peak, runs};
use super::{Answer, HIERARCHIES, Hierarchy};
use crate::paper::Evidence;
use crate::paper::statistic::largest;
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is not about hierarchies.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["ch6", "achieved", "series"] => all(|hierarchy| achieved(e, hierarchy)),
        ["ch6", "efficiency", "series"] => all(|hierarchy| share(e, hierarchy)),
        ["ch6", "fall"] => fall(e),
        ["ch6", "shape", "best"] => fastest(e),
        ["ch6", "shape", "loss"] => losses(e),
        ["ch6", "shape", "pair8x2"] => rise_and_fall(e),
        ["ch6", "shape", "pair8x3"] => early(e),
        ["ch6", "shape", "pair6x4"] => from_medium(e),
        ["ch6", "shape", "pair8x4"] => tight(e),
        ["ours", "either"] => either(e),
        ["ours", "eq64"] => least_share(e),
        ["ch6", name, "achieved"] => achieved(e, Hierarchy::named(name)?).map(Measured::Number),
        ["ch6", name, "efficiency"] => share(e, Hierarchy::named(name)?).map(Measured::Number),
        _ => return None,
    })
}

/// Where each algorithm is run: its part, and its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The modified shuffle: window and map.
    Modified,
    /// A synchronous shuffle with the window alone.
    Window,
    /// A synchronous shuffle with the map alone.
    Map,
    /// A synchronous shuffle with neither.
    Plain,
    /// Pairs.
    Pairwise,
    /// Pairs with the map.
    Mapped,
}

impl Way {
    pub const ALL: [Way; 6] =
        [Way::Modified, Way::Window, Way::Map, Way::Plain, Way::Pairwise, Way::Mapped];

    /// Its part, and its name there.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Way::Modified => ("exchange-modified", "modified"),
            Way::Window => ("exchange-modified", "window"),
            Way::Map => ("exchange-open", "mapped"),
            Way::Plain => ("exchange-open", "plain"),
            Way::Pairwise => ("exchange-pairwise", "pairwise"),
            Way::Mapped => ("exchange-pairwise", "mapped"),
        }
    }

    /// Its name in figures.
    pub fn title(self) -> &'static str {
        match self {
            Way::Modified => "modified shuffle",
            Way::Window => "window alone",
            Way::Map => "map alone",
            Way::Plain => "synchronous",
            Way::Pairwise => "pairwise",
            Way::Mapped => "pairwise, map",
        }
    }
}

/// An algorithm in a hierarchy, by rising length.
pub(super) fn of<'e>(
    e: &'e Evidence,
    way: Way,
    hierarchy: Hierarchy,
) -> Result<Vec<Run<'e>>, Missing> {
    let (part, name) = way.place();
    let name = format!("{name} {}", hierarchy.name());
    let all = runs(e, part)?;
    Ok(line(&all, &name, "")?.into_iter().cloned().collect())
}

fn refs<'r, 'e>(runs: &'r [Run<'e>]) -> Vec<&'r Run<'e>> {
    runs.iter().collect()
}

/// The highest bandwidth of a node with the modified shuffle.
fn achieved(e: &Evidence, hierarchy: Hierarchy) -> Result<Estimate, Missing> {
    let found: Vec<Estimate> =
        of(e, Way::Modified, hierarchy)?.iter().map(Run::bandwidth).collect();
    Ok(largest(&found))
}

/// The same as a share of Eq. 6.4.
fn share(e: &Evidence, hierarchy: Hierarchy) -> Result<Estimate, Missing> {
    Ok(achieved(e, hierarchy)?.scaled(1.0 / best(hierarchy)))
}

fn all(number: impl Fn(Hierarchy) -> Result<Estimate, Missing>) -> Answer {
    let found: Result<Vec<Estimate>, Missing> = HIERARCHIES.into_iter().map(number).collect();
    Ok(Measured::Series(found?))
}

fn fall(e: &Evidence) -> Answer {
    let [first, .., last] = HIERARCHIES;
    Ok(Measured::Number(achieved(e, first)?.over_independent(achieved(e, last)?)))
}

fn least_share(e: &Evidence) -> Answer {
    let shares: Result<Vec<Estimate>, Missing> =
        HIERARCHIES.into_iter().map(|hierarchy| share(e, hierarchy)).collect();
    let least = shares?.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
    least.map(Measured::Number).ok_or_else(|| Missing("there are no hierarchies".to_owned()))
}

/// Lengths at which the modified shuffle is not the fastest of all that were run.
fn fastest(e: &Evidence) -> Answer {
    let mut demands = Vec::new();
    for hierarchy in HIERARCHIES {
        let modified = of(e, Way::Modified, hierarchy)?;
        let (mut compared, mut slower) = (0, Vec::new());
        for way in [Way::Pairwise, Way::Mapped, Way::Map, Way::Plain] {
            for run in of(e, way, hierarchy)? {
                let Ok(own) = at(&refs(&modified), run.packets) else { continue };
                compared += 1;
                if own.bandwidth().value <= run.bandwidth().value {
                    slower.push(format!("{} with {}", way.title(), run.packets));
                }
            }
        }
        let words = match slower.is_empty() {
            true => format!("{}: faster in all {compared} comparisons", hierarchy.name()),
            false => format!("{}: not faster than {}", hierarchy.name(), slower.join(", ")),
        };
        demands.push((Truth::of(compared > 0 && slower.is_empty()), words));
    }
    demands.push((Truth::Holds, "16x1 is another claim, and MPI is not compared".to_owned()));
    demanded(demands)
}

fn lost(runs: &[Run<'_>]) -> f64 {
    runs.iter().map(Run::lost).sum()
}

fn losses(e: &Evidence) -> Answer {
    let mut demands = Vec::new();
    for hierarchy in HIERARCHIES {
        let [modified, pairwise, mapped] = [Way::Modified, Way::Pairwise, Way::Mapped]
            .map(|way| of(e, way, hierarchy).map(|runs| lost(&runs)));
        let (modified, pairwise, mapped) = (modified?, pairwise?, mapped?);
        let words = format!(
            "{}: modified shuffle {modified:.0}, pairwise {pairwise:.0}, with the map {mapped:.0}",
            hierarchy.name()
        );
        demands.push((Truth::of(modified == 0.0 && pairwise > 0.0 && mapped > 0.0), words));
    }
    demanded(demands)
}

fn either(e: &Evidence) -> Answer {
    let mut demands = Vec::new();
    for hierarchy in HIERARCHIES {
        let [both, window, map, plain] =
            [Way::Modified, Way::Window, Way::Map, Way::Plain].map(|way| of(e, way, hierarchy));
        let (both, window, map, plain) = (both?, window?, map?, plain?);
        let holds = lost(&window) == 0.0
            && lost(&map) > 0.0
            && lost(&plain) > 0.0
            && peak(&refs(&both)) > peak(&refs(&window));
        let words = format!(
            "{}: frames lost with both {:.0}, window {:.0}, map {:.0}, neither {:.0}; with the window {:.2} MB/s, with both \
             {:.2}",
            hierarchy.name(),
            lost(&both),
            lost(&window),
            lost(&map),
            lost(&plain),
            peak(&refs(&window)),
            peak(&refs(&both))
        );
        demands.push((Truth::of(holds), words));
    }
    demanded(demands)
}

/// The shortest exchange that loses frames.
fn first_loss(runs: &[Run<'_>]) -> Option<u32> {
    runs.iter().find(|run| run.lost() > 0.0).map(|run| run.packets)
}

fn told(first: Option<u32>) -> String {
    first.map_or("at no length".to_owned(), |packets| format!("from {packets} packets on"))
}

/// A line in words: "4.1 with 1, 8.7 with 8 packets".
fn course(runs: &[Run<'_>]) -> String {
    let words = runs.iter().map(|run| format!("{:.1} ({})", run.bandwidth().value, run.packets));
    words.collect::<Vec<_>>().join(", ")
}

/// The mean bandwidth over the lengths.
fn mean(runs: &[Run<'_>]) -> f64 {
    runs.iter().map(|run| run.bandwidth().value).sum::<f64>() / runs.len() as f64
}

const PAIR_8X2: Hierarchy = HIERARCHIES[0];
const PAIR_8X3: Hierarchy = HIERARCHIES[1];
const PAIR_6X4: Hierarchy = HIERARCHIES[2];
const PAIR_8X4: Hierarchy = HIERARCHIES[3];

/// Rises while nothing is lost, then falls, and is higher again at the end than where it is lowest.
fn rise_and_fall(e: &Evidence) -> Answer {
    let (plain, mapped) = (of(e, Way::Pairwise, PAIR_8X2)?, of(e, Way::Mapped, PAIR_8X2)?);
    let lossless: Vec<f64> =
        plain.iter().take_while(|run| run.lost() == 0.0).map(|run| run.bandwidth().value).collect();
    let top = lossless.last().copied().unwrap_or(0.0);
    let rises = lossless.len() > 2 && lossless.windows(2).all(|pair| pair[1] > pair[0]);
    let rest: Vec<f64> = plain[lossless.len()..].iter().map(|run| run.bandwidth().value).collect();
    let lowest = rest.iter().copied().fold(f64::INFINITY, f64::min);
    let falls = !rest.is_empty() && lowest < NEARLY * top;
    let recovers = rest.last().is_some_and(|last| *last > 1.1 * lowest && *last < top);
    let (first, other) = (first_loss(&plain), first_loss(&mapped));
    let earlier = match (first, other) {
        (Some(plain), Some(mapped)) => Truth::of(mapped <= plain),
        _ => Truth::Fails,
    };
    demanded(vec![
        (Truth::of(rises && falls && recovers), format!("MB/s by packets: {}", course(&plain))),
        (earlier, format!("loses {}, with the map {}", told(first), told(other))),
        (
            Truth::of(mean(&mapped) < mean(&plain)),
            format!("{:.2} MB/s on average, with the map {:.2}", mean(&plain), mean(&mapped)),
        ),
    ])
}

/// Holds if frames are lost at an earlier length than in 8x2, and the map helps.
fn early(e: &Evidence) -> Answer {
    let (plain, mapped) = (of(e, Way::Pairwise, PAIR_8X3)?, of(e, Way::Mapped, PAIR_8X3)?);
    let (first, other) = (first_loss(&plain), first_loss(&of(e, Way::Pairwise, PAIR_8X2)?));
    let earlier = first.is_some_and(|first| other.is_none_or(|other| first < other));
    demanded(vec![
        (
            Truth::of(earlier),
            format!("loses {}, 8x2 {}: {}", told(first), told(other), course(&plain)),
        ),
        (
            Truth::of(mean(&mapped) > mean(&plain)),
            format!("{:.2} MB/s on average, with the map {:.2}", mean(&plain), mean(&mapped)),
        ),
    ])
}

/// Holds if frames are lost at a later length than in 8x3, and bandwidth rises from its lowest to
/// the end.
fn from_medium(e: &Evidence) -> Answer {
    let plain = of(e, Way::Pairwise, PAIR_6X4)?;
    let (first, other) = (first_loss(&plain), first_loss(&of(e, Way::Pairwise, PAIR_8X3)?));
    let later = first.zip(other).is_some_and(|(first, other)| first > other);
    let lossy: Vec<f64> =
        plain.iter().skip_while(|run| run.lost() == 0.0).map(|run| run.bandwidth().value).collect();
    let rises = lossy.first().zip(lossy.last()).is_some_and(|(first, last)| last > first);
    demanded(vec![
        (Truth::of(later), format!("loses {}, 8x3 {}", told(first), told(other))),
        (Truth::of(rises), format!("MB/s by packets: {}", course(&plain))),
    ])
}

/// Holds if the map helps in 8x4: all of the claim that needs no MPI.
fn tight(e: &Evidence) -> Answer {
    let (plain, mapped) = (of(e, Way::Pairwise, PAIR_8X4)?, of(e, Way::Mapped, PAIR_8X4)?);
    demanded(vec![
        (Truth::Open, "MPI is not measured".to_owned()),
        (
            Truth::of(mean(&mapped) > mean(&plain)),
            format!("{:.2} MB/s on average, with the map {:.2}", mean(&plain), mean(&mapped)),
        ),
    ])
}
