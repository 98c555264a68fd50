//! A block of everybody for each of the others.

mod bruck;
mod group_shuffle;
mod linear;
mod modified_shuffle;
mod pairwise;
mod permutation;
mod shift;
mod synchronous_shuffle;

pub use permutation::Permutation;

use super::{Declaration, choice};
use crate::global_window::Reading;
use crate::program::builder::ProgramBuilder;
use crate::{Counting, OperationError, Window};
use crosstie_units::wholes;
use serde::{Deserialize, Deserializer, Serialize};

/// An algorithm of an all-to-all.
///
/// Where an algorithm has the key `hosts-per-switch`, it is d_1 of a two-level network: ranks 0 to
/// d_1 - 1 are at the first switch, and so on. Ranks are then renumbered so that consecutive steps
/// lead to different switches [tam, 6.3].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum AllToAll {
    /// Everything at once.
    Linear {},
    /// One further on, then two, step after step.
    Shift {},
    /// Pairs exchange their blocks, and everybody meets everybody once.
    Pairwise {
        /// How ranks are paired; `None`: xor among a power of two, else an edge colouring.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pairs: Option<Pairs>,
        /// d_1.
        #[serde(default, deserialize_with = "some_hosts", skip_serializing_if = "Option::is_none")]
        hosts_per_switch: Option<u32>,
    },
    /// Blocks travel in powers of two, many in a message (Bruck et al., 1997).
    Bruck {},
    /// A packet for everybody in turn (Tam).
    SynchronousShuffle {
        /// The turns; `None`: pairs of an edge colouring, and shift if the ranks are odd.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permutation: Option<Permutation>,
        /// d_1.
        #[serde(default, deserialize_with = "some_hosts", skip_serializing_if = "Option::is_none")]
        hosts_per_switch: Option<u32>,
        /// Packets that a rank has outstanding at most, over all peers; `None`: any number.
        #[serde(
            default,
            deserialize_with = "some_packets",
            skip_serializing_if = "Option::is_none"
        )]
        window: Option<u32>,
        /// Which packets are outstanding.
        #[serde(default)]
        counts: Counting,
    },
    /// A few partners at a time (Tam).
    GroupShuffle {
        /// How many partners: omega.
        #[serde(default = "group", deserialize_with = "group_within")]
        group: u32,
        /// How ranks are paired.
        #[serde(default = "edge_colour")]
        pairs: Pairs,
        /// d_1.
        #[serde(default, deserialize_with = "some_hosts", skip_serializing_if = "Option::is_none")]
        hosts_per_switch: Option<u32>,
    },
    /// A synchronous shuffle that knows the switches (Tam).
    ModifiedShuffle {
        /// d_1; `None`: all hosts are at one switch.
        #[serde(default, deserialize_with = "some_hosts", skip_serializing_if = "Option::is_none")]
        hosts_per_switch: Option<u32>,
        /// B_L, packets that the buffer of the bottleneck holds: that of an uplink, or of a port of
        /// a single switch.
        #[serde(default = "buffer", deserialize_with = "buffer_within")]
        buffer: u32,
        /// How W_g follows from it.
        #[serde(default)]
        reading: Reading,
        /// As of a synchronous shuffle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permutation: Option<Permutation>,
        /// As of a synchronous shuffle.
        #[serde(default)]
        counts: Counting,
    },
}

/// Which ranks meet in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// As in [`Permutation::Xor`].
    Xor,
    /// As in [`Permutation::EdgeColour`].
    EdgeColour,
}

const fn edge_colour() -> Pairs {
    Pairs::EdgeColour
}

const fn group() -> u32 {
    4
}

/// That of an uplink of Tam's switches.
const fn buffer() -> u32 {
    45
}

wholes! {
    group_within: u32 = 1..=65_535;
    buffer_within: u32 = 1..=1 << 24;
    hosts: u32 = 1..=65_535;
    packets: u32 = 1..=1 << 20;
}

fn some_hosts<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    hosts(from).map(Some)
}

