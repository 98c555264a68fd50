//! Measures of section 3: what several adapters, several ports and several paths gain.

use super::Answer;
use super::comparison::margin;
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    let (gains, expected) = match words[..] {
        ["ways", "adapters"] => (ports(e, ADAPTERS, PCI_X), true),
        ["ways", "ports", "pcix"] => (ports(e, PORTS, PCI_X), false),
        ["ways", "ports", "pcie"] => (ports(e, PORTS, PCI_EXPRESS), true),
        ["ways", "paths", "port"] => (paths(e, FAST), false),
        ["ways", "paths", "fabric"] => (paths(e, SLOW), true),
        _ => return None,
    };
    Some(gains.map(|gains| {
        let margin = margin(claim);
        let fits = |gain: &Estimate| match expected {
            true => gain.above(Estimate::exact(1.0 + margin)),
            false => gain.within(1.0 - margin, 1.0 + margin),
        };
        let words: Vec<String> = gains.iter().map(|gain| format!("{:.2}", gain.value)).collect();
        let text = format!("bandwidth over that of one: {}", words.join(" one way, "));
        let text = if gains.len() > 1 { format!("{text} both ways") } else { text };
        Measured::shape(Truth::all(gains.iter().map(fits)), text)
    }))
}

const ADAPTERS: &str = "2";
const PORTS: &str = "[{bus=0}, {bus=0}]";
const PATHS: &str = "[{port=0}, {port=0}]";
const ONE: &str = "1";

const PCI_X: &str = "asymmetric";
const PCI_EXPRESS: &str = "full";

/// Links between switches that are slower than a port, and as fast.
const SLOW: &str = "500 MB/s";
const FAST: &str = "1000 MB/s";

/// What rails of a kind carry over what one does, one way and both ways.
fn ports(e: &Evidence, rails: &str, bus: &str) -> Result<Vec<Estimate>, Missing> {
    let carried = |rails: &str, both_ways: &str| {
        let settings =
            [("cluster.rails", rails), ("node.bus", bus), ("work.stream.both-ways", both_ways)];
        e.estimate("ports", &settings, "bandwidth")
    };
    ["false", "true"]
        .into_iter()
        .map(|ways| Ok(carried(rails, ways)?.over(carried(ONE, ways)?)))
        .collect()
}

/// What two paths carry over what one does.
fn paths(e: &Evidence, uplinks: &str) -> Result<Vec<Estimate>, Missing> {
    let carried = |rails: &str| {
        e.estimate(
            "paths",
            &[("cluster.rails", rails), ("frame.uplink.rate", uplinks)],
            "bandwidth",
        )
    };
    Ok(vec![carried(PATHS)?.over(carried(ONE)?)])
}
