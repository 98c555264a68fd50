//! Facts about all routes together.

use std::fmt;

use crosstie_fabric::Fabric;
use crosstie_routing::{Routing, Summary};
use serde::Serialize;

use crate::exit::Failure;

/// How long routes are and how evenly they load the channels.
#[derive(Debug, Serialize)]
pub struct Overview {
    routes: u64,
    minimal: u64,
    minimal_share: f64,
    stopping: u64,
    stops: u64,
    mean_stops: f64,
    /// Routes by the number of links between switches that they cross.
    lengths: Vec<u64>,
    mean_links: f64,
    mean_switches: f64,
    max_switches: usize,
    /// Routes per channel between switches; nothing where there is no such channel.
    load: Option<Load>,
}

#[derive(Debug, Serialize)]
struct Load {
    min: f64,
    mean: f64,
    max: f64,
    deviation: f64,
}

impl Overview {
    /// Follows all routes.
    pub fn of(fabric: &Fabric, routes: &dyn Routing) -> Result<Overview, Failure> {
        let summary = Summary::of(fabric, routes).map_err(Failure::ours)?;
        Ok(Overview {
            routes: summary.routes,
            minimal: summary.minimal,
            minimal_share: summary.minimal_share(),
            stopping: summary.stopping,
            stops: summary.stops,
            mean_stops: summary.mean_stops(),
            mean_links: summary.mean_links(),
            lengths: summary.lengths.clone(),
            mean_switches: summary.mean_switches(),
            max_switches: summary.longest,
            load: summary.load.map(Load::of),
        })
    }
}

impl Load {
    fn of(load: crosstie_routing::Load) -> Load {
        let crosstie_routing::Load { min, mean, max, deviation } = load;
        Load { min, mean, max, deviation }
    }
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = match self.minimal {
            minimal if minimal == self.routes => "all".to_owned(),
            _ => format!("{:.1}%", 100.0 * self.minimal_share),
        };
        writeln!(f, "  routes         {}, {share} minimal", self.routes)?;
        if self.stopping > 0 {
            let (stopping, mean) = (self.stopping, self.mean_stops);
            writeln!(
                f,
                "  in transit     {stopping} routes stop at a host; {mean:.4} stops per route"
            )?;
        }
        let (mean, max) = (self.mean_switches, self.max_switches);
        writeln!(f, "  switches       {mean:.4} crossed on average, {max} at most")?;
        if self.lengths.len() > 1 {
            let counted = (0..).zip(&self.lengths).filter(|(_, routes)| **routes > 0);
            let words: Vec<String> =
                counted.map(|(n, routes)| format!("{n} on {routes}")).collect();
            let mean = self.mean_links;
            writeln!(f, "  links          {mean:.4} on average: {}", words.join(", "))?;
        }
        match &self.load {
            None => writeln!(f, "  channel load   no channels between switches"),
            Some(Load { min, mean, max, .. }) => writeln!(
                f,
                "  channel load   {mean:.2} routes on average, from {min:.2} to {max:.2}; the busiest \
                 has {:.2} times the average",
                max / mean
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_routing::Shortest;

    #[test]
    fn shortest_paths_crowd_a_tree() {
        let fabric = crosstie_fabric::tree(4, 2).unwrap();
        let text = Overview::of(&fabric, &Shortest::new(&fabric)).unwrap().to_string();
        assert_eq!(
            text,
            "  routes         240, all minimal\n  \
             switches       2.6000 crossed on average, 3 at most\n  \
             links          1.6000 on average: 0 on 48, 2 on 192\n  \
             channel load   12.00 routes on average, from 0.00 to 48.00; the busiest has 4.00 times \
             the average\n"
        );
    }

    #[test]
    fn a_single_switch_has_no_load_to_balance() {
        let fabric = crosstie_fabric::single(4).unwrap();
        let text = Overview::of(&fabric, &Shortest::new(&fabric)).unwrap().to_string();
        assert!(text.ends_with("no channels between switches\n"), "{text}");
    }
}
