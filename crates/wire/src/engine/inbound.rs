//! From datagrams to packets, and in.

use std::ops::Range;

use crosstie_protocol::channel::{self, Frame, Seq};
use crosstie_protocol::{
    Input, Machine, MessageId, NodeId, Packet, Parcel, RailId, Stripe, StripeId,
};
use crosstie_units::Time;
use slotmap::Key as _;

use super::advance::Whole;
use super::link::Item;
use super::{Arrival, ArrivalKey, Buffer, Engine, Request};
use crate::datagram::{Body, Data, Opened, Part, Piece};
use crate::envelope::ENVELOPE;
use crate::key::Course;
use crate::soon;

impl Engine {
    /// Takes in all datagrams that have come. Whether there were any.
    pub(super) fn take_in(&mut self, clock: &dyn Fn() -> Time) -> bool {
        let mut came = false;
        if self.rails.is_empty() {
            return came;
        }
        // They are lent to a method of the engine.
        let mut rails = std::mem::take(&mut self.rails);
        for (number, rail) in (0u8..).zip(&mut rails) {
            let mut first = true;
            // What cannot be received has not come.
            let count = rail.receive(&mut |bytes| {
                if std::mem::take(&mut first) {
                    self.passes(clock());
                }
                self.datagram(self.now, number, bytes);
            });
            came |= count.is_ok_and(|count| count > 0);
        }
        self.rails = rails;
        came
    }

    /// A datagram has come, from whomever.
    pub(super) fn datagram(&mut self, now: Time, rail: u8, bytes: &[u8]) {
        let course = Course { to: self.rank, rail };
        let Ok(opened) = Opened::new(bytes, &self.key, course) else {
            self.nics[usize::from(rail)].count.strangers += 1;
            return;
        };
        let from = opened.from();
        let known =
            from != self.rank && self.peers.get(usize::from(from)).is_some_and(|peer| !peer.gone);
        let count = &mut self.nics[usize::from(rail)].count;
        if !known {
            count.odd += 1;
            let farewell = matches!(opened.body(), Ok((Body::Farewell, _)));
            let given_up = self.peers.get(usize::from(from)).is_some_and(|peer| peer.gone);
            if given_up && !farewell {
                // Else it would wait in vain.
                self.nics[usize::from(rail)].queue.bid_farewell(from);
            }
            return;
        }
        // Where they are read and where they are used in one go: what came before is still being
        // written, and whatever is put together in memory would have to wait for that.
        if let Some((data, load)) = opened.data() {
            count.received += 1;
            count.received_bytes += bytes.len() as u64;
            return self.take_data(now, from, rail, data, load);
        }
        let Ok((body, load)) = opened.body() else {
            count.odd += 1;
            return;
        };
        if let Body::Raw { .. } = body {
            // There are no raw endpoints here.
            count.odd += 1;
            return;
        }
        count.received += 1;
        count.received_bytes += bytes.len() as u64;
        match body {
            Body::Hello { nonce } => return self.greeted(now, from, rail, nonce),
            Body::Welcome { nonce } => return self.welcomed(from, rail, nonce),
            Body::Farewell => {
                let peer = NodeId(from.into());
                return self.tell_node(now, Input::Farewell { peer });
            }
            _ => {}
        }
        let is_data = !matches!(body, Body::Pack(_) | Body::Nack(_) | Body::Sack(_));
        if !self.hears(from, rail, is_data) {
            return;
        }
        let frame = match body {
            Body::Pack(ack) => Some(Frame::Pack(ack)),
            Body::Nack(ack) => Some(Frame::Nack(ack)),
            Body::Sack(sack) => Some(Frame::Sack(sack)),
            Body::Whole { seq, ack, serial, reserved } => {
                let whole = Whole { from, rail, seq, ack, serial, reserved, at: now };
                let is_handed_out = self.hand_out_in_advance(&whole, load);
                let mut bytes = self.buffer();
                bytes.extend_from_slice(load);
                if is_handed_out {
                    self.untold = Some((whole, bytes));
                } else {
                    self.take_whole(&whole, bytes);
                }
                None
            }
            Body::Void { seq } => Some(self.data(from, rail, seq, Item::Nothing)),
            Body::Control { seq, serial, packet } => {
                let serial = self.expand(from, serial);
                Some(self.data(from, rail, seq, Item::Control { packet, serial }))
            }
            Body::Piece { part, serial, receive, offset, parcel } => {
                let useful = match receive {
                    Some(receive) => self.put_in_place(from, serial, receive, offset, load),
                    None => self.stage(from, serial, offset, load, &parcel),
                };
                self.part(from, rail, part, offset, load.len()).map(|bytes| {
                    let item = match useful {
                        true => Item::Piece { serial, bytes, parcel },
                        false => Item::Nothing,
                    };
                    self.data(from, rail, part.seq, item)
                })
            }
            Body::Data(_)
            | Body::Hello { .. }
            | Body::Welcome { .. }
            | Body::Farewell
            | Body::Raw { .. } => None,
        };
        if let Some(frame) = frame {
            self.tell_link(now, from, rail, frame);
        }
    }

