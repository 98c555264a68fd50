//! What a frame network is made of.

use super::{Frames, framing};
use crate::network::{Blueprint, Interest, Network, Pace};
use crosstie_fabric::{ChannelId, Fabric, HostId, Node, SwitchId};
use crosstie_routing::Routing;
use crosstie_units::Time;

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

    /// Whether bytes pass faster than on another.
    pub fn is_faster(&self, than: &Line) -> bool {
        u128::from(self.pace.bytes) * u128::from(than.pace.time.ps())
            > u128::from(than.pace.bytes) * u128::from(self.pace.time.ps())
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

/// Where frames wait in a switch: B_L [tam, 2.2.3]. Ports to other switches (uplinks) may have more or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// At the input by which they came.
    Input {
        /// Room at an input from a host.
        host: Capacity,
        /// Room at an input from a switch.
        uplink: Capacity,
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
        /// What an input from a switch has beside it, for frames that find it full; `None`: nothing. Counted as
        /// the shared memory is.
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

/// Copies of one fabric as a frame network, one for each rail.
#[derive(Clone, Copy)]
pub struct FrameSpec<'a> {
    /// The network of one rail.
    pub fabric: &'a Fabric,
    /// How frames find their way through it; without stops.
    pub routing: &'a dyn Routing,
    /// How many copies of it there are.
    pub rails: u32,
    /// Its links, by number.
    pub lines: &'a [Line],
    /// Its switches, by number.
    pub switches: &'a [SwitchSpec],
    /// The cycle that those who measure count in.
    pub cycle: Time,
}

impl FrameSpec<'_> {
    pub(super) fn line(&self, channel: ChannelId) -> &Line {
        &self.lines[channel.link().0 as usize]
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

    fn pace(&self) -> Pace {
        self.line(self.fabric.host_out(HostId(0))).pace
    }

    fn channel_name(&self, channel: u32) -> String {
        let channels = self.fabric.channels().len() as u32;
        let name = self.fabric.describe(ChannelId(channel % channels));
        if self.rails > 1 { format!("{name} on rail {}", channel / channels) } else { name }
    }

    fn switch_name(&self, switch: u32) -> String {
        let switches = self.switches.len() as u32;
        let name = self.fabric.label(Node::Switch(SwitchId(switch % switches))).to_owned();
        if self.rails > 1 { format!("{name} on rail {}", switch / switches) } else { name }
    }
}
