//! Nodes and their policy: from the experiment file to the simulator.

use crate::LabError;
use crate::hardware::packing;
use crosstie_fabric::Fabric;
use crosstie_protocol::{PolicyKind, rails_optimal};
use crosstie_sim::cluster::ClusterSpec;
use crosstie_sim::wormhole::Config;
use crosstie_study::Spec;
use crosstie_units::Time;

/// The nodes and their policy, if it is one that paces them.
pub(crate) fn cluster(
    spec: &Spec,
    fabric: &Fabric,
    config: &Config,
) -> Result<Option<ClusterSpec>, LabError> {
    let Some(policy) = spec.scheme.filter(PolicyKind::paces) else { return Ok(None) };
    let (nodes, rails, ticks) = (fabric.hosts().len() as u32, spec.cluster.rails, config.ticks);
    policy.fits(nodes, rails).map_err(|error| {
        let needed = rails_optimal(nodes);
        let help = format!("set `cluster.rails = {needed}`, or choose another scheme");
        LabError::setting("scheme.static", error, help)
    })?;
    Ok(Some(ClusterSpec {
        policy,
        pes: spec.cluster.pes,
        blocking: spec.cluster.blocking,
        rails,
        transfers: spec.nic.transfers,
        // A NIC keeps every virtual channel of its link busy if it can.
        window: spec.switch.virtual_channels,
        packing: packing(spec),
        control: spec.nic.control.get().div_ceil(spec.link.flit.get()) as u32,
        response: spec.nic.response * ticks,
        tick: Time::from_ps((spec.link.cycle().ps() / u64::from(ticks)).max(1)),
    }))
}