    /// Something has come on a link, after what came before. Whether it is taken in.
    #[inline]
    fn hears(&mut self, from: u16, rail: u8, is_data: bool) -> bool {
        // One after the other.
        self.tell_untold();
        if !self.riding.is_empty() {
            self.serve_riding();
        }
        let heard = self.link(from, rail).heard || !is_data;
        if !heard {
            // A peer that sends data has greeted before.
            self.nics[usize::from(rail)].count.odd += 1;
        }
        heard
    }

    /// Bytes of a long message have come.
    #[inline]
    fn take_data(&mut self, now: Time, from: u16, rail: u8, data: Data, load: &[u8]) {
        if !self.hears(from, rail, true) {
            return;
        }
        let Data { part, serial, receive, offset } = data;
        let useful = self.put_in_place(from, serial, receive, offset, load);
        if let Some(bytes) = self.part(from, rail, part, offset, load.len()) {
            let item = match useful {
                true => Item::Data { serial, receive, bytes },
                false => Item::Nothing,
            };
            let frame = self.data(from, rail, part.seq, item);
            self.tell_link(now, from, rail, frame);
        }
    }

    /// A message has come in one datagram.
    fn take_whole(&mut self, whole: &Whole, bytes: Vec<u8>) {
        let &Whole { from, rail, seq, ack, serial, reserved, at } = whole;
        self.riding.push((from, rail, ack, at));
        let frame = self.data(from, rail, seq, Item::Whole { serial, bytes, reserved });
        self.tell_link(at, from, rail, frame);
    }

    /// Tells machines what has been handed out in advance. Whether anything has.
    pub(super) fn tell_untold(&mut self) -> bool {
        let Some((whole, bytes)) = self.untold.take() else { return false };
        self.take_whole(&whole, bytes);
        true
    }

