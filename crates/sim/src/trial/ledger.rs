//! The books of a run: messages handed over, packets delivered, latencies.

use crate::cluster::{Books, Cluster, Receipt};
use crate::wormhole::{Delivery, EPOCH, Ends, Engine, Observer, Packet, Tick};
use crosstie_measure::{LatencyLog, Window};
use crosstie_protocol::{NodeId, PeId};
use crosstie_work::Packing;
use crosstie_work::traffic::Message;

/// What has been counted since the run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Flits handed over, in whole messages.
    pub generated: u64,
    /// Flits delivered, in whole packets.
    pub delivered: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Messages delivered whole.
    pub messages: u64,
    /// Ticks from handing over to delivery, summed over those messages.
    pub latency: Tick,
    /// Ticks from the first flit sent to delivery, summed over packets.
    pub network: Tick,
    /// Switches crossed, summed over packets.
    pub switches: u64,
}

/// Hands messages to the engine and writes down what it delivers.
pub(super) struct Ledger {
    packing: Packing,
    hosts: u32,
    rails: u32,
    ticks: u64,
    /// The rail that each node uses next.
    next_rail: Vec<u32>,
    /// Messages of several packets under way: how many packets are still to arrive.
    missing: Vec<u32>,
    spare: Vec<u32>,
    /// Latencies of messages in cycles, rounded up.
    pub log: LatencyLog,
    pub totals: Totals,
    /// Flits of the longest packet sent.
    pub longest_packet: u64,
}

/// Marks a packet that is a message of its own.
const WHOLE: u64 = u64::MAX;

impl Ledger {
    pub fn new(packing: Packing, hosts: u32, rails: u32, ticks: u32, window: u64) -> Ledger {
        Ledger {
            packing,
            hosts,
            rails,
            ticks: u64::from(ticks),
            next_rail: vec![0; hosts as usize],
            missing: Vec::new(),
            spare: Vec::new(),
            log: LatencyLog::new(window),
            totals: Totals::default(),
            longest_packet: 0,
        }
    }

    /// The first tick of a cycle.
    #[inline]
    pub fn tick(&self, cycle: u64) -> Tick {
        EPOCH + cycle * self.ticks
    }

    /// Cuts a message into packets and queues them at its source, all on one rail. The message's
    /// length is in bytes.
    #[inline]
    pub fn send(&mut self, engine: &mut Engine<'_>, message: Message) {
        let turn = &mut self.next_rail[message.from as usize];
        let rail = *turn;
        *turn = if rail + 1 == self.rails { 0 } else { rail + 1 };
        let (full, last) = self.packing.cut(message.bytes);
        let id = match full {
            0 => WHOLE,
            _ => u64::from(self.enter(full + 1)),
        };
        let at = self.tick(message.cycle);
        let host = |host: u32| rail * self.hosts + host;
        let (from, to) = (host(message.from), host(message.to));
        if let Some(payload) = self.packing.payload.filter(|_| full > 0) {
            let flits = self.packing.flits(payload);
            for _ in 0..full {
                engine.inject(at, Packet { from, to, flits, id, ends: Ends::Memories });
            }
            self.totals.generated += u64::from(full) * u64::from(flits);
            self.longest_packet = self.longest_packet.max(u64::from(flits));
        }
        let flits = self.packing.flits(last);
        engine.inject(at, Packet { from, to, flits, id, ends: Ends::Memories });
        self.totals.generated += u64::from(flits);
        self.longest_packet = self.longest_packet.max(u64::from(flits));
    }

    /// Hands a message to a processing element of its node. The message's length is in bytes.
    pub fn hand_over(
        &mut self,
        engine: &mut Engine<'_>,
        cluster: &mut Cluster,
        pe: PeId,
        message: Message,
    ) {
        let (from, to) = (NodeId(message.from), NodeId(message.to));
        let flits = cluster.send(engine, (from, pe), to, message.bytes, self);
        self.totals.generated += flits;
        self.longest_packet = self.longest_packet.max(flits);
    }

