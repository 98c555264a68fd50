//! All collective operations there are, with what they are asked for.

use crate::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, Declaration, Gather, Reduce, Scatter,
};
use crate::score::{Cut, Score};
use crate::{Collective, Purpose, Rank};
use crosstie_units::{Bytes, Rate, declared, quantities, range, wholes};
use serde::{Deserialize, Deserializer, Serialize};

/// A collective operation of all ranks.
///
/// Where ranks hold vectors that are handed on or combined, `size` is the length of the whole
/// vector. Where everybody has blocks of its own, it is the length of one block: of a rank, or of a
/// pair of ranks. The messages of a barrier have one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Operation {
    /// Nobody leaves before everybody has come.
    Barrier {
        /// How.
        #[serde(default)]
        algorithm: Barrier,
    },
    /// Everybody gets the vector of the root.
    Broadcast {
        /// How.
        #[serde(default)]
        algorithm: Broadcast,
        /// Who has the vector.
        #[serde(default, deserialize_with = "root")]
        root: u32,
        /// The length of the vector.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
    },
    /// The root gets a block of everybody.
    Gather {
        /// How.
        #[serde(default)]
        algorithm: Gather,
        /// Who gets the blocks.
        #[serde(default, deserialize_with = "root")]
        root: u32,
        /// The length of a block.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
    },
    /// Everybody gets a block of the root.
    Scatter {
        /// How.
        #[serde(default)]
        algorithm: Scatter,
        /// Who has the blocks.
        #[serde(default, deserialize_with = "root")]
        root: u32,
        /// The length of a block.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
    },
    /// Everybody gets a block of everybody.
    AllGather {
        /// How.
        #[serde(default)]
        algorithm: AllGather,
        /// The length of a block.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
    },
    /// The root gets the combination of everybody's vector.
    Reduce {
        /// How.
        #[serde(default)]
        algorithm: Reduce,
        /// Who gets the result.
        #[serde(default, deserialize_with = "root")]
        root: u32,
        /// The length of a vector.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
        /// How fast a rank combines; `None`: in no time.
        #[serde(
            default,
            deserialize_with = "combining_rate",
            skip_serializing_if = "Option::is_none"
        )]
        combine: Option<Rate>,
    },
    /// Everybody gets the combination of everybody's vector.
    AllReduce {
        /// How.
        #[serde(default)]
        algorithm: AllReduce,
        /// The length of a vector.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
        /// How fast a rank combines; `None`: in no time.
        #[serde(
            default,
            deserialize_with = "combining_rate",
            skip_serializing_if = "Option::is_none"
        )]
        combine: Option<Rate>,
    },
    /// Everybody gets a block of everybody that is meant for it alone.
    AllToAll {
        /// How.
        #[serde(default)]
        algorithm: AllToAll,
        /// The length of a block.
        #[serde(deserialize_with = "size_within")]
        size: Bytes,
    },
}

wholes! { root: u32 = 0..=u32::MAX as i64; }

quantities! { size_within: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 30); }

fn combining_rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Rate>, D::Error> {
    let (slowest, fastest) = (1_000, 1_000_000_000_000_000);
    let rates = Rate::from_bytes_per_second(slowest)..=Rate::from_bytes_per_second(fastest);
    range::quantity(from, "a rate", rates).map(Some)
}

/// What is wrong with an operation among so many ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// Nobody takes part.
    #[error("found no ranks, expected at least one")]
    NoRanks,
    /// The root is none of the ranks.
    #[error("found the root {root}, expected a rank from 0 to {}", ranks - 1)]
    NoSuchRoot {
        /// What was found.
        root: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// A segment has no length.
    #[error("found segments of 0 B, expected at least 1 B")]
    NoSegment,
    /// Packets take turns in steps in which ranks would have to pause.
    #[error(
        "among {ranks} ranks some would rest in steps of this permutation, and packets do not; \
         expected `shift`, `edge-colour` for an even number or `xor` for a power of two"
    )]
    Resting {
        /// The number of ranks.
        ranks: u32,
    },
    /// A group has no members.
    #[error("found groups of 0 partners, expected at least 1")]
    NoGroup,
    /// Switches do not have the same number of ranks.
    #[error(
        "found {per_switch} hosts at a switch, expected a number that divides the {ranks} ranks"
    )]
    UnevenSwitches {
        /// What was found.
        per_switch: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// A message is too long.
    #[error("a message would have {bytes} bytes, expected fewer than 4 GiB; ask for fewer bytes")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// There are too many messages.
    #[error(
        "the schedule would have more than {most} operations; \
         ask for fewer ranks, longer segments or another algorithm"
    )]
    TooMany {
        /// How many there may be.
        most: u64,
    },
    /// Combining would take for ever.
    #[error("combining at {rate} takes too long, expected a rate of at least 1 kB/s")]
    Endless {
        /// What was found.
        rate: Rate,
    },
}

impl Operation {
    /// One of each, with its usual algorithm, the root 0 and a size of 1 KiB.
    pub fn all() -> [Operation; 8] {
        let (root, size, combine) = (0, Bytes::new(1024), None);
        [
            Operation::Barrier { algorithm: Barrier::default() },
            Operation::Broadcast { algorithm: Broadcast::default(), root, size },
            Operation::Gather { algorithm: Gather::default(), root, size },
            Operation::Scatter { algorithm: Scatter::default(), root, size },
            Operation::AllGather { algorithm: AllGather::default(), size },
            Operation::Reduce { algorithm: Reduce::default(), root, size, combine },
            Operation::AllReduce { algorithm: AllReduce::default(), size, combine },
            Operation::AllToAll { algorithm: AllToAll::default(), size },
        ]
    }

