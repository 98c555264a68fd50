//! Facts about all routes together.

use std::fmt;

use crosstie_fabric::Fabric;
use crosstie_routing::Summary;
use serde::Serialize;

use super::RoutingName;
use crate::exit::Failure;

/// How long routes are and how evenly they load the channels.
#[derive(Debug, Serialize)]
pub struct Overview {
    routes: u64,
    minimal: u64,
    minimal_share: f64,
    stopping: u64,
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
}

impl Overview {
    /// Follows all routes.
    pub fn of(fabric: &Fabric, name: RoutingName) -> Result<Overview, Failure> {
        let routing = name.on(fabric).map_err(Failure::user)?;
        let summary = Summary::of(fabric, &*routing).map_err(Failure::ours)?;
        Ok(Overview {
            routes: summary.routes,
            minimal: summary.minimal,
            minimal_share: summary.minimal_share(),
            stopping: summary.stopping,
            mean_switches: summary.mean_switches(),
            max_switches: summary.longest,
            load: summary.load.map(|load| Load { min: load.min, mean: load.mean, max: load.max }),
        })
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
            writeln!(f, "  in transit     {} routes stop at a host", self.stopping)?;
        }
        let (mean, max) = (self.mean_switches, self.max_switches);
        writeln!(f, "  switches       {mean:.4} crossed on average, {max} at most")?;
        match &self.load {
            None => writeln!(f, "  channel load   no channels between switches"),
            Some(Load { min, mean, max }) => writeln!(
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

    #[test]
    fn shortest_paths_crowd_a_tree() {
        let fabric = crosstie_fabric::tree(4, 2).unwrap();
        let text = Overview::of(&fabric, RoutingName::Shortest).unwrap().to_string();
        assert_eq!(
            text,
            "  routes         240, all minimal\n  \
             switches       2.6000 crossed on average, 3 at most\n  \
             channel load   12.00 routes on average, from 0.00 to 48.00; the busiest has 4.00 times \
             the average\n"
        );
    }

    #[test]
    fn a_single_switch_has_no_load_to_balance() {
        let fabric = crosstie_fabric::single(4).unwrap();
        let text = Overview::of(&fabric, RoutingName::Shortest).unwrap().to_string();
        assert!(text.ends_with("no channels between switches\n"), "{text}");
    }
}
