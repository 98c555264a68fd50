//! The books of a run: messages handed over, packets delivered, latencies.

use crate::network::Grain;
use crate::node::{Listener, NodesSpec, Receipt};
use crosstie_measure::{LatencyLog, Window};
use crosstie_protocol::Packet;
use crosstie_units::Time;
use crosstie_work::Flits;

/// What has been counted since the run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Messages handed over, and their flits.
    pub handed_over: u64,
    /// See `handed_over`.
    pub generated: u64,
    /// Flits delivered.
    pub delivered: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Messages delivered whole.
    pub messages: u64,
    /// Ticks from handing over to delivery, summed over those messages.
    pub latency: u64,
    /// Ticks from the first flit sent to delivery, summed over packets.
    pub network: u64,
    /// Switches crossed, summed over packets.
    pub switches: u64,
}

/// With what flits count as delivered. All flits of a message together are those that it has if it
/// goes on one rail, so that nothing is left of a backlog when all has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeliveredBy {
    /// With the packet that they make up: messages go on one rail.
    Packet,
    /// With the bytes of the message that a packet holds: stripes have packets of their own.
    Share,
    /// With the whole message: parts of it may arrive twice, because a rail died.
    Message,
}

/// Writes down what is handed over and what is delivered.
pub(super) struct Ledger {
    flits: Flits,
    delivered_by: DeliveredBy,
    /// True if nodes pace what they send.
    paced: bool,
    grain: Grain,
    /// Latencies of messages in cycles, rounded up.
    pub log: LatencyLog,
    pub totals: Totals,
    /// Flits of the longest that may go before others: a packet, or all packets of a message where
    /// nodes pace them.
    pub longest: u64,
}

impl Ledger {
    pub fn new(flits: Flits, nodes: &NodesSpec, grain: Grain, window: u64) -> Ledger {
        let (log, totals) = (LatencyLog::new(window), Totals::default());
        let paced = nodes.paces();
        let delivered_by = match paced {
            _ if nodes.outlives_rails() => DeliveredBy::Message,
            true => DeliveredBy::Share,
            false => DeliveredBy::Packet,
        };
        Ledger { flits, delivered_by, paced, grain, log, totals, longest: 0 }
    }

    /// A message is handed over.
    #[inline]
    pub fn generated(&mut self, bytes: u32) {
        let flits = self.flits.of_message(bytes);
        self.totals.handed_over += 1;
        self.totals.generated += flits;
        let longest = if self.paced { flits } else { self.flits.of_packet(bytes) };
        self.longest = self.longest.max(longest);
    }

    /// What has happened since an earlier state of the books.
    pub fn window(&self, before: &Totals) -> Window {
        let (now, ticks) = (&self.totals, self.grain.ticks_per_cycle());
        Window {
            generated: now.generated - before.generated,
            delivered: now.delivered - before.delivered,
            messages: now.messages - before.messages,
            // Rounded on the totals, so that nothing is lost between windows.
            latency: now.latency / ticks - before.latency / ticks,
            backlog: now.generated - now.delivered,
        }
    }
}

impl Listener for Ledger {
    #[inline]
    fn packet(&mut self, began: Time, at: Time, packet: &Packet, wire: u32, switches: u32) {
        self.totals.packets += 1;
        self.totals.network += self.grain.ticks(at) - self.grain.ticks(began);
        self.totals.switches += u64::from(switches);
        self.totals.delivered += match self.delivered_by {
            DeliveredBy::Packet => self.flits.of_wire(u64::from(wire)),
            DeliveredBy::Share => self.flits.of_part(packet.parcel.length, packet.bytes.clone()),
            DeliveredBy::Message => 0,
        };
    }

    #[inline]
    fn delivered(&mut self, receipt: &Receipt) {
        if self.delivered_by == DeliveredBy::Message {
            self.totals.delivered += self.flits.of_message(receipt.letter.bytes);
        }
        let delivered = self.grain.ticks(receipt.delivered);
        let latency = delivered - self.grain.ticks(receipt.handed_over);
        self.totals.messages += 1;
        self.totals.latency += latency;
        let ticks = self.grain.ticks_per_cycle();
        self.log.record(delivered / ticks, latency.div_ceil(ticks));
    }
}
