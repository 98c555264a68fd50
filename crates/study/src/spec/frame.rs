//! What only the frame network knows: Ethernet links and switches with finite memory.

use std::fmt;
use std::str::FromStr;

use crosstie_units::{Bytes, Rate, Time};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Link, limits};

/// What only the frame network knows. Links of hosts are those of `link`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Frame {
    /// The most that a frame carries.
    #[serde(deserialize_with = "limits::some_mtu", skip_serializing_if = "Option::is_none")]
    mtu: Option<Bytes>,
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

/// How much fits: in a file `"95 frames"`, or a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// So many frames of any length.
    Frames(u32),
    /// So many bytes of frames, header and check sequence included.
    Bytes(Bytes),
}

const FRAMES: &str = " frames";
const LEAST_BYTES: u64 = 1 << 11;
const MOST_BYTES: u64 = 1 << 40;

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Frames(frames) => write!(f, "{frames}{FRAMES}"),
            Capacity::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Capacity, String> {
        let refused = || {
            format!(
                "found \"{text}\", expected a number of frames such as \"95 frames\", or a size from {} to {}",
                Bytes::new(LEAST_BYTES),
                Bytes::new(MOST_BYTES)
            )
        };
        if let Some(number) = text.strip_suffix(FRAMES).or(text.strip_suffix(" frame")) {
            let frames = number.trim().parse().ok().filter(|&frames| frames > 0);
            return frames.map(Capacity::Frames).ok_or_else(refused);
        }
        let bytes: Bytes = text.parse().map_err(|_| refused())?;
        let fits = (LEAST_BYTES..=MOST_BYTES).contains(&bytes.get());
        fits.then_some(Capacity::Bytes(bytes)).ok_or_else(refused)
    }
}

impl Serialize for Capacity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Capacity, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_frames_or_bytes() {
        for (text, expected) in [
            ("95 frames", Capacity::Frames(95)),
            ("1 frame", Capacity::Frames(1)),
            ("64 KiB", Capacity::Bytes(Bytes::new(65_536))),
        ] {
            assert_eq!(text.parse(), Ok(expected));
            assert_eq!(expected.to_string().parse(), Ok(expected));
        }
        for text in ["95", "0 frames", "-1 frames", "100 B", "frames", "1e9 frames"] {
            let error = text.parse::<Capacity>().unwrap_err();
            assert!(error.contains("such as \"95 frames\", or a size"), "{error}");
        }
    }
}
