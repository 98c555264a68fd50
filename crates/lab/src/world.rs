//! What one point describes, ready to be tried.

use crate::{LabError, RoutedFabric, destination, hardware, scheme};
use crosstie_sim::network::{Blueprint, Grain};
use crosstie_sim::node::NodesSpec;
use crosstie_sim::run::{Effort, Trial};
use crosstie_sim::wormhole::{Config, WormholeSpec};
use crosstie_study::{Goal, Packet, Spec};
use crosstie_units::{Seed, Time};
use crosstie_work::traffic::TrafficError;
use crosstie_work::{Flits, Workload};
use std::path::PathBuf;
use std::sync::Arc;

/// A network, its hardware and what its nodes send.
pub struct World {
    network: Arc<RoutedFabric>,
    rails: u32,
    config: Config,
    flit: u32,
    cycle: Time,
    nodes: NodesSpec,
    workload: Workload,
    seed: Seed,
    effort: Effort,
    goal: Goal,
    /// Sentences for the note of the row.
    remarks: Vec<String>,
}

/// The end of the clock: half of what picoseconds can count, so that no sum overflows.
const LAST: Time = Time::from_ps(u64::MAX / 2);
/// The most packets that a message may be cut into.
const MOST_PACKETS: u64 = 1 << 16;

impl World {
    /// Builds everything that a spec describes; `locate` tells where the paths in it lead.
    pub fn build(spec: &Spec, locate: &dyn Fn(&str) -> PathBuf) -> Result<World, LabError> {
        let network = RoutedFabric::build(&spec.fabric, &spec.routing, locate)?;
        World::on(Arc::new(network), spec, locate)
    }

    /// The same on a network that was built before from the same spec.
    pub(crate) fn on(
        network: Arc<RoutedFabric>,
        spec: &Spec,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<World, LabError> {
        let mut remarks = network.remarks.clone();
        hardware::check_memory(spec, &network.fabric)?;
        let config = hardware::config(spec, &mut remarks)?;
        let nodes = scheme::nodes(spec, network.fabric.hosts().len() as u32)?;
        // The range of the experiment file lies within the type.
        let (flit, cycle) = (spec.link.flit.get() as u32, spec.link.cycle());
        check_time(spec, &config)?;
        check_packets(spec)?;
        let workload = Workload {
            arrival: spec.traffic.arrival,
            size: spec.traffic.size,
            pattern: destination::pattern(&spec.traffic.destination, &network.fabric, locate)?,
            flits: Flits { flit, packing: nodes.packing },
        };
        let measure = &spec.measure;
        let effort = Effort {
            precision: measure.precision,
            confidence: measure.confidence,
            min_cycles: measure.min_cycles,
            max_cycles: measure.max_cycles,
        };
        let (rails, seed, goal) = (spec.cluster.rails, spec.seed, spec.goal());
        let world = World {
            network,
            rails,
            config,
            flit,
            cycle,
            nodes,
            workload,
            seed,
            effort,
            goal,
            remarks,
        };
        world.check_traffic()?;
        Ok(world)
    }

    /// Refuses traffic that cannot be made at the highest load to be tried.
    fn check_traffic(&self) -> Result<(), LabError> {
        let (highest, tried) = match self.goal {
            Goal::Load(load) => (load, ""),
            Goal::Saturation(_) => (1.0, ", which the search may try,"),
        };
        self.trial(&self.blueprint()).traffic(highest).map(|_| ()).map_err(|error| match error {
            TrafficError::Crowded { load, mean } => {
                let problem = format!(
                    "load {highest}{tried} takes {:.3} messages per cycle from each sender, of \
                     {mean} flits on average, but Bernoulli arrivals start at most one",
                    load / mean
                );
                let help = "set `traffic.arrival = \"exponential\"`, lower the load or lengthen the \
                            messages";
                LabError::setting("traffic.arrival", problem, help)
            }
            error => LabError::setting("traffic.destination", error, "choose another destination"),
        })
    }

    /// The network.
    pub fn network(&self) -> &RoutedFabric {
        &self.network
    }

    /// How many rails there are.
    pub fn rails(&self) -> u32 {
        self.rails
    }

    /// What a reader of the results should know.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub(crate) fn goal(&self) -> Goal {
        self.goal
    }

    /// What its networks are built from.
    pub(crate) fn blueprint(&self) -> WormholeSpec<'_> {
        WormholeSpec {
            fabric: &self.network.fabric,
            routing: &*self.network.routing,
            rails: self.rails,
            config: &self.config,
            flit: self.flit,
            cycle: self.cycle,
        }
    }

    pub(crate) fn trial<'a>(&'a self, blueprint: &'a dyn Blueprint) -> Trial<'a> {
        let World { nodes, workload, seed, effort, .. } = self;
        Trial { blueprint, nodes, workload, seed: *seed, effort: *effort }
    }
}

/// Refuses a run that outlasts the clock, and a tick that the clock cannot tell.
fn check_time(spec: &Spec, config: &Config) -> Result<(), LabError> {
    let (cycle, cycles) = (spec.link.cycle(), spec.measure.max_cycles);
    if let Err(error) = Grain::new(cycle, u64::from(config.ticks)) {
        return Err(LabError::setting("link.rate", error, "take a larger flit or a lower rate"));
    }
    if cycle.ps().checked_mul(cycles).is_none_or(|end| end > LAST.ps()) {
        let problem = format!("{cycles} cycles of {cycle} last longer than the clock, {LAST}");
        return Err(LabError::setting(
            "measure.max-cycles",
            problem,
            "lower it, or take a faster link",
        ));
    }
    Ok(())
}

/// Refuses messages of too many packets.
fn check_packets(spec: &Spec) -> Result<(), LabError> {
    let Packet::Payload(payload) = spec.nic.packet else { return Ok(()) };
    let (key, largest) = spec.traffic.size.largest();
    let packets = largest.get().div_ceil(payload.get());
    if packets <= MOST_PACKETS {
        return Ok(());
    }
    let problem = format!(
        "found {largest}, which is {packets} packets of {payload}, expected at most {MOST_PACKETS}"
    );
    let help = "take smaller messages or a larger `nic.packet`";
    Err(LabError::setting(&format!("traffic.size.{key}"), problem, help))
}
