//! The NIC of Quadrics QsNet.

use crosstie_units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

use super::limits;

/// An Elan: the NIC of Quadrics QsNet, to which messages are puts. Its defaults are those of Elan3
/// as Petrini et al. describe it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Elan {
    /// Where the data of puts come from.
    pub source: ElanMemory,
    /// Where they go.
    pub destination: ElanMemory,
    /// From the write to the command port until the command processor has it.
    #[serde(deserialize_with = "limits::wire")]
    pub post: Time,
    /// The command processor checks a command and queues it.
    #[serde(deserialize_with = "limits::wire")]
    pub command: Time,
    /// The DMA engine takes up a descriptor.
    #[serde(deserialize_with = "limits::wire")]
    pub start: Time,
    /// The inputter takes a packet.
    #[serde(deserialize_with = "limits::wire")]
    pub input: Time,
    /// An event is set.
    #[serde(deserialize_with = "limits::wire")]
    pub event: Time,
    /// The block of an event is got ready for main memory.
    #[serde(deserialize_with = "limits::wire")]
    pub copy: Time,
    /// From that block in main memory until the process that polls it goes on.
    #[serde(deserialize_with = "limits::wire")]
    pub notice: Time,
    /// What a barrier takes of the processor of each process that enters it, before it signals.
    #[serde(deserialize_with = "limits::wire")]
    pub barrier: Time,
    /// Packets of one put that go before those of the next put have their turn.
    #[serde(deserialize_with = "limits::window")]
    pub slice: u32,
    /// Packets that the inputter has taken and not written at most.
    #[serde(deserialize_with = "limits::window")]
    pub buffers: u32,
    /// Packets that the DMA engine has read and not sent at most.
    #[serde(deserialize_with = "limits::window")]
    pub ahead: u32,
    /// How fast data pass through the NIC, those that go out and those that come in together.
    #[serde(deserialize_with = "limits::rate")]
    pub path: Rate,
    /// What an acknowledge takes for each channel of its way.
    #[serde(deserialize_with = "limits::duration")]
    pub acknowledge: Time,
    /// One packet in this many is garbled on each channel; `None`: none is.
    #[serde(deserialize_with = "limits::some_one_in", skip_serializing_if = "Option::is_none")]
    pub garbled_one_in: Option<u32>,
    /// The bus to main memory.
    pub pci: ElanPci,
    /// How a put becomes packets.
    pub packet: ElanPacket,
    /// Address translation.
    pub tlb: ElanTlb,
    /// Tagged ports; `None`: nodes match messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tports: Option<ElanTports>,
}

/// Tagged ports: the thread processor of an Elan matches the messages of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ElanTports {
    /// The thread processor looks for the receive of a message, or for the message of a receive.
    #[serde(deserialize_with = "limits::wire")]
    pub r#match: Time,
}

/// The memory of a node, or of its NIC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElanMemory {
    /// That of the node, behind the bus.
    #[default]
    Main,
    /// That of the NIC.
    Elan,
}

/// The bus between an Elan and main memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ElanPci {
    /// How fast an Elan reads main memory.
    #[serde(deserialize_with = "limits::rate")]
    pub read: Rate,
    /// How fast it writes there.
    #[serde(deserialize_with = "limits::rate")]
    pub write: Rate,
    /// True if reads and writes share the bus, which passes `write` of both together.
    pub shared: bool,
    /// From a read to its first byte, beyond what the bytes take.
    #[serde(deserialize_with = "limits::wire")]
    pub read_latency: Time,
    /// From the last byte of a write until it is in memory.
    #[serde(deserialize_with = "limits::wire")]
    pub write_latency: Time,
}

/// The packets of an Elan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ElanPacket {
    /// A write block. A shorter one takes as much.
    #[serde(deserialize_with = "limits::control")]
    pub block: Bytes,
    /// Blocks of a packet at most.
    #[serde(deserialize_with = "limits::transfers")]
    pub blocks: u32,
    /// What a packet takes on the wire besides its blocks.
    #[serde(deserialize_with = "limits::control")]
    pub header: Bytes,
    /// What each block takes besides its data.
    #[serde(deserialize_with = "limits::overhead")]
    pub block_overhead: Bytes,
}

/// The TLB of an Elan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ElanTlb {
    /// Translations that it keeps.
    #[serde(deserialize_with = "limits::window")]
    pub entries: u32,
    /// A page.
    #[serde(deserialize_with = "limits::message")]
    pub page: Bytes,
    /// What it takes to fetch a translation that is not there.
    #[serde(deserialize_with = "limits::wire")]
    pub miss: Time,
}

const fn megabytes(rate: u64) -> Rate {
    Rate::from_bytes_per_second(rate * 1_000_000)
}

impl Default for Elan {
    fn default() -> Elan {
        // The seven steps of a put that the paper does not tell apart.
        let step = Time::from_ns(200);
        Elan {
            source: ElanMemory::Main,
            destination: ElanMemory::Main,
            post: step,
            command: step,
            start: step,
            input: step,
            event: step,
            copy: step,
            notice: step,
            barrier: Time::ZERO,
            slice: 8,
            buffers: 4,
            ahead: 4,
            path: megabytes(540),
            acknowledge: Time::from_ns(50),
            garbled_one_in: None,
            pci: ElanPci::default(),
            packet: ElanPacket::default(),
            tlb: ElanTlb::default(),
            tports: None,
        }
    }
}

impl Default for ElanTports {
    fn default() -> ElanTports {
        ElanTports { r#match: Time::from_ns(885) }
    }
}

impl Default for ElanPci {
    fn default() -> ElanPci {
        ElanPci {
            read: megabytes(200),
            write: megabytes(275),
            shared: true,
            read_latency: Time::from_ns(500),
            write_latency: Time::from_ns(250),
        }
    }
}

impl Default for ElanPacket {
    fn default() -> ElanPacket {
        let bytes = Bytes::new;
        ElanPacket { block: bytes(64), blocks: 5, header: bytes(18), block_overhead: bytes(8) }
    }
}

impl Default for ElanTlb {
    fn default() -> ElanTlb {
        ElanTlb { entries: 16, page: Bytes::new(8192), miss: Time::ZERO }
    }
}
