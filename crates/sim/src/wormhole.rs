//! The wormhole engine: source-routed packets, virtual channels, credits or stop and go;
//! flit-exact.
//!
//! # The machine
//!
//! A packet is a worm of flits. Its header follows the tags of its route; the body follows the
//! header. Every channel carries one flit per cycle and has `virtual_channels` virtual channels
//! (VCs), each with a buffer of `buffer` flits at the receiving end. In every tick, in this order:
//!
//! 1. **Release.** Where a tail flit has left a channel, the VC it used is free again, and the next
//!    packet in the buffer it came from is at the front.
//! 2. **Allocate.** A header that has been at the front of its buffer for `routing_delay` cycles
//!    asks for an output VC. Each switch serves its waiting headers first come, first served; of
//!    those that came in the same tick, round robin, beginning after the input it served last.
//!    Nobody starves. A header with a port tag takes the free VC of that port with the most credits
//!    (the lowest on a tie). A header with a group tag takes the port with the most free VCs, then
//!    the most credits, then the first after the port chosen last in this switch. A host starts its
//!    queued packets in order, as long as its injection channel has a free VC.
//! 3. **Send.** Every channel that is not busy sends one flit, from the VCs that have both a flit
//!    and a credit, round robin. The flit can leave the next node one cycle plus the wire delay
//!    later; the credit for the place it freed reaches the node before equally late.
//!
//! With [`Config::consumes_headers`] a switch takes the header off in the tick in which it gives
//! the packet an output, and the flit behind it is the header for the next switch.
//!
//! With [`Flow::StopAndGo`] there are no credits. The receiver looks at its buffer at the beginning
//! of every tick: flits that have arrived, without those that left in earlier ticks. It says *stop*
//! when they rise to the stop mark and *go* when they fall to the go mark; the sender hears it
//! after the wire delay, before it sends. A VC counts as one with all credits or with none.
//!
//! With [`Config::in_transit`] a route may stop at hosts on its way. The NIC of such a host keeps
//! the packet in its pool and sends it on, first come, first served and before packets of its own,
//! from `recognition + setup` cycles after the packet began to arrive, while the rest may still be
//! coming in. A pool that has room for no more than what is on the wire says *stop*, and *go* when
//! a flit has left. Packets for the host itself never wait for it.
//!
//! With [`Config::priorities`] a switch serves waiting headers of high priority before those of low
//! priority; a header that has waited for `age` cycles counts as of high priority. Among those of
//! one level the order is as above: the longest wait is first. So a host starts its queued
//! packets too.
//!
//! With [`Config::circuits`] the last flit of a packet is its End-Of-Packet token (EOP). A packet
//! is delivered when the flit before it has reached memory. The destination acknowledges it then,
//! and the acknowledge is back after `acknowledge` cycles for each channel of the way; it takes no
//! bandwidth and never waits. The source sends the EOP in that tick at the earliest. Until the EOP
//! has passed, the packet holds its VCs. With [`Circuits::errors`] a packet may be garbled on each
//! channel. Such a packet is not delivered: the destination refuses it when it would have delivered
//! it, the source hears that when it would have heard the acknowledge, and sends the EOP. The
//! layers above decide whether to send the packet again.
//!
//! A packet may go to a range of hosts ([`Packet::more`]). It climbs by tags, and from then on
//! switches fork it. A header that is to be forked takes all its outputs at once, each the free VC
//! of its port with the most credits. While one of them has none free, all are kept for it: headers
//! that are served after it get none of them. Each branch sends by itself, and a flit leaves the
//! buffer when all branches have sent it. It is delivered at each host by itself. The answers of a
//! circuit's hosts are combined: the source hears once, when the last one is back, and that it was
//! refused if one of them refused it.
//!
//! A host with a full-duplex bus takes every flit as it comes. With a shared bus (half duplex or
//! asymmetric) a packet crosses the bus into the NIC's sending buffers before it goes on the link,
//! and at its destination waits in the NIC's receiving buffers to cross the bus into memory. Both
//! directions of a bus share one multiplexer: it moves one flit at a time, in or out, and goes on
//! with the same VC for up to `burst` flits, as long as they follow each other without a pause. A
//! packet that begins and ends in NICs ([`Ends::Nics`](crate::network::Ends::Nics)) crosses no bus;
//! it goes before packets from memory where both wait for the link, and the NIC takes it in as it
//! comes.
//!
//! # How it is computed
//!
//! Nothing is done per flit. A multiplexer makes a *plan*: "this VC sends the next 128 ticks", or
//! "these two alternate for 40 rounds". A plan reaches as far as its flits and credits are certain,
//! and they may be certain because the neighbours have planned too. When something new turns up (a
//! second VC becomes ready on the same channel) the plan is cut at that tick, and whatever
//! neighbours built upon the part cut off is cut as well. All cuts lie in the future, so nothing is
//! ever undone, and the result equals the tick-by-tick rules above exactly; the tests hold it to a
//! model that simply executes them.

mod bus;
mod cast;
mod circuit;
mod config;
mod counting;
mod deadlock;
mod engine;
mod flow;
mod layout;
mod plan;
mod prefetch;
mod priority;
mod rails;
mod switching;
mod timeline;
mod wheel;
mod wiring;

pub use config::{BURST, Bus, Circuits, Config, ConfigError, Errors, Priorities};
pub use crosstie_protocol::{Flow, InTransit};
pub use engine::{ChannelCount, Delivery, Engine, MOST_PORTS, Observer, Packet, Silent};
pub use layout::{Layout, Place};
pub use rails::{Wormhole, WormholeSpec};

/// The engine's unit of time: a cycle, or a whole fraction of one where a bus needs it
/// (see [`Config::ticks`]).
pub type Tick = u64;

/// The first tick of simulated time.
pub const EPOCH: Tick = 1;

/// A time that does not come.
const NEVER: Tick = Tick::MAX;
