//! A message from the processor of its sender to that of its receiver: spread over rails, written,
//! under way, delivered and acknowledged.

use super::{Engine, Event};
use crate::price::crossing::Way;
use crate::price::desk::{Beside, Task};
use crate::price::letter::{Content, Letter};
use crate::price::log::{Message, NONE, Part};
use crate::spread::{Nic, Outgoing};
use crate::{Acknowledgements, Cut, Processors, Rail};
use crosstie_protocol::{Pacing, PolicyKind, RailId, RailSet, Stripe};
use crosstie_units::{Bytes, Time};

impl Engine<'_> {
    /// What all packets of a message take the processor that receives them.
    fn receiving(&self, number: u32) -> Time {
        let parts = self.log.parts_of(number).iter();
        parts.map(|part| part.cut.sum(|packet| packet.receive)).fold(Time::ZERO, |a, b| a + b)
    }

    /// When a processor that begins now to receive a message is done.
    pub(super) fn reception(&self, number: u32) -> Time {
        let (now, packets) = (self.now, self.receiving(number));
        let Some(Processors { overhead, rate }) = self.cluster.processors else {
            return now + packets;
        };
        let Letter { content, bytes, .. } = self.letters[number as usize];
        match content {
            // It has begun with the first bit, which came as long before the first packet as that
            // takes.
            Content::Plain { .. } => {
                let parts = self.log.parts_of(number);
                let last = parts.iter().map(|part| part.last).max().unwrap_or(now);
                let gap = parts.iter().map(|part| part.cut.first().receive_gap).min();
                let beside = Bytes::new(u64::from(bytes.max(1) - 1));
                let work = overhead.bytes(bytes).max(rate.time_for(beside).unwrap_or(Time::ZERO));
                let work = Time::from_ps(work.ps().saturating_sub(gap.unwrap_or_default().ps()));
                (now + overhead.message + work).max(last + overhead.message) + packets
            }
            Content::Envelope { .. } => now + content.opening(&overhead) + packets,
        }
    }

    /// Spreads a message over rails.
    fn spread(&mut self, number: u32, now: Time) {
        let Message { from, to, .. } = self.log.messages[number as usize];
        let Letter { bytes, nic, whole, .. } = self.letters[number as usize];
        let mut stripes = std::mem::take(&mut self.stripes);
        let all = 0..u64::from(bytes);
        // Policies whose NICs send one stripe at a time do not ask which rail a message names.
        let named = nic.filter(|_| self.cluster.policy.pacing() != Pacing::Transfers);
        match named.or((self.cluster.rails.len() == 1).then_some(0)) {
            Some(nic) => {
                stripes.clear();
                stripes.push(Stripe { rail: RailId(nic.into()), bytes: all });
            }
            None => {
                let desk = &self.desks[from.0 as usize];
                let one_packet = u64::from(bytes) <= self.cluster.first().packet.get();
                let pulls = self.cluster.policy == PolicyKind::Pull {} && one_packet;
                let nodes = self.nodes;
                self.nics.clear();
                self.nics.extend(self.cluster.rails.iter().map(|rail| {
                    let free = now.max(desk.sends(rail.port));
                    let short = match pulls {
                        true => passes(rail, nodes, now, free).max(desk.sends_short(rail.port)),
                        false => free,
                    };
                    let idle = desk.idle(rail.port).max(desk.quiet(rail.port));
                    Nic { free, short, idle }
                }));
                let message = Outgoing { to, bytes: bytes.into(), whole };
                let spread = &mut self.spreads[from.0 as usize];
                spread.next(self.cluster, nodes, message, now, &self.nics, &mut stripes);
            }
        }
        self.stripes = stripes;
    }

    pub(super) fn send(&mut self, number: u32) {
        let Message { from, to, .. } = self.log.messages[number as usize];
        let Letter { content, bytes, cpu, nic, .. } = self.letters[number as usize];
        let (cluster, now) = (self.cluster, self.now);
        let overhead = cluster.processors.map(|own| own.overhead);
        let (lead, work) = match (overhead, content) {
            (None, _) => (Time::ZERO, Time::ZERO),
            (Some(own), Content::Plain { .. }) => (own.message, own.message + own.bytes(bytes)),
            (Some(own), Content::Envelope { .. }) => content.work(&own),
        };
        let mut writing = now + lead;
        self.spread(number, writing);
        let stripes = std::mem::take(&mut self.stripes);
        let pulls = cluster.policy == PolicyKind::Pull {};
        let packet = cluster.first().packet.get().max(1);
        let all: u64 = stripes.iter().map(|stripe| stripe.len().div_ceil(packet).max(1)).sum();
        // Of a message that rails pull, packets are written for one rail after the other.
        let takes_turns = pulls && stripes.len() > 1;
        let passes_long = pulls && nic.is_none() && u64::from(bytes) <= packet;
        let (mut busy, mut left, mut held) = (now + work, now, 0);
        let first = self.log.parts.len() as u32;
        for stripe in &stripes {
            let number_of_rail = stripe.rail.0 as u16;
            let rail = cluster.rail(number_of_rail);
            let cut = Cut::new(&rail.parameters, stripe.len(), self.nodes);
            let written = writing + cut.first().send;
            let takes = cut.sum(|packet| packet.send);
            writing = writing + if takes_turns { cut.first().send } else { takes };
            busy = busy + takes;
            let mut cut = cut;
            if takes_turns {
                let share = cut.full.send.ps() * all / cut.packets;
                cut.full.send = Time::from_ps(share);
            }
            let desk = &mut self.desks[from.0 as usize];
            let free = desk.sends(rail.port);
            let every = cut.full.departure();
            let gap = cut.last.send_gap;
            let handed = match passes_long {
                true => {
                    let own = passes(&rail, self.nodes, written, free.max(written));
                    let handed = own.max(desk.sends_short(rail.port));
                    desk.take_short(rail.port, handed + gap);
                    desk.take(rail.port, free.max(handed) + gap);
                    handed
                }
                false => {
                    let handed = written.max(free);
                    desk.take(rail.port, handed + cut.spread(every, every) + gap);
                    desk.work(rail.port, handed + cut.spread(every, every) + gap);
                    handed
                }
            };
            left = left.max(handed + cut.spread(every, every) + gap);
            held += cut.packets;
            self.log.parts.push(Part {
                message: number,
                rail: number_of_rail,
                port: rail.port,
                bytes: stripe.len() as u32,
                cut,
                written,
                handed,
                first: handed + cut.first().latency,
                queued: Time::ZERO,
                alone: handed + cut.arrival(),
                begin: Time::ZERO,
                last: Time::ZERO,
            });
        }
        let spares = self.spares && self.protocol.is_some();
        let parts = stripes.len() as u32;
        let rails: RailSet = stripes.iter().map(|stripe| stripe.rail).collect();
        self.stripes = stripes;
        let message = &mut self.log.messages[number as usize];
        (message.first, message.parts) = (first, parts);
        self.letters[number as usize].missing = parts;
        let desk = &mut self.desks[from.0 as usize];
        if !spares {
            desk.occupy(cpu, busy);
        }
        desk.hold(held);
        if nic.is_none() || cluster.waits_to_leave() {
            desk.leaves(left);
        }
        self.plan(busy, Event::Written(number));
        for part in first..first + parts {
            let Part { handed, first, port, .. } = self.log.parts[part as usize];
            match self.uplinks.get(usize::from(port)) {
                Some(uplinks) if uplinks.are_between(from, to) => {
                    self.plan(handed, Event::Crosses(part, Way::Out));
                }
                _ => self.plan(first, Event::Reached(part)),
            }
        }
        match content {
            Content::Plain { send } => self.begun(send as usize),
            Content::Envelope { send, .. } => {
                if send != NONE {
                    self.begun(send as usize);
                }
                self.handed_over(number, rails);
            }
        }
    }

    /// An uplink takes a part in its turn. What it takes for a message alone is in L.
    pub(super) fn crosses(&mut self, number: u32, way: Way) {
        let part = &mut self.log.parts[number as usize];
        let Message { from, to, .. } = self.log.messages[part.message as usize];
        let Some(uplinks) = self.uplinks.get_mut(usize::from(part.port)) else { return };
        let late = uplinks.pass(way, self.now, (from, to), (&part.cut, part.bytes));
        part.queued = part.queued + late;
        part.first = part.first + late;
        part.alone = part.alone + late;
        let first = part.first;
        match way {
            Way::Out => self.plan(self.now + late, Event::Crosses(number, Way::In)),
            Way::In => self.plan(first, Event::Reached(number)),
        }
    }

    /// The receiving NIC takes a part in its turn; all packets of it are delivered before the next
    /// one's.
    pub(super) fn reached(&mut self, number: u32) {
        let part = &mut self.log.parts[number as usize];
        let to = self.log.messages[part.message as usize].to;
        let (desk, cut) = (&mut self.desks[to.0 as usize], &part.cut);
        part.begin = desk.delivers(part.port, self.now, cut.first().receive_gap);
        part.last = cut.delivered(part.handed + part.queued, part.begin);
        desk.delivered(part.port, part.last);
        let (message, last) = (part.message, part.last);
        if self.cluster.acknowledgements.is_some() {
            self.plan(last, Event::Came(number));
        }
        let letter = &mut self.letters[message as usize];
        letter.missing -= 1;
        if letter.missing == 0 {
            self.arrives(message);
        }
    }

    /// The receiver acknowledges a part: its last packet at once, if that is the first after a
    /// pause or one of several, and if no data go the other way that carry the acknowledgement.
    /// What goes the other way then waits for it. Acknowledgements of the packets before are over
    /// by then.
    pub(super) fn acknowledge(&mut self, number: u32) {
        let Part { message, rail, port, begin, cut, .. } = self.log.parts[number as usize];
        let Some(Acknowledgements { every, after }) = self.cluster.acknowledgements else { return };
        let to = self.log.messages[message as usize].to;
        let gap = self.cluster.rail(rail).parameters.packet_of(0, self.nodes).send_gap;
        let (now, desk) = (self.now, &mut self.desks[to.0 as usize]);
        let every = u64::from(every.max(1));
        let (heard, owed) = desk.heard(port);
        let paused = heard.is_none_or(|heard| begin > heard + after);
        let owed = if paused { cut.packets - 1 } else { owed + cut.packets };
        if owed % every == 0 && desk.sends(port) <= now {
            desk.take(port, now + gap);
        }
        desk.hear(port, now, owed % every);
    }

    /// Something of every part of a message is there: its reception begins late enough not to wait
    /// for packets, and no later.
    fn arrives(&mut self, number: u32) {
        let packets = self.receiving(number);
        let parts = self.log.parts_of(number);
        let alone = |part: &Part| part.cut.received(part.handed + part.queued, part.begin);
        let mut end = parts.iter().map(alone).max().unwrap_or(self.now);
        if parts.len() > 1 {
            // One processor receives the packets of all rails.
            let begin = parts.iter().map(|part| part.begin).min().unwrap_or(self.now);
            end = end.max(begin + packets);
        }
        let content = self.letters[number as usize].content;
        let ready = match (self.cluster.processors, content) {
            // A host of LogGOPS begins with the first bit.
            (Some(_), Content::Plain { .. }) => self.now,
            _ => Time::from_ps(end.ps().saturating_sub(packets.ps())).max(self.now),
        };
        self.log.messages[number as usize].arrived = ready;
        if ready == self.now {
            self.receivable(number);
        } else {
            self.plan(ready, Event::Ready(number));
        }
    }

    /// A message waits for the processor that receives it.
    pub(super) fn receivable(&mut self, number: u32) {
        if self.spares && self.protocol.is_some() {
            return self.start(Task::Receive(number), self.now);
        }
        let Message { to, .. } = self.log.messages[number as usize];
        let Letter { cpu, order, .. } = self.letters[number as usize];
        let beside = if self.protocol.is_some() { Beside::Nothing } else { Beside::Inbound };
        let came = (self.now, order);
        self.desks[to.0 as usize].queue(came, cpu, beside, Task::Receive(number));
        self.look_at(to.0);
    }
}

/// When a short message is handed to a NIC whose rail pulls long ones: what is ahead of it there is
/// what fills the way, L - g, and not all that is still to go.
fn passes(rail: &Rail, nodes: u32, now: Time, free: Time) -> Time {
    let full = rail.parameters.packet_of(rail.parameters.packet.get(), nodes);
    let ahead = full.latency.ps().saturating_sub(full.departure().ps());
    free.min(now + Time::from_ps(ahead))
}
