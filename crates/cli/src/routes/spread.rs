//! Facts about the routes of many networks: the least, the mean and the greatest of each.

use std::fmt;

use crosstie_fabric::Fabric;
use crosstie_routing::{Summary, certify};
use serde::Serialize;

use super::Wanted;
use crate::exit::Failure;

/// What a routing makes of many networks.
#[derive(Debug, Serialize)]
pub struct Spread {
    networks: usize,
    deadlock_free: usize,
    minimal_share: Range,
    mean_stops: Range,
    mean_links: Range,
    /// Routes on the busiest channel between switches, over the mean; nothing without such
    /// channels.
    busiest: Option<Range>,
}

/// A quantity over several networks.
#[derive(Debug, Clone, Copy, Serialize)]
struct Range {
    min: f64,
    mean: f64,
    max: f64,
}

impl Range {
    fn of(values: &[f64]) -> Option<Range> {
        let min = values.iter().copied().reduce(f64::min)?;
        let max = values.iter().copied().reduce(f64::max)?;
        Some(Range { min, mean: values.iter().sum::<f64>() / values.len() as f64, max })
    }
}

impl Spread {
    /// Follows all routes of all networks; there is at least one.
    pub fn of<'a>(
        worlds: impl Iterator<Item = (&'a Fabric, &'a Wanted)>,
    ) -> Result<Spread, Failure> {
        let mut deadlock_free = 0;
        let mut summaries = Vec::new();
        for (fabric, wanted) in worlds {
            let (_, routes) = wanted.on(fabric)?;
            let certificate = certify(fabric, &*routes).map_err(Failure::ours)?;
            deadlock_free += usize::from(certificate.is_deadlock_free());
            summaries.push(Summary::of(fabric, &*routes).map_err(Failure::ours)?);
        }
        let over = |fact: fn(&Summary) -> f64| {
            let values: Vec<f64> = summaries.iter().map(fact).collect();
            Range::of(&values).ok_or_else(|| Failure::ours("a spread over no networks"))
        };
        let busiest = summaries.iter().filter_map(|s| s.load.map(|load| load.max / load.mean));
        Ok(Spread {
            networks: summaries.len(),
            deadlock_free,
            minimal_share: over(Summary::minimal_share)?,
            mean_stops: over(Summary::mean_stops)?,
            mean_links: over(Summary::mean_links)?,
            busiest: Range::of(&busiest.collect::<Vec<f64>>()),
        })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  deadlock-free       {} of {}", self.deadlock_free, self.networks)?;
        writeln!(f, "  over the networks   {:>9} {:>9} {:>9}", "min", "mean", "max")?;
        let mut line = |name: &str, unit: f64, Range { min, mean, max }: Range, digits: usize| {
            let [min, mean, max] = [min, mean, max].map(|value| unit * value);
            writeln!(f, "  {name:<18}  {min:>9.digits$} {mean:>9.digits$} {max:>9.digits$}")
        };
        line("minimal routes, %", 100.0, self.minimal_share, 1)?;
        line("stops per route", 1.0, self.mean_stops, 3)?;
        line("links per route", 1.0, self.mean_links, 3)?;
        match self.busiest {
            None => Ok(()),
            Some(busiest) => line("busiest over mean", 1.0, busiest, 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_fabric::{single, tree};

    #[test]
    fn facts_are_spread_over_networks() {
        let wanted = Wanted::plain("shortest");
        let fabrics = [tree(4, 2).unwrap(), single(4).unwrap()];
        assert_eq!(
            Spread::of(fabrics.iter().map(|fabric| (fabric, &wanted))).unwrap().to_string(),
            "  deadlock-free       2 of 2\n  \
             over the networks         min      mean       max\n  \
             minimal routes, %       100.0     100.0     100.0\n  \
             stops per route         0.000     0.000     0.000\n  \
             links per route         0.000     0.800     1.600\n  \
             busiest over mean        4.00      4.00      4.00\n"
        );
    }
}
