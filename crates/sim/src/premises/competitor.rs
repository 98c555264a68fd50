//! Somebody else who uses the same buses, ports and wires.

use crosstie_protocol::Packing;
use crosstie_units::Time;

/// A stream of packets that no node knows of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompetitorSpec {
    /// The rail that it takes.
    pub rail: u32,
    /// The host that sends.
    pub from: u32,
    /// The host that receives, another one.
    pub to: u32,
    /// The length of its messages.
    pub message: u32,
    /// How messages become packets.
    pub packing: Packing,
    /// When it begins.
    pub begin: Time,
    /// When it sends nothing more.
    pub end: Time,
    /// Packets that it has under way.
    pub window: u32,
}

/// What a competitor has got across.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Payload that has arrived.
    pub bytes: u64,
    /// Packets that were lost.
    pub lost: u64,
}

/// A competitor at work.
#[derive(Debug, Clone)]
pub(super) struct Competitor {
    pub spec: CompetitorSpec,
    pub carried: Carried,
    /// What of the present message has been sent.
    sent: u32,
}

impl Competitor {
    pub fn new(spec: CompetitorSpec) -> Competitor {
        Competitor { spec, carried: Carried::default(), sent: 0 }
    }

    /// What the next packet carries.
    pub fn next_payload(&mut self) -> u32 {
        let left = self.spec.message - self.sent;
        let payload = self.spec.packing.payload.map_or(left, |most| most.min(left));
        self.sent = if payload == left { 0 } else { self.sent + payload };
        payload
    }
}
