//! A fabric with its routing, from their descriptions or from a file.

use crate::LabError;
use crosstie_fabric::{
    ChannelId, Fabric, Format, Irregular, ReadError, anynet, irregular, pruned_tree, single,
    two_level,
};
use crosstie_routing::{
    Assurance, Load, MOST_CROSSINGS, Routing, RoutingError, RoutingKind, Summary,
};
use crosstie_sim::wormhole::MOST_PORTS;
use crosstie_study::{self as study, argument};
use crosstie_units::Seed;
use std::path::{Path, PathBuf};

/// A fabric and the routing on it, checked, with what a reader of the results should know.
pub struct RoutedFabric {
    /// The network of one rail.
    pub fabric: Fabric,
    /// How packets find their way.
    pub routing: Box<dyn Routing>,
    /// What is to be said of all routes together, where they are written down.
    pub summary: Option<Summary>,
    /// Sentences for the note of every row.
    pub remarks: Vec<String>,
}

/// The most hosts of a network whose routes, if they are not written down, are followed to look for
/// crowded channels.
const MOST_FOLLOWED: usize = 512;
/// How many times the mean the busiest channel may carry before it is said.
const CROWDED: f64 = 3.0;
/// The most channels of a cycle that a note names.
const MOST_NAMED: usize = 16;

/// The key that names a file with a network.
const FILE_KEY: &str = "fabric.file.path";

impl RoutedFabric {
    /// Builds or reads a fabric, computes its routes and looks whether they can deadlock.
    pub fn build(
        fabric: &study::Fabric,
        wanted: &RoutingKind,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<RoutedFabric, LabError> {
        let (fabric, mut remarks) = build_fabric(fabric, locate)?;
        let refuse = |error: RoutingError| {
            let help = match error {
                RoutingError::NotATree(_) => "leave `routing` out, or set `routing = \"up-down\"`",
                RoutingError::NoSuchRoot { .. } => "give another `root`, or leave it out",
                RoutingError::TooManyHosts { .. } | RoutingError::NoHostToStopAt { .. } => {
                    "choose another routing"
                }
            };
            LabError::setting("routing", error, help)
        };
        // A spec that was read has given its routing a seed.
        let (chosen, routing) = wanted.routes(&fabric, Seed(0)).map_err(refuse)?;
        if chosen != *wanted {
            remarks.push(format!(
                "routing = {}, the most even that cannot deadlock here",
                argument::write(&chosen)
            ));
        }
        remarks.extend(deadlock_remark(&fabric, Assurance::of(wanted, &fabric, &*routing)?));
        let summary = match fabric.hosts().len() {
            hosts if hosts > MOST_FOLLOWED && routing.summary().is_none() => None,
            _ => Some(Summary::of(&fabric, &*routing)?),
        };
        remarks.extend(summary.as_ref().and_then(|summary| crowding_remark(summary.load?)));
        let summary = summary.filter(|_| routing.summary().is_some());
        Ok(RoutedFabric { fabric, routing, summary, remarks })
    }

    /// Returns true if switches choose among several ports, packet by packet.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.routing.groups().iter().any(|ports| ports.len() > 1)
    }
}

/// Builds or reads a fabric, with what a reader of the results should know.
pub fn build_fabric(
    fabric: &study::Fabric,
    locate: &dyn Fn(&str) -> PathBuf,
) -> Result<(Fabric, Vec<String>), LabError> {
    let mut remarks = Vec::new();
    let fabric = match fabric {
        study::Fabric::Tree(tree) => build_tree(tree)?,
        study::Fabric::Single { hosts } => single(*hosts)
            .map_err(|error| LabError::setting("fabric.single.hosts", error, "take fewer hosts"))?,
        study::Fabric::TwoLevel { leaves, hosts_per_leaf } => two_level(*leaves, *hosts_per_leaf)
            .map_err(|error| {
            LabError::setting("fabric.two-level", error, "take fewer leaves or hosts")
        })?,
        study::Fabric::Irregular(network) => draw(network)?,
        study::Fabric::File { path } => read(path, &locate(path), &mut remarks)?,
    };
    Ok((fabric, remarks))
}

