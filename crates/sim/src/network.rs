//! The seam between nodes and networks.
//!
//! A [`Network`] moves packets between the hosts of its rails and tells what becomes of them: a
//! packet has *left* its host, is *arriving*, has *arrived*, was *dropped*, and in some networks
//! was *acknowledged* or *refused*. The layers above it (nodes, work, measurement) know nothing
//! else of it, and count time in [`Time`]. An engine keeps its own ticks; how long they are is its
//! [`Grain`], and the conversion is exact.
//!
//! | network | is |
//! |---|---|
//! | [`Wormhole`](crate::wormhole::Wormhole) | the wormhole engine, exact to the flit |
//! | [`Frames`](crate::frame::Frames) | Ethernet links and switches that drop what they have no room for |
//! | [`Ideal`](crate::ideal::Ideal) | a wire for every host and nothing contended between |
//! | [`Unequal`](crate::ideal::Unequal) | the same with rails that differ, and wires that change |
//! | [`Joint`] | several networks under one clock, each with rails of its own |

mod change;
mod grain;
mod joint;
mod pace;
mod port;

pub use change::{Change, Condition};
pub use grain::Grain;
pub use joint::Joint;
pub use pace::Pace;
pub use port::{Chore, Part};

use crate::ideal::IdealSpec;
use crate::premises::Carried;
use crosstie_units::Time;

/// A packet between two hosts of one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The rail.
    pub rail: u32,
    /// The host that sends it.
    pub from: u32,
    /// The host that it goes to, another one.
    pub to: u32,
    /// Its length on the wire, all told; at least 1.
    pub bytes: u32,
    /// The sender's own number for it, told with everything that becomes of it. Packets that
    /// belong together differ in the low [`Packet::NUMBER`] bits only.
    pub id: u64,
    /// How many packets belong together, itself included. A network may tell of the first of them
    /// only that it begins to arrive, and that they have left when the last has, then of each:
    /// there is nothing to be done about the others.
    pub siblings: u32,
    /// True if its sender wants to hear that it has left. A network may tell of others too.
    pub departs: bool,
    /// Where it begins and ends.
    pub ends: Ends,
    /// Before which others it goes, in a network that heeds it.
    pub priority: Priority,
}

impl Packet {
    /// Bits by which packets that belong together differ: a message is at most as many packets.
    pub const NUMBER: u32 = 20;
}

/// Where a packet begins and ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ends {
    /// In the memory of hosts: it crosses their buses.
    #[default]
    Memories,
    /// In NICs, which make and take it themselves. Nobody is told that it leaves or begins to
    /// arrive.
    Nics,
}

/// How a packet ranks among those that wait for the same. Only a wormhole network with
/// [`priorities`](crate::wormhole::Config::priorities) heeds it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// After those of high priority, unless it has waited for long.
    #[default]
    Low,
    /// Before those of low priority.
    High,
}

/// What became of a packet, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When it happened.
    pub at: Time,
    /// The packet's own number.
    pub id: u64,
    /// What happened.
    pub fate: Fate,
}

/// What can become of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its last byte has left the host that sends it; of a circuit, the last before its
    /// End-Of-Packet token.
    Left,
    /// Its first byte comes in at the host it goes to.
    Arriving,
    /// It has arrived whole.
    Arrived(Passage),
    /// Of a packet to several hosts ([`Network::cast`]): it has arrived whole at this one.
    Reached(Passage, u32),
    /// The acknowledge of the host it went to is back at the host that sent it. Told by networks
    /// of circuits ([`Config::circuits`](crate::wormhole::Config::circuits)).
    Acknowledged,
    /// It was garbled on its way and has not arrived; the host that sent it hears so. Told by
    /// networks of circuits, to all layers above.
    Refused,
    /// It is lost.
    Dropped,
    /// A thread of a NIC has done a chore. Told with the number of that.
    Done,
}

/// What a packet that has arrived went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// When its first byte left the host that sent it.
    pub began: Time,
    /// Switches crossed.
    pub switches: u32,
}

/// What those above a network want to be told, and how soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// That packets have left.
    pub departures: bool,
    /// That packets are arriving.
    pub arriving: bool,
    /// That packets are acknowledged.
    pub acknowledges: bool,
    /// How soon.
    pub attention: Attention,
}

/// When a network stops to tell what has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// When it has come to the time it was asked to run to: nobody reacts.
    Late,
    /// After the tick in which it happened: whoever reacts does so in the next one.
    Soon,
    /// At the instant, as far as the network has instants: whoever hears that a packet has arrived
    /// can send another without delay.
    AtOnce,
}

impl Interest {
    /// Whether a network stops that has something to tell.
    pub(crate) fn stops(&self, has_told: bool) -> bool {
        has_told && self.attention != Attention::Late
    }

    /// Where a network stands that has done all there was before `until`: where it is if it stops
    /// to tell, else there.
    pub(crate) fn stands(&self, has_told: bool, now: Time, until: Time) -> Time {
        if self.stops(has_told) { now } else { now.max(until) }
    }
}

/// What a channel has done since time began, in ticks of the network's [`Grain`] where it counts
/// time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelTally {
    /// Flits sent.
    pub flits: u64,
    /// Ticks in which it was busy with them.
    pub busy: u64,
    /// Ticks in which it sent nothing although a flit was ready, for want of a credit or because
    /// it was told to stop.
    pub blocked: u64,
    /// Ticks that headers at the end of this channel waited for an output, after their routing
    /// delay, summed over headers and counted when they got it.
    pub waiting: u64,
}

