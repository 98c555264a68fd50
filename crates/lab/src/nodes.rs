//! Nodes: from the experiment file to the machines.

use crate::LabError;
use crate::ethernet::pace;
use crate::round_trip::RoundTrip;
use crosstie_protocol::channel::ChannelSpec;
use crosstie_protocol::message::MessageSpec;
use crosstie_protocol::{Injection, Packing};
use crosstie_sim::host::{MessagingSpec, Overhead};
use crosstie_sim::node::{Audience, Nodes, NodesError, NodesSpec, StationSpec};
use crosstie_study::{self as study, Commodity, Message, Node, Packet, Spec, World};
use crosstie_units::Bytes;

/// How messages become packets.
pub(crate) fn packing(spec: &Spec) -> Packing {
    let packing = Packing { payload: None, ..frame_packing(spec) };
    match (spec.nic.packet, spec.world) {
        (Packet::Message, World::Wormhole | World::Ideal | World::Model | World::Live) => packing,
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

/// How the ranks of a spec exchange messages.
pub(crate) fn messaging(spec: &Spec, message: &Message) -> MessagingSpec {
    let patience = spec.nic.patience.as_ref();
    let ports = spec.has_ports();
    let mut protocol = MessageSpec::new(message.eager.get());
    // Who waits for a rank that cannot be reached is to know as soon as who sends to it.
    protocol.probe = patience.map(|patience| patience.give_up);
    // Events tell that data are in place, and only what is matched has an order.
    (protocol.strict, protocol.fins) = (message.strict && !ports, message.fin && !ports);
    protocol.synchronous = message.synchronous;
    if let Some(credit) = message.credit {
        protocol.credit = credit.get();
    }
    MessagingSpec {
        protocol,
        // The range of the experiment file lies within the type.
        envelope: message.envelope.get() as u32,
        memory: pace(message.memory),
        latency: message.latency,
        ports,
    }
}

/// Packets that a NIC of a spec has under way at once. It keeps every virtual channel of its link
/// busy if it can; where links have none, nothing but the policy limits it. What may have to go
/// again when a rail dies is a few windows of its channel.
fn window(spec: &Spec, channel: Option<&ChannelSpec>) -> Option<u32> {
    const WINDOWS: u32 = 4;
    let again = channel.filter(|_| spec.nic.patience.is_some());
    let usual = match spec.world {
        // An Elan queues puts.
        World::Wormhole if spec.node.elan.is_some() => None,
        World::Wormhole => Some(spec.switch.virtual_channels),
        World::Ideal | World::Frame | World::Model | World::Live => {
            again.map(|channel| channel.usual().saturating_mul(WINDOWS))
        }
    };
    spec.nic.window.or(usual)
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

/// The nodes that a spec describes. The time-outs of channels and NICs fit the round trips of their
/// network.
pub(crate) fn nodes(
    spec: &Spec,
    count: u32,
    round_trip: &RoundTrip<'_>,
    injection: Injection,
) -> Result<NodesSpec, LabError> {
    let channel = spec.channel.spec(&round_trip.recommended());
    let nodes = NodesSpec {
        policy: spec.policy,
        pes: spec.cluster.pes,
        blocking: spec.cluster.blocking,
        rails: spec.cluster.rails.count(),
        transfers: spec.nic.transfers,
        window: window(spec, channel.as_ref()),
        packing: packing(spec),
        // The range of the experiment file lies within the type.
        control: spec.nic.control.get() as u32,
        response: spec.link.cycle() * u64::from(spec.nic.response),
        channel,
        patience: round_trip.patience(channel.as_ref()),
        rates: round_trip.rates(),
        station: spec.node.commodity.as_ref().map(station),
        puts: spec.world == World::Wormhole && spec.node.elan.is_some(),
        injection,
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
