//! What one packet takes, and which stage holds a stream of them up.

use crosstie_units::Time;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What may hold a stream of packets up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The sender's processor: O_s.
    Send,
    /// The sender's NIC: g_s.
    SendGap,
    /// The receiver's NIC: g_r.
    ReceiveGap,
    /// The receiver's processor: O_r + U_r.
    Receive,
}

impl Stage {
    /// As the thesis writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Stage::Send => "O_s",
            Stage::SendGap => "g_s",
            Stage::ReceiveGap => "g_r",
            Stage::Receive => "O_r + U_r",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

/// What a packet of one length takes among so many nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// O_s(m).
    pub send: Time,
    /// g_s(m).
    pub send_gap: Time,
    /// L(m, p).
    pub latency: Time,
    /// g_r(m).
    pub receive_gap: Time,
    /// O_r(m) + U_r(m).
    pub receive: Time,
}

impl Packet {
    /// g = max(g_s, g_r) [tam, 2.3].
    pub fn gap(&self) -> Time {
        self.send_gap.max(self.receive_gap)
    }

    /// How often packets leave a sender: max(g_s, O_s).
    pub fn departure(&self) -> Time {
        self.send_gap.max(self.send)
    }

    /// The full-duplex condition (O_s + O_r + U_r) < g < L [tam, 2.3]: the network is the
    /// bottleneck, and what a node sends and receives do not disturb each other.
    pub fn full_duplex(&self) -> bool {
        self.send + self.receive < self.gap() && self.gap() < self.latency
    }

    /// What each stage of a stream needs for it, in the order of the way.
    pub fn stages(&self) -> [(Stage, Time); 4] {
        [
            (Stage::Send, self.send),
            (Stage::SendGap, self.send_gap),
            (Stage::ReceiveGap, self.receive_gap),
            (Stage::Receive, self.receive),
        ]
    }

    /// The stage that needs most for it; of several, the gaps, and then the first.
    pub fn bound(&self) -> (Stage, Time) {
        let [send, send_gap, receive_gap, receive] = self.stages();
        let mut most = send_gap;
        for stage in [receive_gap, send, receive] {
            if stage.1 > most.1 {
                most = stage;
            }
        }
        most
    }
}