    fn count_packet(&mut self, delivery: &Delivery) {
        self.totals.packets += 1;
        self.totals.network += delivery.delivered - delivery.injected;
        self.totals.switches += u64::from(delivery.switches);
    }

    fn count_message(&mut self, handed_over: Tick, delivered: Tick) {
        let latency = delivered - handed_over;
        self.totals.messages += 1;
        self.totals.latency += latency;
        let cycle = (delivered - EPOCH) / self.ticks;
        self.log.record(cycle, latency.div_ceil(self.ticks));
    }

    /// Finds a place for a message of several packets.
    fn enter(&mut self, packets: u32) -> u32 {
        match self.spare.pop() {
            Some(id) => {
                self.missing[id as usize] = packets;
                id
            }
            None => {
                self.missing.push(packets);
                self.missing.len() as u32 - 1
            }
        }
    }

    /// What has happened since an earlier state of the books.
    pub fn window(&self, before: &Totals) -> Window {
        let now = &self.totals;
        Window {
            generated: now.generated - before.generated,
            delivered: now.delivered - before.delivered,
            messages: now.messages - before.messages,
            // Rounded on the totals, so that nothing is lost between windows.
            latency: now.latency / self.ticks - before.latency / self.ticks,
            backlog: now.generated - now.delivered,
        }
    }
}

impl Observer for Ledger {
    #[inline]
    fn delivered(&mut self, delivery: &Delivery) {
        self.totals.delivered += u64::from(delivery.packet.flits);
        self.count_packet(delivery);
        if delivery.packet.id != WHOLE {
            let missing = &mut self.missing[delivery.packet.id as usize];
            *missing -= 1;
            if *missing > 0 {
                return;
            }
            self.spare.push(delivery.packet.id as u32);
        }
        // All packets of a message are queued in the tick it was handed over.
        self.count_message(delivery.queued, delivery.delivered);
    }
}

impl Books for Ledger {
    fn packet_delivered(&mut self, delivery: &Delivery) {
        self.count_packet(delivery);
    }

    fn message_delivered(&mut self, receipt: &Receipt) {
        self.totals.delivered += receipt.flits;
        self.count_message(receipt.handed_over, receipt.delivered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wormhole::{Bus, Config};
    use crosstie_routing::Shortest;

    #[test]
    fn a_message_arrives_with_its_last_packet_and_rails_take_turns() {
        let fabric = crosstie_fabric::single(3).unwrap();
        let routing = Shortest::new(&fabric);
        let config = Config { bus: Bus::Full, ..Config::default() };
        let mut engine = Engine::new(&fabric, &routing, 2, &config);
        let packing = Packing { flit: 2, payload: Some(100), overhead: 8 };
        let mut ledger = Ledger::new(packing, 3, 2, 1, 1000);
        let message = Message { cycle: 0, from: 0, to: 1, flits: 250 };
        for _ in 0..3 {
            ledger.send(&mut engine, message);
        }
        assert_eq!(ledger.totals.generated, 3 * (54 + 54 + 29));
        engine.drain(&mut ledger);
        let totals = ledger.totals;
        assert_eq!((totals.messages, totals.packets, totals.switches), (3, 9, 9));
        assert_eq!(totals.delivered, totals.generated);
        assert_eq!(ledger.spare.len(), ledger.missing.len(), "all places are free again");
        // Messages 1 and 3 queue on rail 0, message 2 has rail 1 for itself.
        let channels = fabric.channels().len();
        let out = fabric.host_out(crosstie_fabric::HostId(0)).0 as usize;
        let (counts, _) = engine.counts();
        assert_eq!([counts[out].flits, counts[channels + out].flits], [2 * 137, 137]);
        assert!(ledger.log.since(0).max().unwrap() > 2 * 137);
        assert!(ledger.window(&Totals::default()).backlog == 0);
    }
}
