//! The network as flat arrays: what the engine looks up while it runs.

use super::{Bus, Config};
use crosstie_fabric::{ChannelId, Fabric, Node};

/// No virtual channel, no packet, no host.
pub(super) const NONE: u32 = u32::MAX;

/// Where the flits of a channel go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Into the buffers of a switch.
    Switch(u32),
    /// Into the buffers of a NIC, from where they cross the bus to the memory of a host.
    Nic(u32),
    /// Straight into the memory of a host, which takes everything.
    Memory,
}

/// What asks for the virtual channels of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The headers in a switch.
    Switch(u32),
    /// The packets queued in a host.
    Host(u32),
    /// The headers in a NIC.
    Nic,
}

/// How a channel carries flits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    /// Ticks for which one flit occupies the channel.
    pub cost: u32,
    /// Ticks from the moment a flit leaves until it can leave the other end; also the time a credit
    /// takes back.
    pub latency: u32,
    /// The multiplexer that shares the channel among its virtual channels.
    pub mux: u32,
    /// The first bit of this channel in that multiplexer.
    pub bit: u8,
}

/// A copy of the fabric per rail, then (if the bus is shared) one drain channel per host.
#[derive(Debug)]
pub(super) struct Network {
    pub vcs: u32,
    pub depth: u32,
    pub routing: u32,
    pub wires: Vec<Wire>,
    /// Who asks for the virtual channels of each channel.
    pub origins: Vec<Origin>,
    /// Where the flits of each channel go.
    pub targets: Vec<Target>,
    /// The first virtual channel of the drain that shares each multiplexer, or `NONE`. The other
    /// channel of a multiplexer has its own number.
    pub drain_vcs: Vec<u32>,
    /// Switch s has ports `first_port[s]..first_port[s + 1]`.
    pub first_port: Vec<u32>,
    /// The channel that leaves by each switch port.
    pub port_out: Vec<u32>,
    /// The port by which each channel enters its switch.
    pub in_port: Vec<u32>,
    /// The injection channel of each host.
    pub host_out: Vec<u32>,
    /// The drain channel of each host, if the bus is shared.
    pub host_drain: Vec<u32>,
}

impl Network {
    pub fn new(fabric: &Fabric, rails: u32, config: &Config) -> Self {
        let channels = fabric.channels().len() as u32;
        let hosts = fabric.hosts().len() as u32;
        let switches = fabric.switches().len() as u32;
        let latency = config.ticks + config.wire * config.ticks;
        let vcs = u32::from(config.virtual_channels);
        let (shared, read, write) = match config.bus {
            Bus::Full => (false, config.ticks, config.ticks),
            Bus::Shared { read, write } => (true, read, write),
        };
        let mut network = Network {
            vcs,
            depth: config.buffer,
            routing: config.routing_delay * config.ticks,
            wires: Vec::new(),
            origins: Vec::new(),
            targets: Vec::new(),
            drain_vcs: Vec::new(),
            first_port: vec![0],
            port_out: Vec::new(),
            in_port: vec![NONE; (rails * channels) as usize],
            host_out: Vec::new(),
            host_drain: Vec::new(),
        };
        for rail in 0..rails {
            let id = |channel: ChannelId| rail * channels + channel.0;
            for switch in fabric.switches() {
                for port in 0..fabric.ports(switch) {
                    let out = fabric.switch_out(switch, crosstie_fabric::Port(port));
                    network.port_out.push(out.map_or(NONE, id));
                }
                network.first_port.push(network.port_out.len() as u32);
            }
            for channel in fabric.channels() {
                let ends = fabric.channel(channel);
                let mux = network.wires.len() as u32;
                let (origin, cost) = match ends.from.node {
                    Node::Switch(s) => (Origin::Switch(rail * switches + s.0), config.ticks),
                    Node::Host(h) => (Origin::Host(rail * hosts + h.0), read),
                };
                let target = match ends.to.node {
                    Node::Switch(s) => {
                        network.in_port[id(channel) as usize] = u32::from(ends.to.port.0);
                        Target::Switch(rail * switches + s.0)
                    }
                    Node::Host(h) if shared => Target::Nic(rail * hosts + h.0),
                    Node::Host(_) => Target::Memory,
                };
                network.wires.push(Wire { cost, latency, mux, bit: 0 });
                network.origins.push(origin);
                network.targets.push(target);
                network.drain_vcs.push(NONE);
            }
            network.host_out.extend(fabric.hosts().map(|h| id(fabric.host_out(h))));
        }
        if shared {
            for host in 0..rails * hosts {
                let drain = network.wires.len() as u32;
                let mux = network.wires[network.host_out[host as usize] as usize].mux;
                network.drain_vcs[mux as usize] = drain * vcs;
                network.host_drain.push(drain);
                let bit = config.virtual_channels;
                network.wires.push(Wire { cost: write, latency: write, mux, bit });
                network.origins.push(Origin::Nic);
                network.targets.push(Target::Memory);
            }
        }
        network
    }
}