/// What a memory of a switch has done since time began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferTally {
    /// Whose it is.
    pub place: BufferPlace,
    /// What fits, in frames or in bytes.
    pub capacity: u64,
    /// Whether that is in bytes.
    pub in_bytes: bool,
    /// The most that was in it.
    pub peak: u64,
    /// Frames that found room.
    pub taken: u64,
    /// Frames that did not.
    pub dropped: u64,
    /// For how long there was no room for a frame of full size.
    pub full: Time,
}

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferPlace {
    /// That of a switch, for all its ports.
    Switch(u32),
    /// That at the end of a channel, for what comes by it.
    Input(u32),
    /// That at the beginning of a channel, for what leaves by it.
    Output(u32),
}

/// Packets that wait for each other and will never move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// Channels in a circle: the packet at the end of each waits for the next. Numbered as in
    /// [`Network::channels`].
    pub circle: Vec<u32>,
    /// Buffers that are stuck, the circle and everything behind it.
    pub stuck: usize,
}

/// Moves packets and tells what becomes of them.
pub trait Network {
    /// The time it is: everything before it has happened.
    fn now(&self) -> Time;

    /// A time before which nothing happens by itself; `None` if nothing ever does.
    fn next(&self) -> Option<Time>;

    /// Hands a packet to its host now.
    fn inject(&mut self, packet: Packet);

    /// A host gets bytes of the memory of another, which does nothing for it: those of the packet,
    /// from the host that it goes to. It has arrived when they are in the memory of the host that
    /// it is from, and is dropped if they may not be read; nothing else is told of it. Only
    /// networks whose NICs take puts are asked.
    fn get(&mut self, _packet: Packet) {
        unreachable!("nobody asks a network without such NICs to get anything");
    }

    /// Hands a packet to its host that goes to several others: from the host that it goes to up to
    /// the last one given, at least two in the order of their numbers; its source may be one of
    /// them. It reaches each by itself. It is acknowledged when all have acknowledged it, and
    /// refused if one refuses it. Only wormhole networks whose routing knows ways to ranges of
    /// hosts are asked.
    fn cast(&mut self, _packet: Packet, _last: u32) {
        unreachable!("nobody asks a network without ways to ranges of hosts");
    }

    /// Hands what goes from port to port to its host, or to its NIC, now. Only networks whose NICs
    /// match messages are asked.
    fn carry(&mut self, _packet: Packet, _part: Part) {
        unreachable!("nobody has a network without ports carry anything between them");
    }

    /// The NIC of a host, on a rail, has something to do; it tells that number when it is done.
    /// Only networks whose NICs match messages are asked.
    fn charge(&mut self, _rail: u32, _host: u32, _id: u64, _chore: Chore) {
        unreachable!("nobody has NICs without threads do anything");
    }

    /// The NIC of a host acknowledges a packet that has arrived there, now; it is number
    /// `rail * hosts + host`. Networks in which NICs do not decide about that are never told.
    fn acknowledge(&mut self, _id: u64, _nic: u32) {}

    /// Lets everything before `until` happen and then stands there, or a part of a tick later. Adds
    /// to `told` what became of packets, in order. If [`Attention`] asks for it, stops sooner:
    /// as soon as there is something to tell.
    fn run_until(&mut self, until: Time, told: &mut Vec<Event>);

    /// Returns true if the packets of a host leave it, on each rail, in the order in which they are
    /// injected.
    fn departs_in_order(&self) -> bool {
        false
    }

    /// How time is counted within.
    fn grain(&self) -> Grain;

    /// What every channel has done; none where there are no channels.
    fn channels(&mut self) -> Vec<ChannelTally> {
        Vec::new()
    }

    /// What the memories of switches have done; none where they lose nothing.
    fn buffers(&mut self) -> Vec<BufferTally> {
        Vec::new()
    }

    /// Packets that will never move, if there are any.
    fn deadlock(&self) -> Option<Deadlock> {
        None
    }

    /// For how many ticks the header that has waited longest for an output has done so, and at the
    /// end of which channel.
    fn longest_wait(&self) -> Option<(u64, u32)> {
        None
    }

    /// The most flits that were in the in-transit buffers of one virtual channel of a host; `None`
    /// without such buffers.
    fn pool_peak(&self) -> Option<u32> {
        None
    }

    /// Steps it has taken beside those for each packet at each switch: what the simulation has cost
    /// beyond these, by a count that is the same on any machine.
    fn steps(&self) -> u64 {
        0
    }

    /// What competitors have got across, one after the other; none where there are none.
    fn carried(&self) -> Vec<Carried> {
        Vec::new()
    }
}

/// What networks are built from, anew for every run.
pub trait Blueprint {
    /// Hosts on each rail.
    fn hosts(&self) -> u32;

    /// Rails.
    fn rails(&self) -> u32;

    /// A network at rest.
    fn build(&self, interest: Interest) -> Box<dyn Network + '_>;

    /// How fast bytes pass a link.
    fn pace(&self) -> Pace;

    /// The wires that it consists of, if there is nothing between hosts but these.
    fn wires(&self) -> Option<IdealSpec> {
        None
    }

    /// A channel in words.
    fn channel_name(&self, channel: u32) -> String {
        format!("channel {channel}")
    }

    /// A switch in words.
    fn switch_name(&self, switch: u32) -> String {
        format!("switch {switch}")
    }
}
