//! All collective operations there are, with what they are asked for.

use crate::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, Declaration, ExclusiveScan, Gather, Reduce,
    ReduceScatter, Scan, Scatter,
};
use crate::collective::MOST_OPERATIONS;
use crate::program::builder::ProgramBuilder;
use crate::{Collective, Program, Purpose, Rank};
use crosstie_units::{Bytes, Rate, declared, quantities, range, wholes};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

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
    /// Each rank gets a part of the combination of all vectors.
    ReduceScatter {
        /// How.
        #[serde(default)]
        algorithm: ReduceScatter,
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
    /// Each rank gets the combination of the vectors of all ranks up to its own.
    Scan {
        /// How.
        #[serde(default)]
        algorithm: Scan,
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
    /// Each rank gets the combination of the vectors of all ranks below; rank 0 gets nothing.
    ExclusiveScan {
        /// How.
        #[serde(default)]
        algorithm: ExclusiveScan,
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
    /// An algorithm does not combine in the order of ranks.
    #[error(
        "{operation} by {algorithm} among {ranks} ranks combines in another order than that of \
         ranks, and the operation is not commutative; expected an algorithm that keeps the order, \
         such as {instead}"
    )]
    OutOfOrder {
        /// The name of the operation.
        operation: &'static str,
        /// The name of its algorithm.
        algorithm: &'static str,
        /// The number of ranks.
        ranks: u32,
        /// The name of an algorithm that does.
        instead: &'static str,
    },
    /// Ranks would pass on blocks whose lengths they do not know.
    #[error(
        "in a {operation} by {algorithm} ranks pass on blocks of others, whose lengths they do not \
         know; expected an algorithm that sends each block straight to its receiver, such as \
         {instead}"
    )]
    Relays {
        /// The name of the operation.
        operation: &'static str,
        /// The name of its algorithm.
        algorithm: &'static str,
        /// The name of an algorithm that does not.
        instead: &'static str,
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
    pub fn all() -> [Operation; 11] {
        let (root, size, combine) = (0, Bytes::new(1024), None);
        [
            Operation::Barrier { algorithm: Barrier::default() },
            Operation::Broadcast { algorithm: Broadcast::default(), root, size },
            Operation::Gather { algorithm: Gather::default(), root, size },
            Operation::Scatter { algorithm: Scatter::default(), root, size },
            Operation::AllGather { algorithm: AllGather::default(), size },
            Operation::Reduce { algorithm: Reduce::default(), root, size, combine },
            Operation::AllReduce { algorithm: AllReduce::default(), size, combine },
            Operation::ReduceScatter { algorithm: ReduceScatter::default(), size, combine },
            Operation::Scan { algorithm: Scan::default(), size, combine },
            Operation::ExclusiveScan { algorithm: ExclusiveScan::default(), size, combine },
            Operation::AllToAll { algorithm: AllToAll::default(), size },
        ]
    }

    /// Every algorithm of every operation, with the defaults of their keys.
    pub fn by_every_algorithm(root: u32, size: Bytes, combine: Option<Rate>) -> Vec<Operation> {
        let mut all: Vec<Operation> = Vec::new();
        all.extend(Barrier::ALL.map(|algorithm| Operation::Barrier { algorithm }));
        all.extend(Broadcast::ALL.map(|algorithm| Operation::Broadcast { algorithm, root, size }));
        all.extend(Gather::ALL.map(|algorithm| Operation::Gather { algorithm, root, size }));
        all.extend(Scatter::ALL.map(|algorithm| Operation::Scatter { algorithm, root, size }));
        all.extend(AllGather::ALL.map(|algorithm| Operation::AllGather { algorithm, size }));
        all.extend(Reduce::ALL.map(|algorithm| Operation::Reduce {
            algorithm,
            root,
            size,
            combine,
        }));
        all.extend(AllReduce::ALL.map(|algorithm| Operation::AllReduce {
            algorithm,
            size,
            combine,
        }));
        all.extend(ReduceScatter::ALL.map(|algorithm| Operation::ReduceScatter {
            algorithm,
            size,
            combine,
        }));
        all.extend(Scan::ALL.map(|algorithm| Operation::Scan { algorithm, size, combine }));
        all.extend(ExclusiveScan::ALL.map(|algorithm| Operation::ExclusiveScan {
            algorithm,
            size,
            combine,
        }));
        all.extend(AllToAll::ALL.map(|algorithm| Operation::AllToAll { algorithm, size }));
        all
    }

    /// The same for another root, where there is one, and another size, where there is one.
    pub fn asked(mut self, new_root: u32, new_size: Bytes) -> Operation {
        match &mut self {
            Operation::Barrier { .. } => {}
            Operation::Broadcast { root, size, .. }
            | Operation::Gather { root, size, .. }
            | Operation::Scatter { root, size, .. }
            | Operation::Reduce { root, size, .. } => (*root, *size) = (new_root, new_size),
            Operation::AllGather { size, .. }
            | Operation::AllReduce { size, .. }
            | Operation::ReduceScatter { size, .. }
            | Operation::Scan { size, .. }
            | Operation::ExclusiveScan { size, .. }
            | Operation::AllToAll { size, .. } => *size = new_size,
        }
        self
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
            Operation::ReduceScatter { .. } => {
                ReduceScatter::ALL.iter().map(|a| a.declaration()).collect()
            }
            Operation::Scan { .. } => Scan::ALL.iter().map(|a| a.declaration()).collect(),
            Operation::ExclusiveScan { .. } => {
                ExclusiveScan::ALL.iter().map(|a| a.declaration()).collect()
            }
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
            Operation::ReduceScatter { .. } => &Declaration {
                name: "reduce-scatter",
                sentence: "Everybody gets a part of the combination of everybody's vector.",
            },
            Operation::Scan { .. } => &Declaration {
                name: "scan",
                sentence: "Everybody gets the combination of the vectors of all ranks up to its own.",
            },
            Operation::ExclusiveScan { .. } => &Declaration {
                name: "exclusive-scan",
                sentence: "Everybody gets the combination of the vectors of all ranks below; rank 0 gets nothing.",
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
            Operation::ReduceScatter { algorithm, .. } => algorithm.declaration(),
            Operation::Scan { algorithm, .. } => algorithm.declaration(),
            Operation::ExclusiveScan { algorithm, .. } => algorithm.declaration(),
            Operation::AllToAll { algorithm, .. } => algorithm.declaration(),
        }
    }

    /// What all ranks do: the union of their programs.
    pub fn collective(&self, ranks: u32) -> Result<Collective, OperationError> {
        let Setting { purpose, size, combine } = self.setting(ranks)?;
        let layout = purpose.layout(ranks, size.get());
        Collective::of_programs(ranks, purpose, &layout, combine, |program| self.write(program))
    }

    /// What one rank does. It costs as much as the rank has to do, however many ranks there are.
    ///
    /// A [`Layout`](crate::Layout) gives blocks their lengths when the program is played; of the
    /// size, only the number of segments is in it. Combining is an instruction if it takes time.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn program(&self, ranks: u32, rank: Rank) -> Result<Program, OperationError> {
        let Setting { combine, .. } = self.setting(ranks)?;
        assert!(rank.0 < ranks, "rank {} is one of {ranks}", rank.0);
        let mut program = ProgramBuilder::new(ranks, combine.is_some());
        program.begin(rank.0);
        self.write(&mut program)?;
        Ok(program.finish())
    }

    /// What it is for, and the meaning of its blocks.
    pub fn purpose(&self, ranks: u32) -> Result<Purpose, OperationError> {
        Ok(self.setting(ranks)?.purpose)
    }

    /// Returns true if its algorithm combines contributions in the order of their ranks, so that
    /// whatever combines need not be commutative. It must be associative.
    pub fn keeps_order(&self, ranks: u32) -> bool {
        match *self {
            Operation::Barrier { .. }
            | Operation::Broadcast { .. }
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::AllGather { .. }
            | Operation::AllToAll { .. } => true,
            Operation::Reduce { algorithm, root, .. } => algorithm.keeps_order(ranks, root),
            Operation::AllReduce { algorithm, .. } => algorithm.keeps_order(ranks),
            Operation::ReduceScatter { algorithm, .. } => algorithm.keeps_order(ranks),
            Operation::Scan { algorithm, .. } => algorithm.keeps_order(),
            Operation::ExclusiveScan { algorithm, .. } => algorithm.keeps_order(),
        }
    }

    /// Refuses an algorithm that combines in another order than that of ranks: what is not
    /// commutative would have a wrong result.
    pub fn check_order(&self, ranks: u32) -> Result<(), OperationError> {
        if self.keeps_order(ranks) {
            return Ok(());
        }
        let (operation, algorithm) = (self.name(), self.algorithm().name);
        let instead = match self {
            Operation::Reduce { .. } => Reduce::InOrderBinomial {}.name(),
            Operation::ReduceScatter { .. } => ReduceScatter::InOrderHalving {}.name(),
            _ => AllReduce::InOrderDoubling {}.name(),
        };
        Err(OperationError::OutOfOrder { operation, algorithm, ranks, instead })
    }

    /// Returns true if its algorithm lets ranks pass on blocks that neither come from them nor end
    /// with them.
    pub fn relays(&self) -> bool {
        match *self {
            Operation::Gather { algorithm, .. } => algorithm.relays(),
            Operation::Scatter { algorithm, .. } => algorithm.relays(),
            Operation::AllToAll { algorithm, .. } => algorithm.relays(),
            // Each rank has to do with all blocks by itself.
            Operation::Barrier { .. }
            | Operation::Broadcast { .. }
            | Operation::AllGather { .. }
            | Operation::Reduce { .. }
            | Operation::AllReduce { .. }
            | Operation::ReduceScatter { .. }
            | Operation::Scan { .. }
            | Operation::ExclusiveScan { .. } => false,
        }
    }

    /// Refuses an algorithm in which ranks need the lengths of blocks of others, for calls in which
    /// a rank knows those of its own alone: unequal blocks of a gather, a scatter or an all-to-all.
    pub fn check_own_lengths(&self) -> Result<(), OperationError> {
        if !self.relays() {
            return Ok(());
        }
        let (operation, algorithm) = (self.name(), self.algorithm().name);
        let instead = match self {
            Operation::Gather { .. } => Gather::Linear {}.name(),
            Operation::Scatter { .. } => Scatter::Linear {}.name(),
            _ => AllToAll::PAIRWISE.name(),
        };
        Err(OperationError::Relays { operation, algorithm, instead })
    }

    /// The root, if it has one.
    pub fn root(&self) -> Option<u32> {
        match *self {
            Operation::Broadcast { root, .. }
            | Operation::Gather { root, .. }
            | Operation::Scatter { root, .. }
            | Operation::Reduce { root, .. } => Some(root),
            Operation::Barrier { .. }
            | Operation::AllGather { .. }
            | Operation::AllReduce { .. }
            | Operation::ReduceScatter { .. }
            | Operation::Scan { .. }
            | Operation::ExclusiveScan { .. }
            | Operation::AllToAll { .. } => None,
        }
    }

    /// Writes the algorithm with its keys, in some form.
    pub(crate) fn write_keys(&self, to: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Operation::Barrier { algorithm } => write!(to, "{algorithm:?}"),
            Operation::Broadcast { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::Gather { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::Scatter { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::AllGather { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::Reduce { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::AllReduce { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::ReduceScatter { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::Scan { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::ExclusiveScan { algorithm, .. } => write!(to, "{algorithm:?}"),
            Operation::AllToAll { algorithm, .. } => write!(to, "{algorithm:?}"),
        }
    }

    /// Checks what does not depend on the rank, and returns what all of them share.
    fn setting(&self, ranks: u32) -> Result<Setting, OperationError> {
        if ranks == 0 {
            return Err(OperationError::NoRanks);
        }
        let rooted = |root: u32| match root {
            root if root >= ranks => Err(OperationError::NoSuchRoot { root, ranks }),
            root => Ok(Rank(root)),
        };
        let (purpose, size, combine) = match *self {
            Operation::Barrier { .. } => (Purpose::Barrier, Bytes::new(0), None),
            Operation::Broadcast { algorithm, root, size } => {
                let root = rooted(root)?;
                let parts = algorithm.parts(ranks, size.get())?;
                (Purpose::Broadcast { root, parts }, size, None)
            }
            Operation::Gather { root, size, .. } => {
                (Purpose::Gather { root: rooted(root)? }, size, None)
            }
            Operation::Scatter { root, size, .. } => {
                (Purpose::Scatter { root: rooted(root)? }, size, None)
            }
            Operation::AllGather { size, .. } => (Purpose::AllGather, size, None),
            Operation::Reduce { root, size, combine, .. } => {
                (Purpose::Reduce { root: rooted(root)?, parts: 1 }, size, combine)
            }
            Operation::AllReduce { algorithm, size, combine } => {
                (Purpose::AllReduce { parts: algorithm.parts(ranks) }, size, combine)
            }
            Operation::ReduceScatter { size, combine, .. } => {
                (Purpose::ReduceScatter, size, combine)
            }
            Operation::Scan { size, combine, .. } => (Purpose::Scan { parts: 1 }, size, combine),
            Operation::ExclusiveScan { size, combine, .. } => {
                (Purpose::ExclusiveScan { parts: 1 }, size, combine)
            }
            // Blocks are numbered in 32 bits.
            Operation::AllToAll { .. } if ranks > u32::from(u16::MAX) => {
                return Err(OperationError::TooMany { most: MOST_OPERATIONS });
            }
            Operation::AllToAll { size, .. } => (Purpose::AllToAll, size, None),
        };
        Ok(Setting { purpose, size, combine })
    }

    /// Writes what a rank does.
    fn write(&self, program: &mut ProgramBuilder) -> Result<(), OperationError> {
        match *self {
            Operation::Barrier { algorithm } => algorithm.write(program),
            Operation::Broadcast { algorithm, root, size } => {
                let parts = algorithm.parts(program.ranks, size.get())?;
                algorithm.write(program, root, parts);
            }
            Operation::Gather { algorithm, root, .. } => algorithm.write(program, root),
            Operation::Scatter { algorithm, root, .. } => algorithm.write(program, root),
            Operation::AllGather { algorithm, .. } => algorithm.write(program),
            Operation::Reduce { algorithm, root, .. } => algorithm.write(program, root),
            Operation::AllReduce { algorithm, .. } => algorithm.write(program),
            Operation::ReduceScatter { algorithm, .. } => algorithm.write(program),
            Operation::Scan { algorithm, .. } => algorithm.write(program),
            Operation::ExclusiveScan { algorithm, .. } => algorithm.write(program),
            Operation::AllToAll { algorithm, .. } => algorithm.write(program)?,
        }
        Ok(())
    }
}

/// What all ranks share in an operation.
struct Setting {
    purpose: Purpose,
    size: Bytes,
    /// How fast ranks combine, if that takes time.
    combine: Option<Rate>,
}

#[cfg(test)]
mod tests;
