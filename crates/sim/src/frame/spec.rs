//! What a frame network is made of.

use super::path::Paths;
use super::{Frames, framing};
use crate::network::{Blueprint, Change, Interest, Network, Pace};
use crosstie_fabric::{ChannelId, Fabric, HostId, Node, SwitchId};
use crosstie_routing::Routing;
use crosstie_units::Time;

/// The most that a clock may differ from its nominal rate, in parts per million.
pub const CLOCKS: u32 = 1000;
const MILLION: u64 = 1_000_000;

/// A link, the same both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// How fast bytes pass.
    pub pace: Pace,
    /// How long a bit takes from end to end.
    pub wire: Time,
}

impl Line {
    /// From the first bit of a frame to the first of the next.
    pub fn occupied(&self, bytes: u32) -> Time {
        self.pace.time_for(framing::occupied(bytes))
    }

    /// From the first bit of a frame to its last.
    pub fn whole(&self, bytes: u32) -> Time {
        self.pace.time_for(framing::whole(bytes))
    }

    /// From the first bit of a frame to the last of its header.
    pub fn head(&self) -> Time {
        self.pace.time_for(framing::HEAD)
    }

    /// Returns true if bytes pass faster than on another, by more than clocks differ.
    pub fn is_faster(&self, than: &Line) -> bool {
        let nominal = |pace: Pace, parts| u128::from(pace.bytes) * u128::from(MILLION + parts);
        let cross = |bytes: u128, other: Pace| bytes * u128::from(other.time.ps());
        let (ours, theirs) = (nominal(self.pace, 0), nominal(than.pace, 2 * u64::from(CLOCKS)));
        cross(ours, than.pace) > cross(theirs, self.pace)
    }
}

/// When a switch sends a frame on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// When it has all of it.
    StoreAndForward,
    /// When it has its header, unless the frame goes on to a faster link.
    CutThrough,
}

/// How much fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// So many frames of any length.
    Frames(u32),
    /// So many bytes of frames, header and check sequence included.
    Bytes(u64),
}

impl Capacity {
    /// All of it.
    pub(super) fn total(&self) -> u64 {
        match *self {
            Capacity::Frames(frames) => u64::from(frames),
            Capacity::Bytes(bytes) => bytes,
        }
    }
}

/// When an input of a switch offers its next frame to the outputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HandOver {
    /// When the last bit of the previous one has been read: one frame at a time, at the speed of
    /// the faster of the two links [tam, 5.2].
    #[default]
    LastBit,
    /// When the previous one starts: frames of one input leave by several outputs at once.
    FirstBit,
}

/// What ports to other switches carry, both ways together: one frame at a time, whichever way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circuit {
    /// How fast frames pass that come from the other switch.
    pub inward: Pace,
    /// How fast frames pass that go to it.
    pub outward: Pace,
}

/// Where frames wait in a switch: B_L [tam, 2.2.3]. Ports to other switches (uplinks) may have more
/// or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// At the input by which they came.
    Input {
        /// Room at an input from a host.
        host: Capacity,
        /// Room at an input from a switch.
        uplink: Capacity,
        /// When an input offers its next frame.
        hand_over: HandOver,
        /// Frames that an output keeps beside, of those that come from faster links.
        stage: u32,
        /// What limits both directions of a port to a switch together; `None`: nothing.
        circuit: Option<Circuit>,
    },
    /// At the output by which they leave.
    Output {
        /// Room at an output to a host.
        host: Capacity,
        /// Room at an output to a switch.
        uplink: Capacity,
    },
    /// In one memory for all ports.
    Shared {
        /// Its room.
        all: Capacity,
        /// The most that one output may have of it; `None`: all.
        cap: Option<Capacity>,
        /// What an input from a switch has beside it, for frames that find it full; `None`:
        /// nothing. Counted as the shared memory is.
        uplink: Option<Capacity>,
    },
}

/// A switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchSpec {
    /// When it sends a frame on.
    pub forwarding: Forwarding,
    /// What its forwarding engine takes for a frame, one after the other.
    pub lookup: Time,
    /// What a frame takes beside that, all at once.
    pub latency: Time,
    /// Where frames wait.
    pub memory: Memory,
}

