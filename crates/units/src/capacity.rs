//! How much waits in a queue or a memory at most.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Bytes;

/// How much fits: in a file `"95 frames"`, or a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// So many frames of any length.
    Frames(u32),
    /// So many bytes of frames, headers included.
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