    /// Lets machines do what was foreseen, if something has been handed out in advance.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time) {
        if self.tell_untold() {
            self.settle(now);
        }
    }

    /// Tells a channel what has come by it.
    fn tell_link(&mut self, now: Time, from: u16, rail: u8, frame: Frame<Item>) {
        let link = self.peers[usize::from(from)].links[usize::from(rail)].as_mut();
        let link = link.expect("something has come by it");
        link.endpoint.handle(now, channel::Input::Frame(frame));
        link.touch(from, rail, &mut self.touched);
    }

    /// Tells channels what came with data: when they were told of those, others waited for them.
    pub(super) fn serve_riding(&mut self) {
        for (from, rail, ack, came) in self.riding.drain(..) {
            let links = &mut self.peers[usize::from(from)].links;
            if let Some(Some(link)) = links.get_mut(usize::from(rail)) {
                link.endpoint.handle(came, channel::Input::Frame(Frame::Pack(ack)));
                link.touch(from, rail, &mut self.touched);
            }
        }
    }

    /// A packet without an acknowledgement of its own repeats the last one.
    fn data(&mut self, from: u16, rail: u8, seq: Seq, item: Item) -> Frame<Item> {
        let ack = self.link(from, rail).endpoint.base();
        Frame::Data { seq, ack, item }
    }

    fn part(
        &mut self,
        from: u16,
        rail: u8,
        part: Part,
        offset: u32,
        len: usize,
    ) -> Option<Range<u64>> {
        let start = u64::from(offset);
        self.link(from, rail).assemble(part, start..start + len as u64)
    }

    /// A serial number of which only the lower half has come: the one that is nearest to the
    /// highest so far.
    pub(super) fn expand(&self, from: u16, serial: u32) -> u64 {
        let highest = self.peers[usize::from(from)].highest;
        let ahead = serial.wrapping_sub(highest as u32) as i32;
        highest.checked_add_signed(i64::from(ahead)).unwrap_or(u64::from(serial))
    }

    /// Puts bytes of a long message where they belong, if the sender was granted that. Whether it
    /// was.
    fn put_in_place(
        &mut self,
        from: u16,
        serial: u32,
        number: u32,
        offset: u32,
        load: &[u8],
    ) -> bool {
        let serial = self.expand(from, serial);
        let Some(Some(place)) = self.places.get_mut(number as usize) else { return false };
        let end = u64::from(offset) + load.len() as u64;
        if place.from != from || end > u64::from(place.length) {
            return false;
        }
        match place.coming {
            Some((coming, _)) if coming == serial => {}
            Some(_) => return false,
            // What comes late of a message that is there must not be taken for the next one.
            None if self.node.has_seen(NodeId(from.into()), serial) => return false,
            None => {
                let key = self.arrivals.insert(Arrival::Data { place: number });
                place.coming = Some((serial, key));
            }
        }
        if let Some(Request { buffer: Buffer::In(buffer), .. }) =
            self.requests.get_mut(place.request)
        {
            let end = offset as usize + load.len();
            buffer.put(offset as usize, load);
            // Where the next one goes, most likely.
            if let Some(next) = buffer.get().get(end..) {
                soon::written(&next[..next.len().min(load.len())]);
            }
        }
        true
    }

    /// Keeps bytes of a message of several packets that has no place. Whether there is room for it.
    fn stage(&mut self, from: u16, serial: u32, offset: u32, load: &[u8], parcel: &Piece) -> bool {
        let serial = self.expand(from, serial);
        let length = parcel.length as usize;
        if length > self.eager as usize + ENVELOPE
            || self.node.has_seen(NodeId(from.into()), serial)
        {
            return false;
        }
        let peer = &mut self.peers[usize::from(from)];
        let known = peer.partial.iter().find(|&&(other, _)| other == serial).map(|&(_, key)| key);
        let key = match known {
            Some(key) => key,
            // No more than it has credit for, and as much again for what is not counted by that.
            None if peer.staged + length > 2 * self.credit as usize => return false,
            None => {
                let key = self.arrivals.insert(Arrival::Envelope(vec![0; length]));
                peer.staged += length;
                peer.partial.push((serial, key));
                key
            }
        };
        let Some(Arrival::Envelope(bytes)) = self.arrivals.get_mut(key) else { return false };
        let range = offset as usize..offset as usize + load.len();
        let Some(room) = bytes.get_mut(range) else { return false };
        room.copy_from_slice(load);
        true
    }

    /// A channel delivers something.
    pub(super) fn came(&mut self, now: Time, from: u16, rail: u8, item: Item) {
        match item {
            Item::Whole { serial, bytes, reserved } => {
                let serial = self.expand(from, serial);
                if self.node.has_seen(NodeId(from.into()), serial) {
                    self.put_back(bytes);
                    return;
                }
                let length = bytes.len() as u64;
                let key = self.arrivals.insert(Arrival::Envelope(bytes));
                self.peers[usize::from(from)].staged += length as usize;
                let piece = Piece {
                    length: length as u32,
                    start: 0,
                    end: length as u32,
                    stripe: 0,
                    number: 0,
                    reserved,
                };
                self.arrived(now, from, rail, serial, key, 0..length, &piece);
            }
            Item::Piece { serial, bytes, parcel } => {
                let serial = self.expand(from, serial);
                if let Some(key) = self.coming(from, serial) {
                    self.arrived(now, from, rail, serial, key, bytes, &parcel);
                }
            }
            Item::Data { serial, receive, bytes } => {
                let serial = self.expand(from, serial);
                let place = self.places.get(receive as usize).and_then(Option::as_ref);
                let coming = place.filter(|place| place.from == from).and_then(|place| {
                    let (coming, key) = place.coming?;
                    (coming == serial).then_some((key, place.length))
                });
                if let Some((key, length)) = coming {
                    let (start, end) = (bytes.start as u32, bytes.end as u32);
                    let piece = Piece { length, start, end, stripe: 0, number: 0, reserved: false };
                    self.arrived(now, from, rail, serial, key, bytes, &piece);
                }
            }
            Item::Control { packet, serial } => {
                let (rail, from) = (RailId(rail.into()), NodeId(from.into()));
                self.note_serial(from.0 as u16, serial);
                self.tell_node(now, Input::Control { rail, from, packet, serial });
            }
            Item::Packet { .. } | Item::Nothing => {}
        }
    }

    /// The message of several packets that has this serial number, long or short.
    fn coming(&self, from: u16, serial: u64) -> Option<ArrivalKey> {
        let partial = &self.peers[usize::from(from)].partial;
        let short = partial.iter().find(|&&(other, _)| other == serial).map(|&(_, key)| key);
        short.or_else(|| {
            let places = self.places.iter().flatten().filter(|place| place.from == from);
            places
                .filter_map(|place| place.coming)
                .find(|&(other, _)| other == serial)
                .map(|(_, key)| key)
        })
    }

    fn note_serial(&mut self, from: u16, serial: u64) {
        let highest = &mut self.peers[usize::from(from)].highest;
        *highest = (*highest).max(serial);
    }

    /// Tells the node of a packet.
    #[expect(clippy::too_many_arguments)]
    fn arrived(
        &mut self,
        now: Time,
        from: u16,
        rail: u8,
        serial: u64,
        key: ArrivalKey,
        bytes: Range<u64>,
        piece: &Piece,
    ) {
        self.note_serial(from, serial);
        let parcel = Parcel {
            from: NodeId(from.into()),
            to: NodeId(self.rank.into()),
            id: StripeId(piece.stripe),
            message: MessageId(key.data().as_ffi()),
            length: piece.length.into(),
            stripe: Stripe {
                rail: RailId(rail.into()),
                bytes: piece.start.into()..piece.end.into(),
            },
            reserved: piece.reserved,
            serial,
        };
        self.tell_node(now, Input::Arrived(Packet { parcel, number: piece.number, bytes }));
    }
}