    /// What all algorithms for it say of themselves.
    pub fn algorithms(&self) -> Vec<&'static Declaration> {
        match self {
            Operation::Barrier { .. } => Barrier::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::Broadcast { .. } => Broadcast::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::Gather { .. } => Gather::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::Scatter { .. } => Scatter::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::AllGather { .. } => AllGather::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::Reduce { .. } => Reduce::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::AllReduce { .. } => AllReduce::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::AllToAll { .. } => AllToAll::ALL.iter().map(|a| a.declaration()).collect(),
        }
    }

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Operation::Barrier { .. } => &Declaration {
                name: "barrier",
                sentence: "Nobody leaves before everybody has come.",
            },
            Operation::Broadcast { .. } => &Declaration {
                name: "broadcast",
                sentence: "Everybody gets the vector of the root.",
            },
            Operation::Gather { .. } => {
                &Declaration { name: "gather", sentence: "The root gets a block of everybody." }
            }
            Operation::Scatter { .. } => {
                &Declaration { name: "scatter", sentence: "Everybody gets a block of the root." }
            }
            Operation::AllGather { .. } => &Declaration {
                name: "all-gather",
                sentence: "Everybody gets a block of everybody.",
            },
            Operation::Reduce { .. } => &Declaration {
                name: "reduce",
                sentence: "The root gets the combination of everybody's vector.",
            },
            Operation::AllReduce { .. } => &Declaration {
                name: "all-reduce",
                sentence: "Everybody gets the combination of everybody's vector.",
            },
            Operation::AllToAll { .. } => &Declaration {
                name: "all-to-all",
                sentence: "Everybody gets a block of everybody that is meant for it alone.",
            },
        }
    }

    /// Its name, as in experiment files.
    pub fn name(&self) -> &'static str {
        self.declaration().name
    }

    /// What it does, in a sentence.
    pub fn sentence(&self) -> &'static str {
        self.declaration().sentence
    }

    /// The names of its keys.
    pub fn keys(&self) -> &'static [&'static str] {
        declared::keys::<Operation>(self.name())
    }

    /// What its algorithm says of itself.
    pub fn algorithm(&self) -> &'static Declaration {
        match self {
            Operation::Barrier { algorithm } => algorithm.declaration(),
            Operation::Broadcast { algorithm, .. } => algorithm.declaration(),
            Operation::Gather { algorithm, .. } => algorithm.declaration(),
            Operation::Scatter { algorithm, .. } => algorithm.declaration(),
            Operation::AllGather { algorithm, .. } => algorithm.declaration(),
            Operation::Reduce { algorithm, .. } => algorithm.declaration(),
            Operation::AllReduce { algorithm, .. } => algorithm.declaration(),
            Operation::AllToAll { algorithm, .. } => algorithm.declaration(),
        }
    }

    /// What everybody does, among so many ranks.
    pub fn collective(&self, ranks: u32) -> Result<Collective, OperationError> {
        if ranks == 0 {
            return Err(OperationError::NoRanks);
        }
        let rooted = |root: u32| match root {
            root if root >= ranks => Err(OperationError::NoSuchRoot { root, ranks }),
            root => Ok(Rank(root)),
        };
        match *self {
            Operation::Barrier { algorithm } => {
                let score = Score::new(ranks, Cut::Parts { whole: 0, parts: 1 }, None);
                algorithm.write(score).finish(Purpose::Barrier)
            }
            Operation::Broadcast { algorithm, root, size: bytes } => {
                let (top, whole) = (rooted(root)?, bytes.get());
                let parts = algorithm.parts(ranks, whole)?;
                let score = Score::new(ranks, Cut::Parts { whole, parts }, None);
                let purpose = Purpose::Broadcast { root: top, parts };
                algorithm.write(score, root, parts).finish(purpose)
            }
            Operation::Gather { algorithm, root, size: bytes } => {
                let purpose = Purpose::Gather { root: rooted(root)? };
                let score = Score::new(ranks, Cut::Equal(bytes.get()), None);
                algorithm.write(score, root).finish(purpose)
            }
            Operation::Scatter { algorithm, root, size: bytes } => {
                let purpose = Purpose::Scatter { root: rooted(root)? };
                let score = Score::new(ranks, Cut::Equal(bytes.get()), None);
                algorithm.write(score, root).finish(purpose)
            }
            Operation::AllGather { algorithm, size: bytes } => {
                let score = Score::new(ranks, Cut::Equal(bytes.get()), None);
                algorithm.write(score).finish(Purpose::AllGather)
            }
            Operation::Reduce { algorithm, root, size: bytes, combine } => {
                let purpose = Purpose::Reduce { root: rooted(root)?, parts: 1 };
                let cut = Cut::Parts { whole: bytes.get(), parts: 1 };
                algorithm.write(Score::new(ranks, cut, combine), root).finish(purpose)
            }
            Operation::AllReduce { algorithm, size: bytes, combine } => {
                let (whole, parts) = (bytes.get(), algorithm.parts(ranks));
                let score = Score::new(ranks, Cut::Parts { whole, parts }, combine);
                algorithm.write(score).finish(Purpose::AllReduce { parts })
            }
            Operation::AllToAll { algorithm, size: bytes } => {
                // Blocks are numbered in 32 bits.
                if ranks > u32::from(u16::MAX) {
                    return Err(OperationError::TooMany { most: crate::score::MOST_OPERATIONS });
                }
                let score = Score::new(ranks, Cut::Equal(bytes.get()), None);
                algorithm.write(score)?.finish(Purpose::AllToAll)
            }
        }
    }
}

#[cfg(test)]
mod tests;
