//! What only the frame network knows: Ethernet links and switches with finite memory.

use crosstie_units::{Bytes, Capacity, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Link, limits};

/// What only the frame network knows. Links of hosts are those of `link`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Frame {
    /// The most that a frame carries.
    #[serde(deserialize_with = "limits::some_mtu", skip_serializing_if = "Option::is_none")]
    mtu: Option<Bytes>,
    /// How far the clocks of hosts may be off, in parts per million.
    #[serde(deserialize_with = "limits::clock_ppm", skip_serializing_if = "is_none")]
    pub clock_ppm: u32,
    /// Links between switches.
    pub uplink: Uplink,
    /// The switches.
    pub switch: FrameSwitch,
    /// Switches without hosts, where they are others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<FrameSwitch>,
}

/// Links between switches; what is not written is as on the links of hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Uplink {
    #[serde(deserialize_with = "limits::some_rate", skip_serializing_if = "Option::is_none")]
    rate: Option<Rate>,
    #[serde(deserialize_with = "limits::some_wire", skip_serializing_if = "Option::is_none")]
    wire: Option<Time>,
}

impl Uplink {
    /// Its bandwidth in one direction.
    pub fn rate(&self, link: &Link) -> Rate {
        self.rate.unwrap_or(link.rate)
    }

    /// How long a bit takes.
    pub fn wire(&self, link: &Link) -> Time {
        self.wire.unwrap_or(link.wire)
    }
}

/// A switch for frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FrameSwitch {
    /// When it sends a frame on.
    pub forwarding: Forwarding,
    /// What its forwarding engine takes for a frame, one after the other.
    #[serde(deserialize_with = "limits::wire")]
    pub lookup: Time,
    /// What a frame takes beside that, all at once.
    #[serde(deserialize_with = "limits::wire")]
    pub latency: Time,
    /// Where frames wait.
    pub memory: Memory,
}

/// When a switch sends a frame on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// When it has all of it.
    #[default]
    StoreAndForward,
    /// When it has its header.
    CutThrough,
}

/// When an input of a switch offers its next frame to the outputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandOver {
    /// When the last bit of the previous one has been read.
    #[default]
    LastBit,
    /// When the previous one starts.
    FirstBit,
}

/// What a port to another switch carries, both ways together: one frame at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Circuit {
    /// How fast frames pass that come from the other switch.
    #[serde(rename = "in", deserialize_with = "limits::rate")]
    pub inward: Rate,
    /// How fast frames pass that go to it.
    #[serde(rename = "out", deserialize_with = "limits::rate")]
    pub outward: Rate,
}

/// Where frames wait in a switch, and how many: B_L \[tam, 2.2.3\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Memory {
    /// At the input by which they came.
    Input {
        /// Room at each input.
        capacity: Capacity,
        /// Room at an input from another switch, if it is not the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uplink: Option<Capacity>,
        /// When an input offers its next frame to the outputs.
        #[serde(default, rename = "hand-over")]
        hand_over: HandOver,
        /// Frames that an output keeps beside, of those that come from faster links.
        #[serde(default, deserialize_with = "limits::stage", skip_serializing_if = "is_none")]
        stage: u32,
        /// What limits both directions of a port to another switch together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        circuit: Option<Circuit>,
    },
    /// At the output by which they leave.
    Output {
        /// Room at each output.
        capacity: Capacity,
        /// Room at an output to another switch, if it is not the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uplink: Option<Capacity>,
    },
    /// In one memory for all ports.
    Shared {
        /// Its room.
        capacity: Capacity,
        /// The most that one output may have of it, if not all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cap: Option<Capacity>,
        /// What an input from another switch has beside it, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uplink: Option<Capacity>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

impl Default for Memory {
    /// A few megabytes, as switches of today have them for all ports.
    fn default() -> Memory {
        let capacity = Capacity::Bytes(Bytes::new(4 << 20));
        Memory::Shared { capacity, cap: None, uplink: None }
    }
}

impl Memory {
    /// Its name in experiment files.
    pub fn name(&self) -> &'static str {
        match self {
            Memory::Input { .. } => "input",
            Memory::Output { .. } => "output",
            Memory::Shared { .. } => "shared",
        }
    }

    /// The capacity that every port has, or all have together.
    pub fn capacity(&self) -> Capacity {
        match *self {
            Memory::Input { capacity, .. }
            | Memory::Output { capacity, .. }
            | Memory::Shared { capacity, .. } => capacity,
        }
    }
}

impl Frame {
    /// The most that a frame carries.
    pub fn mtu(&self) -> Bytes {
        self.mtu.unwrap_or(Bytes::new(1500))
    }

    /// A switch without hosts.
    pub fn core(&self) -> &FrameSwitch {
        self.core.as_ref().unwrap_or(&self.switch)
    }

    /// Whether nothing is written.
    pub(super) fn is_default(&self) -> bool {
        *self == Frame::default()
    }
}