fn some_packets<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    packets(from).map(Some)
}

impl AllToAll {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [AllToAll; 7] = [
        AllToAll::Linear {},
        AllToAll::Shift {},
        AllToAll::PAIRWISE,
        AllToAll::Bruck {},
        AllToAll::SYNCHRONOUS_SHUFFLE,
        AllToAll::GroupShuffle { group: group(), pairs: edge_colour(), hosts_per_switch: None },
        AllToAll::ModifiedShuffle {
            hosts_per_switch: None,
            buffer: buffer(),
            reading: Reading::Floor,
            permutation: None,
            counts: Counting::Unacknowledged,
        },
    ];

    /// Pairwise with the defaults of its keys.
    pub const PAIRWISE: AllToAll = AllToAll::Pairwise { pairs: None, hosts_per_switch: None };

    /// The synchronous shuffle with the defaults of its keys.
    pub const SYNCHRONOUS_SHUFFLE: AllToAll = AllToAll::SynchronousShuffle {
        permutation: None,
        hosts_per_switch: None,
        window: None,
        counts: Counting::Unacknowledged,
    };

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            AllToAll::Linear {} => &linear::DECLARATION,
            AllToAll::Shift {} => &shift::DECLARATION,
            AllToAll::Pairwise { .. } => &pairwise::DECLARATION,
            AllToAll::Bruck {} => &bruck::DECLARATION,
            AllToAll::SynchronousShuffle { .. } => &synchronous_shuffle::DECLARATION,
            AllToAll::GroupShuffle { .. } => &group_shuffle::DECLARATION,
            AllToAll::ModifiedShuffle { .. } => &modified_shuffle::DECLARATION,
        }
    }

    /// Returns true if packets to different ranks take turns ([`Injection`](crate::Injection)).
    pub fn takes_turns(self) -> bool {
        match self {
            AllToAll::SynchronousShuffle { .. }
            | AllToAll::GroupShuffle { .. }
            | AllToAll::ModifiedShuffle { .. } => true,
            AllToAll::Linear {}
            | AllToAll::Shift {}
            | AllToAll::Pairwise { .. }
            | AllToAll::Bruck {} => false,
        }
    }

    /// Returns true if ranks pass on blocks of others.
    pub(crate) fn relays(self) -> bool {
        match self {
            AllToAll::Bruck {} => true,
            AllToAll::Linear {}
            | AllToAll::Shift {}
            | AllToAll::Pairwise { .. }
            | AllToAll::SynchronousShuffle { .. }
            | AllToAll::GroupShuffle { .. }
            | AllToAll::ModifiedShuffle { .. } => false,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) -> Result<(), OperationError> {
        match self {
            AllToAll::Linear {} => linear::write(program),
            AllToAll::Shift {} => shift::write(program),
            AllToAll::Pairwise { pairs, hosts_per_switch } => {
                pairwise::write(program, pairs, hosts_per_switch)?;
            }
            AllToAll::Bruck {} => bruck::write(program),
            AllToAll::SynchronousShuffle { permutation, hosts_per_switch, window, counts } => {
                let window = window.map(|packets| Window { packets, counts });
                synchronous_shuffle::write(program, permutation, hosts_per_switch, window)?;
            }
            AllToAll::GroupShuffle { group, pairs, hosts_per_switch } => {
                group_shuffle::write(program, group, pairs, hosts_per_switch)?;
            }
            AllToAll::ModifiedShuffle {
                hosts_per_switch,
                buffer,
                reading,
                permutation,
                counts,
            } => {
                let buffer = (buffer, reading);
                modified_shuffle::write(program, permutation, hosts_per_switch, buffer, counts)?;
            }
        }
        Ok(())
    }
}

choice!(AllToAll);

impl Default for AllToAll {
    fn default() -> AllToAll {
        AllToAll::PAIRWISE
    }
}

/// The number of the block from one rank to another.
fn block(from: u32, to: u32, ranks: u32) -> u32 {
    from * ranks + to
}
