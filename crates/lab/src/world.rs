//! What one point describes, ready to be tried.

use crate::{LabError, Network, destination, hardware, scheme};
use crosstie_sim::cluster::ClusterSpec;
use crosstie_sim::traffic::{Arrival, Size, TrafficError};
use crosstie_sim::trial::{Effort, Trial, Workload};
use crosstie_sim::wormhole::Config;
use crosstie_study::{self as study, Goal, Packet, Spec, Traffic, Work};
use crosstie_units::Seed;
use std::path::PathBuf;
use std::sync::Arc;

/// A network, its hardware and what its nodes send.
pub struct World {
    network: Arc<Network>,
    rails: u32,
    config: Config,
    cluster: Option<ClusterSpec>,
    workload: Workload,
    seed: Seed,
    effort: Effort,
    goal: Goal,
    /// Sentences for the note of the row.
    remarks: Vec<String>,
}

/// The most packets that a message may be cut into.
const MOST_PACKETS: u64 = 1 << 16;

impl World {
    /// Builds everything that a spec describes; `locate` tells where the paths in it lead.
    pub fn build(spec: &Spec, locate: &dyn Fn(&str) -> PathBuf) -> Result<World, LabError> {
        let network = Network::build(&spec.fabric, &spec.routing, locate)?;
        World::on(Arc::new(network), spec, locate)
    }

    /// The same on a network that was built before from the same spec.
    pub(crate) fn on(
        network: Arc<Network>,
        spec: &Spec,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<World, LabError> {
        let traffic = runnable(spec)?;
        let mut remarks = network.remarks.clone();
        hardware::check_memory(spec, &network.fabric)?;
        let config = hardware::config(spec, &mut remarks)?;
        let cluster = scheme::cluster(spec, &network.fabric, &config)?;
        let to = &traffic.destination;
        let workload = Workload {
            arrival: match traffic.arrival {
                study::Arrival::Exponential {} => Arrival::Exponential,
                study::Arrival::Constant {} => Arrival::Constant,
                study::Arrival::Bernoulli {} => Arrival::Bernoulli,
            },
            size: size(spec, traffic)?,
            destination: destination::destination(
                to,
                "traffic.destination",
                &network.fabric,
                locate,
            )?,
            packing: hardware::packing(spec),
        };
        let measure = &spec.measure;
        let effort = Effort {
            precision: measure.precision,
            confidence: measure.confidence,
            min_cycles: measure.min_cycles,
            max_cycles: measure.max_cycles,
        };
        let (rails, seed, goal) = (spec.cluster.rails, spec.seed, measure.goal(traffic));
        let world =
            World { network, rails, config, cluster, workload, seed, effort, goal, remarks };
        world.check_traffic()?;
        Ok(world)
    }

    /// Refuses traffic that cannot be made at the highest load to be tried.
    fn check_traffic(&self) -> Result<(), LabError> {
        let (highest, tried) = match self.goal {
            Goal::Load(load) => (load, ""),
            Goal::Saturation(_) => (1.0, ", which the search may try,"),
        };
        self.trial().traffic(highest).map(|_| ()).map_err(|error| match error {
            TrafficError::Crowded { load, mean_flits } => {
                let problem = format!(
                    "load {highest}{tried} takes {:.3} messages per cycle from each sender, of \
                     {mean_flits} flits on average, but Bernoulli arrivals start at most one",
                    load / mean_flits
                );
                let help = "set `traffic.arrival = \"exponential\"`, lower the load or lengthen the \
                            messages";
                LabError::setting("traffic.arrival", problem, help)
            }
            error => LabError::setting("traffic.destination", error, "choose another destination"),
        })
    }

    /// The network.
    pub fn network(&self) -> &Network {
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

    pub(crate) fn trial(&self) -> Trial<'_> {
        Trial {
            fabric: &self.network.fabric,
            routing: &*self.network.routing,
            rails: self.rails,
            config: &self.config,
            cluster: self.cluster.as_ref(),
            workload: &self.workload,
            seed: self.seed,
            effort: self.effort,
        }
    }
}

/// What can be run so far: open-loop traffic on the wormhole network.
fn runnable(spec: &Spec) -> Result<&Traffic, LabError> {
    let missing = |key: &str, what: String, help: &str| {
        Err(LabError::setting(key, format!("found {what}, which cannot be run yet"), help))
    };
    match (spec.world, &spec.work) {
        (study::World::Wormhole, Work::Traffic(traffic)) => Ok(traffic),
        (study::World::Wormhole, Work::Ping(_) | Work::Stream(_)) => {
            missing("work", "closed-loop work".to_owned(), "replace `work` by `traffic`")
        }
        (world @ study::World::Ideal, _) => {
            missing("world", format!("`{}`", world.name()), "leave `world` out")
        }
    }
}

/// The law of message sizes, in bytes.
fn size(spec: &Spec, traffic: &Traffic) -> Result<Size, LabError> {
    let (size, key, largest) = match traffic.size {
        study::Size::Fixed { size } => {
            (Size::Fixed(size.get() as u32), "traffic.size.fixed.size", size)
        }
        study::Size::Exponential { mean } => {
            let law = Size::Exponential { mean: mean.get() as f64 };
            (law, "traffic.size.exponential.mean", mean)
        }
        study::Size::Bimodal { small, large, small_share } => {
            let (small, key) = (small.get() as u32, "traffic.size.bimodal.large");
            (Size::Bimodal { small, large: large.get() as u32, small_share }, key, large)
        }
    };
    if let Packet::Payload(payload) = spec.nic.packet {
        let packets = largest.get().div_ceil(payload.get());
        if packets > MOST_PACKETS {
            let problem = format!(
                "found {largest}, which is {packets} packets of {payload}, expected at most \
                 {MOST_PACKETS}"
            );
            return Err(LabError::setting(
                key,
                problem,
                "take smaller messages or a larger `nic.packet`",
            ));
        }
    }
    Ok(size)
}
