//! What an Elan is made of.

use super::format::Format;
use super::mmu::{Grant, Memory, TlbSpec};
use super::pci::PciSpec;
use super::routes::Route;
use crosstie_units::{Rate, Time};

/// What the NICs of a cluster are made of. All times are of one step of the life of a put; see the
/// table in [`crate::elan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElanSpec {
    /// How a put becomes packets.
    pub format: Format,
    /// From the write to the command port until the command processor has it.
    pub post: Time,
    /// The command processor checks a command and queues it.
    pub command: Time,
    /// The DMA engine takes up a descriptor.
    pub start: Time,
    /// Packets of one put that go before those of the next put in the queue have their turn.
    pub slice: u32,
    /// The inputter takes a packet.
    pub input: Time,
    /// An event is set.
    pub event: Time,
    /// The block of an event is copied: from the event until it goes onto the bus.
    pub copy: Time,
    /// Bytes of that block.
    pub copied: u32,
    /// From the block in main memory until the process that polls it goes on.
    pub notice: Time,
    /// How fast data pass through the NIC, those of the DMA engine and of the inputter together;
    /// `None`: at once.
    pub path: Option<Rate>,
    /// How fast the link is: what passes through the NIC faster goes onto it as it passes.
    pub link: Rate,
    /// Packets that the inputter has taken and not written at most.
    pub buffers: u32,
    /// Packets that the DMA engine has read and not sent at most.
    pub ahead: u32,
    /// Circuits that a NIC has open at once.
    pub circuits: u32,
    /// The thread processor looks for the receive of a message, or for the message of a receive.
    pub matching: Time,
    /// The bus to main memory.
    pub pci: PciSpec,
    /// Address translation.
    pub tlb: TlbSpec,
    /// Where the data of puts come from.
    pub source: Memory,
    /// Where they go.
    pub destination: Memory,
}

/// What a process may do, which the system says when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The parts of its memory that its partners may use, and how.
    pub grants: Vec<Grant>,
    /// The routes to its partners.
    pub routes: Vec<Route>,
}
