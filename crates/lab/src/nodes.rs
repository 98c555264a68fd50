//! Nodes: from the experiment file to the machines.

use crate::LabError;
use crate::ethernet::pace;
use crate::round_trip::RoundTrip;
use crosstie_protocol::channel::ChannelSpec;
use crosstie_protocol::{Injection, Packing, Profile, ProfileKind, Train};
use crosstie_sim::host::{MessagingSpec, Overhead};
use crosstie_sim::node::{Audience, Exchange, Nodes, NodesError, NodesSpec, StationSpec};
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
pub(crate) fn messaging(spec: &Spec, profile: &Profile, message: &Message) -> MessagingSpec {
    MessagingSpec {
        protocol: profile.message,
        envelope: profile.headers.envelope,
        memory: pace(message.memory),
        latency: message.latency,
        ports: spec.has_ports(),
    }
}

/// Packets that a NIC of a spec has under way at once. It keeps every virtual channel of its link
/// busy if it can; where links have none, nothing but the policy limits it. What may have to go
/// again when a rail dies is a few windows of its channel. Real ranks have no limit of their own.
fn window(spec: &Spec, channel: Option<&ChannelSpec>) -> Option<u32> {
    const WINDOWS: u32 = 4;
    let is_live = spec.profile == Some(ProfileKind::Live);
    let again = channel.filter(|_| spec.nic.patience.is_some() && !is_live);
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
    let profile = round_trip.profile();
    let channel = round_trip.channel();
    // How long frames are is known where messages are cut.
    let packing = packing(spec);
    let longest = packing.payload.map(|payload| payload + packing.overhead);
    let parts = |profile: &Profile| profile.parts(longest.unwrap_or(u32::MAX), Train::LIVE);
    let exchange = profile.filter(|profile| channel.is_some() && profile.greets);
    let nodes = NodesSpec {
        policy: spec.policy,
        pes: spec.cluster.pes,
        blocking: spec.cluster.blocking,
        rails: spec.cluster.rails.count(),
        transfers: spec.nic.transfers,
        window: window(spec, channel.as_ref()),
        packing,
        // The range of the experiment file lies within the type.
        control: spec.nic.control.get() as u32,
        response: spec.link.cycle() * u64::from(spec.nic.response),
        channel,
        ahead: profile.and_then(|profile| profile.ahead(parts(&profile))),
        exchange: exchange
            .map(|profile| Exchange { rides: profile.rides, headers: profile.headers }),
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
