//! What the testbed is made of, as the parts have it.

use super::PAPER;
use crate::paper::Scale;
use crosstie_study::paper::Measured;
use crosstie_study::{NodeBus, Spec};
use crosstie_units::Rate;

/// Tells what a part takes for a claim; nothing if the claim is about something else.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let rate = match id {
        "link.4x" => spec("fig05").link.rate,
        "link.1x" => spec("fig17").cluster.rails.list()[1].rate?,
        "hca.4x.aggregate" => return Some(both_ways(spec("fig05").link.rate)),
        "bus.pcie8.dir" => express()?,
        "bus.pcie8.total" => return Some(both_ways(express()?)),
        _ => return None,
    };
    Some(Measured::exact(megabytes(rate)))
}

/// The first point of a part.
pub(super) fn spec(part: &str) -> Spec {
    let part = PAPER.part(part).expect("a part of this paper");
    let study = part.study(Scale::Usual).unwrap_or_else(|mistake| panic!("{mistake}"));
    study.points()[0].spec.clone()
}

/// The bus of PCI Express, each way.
fn express() -> Option<Rate> {
    let part = PAPER.part("ports").expect("a part of this paper");
    let study = part.study(Scale::Usual).unwrap_or_else(|mistake| panic!("{mistake}"));
    study.points().iter().find_map(|point| match point.spec.node.bus {
        Some(NodeBus::Full(bus)) => bus.rate,
        _ => None,
    })
}

fn both_ways(rate: Rate) -> Measured {
    Measured::exact(2.0 * megabytes(rate))
}

fn megabytes(rate: Rate) -> f64 {
    rate.bytes_per_second() as f64 / 1e6
}
