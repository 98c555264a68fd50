//! How long a packet and its acknowledgement may take on the network of a spec: what time-outs have
//! to fit.

use crate::ethernet::pace;
use crate::nodes::packing;
use crate::parameters::buffer;
use crosstie_fabric::Fabric;
use crosstie_model::Buffer;
use crosstie_model::congestion::timeouts;
use crosstie_protocol::channel::{ChannelSpec, Recommended, SelectiveSpec};
use crosstie_protocol::{Patience, Profile};
use crosstie_sim::frame::framing;
use crosstie_study::{
    self as study, ChannelKind, Commodity, Forwarding, FrameSwitch, NodeBus, Spec, World,
};
use crosstie_units::{Bytes, Rate, Time};

/// Bounds for the round trips of a network: nothing that is not lost takes longer.
pub(crate) struct RoundTrip<'a> {
    spec: &'a Spec,
    hosts: u32,
    /// The links and switches there and back, for a packet that waits for no other.
    latency: Time,
    /// How long the longest packet occupies the slowest link and the nodes at its ends.
    packet: Time,
    /// The rates at which the link of each rail carries payload.
    rates: Vec<Rate>,
}

/// The longest bound, far from the end of the clock.
const LONGEST: Time = Time::from_ps(u64::MAX >> 8);

/// Where nothing is lost, a second is soon enough to send something again.
const LOSSLESS: Time = Time::from_ns(1_000_000_000);

/// Cycles of the loop of credit besides those of the wire.
const LOOP: u64 = 8;

/// The window that `selective` begins with, in packets, and some.
const FIRST: u32 = 16;

