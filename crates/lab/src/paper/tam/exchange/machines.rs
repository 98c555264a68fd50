//! Claims that are inputs: what the experiments carry of the machine, read from them.

use super::super::EXCHANGE;
use super::formulas::Cluster;
use crate::RoutedFabric;
use crate::paper::Scale;
use crate::parameters::derive;
use crosstie_model::Parameters;
use crosstie_study::paper::Measured;
use crosstie_study::{Capacity, Memory, Spec};
use std::path::PathBuf;

/// Measures a claim; nothing if it is no input that an experiment carries.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let found = match words[..] {
        ["t5", "2", what] => of_packet(&parameters(spec("exchange-length", "326")?)?, what)?,
        ["t5", "2", switch, what] => {
            let switch = switch.strip_prefix('L')?;
            let latency = parameters(spec("exchange-length", switch)?)?.latency;
            let at = |nodes| latency.at(PACKET, nodes).ps() as f64 / 1e6;
            match what {
                "slope" => at(1) - at(0),
                _ => at(0),
            }
        }
        ["t6", "1", which] => {
            let frame = spec("exchange-modified", "")?.frame;
            match (which, frame.switch.memory, frame.core?.memory) {
                ("alcatel_pr2200", _, Memory::Shared { capacity, .. }) => frames(capacity)?,
                ("ibm_8275_326", Memory::Input { capacity, .. }, _) => frames(capacity)?,
                ("ibm_ge_uplink", Memory::Input { uplink, .. }, _) => frames(uplink?)?,
                _ => return None,
            }
        }
        ["ch6", "message", end] => {
            let study = EXCHANGE.part("exchange-16x1")?.study(Scale::Usual).ok()?;
            let sizes = study.points().iter().filter_map(|point| {
                let (_, size) =
                    point.settings.iter().find(|(key, _)| key.ends_with("all-to-all.size"))?;
                size.number()
            });
            let kib = sizes.map(|size| size / 1024.0);
            match end {
                "min" => kib.fold(f64::INFINITY, f64::min),
                _ => kib.fold(0.0, f64::max),
            }
        }
        _ => return None,
    };
    Some(Measured::exact(found))
}

/// What a full packet carries.
const PACKET: u64 = 1492;

/// The first point of a part, on a switch of this name if it has several.
fn spec(part: &str, switch: &str) -> Option<Spec> {
    let study = EXCHANGE.part(part)?.study(Scale::Usual).ok()?;
    let fits = |point: &&crosstie_study::Point| {
        let named = point.settings.iter().find(|(key, _)| key == "frame.switch");
        named.is_none_or(|(_, value)| value.to_string() == switch)
    };
    study.points().iter().find(fits).map(|point| point.spec.clone())
}

/// The model's parameters of an experiment.
fn parameters(spec: Spec) -> Option<Parameters> {
    let nowhere = |name: &str| PathBuf::from(name);
    let network = RoutedFabric::build(&spec.fabric, &spec.routing, &nowhere).ok()?;
    Some(derive(&spec, &network, 0))
}

/// What the nodes and the switch of a part take for a full packet among 16.
pub(super) fn cluster(part: &str) -> Option<Cluster> {
    let parameters = parameters(spec(part, "")?)?;
    let of = |what| of_packet(&parameters, what);
    Some(Cluster {
        ends: of("O_s")? + of("O_r")? + of("U_r")?,
        gap: of("g_s")?.max(of("g_r")?),
        latency: parameters.latency.at(PACKET, 16).ps() as f64 / 1e6,
    })
}

/// A parameter of a full packet, in us.
fn of_packet(parameters: &Parameters, what: &str) -> Option<f64> {
    let cost = match what {
        "O_s" => parameters.send,
        "g_s" => parameters.send_gap,
        "g_r" => parameters.receive_gap,
        "O_r" => parameters.receive,
        "U_r" => parameters.pickup,
        _ => return None,
    };
    Some(cost.at(PACKET, 16).ps() as f64 / 1e6)
}

fn frames(capacity: Capacity) -> Option<f64> {
    match capacity {
        Capacity::Frames(frames) => Some(f64::from(frames)),
        Capacity::Bytes(_) => None,
    }
}
