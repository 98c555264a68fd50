//! The parameters of the model, from a file or from the machine that a spec describes.

use crate::ethernet::{Ethernet, ethernet, pace};
use crate::{LabError, RoutedFabric, nodes};
use crosstie_collective::{Counting, Window};
use crosstie_fabric::{ChannelId, HostId, LinkId, Node, SwitchId};
use crosstie_model::{
    Acknowledgements, Architecture, Buffer, Cluster, Messages, Parameters, Processors, Rail,
    Uplink, price,
};
use crosstie_protocol::ProfileKind;
use crosstie_protocol::channel::{Acknowledge, Recommended, SelectiveSpec};
use crosstie_routing::{Route, Tag};
use crosstie_sim::frame::{Forwarding, Line, SwitchSpec, framing};
use crosstie_study::{self as study, Capacity, ChannelKind, Commodity, Memory, Model, Spec};
use crosstie_units::{Bytes, Cost, Rate, Time};
use std::path::PathBuf;

/// The cluster of a spec: the parameters that it names, for each of its rails, or those that follow
/// from its links, switches and nodes as a network of frames. The latency is that of the longest
/// way from the first host, and grows with the number of nodes as far as they wait for each other
/// at the forwarding engines of switches.
pub(crate) fn cluster(
    spec: &Spec,
    network: &RoutedFabric,
    locate: &dyn Fn(&str) -> PathBuf,
) -> Result<Cluster, LabError> {
    let written = match &spec.model {
        Some(Model::Parameters(parameters)) => Some(**parameters),
        Some(Model::File { path }) => Some(read(&locate(path))?),
        None => None,
    };
    let rail = |port: u32| {
        let parameters = written.unwrap_or_else(|| derive(spec, network, port));
        let parameters = match window(&spec.channel) {
            None => parameters,
            Some(window) => paced(&parameters, window),
        };
        Rail { parameters, port: port as u16 }
    };
    let rails: Vec<Rail> = spec.cluster.rails.ports().into_iter().map(rail).collect();
    // Prices ask for no time-outs.
    let profile = spec.profile(&Recommended::LIVE);
    let messages = profile
        .map(|profile| Messages { spec: profile.message, header: profile.headers.envelope.into() });
    // Written parameters say how fast bytes come.
    let most = Rate::from_bytes_per_second(u64::MAX);
    let rate = if written.is_some() { most } else { spec.link.rate };
    let processors = nodes::overhead(&spec.node).map(|overhead| Processors { overhead, rate });
    Ok(Cluster {
        rails,
        policy: spec.policy,
        messages,
        processors,
        acknowledgements: acknowledgements(spec),
        blocking: spec.cluster.blocking,
    })
}

/// How a channel acknowledges packets.
fn acknowledgements(spec: &Spec) -> Option<Acknowledgements> {
    let recommended = spec.profile.and_then(ProfileKind::recommended);
    let selective = recommended.map_or(SelectiveSpec::SIMULATED, |it| it.selective);
    let (every, after) = match spec.channel {
        ChannelKind::Raw {} => return None,
        ChannelKind::Selective { after, .. } => (2, after.unwrap_or(selective.after)),
        ChannelKind::GoBackN { acknowledge, .. }
        | ChannelKind::SimpleGoBackN { acknowledge, .. } => match acknowledge {
            Acknowledge::Immediate => (1, Time::ZERO),
            Acknowledge::Delayed { every, .. } => (every, Time::from_ps(u64::MAX / 2)),
            Acknowledge::Piggyback { .. } => (u32::MAX, Time::from_ps(u64::MAX / 2)),
        },
    };
    Some(Acknowledgements { every, after })
}

/// The window between two nodes of a channel that has one of its own, W_FC.
pub(crate) fn window(channel: &ChannelKind) -> Option<u32> {
    match *channel {
        ChannelKind::GoBackN { window, .. } | ChannelKind::SimpleGoBackN { window, .. } => {
            Some(window)
        }
        ChannelKind::Raw {} | ChannelKind::Selective { .. } => None,
    }
}

/// The same rail with a window between two nodes: packets follow each other every F / W_FC, if that
/// is longer than their gap.
fn paced(parameters: &Parameters, packets: u32) -> Parameters {
    price::paced(parameters, 2, Window { packets, counts: Counting::Unacknowledged })
}