impl<'a> RoundTrip<'a> {
    /// The bounds for messages of at most `longest` bytes.
    pub fn new(spec: &'a Spec, fabric: &Fabric, longest: Bytes) -> RoundTrip<'a> {
        let packing = packing(spec);
        let envelope = spec.message.as_ref().map_or(0, |message| message.envelope.get());
        let longest = longest.get().max(envelope).max(1);
        let payload = packing.payload.map_or(longest, |most| longest.min(most.into()));
        let control = spec.nic.control.get();
        let wire = u32::try_from(packing.wire_bytes(payload).max(control)).unwrap_or(u32::MAX);
        let ports = spec.cluster.rails.ports();
        let links = spec.cluster.rails.rates();
        let rails = ports.iter().map(|&port| links[port as usize].unwrap_or(own_rate(spec)));
        // What a packet takes on the slowest link of a rail.
        let on_link = |rate: Rate| match spec.world {
            World::Frame => pace(rate.min(uplink(spec, rate))).time_for(framing::occupied(wire)),
            // A buffer that is shorter than the wire there and back keeps the link waiting for
            // credit.
            World::Wormhole => {
                let loops = (2 * spec.link.wire_cycles() + LOOP) / u64::from(spec.switch.buffer);
                pace(rate).time_for(wire) * (1 + loops)
            }
            World::Ideal => pace(rate).time_for(wire) + spec.ideal.own_gap().unwrap_or(Time::ZERO),
            _ => pace(rate).time_for(wire),
        };
        let hosts = fabric.hosts().len() as u32;
        let beside = bus(spec, wire) + node(spec, wire, hosts);
        let times: Vec<Time> = rails.clone().map(on_link).collect();
        let slowest = times.iter().copied().max().unwrap_or(Time::ZERO);
        let rates = times.iter().map(|time| {
            let seconds = (*time + beside).ps().max(1) as f64 / 1e12;
            Rate::from_bytes_per_second((payload as f64 / seconds) as u64)
        });
        let rates = rates.collect();
        let latency = latency(spec, fabric, slowest) * 2;
        RoundTrip { spec, hosts, latency, packet: slowest + beside, rates }
    }

    /// The rates at which the link of each rail carries payload.
    pub fn rates(&self) -> Vec<Rate> {
        self.rates.clone()
    }

    /// The longest round trip of two nodes that have the network for themselves, with `window`
    /// packets under way in either direction.
    fn alone(&self, window: u32) -> Time {
        // The acknowledgement may have to wait for as many.
        (self.latency + self.packet * (2 * (u64::from(window) + 1))).min(LONGEST)
    }

    /// The same where all nodes send to one, over all rails.
    fn crowded(&self, window: u32) -> Time {
        let sharers = u64::from(self.hosts) * u64::from(self.spec.cluster.rails.count());
        (self.latency + self.packet * (2 * (u64::from(window) + 1) * sharers)).min(LONGEST)
    }

    /// How long the first packets between two nodes may take to be acknowledged.
    fn first(&self, window: u32) -> Time {
        match self.spec.world {
            // What is lost is sent again before long: a queue in a switch, beside what is sent
            // alone.
            World::Frame => {
                let Buffer { frames, .. } = buffer(&self.spec.frame.switch.memory);
                self.alone(window) + self.packet * u64::from(frames)
            }
            _ => self.crowded(window),
        }
    }

    /// What stands for keys of channels that nobody gives. The time-out of go-back-N is the longest
    /// that is recommended for the switches of a frame network [tam, 4.3.4], a second where
    /// nothing is lost, and never shorter than a round trip.
    pub fn recommended(&self) -> Recommended {
        let window = match self.spec.channel {
            ChannelKind::GoBackN { window, .. } | ChannelKind::SimpleGoBackN { window, .. } => {
                window
            }
            ChannelKind::Raw {} | ChannelKind::Selective { .. } => FIRST,
        };
        let (usual, round_trip) = match self.spec.world {
            World::Frame => (self.of_switches(), self.alone(window)),
            _ => (LOSSLESS, self.crowded(window)),
        };
        // A quarter of the time-out is for acknowledgements that are held back.
        let timeout = usual.max(Time::from_ps(round_trip.ps() / 3 * 4));
        let late = match self.is_lossless() {
            true => self.crowded(SelectiveSpec::WIDEST),
            false => Time::ZERO,
        };
        Recommended::simulated(timeout, SelectiveSpec::simulated(self.first(FIRST), late))
    }

    /// How ranks exchange messages, if they do.
    pub fn profile(&self) -> Option<Profile> {
        self.spec.profile(&self.recommended())
    }

    /// The channels between nodes, if there are any.
    pub fn channel(&self) -> Option<ChannelSpec> {
        match self.profile() {
            Some(profile) => profile.channel,
            None => self.spec.channel.spec(&self.recommended()),
        }
    }

    /// Returns true if nothing can be lost.
    fn is_lossless(&self) -> bool {
        let Spec { world, events, node, .. } = self.spec;
        let loses = |nodes: &Commodity| nodes.receive_ring.is_some() || nodes.pool.is_some();
        matches!(world, World::Wormhole | World::Ideal)
            && events.is_empty()
            && !node.commodity.as_ref().is_some_and(loses)
    }

    fn of_switches(&self) -> Time {
        let Spec { frame, cluster, link, .. } = self.spec;
        let Buffer { architecture, frames } = buffer(&frame.switch.memory);
        // The slowest rail takes the longest.
        let rates = cluster.rails.rates().into_iter().map(|rate| rate.unwrap_or(link.rate));
        let slowest = rates.min().unwrap_or(link.rate);
        let slot = pace(slowest).time_for(framing::occupied(frame.mtu().get() as u32));
        timeouts(architecture, self.hosts - 1, frames).times(slot)[1]
    }

    /// How long nodes wait for acknowledgements, if they do not wait for ever.
    pub fn patience(&self, channel: Option<&ChannelSpec>) -> Option<Patience> {
        let study::Patience { round_trips, least, give_up } = self.spec.nic.patience?;
        let channel = channel?;
        let window = channel.widest().min(FIRST);
        let unmeasured = match self.spec.world {
            // A time-out that covers the queues of others too notices a dead rail late.
            World::Frame => self.alone(window),
            _ => self.crowded(window),
        };
        // Packets on other virtual channels share the link with it, flit by flit.
        let others = match self.spec.world {
            World::Wormhole => u64::from(self.spec.switch.virtual_channels) - 1,
            _ => 0,
        };
        // An acknowledgement may ride on a packet that goes the other way.
        let held = channel.held() + self.packet * (2 + others);
        Some(Patience { round_trips, least, give_up, unmeasured, held })
    }
}

/// The rate of links that have none of their own.
fn own_rate(spec: &Spec) -> Rate {
    match spec.world {
        World::Ideal => spec.ideal.rate(&spec.link),
        _ => spec.link.rate,
    }
}

/// The rate of links between switches, where those of hosts have this one.
fn uplink(spec: &Spec, rate: Rate) -> Rate {
    spec.frame.uplink.rate(&study::Link { rate, ..spec.link.clone() })
}

/// From the first byte sent to the first byte received, if a packet takes so long on a link.
fn latency(spec: &Spec, fabric: &Fabric, packet: Time) -> Time {
    // No way has a switch twice.
    let switches = fabric.switches().len() as u64;
    match spec.world {
        World::Wormhole => {
            let cycle = spec.link.cycle();
            let delay =
                cycle * (u64::from(spec.switch.routing_delay) + spec.link.wire_cycles() + 4);
            let stops = spec
                .nic
                .in_transit
                .as_ref()
                .map_or(Time::ZERO, |nic| nic.recognition + nic.setup + packet);
            (delay + stops) * (switches + 1)
        }
        World::Frame => {
            let wire = spec.link.wire.max(spec.frame.uplink.wire(&spec.link));
            let switch = |switch: &FrameSwitch| {
                let stored = match switch.forwarding {
                    Forwarding::StoreAndForward => packet,
                    Forwarding::CutThrough => Time::ZERO,
                };
                switch.lookup + switch.latency + stored
            };
            let most = switch(&spec.frame.switch).max(switch(spec.frame.core()));
            (most + wire) * switches + wire
        }
        World::Ideal | World::Model | World::Live => spec.ideal.latency(&spec.link),
    }
}

/// What a packet takes of the buses of both ends.
fn bus(spec: &Spec, bytes: u32) -> Time {
    let takes = |rate: Rate| pace(rate).time_for(bytes);
    let node = match spec.node.bus {
        None => Time::ZERO,
        Some(NodeBus::Half(even) | NodeBus::Full(even)) => {
            (takes(even.rate.unwrap_or(spec.link.rate)) + even.overhead) * 2
        }
        Some(NodeBus::Asymmetric { read, write, overhead }) => {
            takes(read) + takes(write) + overhead * 2
        }
    };
    let nic = match spec.bus {
        study::Bus::Half {} if spec.world == World::Wormhole => takes(spec.link.rate),
        study::Bus::Asymmetric { read, write } if spec.world == World::Wormhole => {
            takes(read) + takes(write)
        }
        _ => Time::ZERO,
    };
    node + nic
}

/// What a packet takes of commodity nodes.
fn node(spec: &Spec, bytes: u32, hosts: u32) -> Time {
    let Some(commodity) = &spec.node.commodity else { return Time::ZERO };
    let Commodity { send, send_gap, outward, inward, receive_gap, receive, pickup, .. } =
        *commodity;
    let costs = [send, send_gap, outward, inward, receive_gap, receive, pickup];
    let sum = |sum: Time, cost: &crosstie_units::Cost| sum + cost.at(u64::from(bytes), hosts);
    costs.iter().fold(commodity.jitter, sum)
}
