//! Rail schemes: from the experiment file to the machines.

use crate::LabError;
use crate::hardware::packing;
use crosstie_fabric::Fabric;
use crosstie_protocol::{Allocation, Scheme, StripingRatio, matrix};
use crosstie_sim::cluster::{Cluster, ClusterSpec};
use crosstie_sim::wormhole::Config;
use crosstie_study::{self as study, Spec};
use crosstie_units::Time;
use std::sync::Arc;

/// The nodes and their scheme, unless they take their rails in turn.
pub(crate) fn cluster(
    spec: &Spec,
    fabric: &Fabric,
    config: &Config,
) -> Result<Option<ClusterSpec>, LabError> {
    let Some(scheme) = scheme(&spec.policy, spec.cluster.rails, fabric)? else { return Ok(None) };
    let ticks = config.ticks;
    let cluster = ClusterSpec {
        scheme,
        pes: spec.cluster.pes,
        blocking: spec.cluster.blocking,
        rails: spec.cluster.rails,
        transfers: spec.nic.transfers,
        // A NIC keeps every virtual channel of its link busy if it can.
        window: spec.switch.virtual_channels,
        packing: packing(spec),
        control: spec.nic.control.get().div_ceil(spec.link.flit.get()) as u32,
        response: spec.nic.response * ticks,
        tick: Time::from_ps((spec.link.cycle().ps() / u64::from(ticks)).max(1)),
    };
    Cluster::new(fabric, &cluster)
        .map_err(|error| LabError::setting("policy", error, "choose another policy"))?;
    Ok(Some(cluster))
}

fn scheme(wanted: &study::Scheme, rails: u32, fabric: &Fabric) -> Result<Option<Scheme>, LabError> {
    let ratio = |striping| {
        StripingRatio::new(striping).map_err(|error| {
            LabError::setting("policy.striping", error, "take a number from 0 to 1")
        })
    };
    Ok(Some(match *wanted {
        study::Scheme::RoundRobin {} => return Ok(None),
        study::Scheme::Static {} => {
            let nodes = fabric.hosts().len() as u32;
            let allocation = matrix::algorithm2(rails, nodes).map_err(|error| {
                let needed = matrix::rails_optimal(nodes);
                let help = format!("set `cluster.rails = {needed}`, or choose another policy");
                LabError::setting("policy.static", error, help)
            })?;
            let allocation = Allocation::new(allocation).expect("algorithm 2 connects every pair");
            Scheme::Static(Arc::new(allocation))
        }
        study::Scheme::Basic {} => Scheme::Basic,
        study::Scheme::LocalDynamic { striping } => {
            Scheme::LocalDynamic { ratio: ratio(striping)? }
        }
        study::Scheme::Dynamic { striping, timeout } => {
            Scheme::Dynamic { ratio: ratio(striping)?, patience: timeout }
        }
        study::Scheme::Hybrid { striping, timeout, threshold } => Scheme::Hybrid {
            ratio: ratio(striping)?,
            patience: timeout,
            threshold: threshold.get(),
        },
    }))
}
