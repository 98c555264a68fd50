//! Nodes: from the experiment file to the machines.

use crate::LabError;
use crosstie_protocol::Packing;
use crosstie_sim::host::Overhead;
use crosstie_sim::node::{Audience, Nodes, NodesError, NodesSpec, StationSpec};
use crosstie_study::{self as study, Commodity, Node, Packet, Spec, World};
use crosstie_units::{Bytes, Time};

/// How messages become packets.
pub(crate) fn packing(spec: &Spec) -> Packing {
    let packing = Packing { payload: None, ..frame_packing(spec) };
    match (spec.nic.packet, spec.world) {
        (Packet::Message, World::Wormhole | World::Ideal | World::Model) => packing,
        _ => frame_packing(spec),
    }
}

/// How messages become packets that fit in frames.
pub(crate) fn frame_packing(spec: &Spec) -> Packing {
    // The ranges of the experiment file lie within the types.
    let bytes = |size: Bytes| size.get() as u32;
    let overhead = bytes(spec.nic.overhead);
    let payload = match spec.nic.packet {
        Packet::Message => bytes(spec.frame.mtu()).saturating_sub(overhead).max(1),
        Packet::Payload(size) => bytes(size),
    };
    Packing { payload: Some(payload), overhead }
}

/// What the processors of a spec take for sending and receiving.
pub(crate) fn overhead(node: &Node) -> Option<Overhead> {
    let study::Overhead { message, byte } = node.overhead?;
    // The range of the experiment file lies within the type.
    let eager = node.eager.map(|most| most.get() as u32);
    Some(Overhead { message, byte, eager })
}

/// What packets take of the nodes of a spec.
fn station(commodity: &Commodity) -> StationSpec {
    let Commodity { send, send_gap, outward, inward, receive_gap, receive, pickup, .. } =
        *commodity;
    let Commodity { interrupts, ring, receive_ring, pool, jitter, .. } = *commodity;
    StationSpec {
        send,
        send_gap,
        outward,
        inward,
        receive_gap,
        receive,
        pickup,
        interrupts,
        ring,
        receive_ring,
        pool,
        jitter,
    }
}

/// The nodes that a spec describes, of which there are so many. A channel that names no time-out has the one
/// recommended.
pub(crate) fn nodes(spec: &Spec, count: u32, timeout: Time) -> Result<NodesSpec, LabError> {
    let nodes = NodesSpec {
        policy: spec.policy,
        pes: spec.cluster.pes,
        blocking: spec.cluster.blocking,
        rails: spec.cluster.rails.count(),
        transfers: spec.nic.transfers,
        // A NIC keeps every virtual channel of its link busy if it can.
        window: spec.switch.virtual_channels,
        packing: packing(spec),
        // The range of the experiment file lies within the type.
        control: spec.nic.control.get() as u32,
        response: spec.link.cycle() * u64::from(spec.nic.response),
        channel: spec.channel.spec(timeout),
        station: spec.node.commodity.as_ref().map(station),
        seed: spec.seed,
    };
    Nodes::new(&nodes, count, Audience::Silent).map_err(|error| match error {
        NodesError::Policy(error) => {
            let needed = crosstie_protocol::rails_optimal(count);
            let help = format!("set `cluster.rails = {needed}`, or choose another policy");
            LabError::setting("policy.static", error, help)
        }
        NodesError::Channel(error) => LabError::setting("channel", error, "choose another channel"),
        NodesError::Node(error) => LabError::setting("policy", error, "choose another policy"),
    })?;
    Ok(nodes)
}
