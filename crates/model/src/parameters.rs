//! What a cluster takes for a packet, stage by stage [tam, ch. 2].

use crate::{Architecture, Cost, Packet, Stage, Uplink};
use crosstie_units::{Bytes, Rate, Time, quantities, wholes};
use serde::{Deserialize, Serialize};

/// The communication parameters of a cluster [tam, 2.2.3].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Parameters {
    /// The payload of a full packet: b.
    #[serde(deserialize_with = "packet")]
    pub packet: Bytes,
    /// The least that the network carries: shorter packets are filled up, and have its gaps and
    /// its latency.
    #[serde(deserialize_with = "least", skip_serializing_if = "nothing")]
    pub least: Bytes,
    /// Send overhead O_s(m): the sender's processor, for each packet.
    pub send: Cost,
    /// Send gap g_s(m): the shortest time between packets that a NIC takes.
    pub send_gap: Cost,
    /// Latency L(m, p): from memory to memory, without congestion.
    pub latency: Cost,
    /// Receive gap g_r(m): the shortest time between packets that a NIC delivers.
    pub receive_gap: Cost,
    /// Receive overhead O_r(m): the system's part of a reception.
    pub receive: Cost,
    /// Pick-up U_r(m): the process's part of a reception.
    pub pickup: Cost,
    /// Local copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<Copies>,
    /// What the router can keep: B_L. `None`: as much as anybody sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
    /// Two levels of switches. `None`: nothing but nodes limits what the network carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink: Option<Uplink>,
}

quantities! {
    packet: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 30);
    least: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 30);
}

fn nothing(size: &Bytes) -> bool {
    size.get() == 0
}

/// Ethernet's payload less the 8 bytes of Directed Point [tam, 5.3], and nothing takes any time.
impl Default for Parameters {
    fn default() -> Parameters {
        let none = Cost::default();
        Parameters {
            packet: Bytes::new(1492),
            least: Bytes::new(0),
            send: none,
            send_gap: none,
            latency: none,
            receive_gap: none,
            receive: none,
            pickup: none,
            copy: None,
            buffer: None,
            uplink: None,
        }
    }
}

/// What local copies of m bytes take [tam, 2.2.3].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Copies {
    /// From cache to cache: M_ctc.
    pub ctc: Cost,
    /// From cache to memory: M_ctm.
    pub ctm: Cost,
    /// From memory to memory: M_mtm.
    pub mtm: Cost,
}

/// The buffer of a router: B_L.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Buffer {
    /// Where it is.
    pub architecture: Architecture,
    /// How many full packets it keeps: at each port, or all in all if it is shared.
    #[serde(deserialize_with = "frames")]
    pub frames: u32,
}

wholes! { frames: u32 = 1..=u32::MAX as i64; }

/// How many bytes a stream of packets carries in a second, and what holds it up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Bytes per second; infinite if no stage takes any time.
    pub bytes_per_second: f64,
    /// What holds it up.
    pub stage: Stage,
}

impl Parameters {
    /// Returns true if nothing takes any time: no cluster is like that.
    pub fn are_free(&self) -> bool {
        let costs =
            [self.send, self.send_gap, self.latency, self.receive_gap, self.receive, self.pickup];
        costs.iter().all(|cost| *cost == Cost::default())
    }

    /// What a packet of so many bytes takes among so many nodes.
    pub fn packet_of(&self, bytes: u64, nodes: u32) -> Packet {
        let at = |cost: Cost| cost.at(bytes, nodes);
        let on_the_wire = |cost: Cost| cost.at(bytes.max(self.least.get()), nodes);
        Packet {
            send: at(self.send),
            send_gap: on_the_wire(self.send_gap),
            latency: on_the_wire(self.latency),
            receive_gap: on_the_wire(self.receive_gap),
            receive: at(self.receive) + at(self.pickup),
        }
    }

    /// g(m) = max(g_s, g_r) [tam, 2.3].
    pub fn g(&self, bytes: u64, nodes: u32) -> Time {
        self.packet_of(bytes, nodes).gap()
    }

    /// Whether (O_s + O_r + U_r) < g < L for packets of so many bytes [tam, 2.3].
    pub fn full_duplex(&self, bytes: u64, nodes: u32) -> bool {
        self.packet_of(bytes, nodes).full_duplex()
    }

    /// m / max(g_s, g_r, O_r + U_r, O_s): the bandwidth of packets of so many bytes [tam, 3.2].
    pub fn bandwidth(&self, bytes: u64, nodes: u32) -> Bandwidth {
        let (stage, time) = self.packet_of(bytes, nodes).bound();
        let bytes_per_second =
            if time == Time::ZERO { f64::INFINITY } else { bytes as f64 / time.seconds() };
        Bandwidth { bytes_per_second, stage }
    }

    /// M_ctm(M) of a message, if copies take time.
    pub(crate) fn ctm(&self, bytes: u64, nodes: u32) -> Time {
        self.copy.map_or(Time::ZERO, |copy| copy.ctm.at(bytes, nodes))
    }
}

/// What Ethernet needs for a packet of m bytes in theory: g_th(m) = (max(m, 46) + 38) * 8 / rate
/// [tam, 3.2.1]. The 38 bytes are 14 of header, 4 of checksum, 8 of preamble and 12 of silence.
/// `None` at rate zero.
pub fn ethernet_gap(bytes: u64, rate: Rate) -> Option<Time> {
    rate.time_for(Bytes::new(bytes.max(46).saturating_add(38)))
}

#[cfg(test)]
mod tests;
