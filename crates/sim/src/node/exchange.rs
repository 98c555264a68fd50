//! How packets of real ranks go: behind a greeting, and as trains of datagrams.
//!
//! A datagram is a packet of the network. A packet of several has arrived when all of them have,
//! and is lost if one is. Data of long messages have no room for an acknowledgement, nor have parts
//! of messages in envelopes, which tell the length of the message instead.

use super::Nodes;
use super::identity::{DataId, PacketId};
use super::links::{Cargo, Item, Waiting};
use super::post::{Content, Posted, Train};
use crate::network::Network;
use crosstie_protocol::{Greeting, Rides};
use crosstie_units::Time;

/// What a greeting is answered with: simulated networks deliver nothing of earlier jobs.
const NONCE: u64 = 0;

impl Nodes {
    /// What a packet is that goes into a channel.
    #[inline]
    pub(super) fn cargo(&mut self, id: PacketId) -> Cargo {
        match id {
            PacketId::Data(data) if self.spec.exchange.is_some() => self.cargo_of(data),
            _ => Cargo::Whole,
        }
    }

    fn cargo_of(&mut self, data: DataId) -> Cargo {
        let packet = self.nodes[data.from.0 as usize].packet(data.stripe, data.number);
        let whole = packet.len() == packet.parcel.length;
        let frame = self.spec.packing.payload.map_or(u64::MAX, u64::from);
        match self.pending(packet.parcel.message) {
            Some(pending) if !pending.letter.placed => match whole && packet.len() <= frame {
                true => Cargo::Whole,
                false => Cargo::Piece,
            },
            // The receiver no longer waits for what arrived otherwise.
            _ => Cargo::Data,
        }
    }

    /// Returns true if a packet carries an acknowledgement.
    #[inline]
    pub(super) fn rides(&self, item: &Item) -> bool {
        match self.spec.exchange.map(|exchange| exchange.rides) {
            None | Some(Rides::All) => true,
            Some(Rides::Whole) => item.cargo() == Cargo::Whole,
        }
    }

    /// Sends a packet, once the greeting of its path is answered.
    pub(super) fn dispatch(&mut self, network: &mut dyn Network, place: u32, packet: Waiting) {
        let link = self.links.as_mut().expect("there are channels").get(place);
        if link.greeting == Greeting::Answered {
            return self.depart(network, place, packet);
        }
        // What is to go again before the greeting is answered has not gone yet.
        if !link.waiting.iter().any(|waiting| waiting.seq == packet.seq) {
            link.waiting.push(packet);
        }
    }

    /// Posts the datagrams of a packet.
    fn depart(&mut self, network: &mut dyn Network, place: u32, packet: Waiting) {
        let Waiting { seq, ack, item, first } = packet;
        let link = self.links.as_mut().expect("there are channels").get(place);
        link.afloat += 1;
        let (rail, from, to) = (link.rail, link.node, link.peer);
        let content = Content::Data { seq, ack, item };
        let posted = |bytes, content, first| Posted {
            rail,
            from,
            to,
            bytes,
            content,
            link: place,
            first,
            came: None,
        };
        let (datagrams, load, more) = self.cut(&item);
        let overhead = self.spec.packing.overhead;
        let all = item.bytes.saturating_sub(overhead);
        if datagrams == 1 {
            return self.put(network, posted(item.bytes + more, content, first));
        }
        let train =
            Train { content, left: datagrams, broken: false, began: Time::from_ps(u64::MAX) };
        let train = self.post().trains.put(train);
        for number in 0..datagrams {
            let is_last = number + 1 == datagrams;
            let part = if is_last { all - load * number } else { load };
            let content = Content::Part { train, item: is_last.then_some(item) };
            self.put(network, posted(part + overhead + more, content, first));
        }
    }

    /// How many datagrams a packet is, what each carries, and what it has besides a head.
    fn cut(&self, item: &Item) -> (u32, u32, u32) {
        let piece = self.spec.exchange.map_or(0, |exchange| exchange.headers.piece);
        let more = if item.cargo() == Cargo::Piece { piece } else { 0 };
        let all = item.bytes.saturating_sub(self.spec.packing.overhead);
        let room =
            self.spec.packing.payload.map_or(u32::MAX, |most| (most - more.min(most)).max(1));
        (all.div_ceil(room).max(1), room, more)
    }

    /// One datagram of a train has come, or is not going to. What the train carries, and when its
    /// first byte had left, if it was the last one and all have come.
    pub(super) fn part(
        &mut self,
        place: u32,
        link: u32,
        came: Option<Time>,
    ) -> Option<(Content, Time)> {
        let train = self.post().trains.get_mut(place);
        train.left -= 1;
        match came {
            Some(began) => train.began = train.began.min(began),
            None => train.broken = true,
        }
        if train.left > 0 {
            return None;
        }
        let Train { content, broken, began, .. } = self.post().trains.take(place);
        if broken {
            self.links.as_mut().expect("there are channels").get(link).afloat -= 1;
            return None;
        }
        Some((content, began))
    }

    /// Greets the other end of a channel.
    pub(super) fn greet(&mut self, network: &mut dyn Network, place: u32) {
        let now = self.now;
        let link = self.links.as_mut().expect("there are channels").get(place);
        link.greeting = Greeting::said(now, NONCE);
        self.say(network, place, Content::Hello);
    }

    /// Sends the first words, or their answer.
    pub(super) fn say(&mut self, network: &mut dyn Network, place: u32, content: Content) {
        let bytes = self.spec.exchange.map_or(1, |exchange| exchange.headers.greeting);
        let link = self.links.as_mut().expect("there are channels").get(place);
        let (rail, from, to) = (link.rail, link.node, link.peer);
        let (link, first, came) = (place, false, None);
        self.put(network, Posted { rail, from, to, bytes, content, link, first, came });
        self.call_at_deadline(place);
    }

    /// An end of a channel has been greeted, or its greeting has been answered.
    pub(super) fn greeted(&mut self, network: &mut dyn Network, place: u32, is_answer: bool) {
        let link = self.links.as_mut().expect("there are channels").get(place);
        if is_answer {
            if link.greeting.answers(NONCE) {
                link.greeting = Greeting::Answered;
                for packet in std::mem::take(&mut link.waiting) {
                    self.depart(network, place, packet);
                }
            }
            return;
        }
        if link.greeting == Greeting::Silent {
            self.greet(network, place);
        }
        self.say(network, place, Content::Welcome);
    }
}
