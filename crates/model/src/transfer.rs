//! One message, and two in opposite directions [tam, 2.3].
//!
//! A message of M bytes is k = ceil(M / b) packets, all full but the last. The last pays for its
//! own length on the wire and at the receiver; the gaps between packets are those of the full ones
//! before it. It cannot overtake: it is there no sooner than its own g_r behind the packet before,
//! and taken up no sooner than the receiver is done with that one.
//!
//! Between packets there is max(g_s, g_r, O_s, O_r + U_r). Where g is the longest of these, that is
//! (2.6); where O_r + U_r is, it is (3.1). The thesis does not say what holds where O_s is the
//! longest: then packets leave the sender every O_s.

use crate::{Packet, Parameters, Stage};
use crosstie_units::Time;
use serde::Serialize;

/// A message cut into packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many there are: k, at least 1.
    pub packets: u64,
    /// What each but the last takes.
    pub full: Packet,
    /// What the last takes, which may be shorter.
    pub last: Packet,
}

impl Cut {
    /// A message of so many bytes. Even nothing takes a packet.
    pub fn new(parameters: &Parameters, bytes: u64, nodes: u32) -> Cut {
        let full = parameters.packet.get().max(1);
        let packets = bytes.div_ceil(full).max(1);
        let last = bytes - (packets - 1) * full;
        Cut {
            packets,
            full: parameters.packet_of(full, nodes),
            last: parameters.packet_of(last, nodes),
        }
    }

    /// What the first packet takes.
    pub fn first(&self) -> Packet {
        if self.packets > 1 { self.full } else { self.last }
    }

    /// So much for each packet.
    pub(crate) fn sum(&self, of: impl Fn(&Packet) -> Time) -> Time {
        of(&self.full) * (self.packets - 1) + of(&self.last)
    }

    /// From the first packet to the last, if they are `full` apart and the last `last` behind the
    /// one before.
    pub(crate) fn spread(&self, full: Time, last: Time) -> Time {
        match self.packets {
            1 => Time::ZERO,
            k => full * (k - 2) + last,
        }
    }

    /// From the hand-over of the first packet until the last is there, if they leave as often as
    /// they can and nobody is in the way.
    pub(crate) fn arrival(&self) -> Time {
        let every = self.full.departure();
        let own = self.spread(every, every) + self.last.latency;
        match self.packets {
            1 => own,
            _ => own.max(self.full.latency + self.spread(every, self.last.receive_gap)),
        }
    }

    /// From the first packet until the last, if the receiving NIC decides how often they come.
    pub(crate) fn drain(&self) -> Time {
        self.spread(self.full.receive_gap, self.last.receive_gap)
    }

    /// When the last packet is there, if the first was handed over and delivered at these times.
    pub(crate) fn delivered(&self, handed: Time, begin: Time) -> Time {
        (handed + self.arrival()).max(begin + self.drain())
    }

    /// When a receiver that has nothing else to do is done with it, if the first packet was handed
    /// over and delivered at these times.
    pub(crate) fn received(&self, handed: Time, begin: Time) -> Time {
        let mut done = begin;
        // Packets come at equal distances, and so it is the first that holds the others up, or
        // none.
        if self.packets > 1 {
            let full = Cut { packets: self.packets - 1, last: self.full, ..*self };
            let busy = begin + full.sum(|packet| packet.receive);
            done = busy.max(full.delivered(handed, begin) + self.full.receive);
        }
        done.max(self.delivered(handed, begin)) + self.last.receive
    }
}

/// What a transfer takes, and what of it where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// The number of packets: k.
    pub packets: u64,
    /// All of it: host + gap + wire.
    pub time: Time,
    /// The processors of both sides, and waiting for them.
    pub host: Time,
    /// The gaps between packets.
    pub gap: Time,
    /// The way through the network.
    pub wire: Time,
    /// What holds up a long message.
    pub bottleneck: Stage,
}

impl Transfer {
    /// One message [tam, 2.6], also where the processors hold it up [tam, 3.1].
    pub fn one_way(parameters: &Parameters, bytes: u64, nodes: u32) -> Transfer {
        let cut = Cut::new(parameters, bytes, nodes);
        let (first, last) = (cut.first(), cut.last);
        let by_network = cut.delivered(Time::ZERO, first.latency) + last.receive;
        let by_receiver = first.latency + cut.sum(|packet| packet.receive);
        let time = first.send + cut.received(Time::ZERO, first.latency);
        // The receiver is still busy with the packet before when the last one comes.
        let held = time > first.send + by_network.max(by_receiver);
        let by_last = cut.packets > 1 && by_network >= by_receiver && !held;
        let wire = if by_last { last.latency } else { first.latency };
        let bottleneck = cut.first().bound().0;
        // Where the network decides, processors have the first and the last packet only, unless
        // packets leave as slowly as the sender's goes on.
        let host = match bottleneck {
            _ if by_receiver > by_network => first.send + cut.sum(|packet| packet.receive),
            Stage::Send => time - wire,
            _ if held => first.send + first.receive + last.receive,
            _ => first.send + last.receive,
        };
        let gap = Time::from_ps(time.ps().saturating_sub((host + wire).ps()));
        Transfer { packets: cut.packets, time, host, gap, wire, bottleneck }
    }

    /// Two messages of the same length in opposite directions, begun together [tam, 2.7].
    ///
    /// Under the full-duplex condition it takes as long as one way. Otherwise it may be the
    /// processors that decide, each of which has k (O_s + O_r + U_r) to do.
    pub fn exchange(parameters: &Parameters, bytes: u64, nodes: u32) -> Transfer {
        let cut = Cut::new(parameters, bytes, nodes);
        let one_way = Transfer::one_way(parameters, bytes, nodes);
        let busy = cut.sum(|packet| packet.send) + cut.sum(|packet| packet.receive);
        if busy <= one_way.time {
            return one_way;
        }
        // Whichever of the two is more of the work.
        let Packet { send, receive, .. } = cut.first();
        let bottleneck = if send > receive { Stage::Send } else { Stage::Receive };
        let (gap, wire) = (Time::ZERO, Time::ZERO);
        Transfer { packets: cut.packets, time: busy, host: busy, gap, wire, bottleneck }
    }
}

/// T_p2p(M) as printed: O_s + (k-1) g + L + O_r + U_r, all packets full [tam, 2.6].
pub fn printed_2_6(packet: &Packet, packets: u64) -> Time {
    let between = packet.gap() * packets.saturating_sub(1);
    packet.send + between + packet.latency + packet.receive
}

/// T_p2p(M) as printed for O_r > g: O_s + L + k (O_r + U_r), all packets full [tam, 3.1].
pub fn printed_3_1(packet: &Packet, packets: u64) -> Time {
    packet.send + packet.latency + packet.receive * packets
}

#[cfg(test)]
mod tests;