fn narrow(key: &str, value: u32) -> Result<u16, LabError> {
    u16::try_from(value).map_err(|_| {
        LabError::setting(key, format!("found {value}, expected a small number"), "lower it")
    })
}

fn draw(network: &study::Irregular) -> Result<Fabric, LabError> {
    let shape = Irregular {
        switches: network.switches,
        ports: narrow("fabric.irregular.ports", network.ports)?,
        hosts_per_switch: narrow("fabric.irregular.hosts-per-switch", network.hosts_per_switch)?,
        links: network.links,
    };
    irregular(&shape, network.seed).map_err(|error| {
        LabError::setting(
            "fabric.irregular",
            error,
            "change `switches`, `ports`, `hosts-per-switch` or `links`",
        )
    })
}

fn build_tree(tree: &study::Tree) -> Result<Fabric, LabError> {
    let (k, n) = (narrow("fabric.tree.k", tree.k)?, narrow("fabric.tree.n", tree.n)?);
    pruned_tree(k, n, tree.hosts)
        .map_err(|error| LabError::setting("fabric.tree", error, "lower `k`, `n` or `hosts`"))
}

fn read(name: &str, path: &Path, remarks: &mut Vec<String>) -> Result<Fabric, LabError> {
    let refuse =
        |problem: String, help: &str| LabError::input(FILE_KEY, path.into(), problem, help);
    let text = std::fs::read_to_string(path)
        .map_err(|error| refuse(error.to_string(), "paths are relative to the experiment file"))?;
    let format = Format::of(name, &text);
    let malformed = |error: ReadError| {
        refuse(error.to_string(), &format!("expected a connected network in {}", format.name()))
    };
    let fabric = if format == Format::Anynet {
        let anynet::Anynet { fabric, latency } = anynet::read(name, &text).map_err(malformed)?;
        let others = latency.iter().filter(|&&cycles| cycles != 1).count();
        if others > 0 {
            remarks.push(format!(
                "`{name}` gives {others} of {} channels a latency of their own, which is ignored: \
                 every wire takes link.wire",
                latency.len()
            ));
        }
        fabric
    } else {
        format.read(name, &text).map_err(malformed)?
    };
    match fabric.switches().find(|&switch| fabric.ports(switch) > MOST_PORTS) {
        None => Ok(fabric),
        Some(switch) => {
            let label = fabric.label(crosstie_fabric::Node::Switch(switch));
            let ports = fabric.ports(switch);
            let problem =
                format!("switch {label} has {ports} ports, expected at most {MOST_PORTS}");
            Err(refuse(problem, "give the switch fewer ports"))
        }
    }
}

/// What is to be said of a routing that may deadlock.
fn deadlock_remark(fabric: &Fabric, assurance: Assurance) -> Option<String> {
    match assurance {
        Assurance::DeadlockFree => None,
        Assurance::Cycle(cycle) => Some(format!(
            "the routing is not deadlock-free: packets may wait for each other along {}",
            names(fabric, &cycle)
        )),
        Assurance::NotCertified { crossings } => Some(format!(
            "the routing is not certified, it may deadlock: its routes cross {crossings} channels, and at \
             most {MOST_CROSSINGS} are followed"
        )),
    }
}

/// What is to be said of routes that crowd a channel.
fn crowding_remark(load: Load) -> Option<String> {
    (load.unevenness() > CROWDED).then(|| {
        format!(
            "the routes are uneven: the busiest channel has {:.1} times the mean, and uniform traffic \
             saturates there",
            load.unevenness()
        )
    })
}

fn names(fabric: &Fabric, channels: &[ChannelId]) -> String {
    let mut names: Vec<_> =
        channels.iter().take(MOST_NAMED).map(|&channel| fabric.describe(channel)).collect();
    if channels.len() > MOST_NAMED {
        names.push(format!("{} more", channels.len() - MOST_NAMED));
    }
    names.join(", ")
}
