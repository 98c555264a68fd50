//! Elan: the NIC of Quadrics QsNet, after Petrini, Hoisie, Feng and Graham, "Performance Evaluation
//! of the Quadrics Interconnection Network" (cited as \[petrini\]).
//!
//! What those above hand over is a *put*: bytes of the memory of one process go into that of
//! another, which does nothing for it. The life of a put, with the keys of [`ElanSpec`]:
//!
//! ```text
//! the process writes a descriptor to the command port, and goes on       post
//! the command processor checks it, reads it and queues the DMA           command
//! the DMA engine takes it up, in turns (slice), and fetches its route    start
//!   reads a packet from memory: over the bus, or from the NIC's own      pci.read, path
//!   sends it on a circuit; the other VC carries the packet before        circuits
//! the inputter takes the packet once it has room, and acknowledges it    input, buffers
//!   writes it to memory: over the bus, or to the NIC's own               path, pci.write
//!   of the last packet, and those behind it, the acknowledge leaves when it is in memory
//! an event is set at the source when all packets are acknowledged,       event
//!   and at the destination when all are in memory
//!   its block is copied to main memory, where the process polls it       copy, pci.write, notice
//! ```
//!
//! A *get* is asked for: the Elan of the process that wants the bytes sends the descriptor, as a
//! packet of one block, to the Elan that holds them. That one checks whether they may be read, or
//! refuses the packet, and serves it as a put of its own, of which only the destination is told.
//!
//! A put may go to several hosts: one DMA, which the network spreads. An event is set at each
//! destination, and at the source when all have acknowledged. If one host refuses a packet, the
//! packet is refused for all, and the put ends in an error at its source. A packet that is garbled
//! for some hosts goes again to all; a host that has it acknowledges the duplicate and drops it.
//!
//! Above puts stand *tagged ports*, at which the thread processor of a NIC matches messages, one
//! after the other ([`ElanSpec::matching`]). What comes in for a port stays in the memory of the
//! NIC and wakes the thread; what has found its receive is moved to main memory. What the thread
//! sends needs no process that posts it.
//!
//! Command processor, DMA engine, inputter and events are threads of one microcode processor, which
//! does one thing after the other. Data pass through the NIC by one path ([`ElanSpec::path`]). An
//! inputter that has no room withholds the acknowledge: the circuit stays open, and the network
//! behind it fills. What a process has not granted is not read and not written ([`mmu`]); a process
//! sends nothing to one that has no entry in its route table ([`routes`]).

pub mod mmu;
pub mod routes;

mod format;
mod network;
mod nic;
mod pci;
mod spec;
#[cfg(test)]
pub(crate) mod tests;
mod unit;

pub use format::Format;
pub use network::WithElans;
pub use pci::PciSpec;
pub use spec::{Capability, ElanSpec};
