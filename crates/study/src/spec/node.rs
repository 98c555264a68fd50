//! The processors of a node, and its I/O buses.

use crosstie_units::{Bytes, Cost, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Elan, limits};

/// What the processors of a node do for messages, in closed-loop work, and the buses between its
/// memory and its NICs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Node {
    /// What sending and receiving takes them; `None`: no time, and no processor either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// The longest message that a send does not wait for the receive of; `None`: there is no such
    /// limit.
    #[serde(deserialize_with = "limits::some_message", skip_serializing_if = "Option::is_none")]
    pub eager: Option<Bytes>,
    /// What packets take of a node of workstations; `None`: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commodity: Option<Commodity>,
    /// NICs to which messages are puts; `None`: packets are handed to the network as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elan: Option<Elan>,
    /// The I/O buses that packets cross, on frames and on the ideal network; `None`: there are
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus: Option<NodeBus>,
}

/// An I/O bus that takes packets whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum NodeBus {
    /// One direction at a time.
    Half(EvenBus),
    /// One direction at a time, with a speed for each.
    Asymmetric {
        /// From memory to a NIC, which sends.
        #[serde(deserialize_with = "limits::rate")]
        read: Rate,
        /// From a NIC, which receives, to memory.
        #[serde(deserialize_with = "limits::rate")]
        write: Rate,
        /// What a packet takes besides its bytes.
        #[serde(default = "nothing", deserialize_with = "limits::wire")]
        overhead: Time,
    },
    /// Both directions at once.
    Full(EvenBus),
}

/// A bus that is as fast either way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EvenBus {
    /// How fast it is, one way; `None`: as fast as a link.
    #[serde(deserialize_with = "limits::some_rate", skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What a packet takes besides its bytes.
    #[serde(deserialize_with = "limits::wire")]
    pub overhead: Time,
}

fn nothing() -> Time {
    Time::ZERO
}

/// What a packet takes of a commodity node, with the symbols of \[tam, 2\]. A cost is a time, or a
/// table of what it takes `fixed`, for each `byte`, for each `node` of the cluster and for each
/// `byte-node`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Commodity {
    /// Writing a packet, on the processor: O_s.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub send: Cost,
    /// Between two packets that a NIC takes: g_s. The link may be slower.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub send_gap: Cost,
    /// From memory to the link, keeping nobody busy.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub outward: Cost,
    /// From the link to memory, keeping nobody busy.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub inward: Cost,
    /// Between two packets that a NIC delivers: g_r. The link may be slower.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub receive_gap: Cost,
    /// Receiving a packet, on the processor: O_r.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub receive: Cost,
    /// Picking a packet up, on the processor: U_r.
    #[serde(deserialize_with = "limits::cost", skip_serializing_if = "free")]
    pub pickup: Cost,
    /// Whether receiving interrupts what the processor does.
    pub interrupts: bool,
    /// Packets that a NIC has to send at most.
    #[serde(deserialize_with = "limits::some_window", skip_serializing_if = "Option::is_none")]
    pub ring: Option<u32>,
    /// Packets that a NIC has received and the processor has not, at most.
    #[serde(deserialize_with = "limits::some_window", skip_serializing_if = "Option::is_none")]
    pub receive_ring: Option<u32>,
    /// Packets received and not picked up at most.
    #[serde(deserialize_with = "limits::some_window", skip_serializing_if = "Option::is_none")]
    pub pool: Option<u32>,
    /// What writing a packet takes more at most, at random.
    #[serde(deserialize_with = "limits::wire")]
    pub jitter: Time,
}

impl Default for Commodity {
    fn default() -> Commodity {
        let none = Cost::default();
        Commodity {
            send: none,
            send_gap: none,
            outward: none,
            inward: none,
            receive_gap: none,
            receive: none,
            pickup: none,
            interrupts: true,
            ring: None,
            receive_ring: None,
            pool: None,
            jitter: Time::ZERO,
        }
    }
}

fn free(cost: &Cost) -> bool {
    *cost == Cost::default()
}

/// What sending and receiving takes a processor: o and O of LogGOPS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Overhead {
    /// For every message.
    #[serde(deserialize_with = "limits::wire")]
    pub message: Time,
    /// For every byte of it behind the first.
    #[serde(deserialize_with = "limits::per_byte")]
    pub byte: Time,
}

impl Node {
    /// Returns true if there are processors that take time.
    pub fn has_processors(&self) -> bool {
        *self != Node { bus: self.bus.clone(), elan: self.elan.clone(), ..Node::default() }
    }

    /// Whether nothing is written.
    pub(super) fn is_default(&self) -> bool {
        *self == Node::default()
    }
}
