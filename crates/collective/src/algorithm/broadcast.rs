//! One vector for everybody.

mod binomial;
mod chain;
mod scatter_all_gather;
mod segmented_binomial;

use super::{Declaration, choice};
use crate::OperationError;
use crate::collective::MOST_OPERATIONS;
use crate::program::builder::ProgramBuilder;
use crosstie_units::{Bytes, quantities};
use serde::{Deserialize, Serialize};

/// An algorithm of a broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Broadcast {
    /// Whoever has it sends it on, so that those who have it double.
    Binomial {},
    /// From one to the next, in segments.
    Chain {
        /// The longest segment: the vector is cut into equal parts that are no longer.
        #[serde(default = "segment", deserialize_with = "segment_within")]
        segment: Bytes,
    },
    /// The parts are scattered, and gathered by all (van de Geijn).
    ScatterAllGather {},
    /// Down a binomial tree, in segments: whoever has one sends it to all below (Tam).
    SegmentedBinomial {
        /// As of a chain.
        #[serde(default = "segment", deserialize_with = "segment_within")]
        segment: Bytes,
    },
}

fn segment() -> Bytes {
    Broadcast::SEGMENT
}

quantities! { segment_within: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 30); }

impl Broadcast {
    /// The segment for which nobody names one.
    pub const SEGMENT: Bytes = Bytes::new(1 << 16);

    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Broadcast; 4] = [
        Broadcast::Binomial {},
        Broadcast::Chain { segment: Broadcast::SEGMENT },
        Broadcast::ScatterAllGather {},
        Broadcast::SegmentedBinomial { segment: Broadcast::SEGMENT },
    ];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Broadcast::Binomial {} => &binomial::DECLARATION,
            Broadcast::Chain { .. } => &chain::DECLARATION,
            Broadcast::ScatterAllGather {} => &scatter_all_gather::DECLARATION,
            Broadcast::SegmentedBinomial { .. } => &segmented_binomial::DECLARATION,
        }
    }

    /// Into how many parts it cuts a vector.
    pub(crate) fn parts(self, ranks: u32, bytes: u64) -> Result<u32, OperationError> {
        match self {
            Broadcast::Binomial {} => Ok(1),
            Broadcast::Chain { segment } | Broadcast::SegmentedBinomial { segment } => {
                segments(segment, ranks, bytes)
            }
            Broadcast::ScatterAllGather {} => Ok(ranks),
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder, root: u32, parts: u32) {
        match self {
            Broadcast::Binomial {} => binomial::write(program, root),
            Broadcast::Chain { .. } => chain::write(program, root, parts),
            Broadcast::ScatterAllGather {} => scatter_all_gather::write(program, root),
            Broadcast::SegmentedBinomial { .. } => segmented_binomial::write(program, root, parts),
        }
    }
}

/// The number of segments.
fn segments(segment: Bytes, ranks: u32, bytes: u64) -> Result<u32, OperationError> {
    let Some(left_over) = bytes.checked_rem(segment.get()) else {
        return Err(OperationError::NoSegment);
    };
    let parts = (bytes / segment.get() + u64::from(left_over > 0)).max(1);
    if parts > MOST_OPERATIONS / (2 * u64::from(ranks)) {
        return Err(OperationError::TooMany { most: MOST_OPERATIONS });
    }
    Ok(parts as u32)
}

choice!(Broadcast);

impl Default for Broadcast {
    fn default() -> Broadcast {
        Broadcast::Binomial {}
    }
}