/// Copies of one fabric as a frame network, one for each port of a host.
#[derive(Clone, Copy)]
pub struct FrameSpec<'a> {
    /// The network of one rail.
    pub fabric: &'a Fabric,
    /// How frames find their way through it; without stops.
    pub routing: &'a dyn Routing,
    /// Rails.
    pub rails: u32,
    /// The port of each rail, numbered from 0; empty if each has its own.
    pub ports: &'a [u32],
    /// The links of a copy, by number: those of one after the other, or once if all are alike.
    pub lines: &'a [Line],
    /// How fast hosts send, by copy and host, if not as their links carry.
    pub clocks: &'a [Pace],
    /// Its switches, by number.
    pub switches: &'a [SwitchSpec],
    /// The cycle that those who measure count in.
    pub cycle: Time,
    /// What happens to links.
    pub changes: &'a [Change],
}

impl FrameSpec<'_> {
    /// How many copies of the fabric there are.
    pub fn copies(&self) -> u32 {
        self.ports.iter().max().map_or(self.rails, |last| last + 1)
    }

    /// The port of a rail.
    pub(super) fn port(&self, rail: u32) -> u32 {
        self.ports.get(rail as usize).copied().unwrap_or(rail)
    }

    /// How many rails before a rail have its port.
    pub(super) fn lane(&self, rail: u32) -> u32 {
        (0..rail).filter(|&other| self.port(other) == self.port(rail)).count() as u32
    }

    /// The channels that frames from one host to another take, on a rail.
    pub fn way(&self, rail: u32, from: HostId, to: HostId) -> Vec<ChannelId> {
        let mut way = Vec::new();
        let mut paths = Paths::new(self.fabric, self.routing);
        paths.follow(from.0, to.0, self.lane(rail), |_, channel| way.push(ChannelId(channel)));
        way
    }

    /// The link of a channel.
    fn link(&self, port: u32, channel: ChannelId) -> Line {
        let place = port as usize * self.fabric.links().len() + channel.link().0 as usize;
        self.lines[place % self.lines.len()]
    }

    /// A channel: a link as its sender's clock drives it.
    pub(super) fn line(&self, port: u32, channel: ChannelId) -> Line {
        let link = self.link(port, channel);
        match self.fabric.channel(channel).from.node {
            Node::Host(host) if !self.clocks.is_empty() => {
                let place = port as usize * self.fabric.hosts().len() + host.0 as usize;
                Line { pace: self.clocks[place], ..link }
            }
            Node::Host(_) | Node::Switch(_) => link,
        }
    }

    /// Words for a copy of the fabric: its first rail.
    fn named(&self, name: String, port: u32) -> String {
        let rail = (0..self.rails).find(|&rail| self.port(rail) == port).unwrap_or(port);
        if self.rails > 1 { format!("{name} on rail {rail}") } else { name }
    }

    pub(super) fn switch(&self, switch: SwitchId) -> &SwitchSpec {
        &self.switches[switch.0 as usize]
    }
}

impl Blueprint for FrameSpec<'_> {
    fn hosts(&self) -> u32 {
        self.fabric.hosts().len() as u32
    }

    fn rails(&self) -> u32 {
        self.rails
    }

    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        Box::new(Frames::new(self, interest))
    }

    /// That of the fastest rail.
    fn pace(&self) -> Pace {
        let first = self.fabric.host_out(HostId(0));
        let paces = (0..self.copies()).map(|port| self.link(port, first).pace);
        Pace::fastest(paces).expect("there is a rail")
    }

    fn channel_name(&self, channel: u32) -> String {
        let channels = self.fabric.channels().len() as u32;
        self.named(self.fabric.describe(ChannelId(channel % channels)), channel / channels)
    }

    fn switch_name(&self, switch: u32) -> String {
        let switches = self.switches.len() as u32;
        let name = self.fabric.label(Node::Switch(SwitchId(switch % switches))).to_owned();
        self.named(name, switch / switches)
    }
}
