//! Destination patterns, with the files that some of them come from.

use crate::LabError;
use crosstie_fabric::Fabric;
use crosstie_routing::{LegalDistances, Order, updown};
use crosstie_study as study;
use crosstie_work::traffic::{Destination, Neighbourhood, Pattern, TrafficError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Translates a pattern for a fabric; `key` is where it stands in the experiment.
pub(crate) fn destination(
    to: &study::Destination,
    key: &str,
    fabric: &Fabric,
    locate: &dyn Fn(&str) -> PathBuf,
) -> Result<Destination, LabError> {
    let hosts = fabric.hosts().len() as u32;
    let pattern = match to {
        study::Destination::Uniform {} => Destination::Uniform,
        study::Destination::BitReversal {} => Destination::BitReversal,
        study::Destination::BitComplement {} => Destination::BitComplement,
        study::Destination::Transpose {} => Destination::Transpose,
        study::Destination::Shuffle {} => Destination::Shuffle,
        study::Destination::Tornado {} => Destination::Tornado { radix: hosts },
        &study::Destination::HotSpot { host, share } => Destination::HotSpot { host, share },
        study::Destination::Local { distance, along } => {
            Destination::Local(Arc::new(near(fabric, *distance, along, key)?))
        }
        study::Destination::Permutation { file } => {
            let (key, path) = (format!("{key}.permutation.file"), locate(file));
            let to = read_permutation(&path).and_then(|to| {
                let pattern = Destination::Permutation(to);
                check(&pattern, hosts).map(|()| pattern).map_err(|error| error.to_string())
            });
            let help = format!(
                "expected {hosts} lines, each with the number of a host from 0 to {}: line s, \
                 counted from 0, is the destination of host s",
                hosts - 1
            );
            return to.map_err(|problem| LabError::input(&key, path, problem, help));
        }
        study::Destination::Mixture { parts } => {
            let part = |(i, part): (usize, &study::Part)| {
                let key = format!("{key}.mixture.parts.{i}.destination");
                Ok((part.share, destination(&part.destination, &key, fabric, locate)?))
            };
            // A part that no message follows is checked all the same, and then left out.
            let parts: Vec<_> =
                parts.iter().enumerate().map(part).collect::<Result<_, LabError>>()?;
            Destination::Mixture(parts.into_iter().filter(|&(share, _)| share > 0.0).collect())
        }
    };
    let help = "choose another destination, or another number of hosts";
    check(&pattern, hosts).map_err(|error| LabError::setting(key, error, help))?;
    Ok(pattern)
}

/// The hosts near each host.
fn near(
    fabric: &Fabric,
    distance: u32,
    along: &study::Along,
    key: &str,
) -> Result<Neighbourhood, LabError> {
    match *along {
        study::Along::Graph {} => Ok(Neighbourhood::within(fabric, distance)),
        study::Along::UpDown { root } => {
            let key = format!("{key}.local.along.up-down.root");
            let help = "give another `root`, or leave it out";
            let order =
                updown(fabric, root).map_err(|error| LabError::setting(&key, error, help))?;
            Ok(within_legal(fabric, distance, &order))
        }
    }
}

/// The hosts that a shortest legal path under an order of the switches reaches through at most so many
/// switches.
fn within_legal(fabric: &Fabric, switches: u32, order: &Order) -> Neighbourhood {
    let distances = LegalDistances::new(fabric, order);
    Neighbourhood::gather(fabric, switches, |centre, links| {
        let reached = fabric.switches().zip(distances.to(centre));
        let near = reached.filter(|&(_, distance)| distance <= u64::from(links));
        near.map(|(switch, _)| switch).collect()
    })
}

fn check(pattern: &Destination, hosts: u32) -> Result<(), TrafficError> {
    Pattern::new(pattern, hosts).map(|_| ())
}

/// Reads the destinations of all hosts, one per line. Empty lines at the end are no lines.
fn read_permutation(path: &Path) -> Result<Vec<u32>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let read = |(number, line): (usize, &str)| {
        line.trim().parse().map_err(|_| {
            let shown: String = line.chars().take(40).flat_map(char::escape_debug).collect();
            format!("line {number}: found `{shown}`, expected the number of a host")
        })
    };
    (1..).zip(text.trim_end().lines()).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_fabric::{Irregular, irregular};
    use crosstie_routing::Root;
    use crosstie_units::Seed;

    #[test]
    fn legal_paths_may_be_longer() {
        // A ring of six switches: 3 lies opposite the root, and nothing may turn up again there.
        let shape = Irregular { switches: 6, ports: 3, hosts_per_switch: 1, links: None };
        let ring = irregular(&shape, Seed(1)).unwrap();
        let order = updown(&ring, Root::Central).unwrap();
        let last = ring.switches().max_by_key(|&switch| order.place(switch)).unwrap();
        let beside: Vec<u32> = Neighbourhood::within(&ring, 2).of(last.0).collect();
        let [a, b] = beside[..] else { panic!("{beside:?}") };
        let graph = Neighbourhood::within(&ring, 3);
        assert!(graph.of(a).any(|host| host == b), "by way of the last switch");
        let legal = |switches| within_legal(&ring, switches, &order);
        assert!(legal(4).of(a).all(|host| host != b) && legal(5).of(a).any(|host| host == b));
        assert_eq!(legal(2), Neighbourhood::within(&ring, 2), "every link is legal");
    }
}
