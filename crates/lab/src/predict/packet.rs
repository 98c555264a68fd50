//! What one packet takes, and whether what nodes send and receive disturb each other.

use super::as_us;
use crosstie_model::{Buffer, Packet, Parameters};
use crosstie_units::Time;
use serde::Serialize;

/// What a packet takes, stage by stage, and how many the router keeps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PacketCosts {
    /// Its length.
    pub bytes: u64,
    /// O_s.
    #[serde(rename = "O_s", serialize_with = "as_us")]
    pub send: Time,
    /// g_s.
    #[serde(rename = "g_s", serialize_with = "as_us")]
    pub send_gap: Time,
    /// L.
    #[serde(rename = "L", serialize_with = "as_us")]
    pub latency: Time,
    /// g_r.
    #[serde(rename = "g_r", serialize_with = "as_us")]
    pub receive_gap: Time,
    /// O_r.
    #[serde(rename = "O_r", serialize_with = "as_us")]
    pub receive: Time,
    /// U_r.
    #[serde(rename = "U_r", serialize_with = "as_us")]
    pub pickup: Time,
    /// B_L.
    #[serde(rename = "B_L")]
    buffer: Option<Buffer>,
    /// Whether sending and receiving disturb each other.
    pub full_duplex: Duplex,
}

/// The full-duplex condition, (O_s + O_r + U_r) < g < L [tam, 2.3].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Duplex {
    /// Whether it holds.
    pub holds: bool,
    /// What of it does not.
    pub fails: Vec<&'static str>,
    /// O_s + O_r + U_r.
    #[serde(serialize_with = "as_us")]
    pub host: Time,
    /// g.
    #[serde(serialize_with = "as_us")]
    pub gap: Time,
    /// L.
    #[serde(serialize_with = "as_us")]
    pub latency: Time,
}

impl Duplex {
    fn of(packet: &Packet) -> Duplex {
        let mut duplex = Duplex {
            holds: packet.full_duplex(),
            fails: Vec::new(),
            host: packet.send + packet.receive,
            gap: packet.gap(),
            latency: packet.latency,
        };
        if !duplex.host_keeps_up() {
            duplex.fails.push("O_s + O_r + U_r < g");
        }
        if !duplex.network_is_filled() {
            duplex.fails.push("g < L");
        }
        duplex
    }

    /// Whether the processors are done with a packet before the next one: O_s + O_r + U_r < g.
    pub fn host_keeps_up(&self) -> bool {
        self.host < self.gap
    }

    /// Whether a packet is longer under way than between two of them: g < L.
    pub fn network_is_filled(&self) -> bool {
        self.gap < self.latency
    }
}

impl PacketCosts {
    /// Of the first packet of a message of so many bytes among so many nodes.
    pub(super) fn of(parameters: &Parameters, bytes: u64, nodes: u32) -> PacketCosts {
        let bytes = bytes.min(parameters.packet.get());
        let packet = parameters.packet_of(bytes, nodes);
        let pickup = parameters.pickup.at(bytes, nodes);
        PacketCosts {
            bytes,
            send: packet.send,
            send_gap: packet.send_gap,
            latency: packet.latency,
            receive_gap: packet.receive_gap,
            receive: parameters.receive.at(bytes, nodes),
            pickup,
            buffer: parameters.buffer,
            full_duplex: Duplex::of(&packet),
        }
    }

    /// What the router keeps, and where: frames, and the name of the place.
    pub fn buffer(&self) -> Option<(u32, &'static str)> {
        self.buffer.map(|buffer| (buffer.frames, buffer.architecture.name()))
    }
}
