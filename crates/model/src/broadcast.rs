//! A broadcast by packets down a binomial tree [tam, 2.4].
//!
//! The root sends a packet to all its children, the one with most below it first, then the next
//! packet. Everybody sends a packet on as soon as it has it. With G = max(g, O_s) and T_0 = O_r +
//! U_r + O_s:
//!
//! ```text
//! 2.8'  ctm(M) + log2 p ((k-1) G + L + T_0)                              nobody is disturbed
//! 2.9'  ctm(M) + log2 p (L + T_0) + (k-1) (T_0 + (log2 p - 2) G)         the root's first child is: T_0 >= 2 G
//! ```
//!
//! The printed 2.8 has g for G, and the printed 2.9 has O_s for G: each is right where the two are
//! the same. Both take the first packet to be last where the tree is deepest. If even G > L + T_0,
//! the root's last child gets it later than that: then L + T_0 + (log2 p - 1) G stands for log2 p
//! (L + T_0). Of two nodes one has nobody to send to: that is a message from one to the other.
//!
//! If the number of nodes is no power of two, log2 p is rounded up, and the price is what the full
//! tree takes. All packets are priced as the first: a shorter one at the end hardly matters.

use crate::{Packet, Parameters};
use crosstie_units::Time;

/// Which of the two forms holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Everybody has sent a packet on before the next one comes [tam, 2.8].
    Undisturbed,
    /// The root's first child has not [tam, 2.9].
    Disturbed,
}

/// A broadcast of packets down a binomial tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketTree {
    /// How high the tree is: log2 p, rounded up.
    pub levels: u32,
    /// How many packets go down: k, at least 1.
    pub packets: u64,
    /// What each takes.
    pub packet: Packet,
    /// The copy before it: ctm(M).
    pub copy: Time,
}

impl PacketTree {
    /// Of a vector of so many bytes among so many nodes.
    pub fn new(parameters: &Parameters, bytes: u64, nodes: u32) -> PacketTree {
        let full = parameters.packet.get().max(1);
        PacketTree {
            levels: nodes.max(1).next_power_of_two().ilog2(),
            packets: bytes.div_ceil(full).max(1),
            packet: parameters.packet_of(bytes.min(full), nodes),
            copy: parameters.ctm(bytes, nodes),
        }
    }

    /// G = max(g, O_s): how often a node sends.
    fn every(&self) -> Time {
        self.packet.gap().max(self.packet.send)
    }

    /// T_0 = O_r + U_r + O_s.
    fn handling(&self) -> Time {
        self.packet.receive + self.packet.send
    }

    /// Which form holds: 2.8 if O_r + U_r + O_s < 2 max(g, O_s).
    pub fn form(&self) -> Form {
        if self.handling() < self.every() * 2 { Form::Undisturbed } else { Form::Disturbed }
    }

    /// What it takes: 2.8' or 2.9', whichever holds.
    pub fn time(&self) -> Time {
        let (levels, behind) = (u64::from(self.levels), self.packets.max(1) - 1);
        let down = self.packet.latency + self.handling();
        self.copy
            + match (self.levels, self.form()) {
                (0, _) => Time::ZERO,
                (1, _) => down + self.every().max(self.packet.receive) * behind,
                (_, Form::Undisturbed) => {
                    let first = (down * levels).max(down + self.every() * (levels - 1));
                    first + self.every() * behind * levels
                }
                (_, Form::Disturbed) => {
                    down * levels + (self.handling() + self.every() * (levels - 2)) * behind
                }
            }
    }

    /// B_k(p) as printed: ctm(M) + log2 p ((k-1) g + L + O_r + U_r + O_s) [tam, 2.8].
    pub fn printed_2_8(&self) -> Time {
        let behind = self.packet.gap() * (self.packets.max(1) - 1);
        self.copy + (behind + self.packet.latency + self.handling()) * u64::from(self.levels)
    }

    /// B_k(p) as printed: ctm(M) + (log2 p + k - 1) T_0 + L log2 p + (k-1) (log2 p - 2) O_s [tam,
    /// 2.9]. `None` for fewer than four nodes, where log2 p - 2 is negative.
    pub fn printed_2_9(&self) -> Option<Time> {
        let (levels, behind) = (u64::from(self.levels), self.packets.max(1) - 1);
        let sends = levels.checked_sub(2)?;
        let handled = self.handling() * (levels + behind);
        Some(self.copy + handled + self.packet.latency * levels + self.packet.send * sends * behind)
    }
}

#[cfg(test)]
pub(crate) mod tests;