/// Reads a model file.
fn read(path: &std::path::Path) -> Result<Parameters, LabError> {
    let wrong = |problem: String| {
        let help = "expected the parameters of a cluster, as `crosstie probe` writes them";
        LabError::input("model.file.path", path.to_owned(), problem, help)
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    from_text(&text).map_err(wrong)
}

/// The parameters of a model file; what is wrong with it is said with its line.
pub(crate) fn from_text(text: &str) -> Result<Parameters, String> {
    let parameters: Parameters = toml::from_str(text).map_err(|error| error.to_string())?;
    if parameters.are_free() {
        let costs = "send, send-gap, latency, receive-gap, receive, pickup";
        return Err(format!(
            "found no parameter that takes time, expected one at least of {costs}"
        ));
    }
    Ok(parameters)
}

/// What follows from links, switches and nodes, for the rails of a port.
pub(crate) fn derive(spec: &Spec, network: &RoutedFabric, port: u32) -> Parameters {
    let packing = nodes::frame_packing(spec);
    let payload = packing.payload.unwrap_or(framing::MINIMUM);
    let header = u64::from(packing.overhead);
    let node = spec.node.commodity.clone().unwrap_or_default();
    let Commodity { send, send_gap, outward, inward, receive_gap, receive, pickup, .. } = node;
    let ethernet = ethernet(spec, &network.fabric).of_port(port, &network.fabric);
    let host = ethernet.lines[network.fabric.host_out(HostId(0)).link().0 as usize];
    let wire_gap = on_line(&host, framing::occupied(framing::MINIMUM) - framing::MINIMUM, true);
    // The costs of a machine are those of packets with their headers; those of the model, of what
    // they carry.
    let of_payload = |cost: Cost| Cost {
        fixed: cost.fixed + cost.byte * header,
        node: cost.node + cost.byte_node * header,
        ..cost
    };
    let slower = |own: Cost| {
        let full = u64::from(payload) + header;
        let hosts = network.fabric.hosts().len() as u32;
        if own.at(full, hosts) > wire_gap.at(full, hosts) { own } else { wire_gap }
    };
    let way = longest_way(spec, network, &ethernet, payload + packing.overhead);
    Parameters {
        packet: Bytes::new(payload.into()),
        least: Bytes::new(u64::from(framing::MINIMUM).saturating_sub(header)),
        send: of_payload(send),
        send_gap: of_payload(slower(send_gap)),
        latency: of_payload(sum([outward, way, inward])),
        receive_gap: of_payload(slower(receive_gap)),
        receive: of_payload(receive),
        pickup: of_payload(pickup),
        copy: None,
        buffer: Some(buffer(&spec.frame.switch.memory)),
        uplink: uplink(spec, network, &ethernet).map(|uplink| Uplink {
            outward: of_payload(uplink.outward),
            inward: of_payload(uplink.inward),
            ..uplink
        }),
    }
}

/// The uplinks of two levels of switches, with the costs of packets with their headers.
fn uplink(spec: &Spec, network: &RoutedFabric, ethernet: &Ethernet) -> Option<Uplink> {
    let study::Fabric::TwoLevel { leaves: 2.., hosts_per_leaf } = spec.fabric else { return None };
    let fabric = &network.fabric;
    let is_switch = |node| matches!(node, Node::Switch(_));
    let joins_switches = |link: &LinkId| {
        let channel = fabric.channel(link.channels()[0]);
        is_switch(channel.from.node) && is_switch(channel.to.node)
    };
    let line = ethernet.lines[fabric.links().find(joins_switches)?.0 as usize];
    let memory = &spec.frame.switch.memory;
    let circuit = match memory {
        Memory::Input { circuit, .. } => *circuit,
        Memory::Output { .. } | Memory::Shared { .. } => None,
    };
    let beside = framing::occupied(framing::MINIMUM) - framing::MINIMUM;
    // A circuit may pass frames faster than the link sends them: it has the other way to serve too.
    let passes = |own: Option<Rate>| {
        let line = own.map_or(line, |rate| Line { pace: pace(rate), ..line });
        on_line(&line, beside, true)
    };
    Some(Uplink {
        hosts: hosts_per_leaf,
        outward: passes(circuit.map(|circuit| circuit.outward)),
        inward: passes(circuit.map(|circuit| circuit.inward)),
        shared: circuit.is_some(),
        frames: Some(match *memory {
            Memory::Input { capacity, uplink, .. } | Memory::Output { capacity, uplink } => {
                frames(uplink.unwrap_or(capacity))
            }
            Memory::Shared { .. } => buffer(memory).frames,
        }),
        core: Some(buffer(&spec.frame.core().memory)),
    })
}

fn sum<const N: usize>(costs: [Cost; N]) -> Cost {
    costs.into_iter().fold(Cost::default(), |sum, cost| Cost {
        fixed: sum.fixed + cost.fixed,
        byte: sum.byte + cost.byte,
        node: sum.node + cost.node,
        byte_node: sum.byte_node + cost.byte_node,
    })
}

/// The time of so many bytes on a line, and of what a frame carries if that is to be added.
fn on_line(line: &Line, bytes: u32, and_payload: bool) -> Cost {
    let byte = if and_payload { line.pace.time_for(1) } else { Time::ZERO };
    Cost { fixed: line.pace.time_for(bytes), byte, ..Cost::default() }
}

/// The longest way from the first host, for frames that carry so much.
fn longest_way(spec: &Spec, network: &RoutedFabric, ethernet: &Ethernet, bytes: u32) -> Cost {
    let (first, concurrent) = (HostId(0), concurrent(network));
    let others = network.fabric.hosts().skip(1);
    let ways = others.map(|to| way(network, ethernet, &concurrent, first, to));
    let longest = ways.max_by_key(|cost| cost.at(bytes.into(), 0));
    longest.unwrap_or(Cost::fixed(spec.link.wire))
}

/// By how many channels the frames of half of the hosts come to each switch, if each sends to one
/// of the other half.
///
/// These are the frames that a switch can notice at one instant, for those of one channel follow
/// each other.
fn concurrent(network: &RoutedFabric) -> Vec<u32> {
    let fabric = &network.fabric;
    let mut come = vec![Vec::new(); fabric.switches().len()];
    let half = fabric.hosts().len() as u32 / 2;
    for from in 0..half {
        passages(network, HostId(from), HostId(from + half), |switch, channel, _| {
            come[switch.0 as usize].push(channel.0);
        });
    }
    let count = |mut channels: Vec<u32>| {
        channels.sort_unstable();
        channels.dedup();
        channels.len() as u32
    };
    come.into_iter().map(count).collect()
}

/// The switches between two hosts, each with the channels by which one comes and goes; the last
/// channel.
fn passages(
    network: &RoutedFabric,
    from: HostId,
    to: HostId,
    mut each: impl FnMut(SwitchId, ChannelId, ChannelId),
) -> ChannelId {
    let fabric = &network.fabric;
    let mut route = Route::default();
    network.routing.route(from, to, &mut route);
    let mut channel = fabric.host_out(from);
    for &tag in route.tags() {
        let Node::Switch(switch) = fabric.channel(channel).to.node else { break };
        let out = |port| fabric.switch_out(switch, port);
        let next = match tag {
            Tag::Port(port) => out(port),
            Tag::Group(group) => {
                network.routing.groups()[usize::from(group.0)].iter().find_map(|&port| out(port))
            }
        };
        let Some(next) = next else { break };
        each(switch, channel, next);
        channel = next;
    }
    channel
}

/// What looking up takes of L among p nodes, of which p/2 send to the others and are answered.
/// Their frames come to a switch n at one instant: one if p is 2, and so many if all hosts take
/// part. On the way there a frame waits for half of the others on average. They come back one
/// lookup apart, and wait for nobody. L is half of there and back: (1 + (n - 1)/4) lookups.
fn looking_up(lookup: Time, n: u32, hosts: u32) -> Cost {
    let (others, more) = (u64::from(n.max(1)) - 1, u64::from(hosts.max(3)) - 2);
    let node = Time::from_ps(lookup.ps() * others / (4 * more));
    Cost { fixed: lookup - node * 2, node, ..Cost::default() }
}

/// What a frame takes from host to host where no other goes the same way; `concurrent` frames come
/// to switches at one instant.
fn way(
    network: &RoutedFabric,
    ethernet: &Ethernet,
    concurrent: &[u32],
    from: HostId,
    to: HostId,
) -> Cost {
    let line = |channel: ChannelId| ethernet.lines[channel.link().0 as usize];
    let hosts = network.fabric.hosts().len() as u32;
    let mut time = Cost::default();
    let last = passages(network, from, to, |switch, channel, next| {
        let place = switch.0 as usize;
        let SwitchSpec { forwarding, lookup, latency, .. } = ethernet.switches[place];
        let cuts = forwarding == Forwarding::CutThrough && !line(next).is_faster(&line(channel));
        let link = if cuts { head(&line(channel)) } else { whole(&line(channel)) };
        let looked_up = looking_up(lookup, concurrent[place], hosts);
        time = sum([time, link, Cost::fixed(line(channel).wire + latency), looked_up]);
    });
    sum([time, whole(&line(last)), Cost::fixed(line(last).wire)])
}

/// From the first bit of a frame to its last.
fn whole(line: &Line) -> Cost {
    on_line(line, framing::whole(framing::MINIMUM) - framing::MINIMUM, true)
}

/// From the first bit of a frame to the last of its header.
fn head(line: &Line) -> Cost {
    on_line(line, framing::HEAD, false)
}

/// B_L of a switch, in full frames.
pub(crate) fn buffer(memory: &Memory) -> Buffer {
    let architecture = match memory {
        Memory::Input { .. } => Architecture::Input,
        Memory::Output { .. } => Architecture::Output,
        // Shared memory with a cap for each output shows itself as memory at outputs.
        Memory::Shared { cap: Some(_), .. } => Architecture::Output,
        Memory::Shared { cap: None, .. } => Architecture::Shared,
    };
    let capacity = match memory {
        Memory::Shared { cap: Some(cap), .. } => *cap,
        _ => memory.capacity(),
    };
    Buffer { architecture, frames: frames(capacity) }
}

/// A memory in full frames, at least one.
fn frames(capacity: Capacity) -> u32 {
    match capacity {
        Capacity::Frames(frames) => frames,
        Capacity::Bytes(bytes) => {
            let full = u64::from(framing::stored(1500));
            u32::try_from(bytes.get() / full).unwrap_or(u32::MAX).max(1)
        }
    }
}
