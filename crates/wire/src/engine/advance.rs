//! A short message for which nothing is in the way goes before the machines are told of it: while
//! it is on its way, there is time for that. And one for which a receive waits is handed out before
//! they are told: whoever waits for it may have something to answer.
//!
//! What machines will do is *foreseen*: each is asked what it would do, without being told. Told
//! afterwards, they do just that: what comes to the NIC in the end is the packet that has gone, and
//! the receive that is done is the one that was.

use crosstie_protocol::channel::Seq;
use crosstie_protocol::message::{self, Envelope, Tag};
use crosstie_protocol::{NodeId, Packet, Parcel, PeId, RailId, RankId};
use crosstie_units::Time;

use super::greeting::Greeting;
use super::messages::request_key;
use super::outbound::send_one;
use super::{Engine, Nic, RequestKey, Status};
use crate::datagram::{Body, Datagram, HEAD};
use crate::envelope::{self, Context, ENVELOPE};
use crate::key::Course;

/// A datagram that has gone in advance.
#[derive(Debug)]
pub(super) struct Advance {
    to: u16,
    rail: u8,
    body: Body,
    /// What it carried, until it is posted.
    load: Option<Vec<u8>>,
}

impl Advance {
    /// What it carried, if this is its envelope.
    pub fn posted(&mut self, context: Context, envelope: &Envelope) -> Option<Vec<u8>> {
        self.load.take_if(|load| load.starts_with(&envelope::encode(context, envelope)))
    }

    /// Whether it is a packet with this number.
    pub fn is_packet(&self, to: u16, rail: u8, seq: Seq) -> bool {
        let is_it = |gone| (self.to, self.rail, gone) == (to, rail, seq);
        matches!(self.body, Body::Whole { seq, .. } if is_it(seq))
    }

    /// Whether it said what such a packet says.
    pub fn said(&self, ack: Seq, packet: &Packet) -> bool {
        let Parcel { serial, reserved, .. } = packet.parcel;
        let Body::Whole { ack: gone, serial: number, reserved: kept, .. } = self.body else {
            return false;
        };
        (gone, number, kept) == (ack, serial as u32, reserved)
    }
}

/// A message that has come in one datagram: from whom on which rail, what the datagram said of it,
/// and when it came.
#[derive(Debug)]
pub(super) struct Whole {
    pub from: u16,
    pub rail: u8,
    pub seq: Seq,
    pub ack: Seq,
    pub serial: u32,
    pub reserved: bool,
    pub at: Time,
}

/// How a message would go if it were sent now.
struct Foreseen {
    rail: u8,
    /// The number of its envelope.
    number: u32,
    /// What its datagram says.
    body: Body,
}

impl Engine {
    /// Sends a message of which no machine has been told, if it is one datagram and nothing is in
    /// its way.
    pub(super) fn send_in_advance(
        &mut self,
        now: Time,
        context: Context,
        to: u16,
        tag: Tag,
        send: RequestKey,
        bytes: u64,
    ) {
        if to == self.rank || self.is_local(to) {
            return;
        }
        let Some(foreseen) = self.foresee(now, context, to, bytes) else { return };
        let Foreseen { rail, number, body } = foreseen;
        let number = Some(number);
        let envelope = Envelope { number, body: message::Body::Eager { tag, bytes } };
        let load = self.enclose(context, &envelope, Some(send));
        let datagram = Datagram { from: self.rank, body };
        self.departing.clear();
        datagram.append(&self.key, Course { to, rail }, &load, &mut self.departing);
        let (nic, driver) = (&mut self.nics[usize::from(rail)], &mut self.rails[usize::from(rail)]);
        let sent = send_one(driver.as_mut(), &mut nic.count, to, &self.departing);
        if sent.is_ok_and(|sent| sent == 1) {
            self.advance = Some(Advance { to, rail, body, load: Some(load) });
        } else {
            // Whatever it was, whoever sends it again will meet with it too.
            self.put_back(load);
        }
    }

    /// How a message would go, if it were one datagram and would go at once.
    fn foresee(&mut self, now: Time, context: Context, to: u16, bytes: u64) -> Option<Foreseen> {
        // Policies that are told of departures hear of this one too late.
        if self.departures {
            return None;
        }
        let number = self.messengers[context as usize].foresee(RankId(to.into()), bytes)?;
        let length = bytes + ENVELOPE as u64;
        let (RailId(rail), serial) = self.node.foresee(now, PeId(0), NodeId(to.into()), length)?;
        let length = HEAD + usize::try_from(length).ok()?;
        let Nic { queue, .. } = self.nics.get(rail as usize)?;
        let link = self.peers[usize::from(to)].links.get(rail as usize)?.as_ref()?;
        if !queue.is_empty() || length > link.mtu.longest() {
            return None;
        }
        if link.greeting != Greeting::Answered {
            return None;
        }
        let (seq, mut ack) = link.endpoint.foresee(length as u32)?;
        if let Some((Whole { from, rail: over, .. }, _)) = self.untold
            && (from, u32::from(over)) == (to, rail)
        {
            // Its channel will be told before it is told of this one.
            ack = ack.plus(1);
        }
        let body = Body::Whole { seq, ack, serial: serial as u32, reserved: false };
        Some(Foreseen { rail: rail as u8, number, body })
    }

    /// Hands out a message of which no machine has been told, if a receive waits for it that it
    /// would be for. Whether it is so.
    pub(super) fn hand_out_in_advance(&mut self, whole: &Whole, load: &[u8]) -> bool {
        let Some((request, status, bytes)) = self.foresee_arrival(whole, load) else {
            return false;
        };
        self.hand_out_to(request, status, bytes);
        let before = self.handed_out.replace(request);
        debug_assert!(before.is_none(), "{before:?} was handed out, and nobody has been told");
        true
    }

    /// The receive that a message would be for, what it would be told of it, and its bytes, if that
    /// were all that came of it.
    fn foresee_arrival<'a>(
        &mut self,
        whole: &Whole,
        load: &'a [u8],
    ) -> Option<(RequestKey, Status, &'a [u8])> {
        let &Whole { from, rail, seq, ack, serial, at, .. } = whole;
        // Something has come before. And policies that reserve have something to say to it.
        if !self.touched.is_empty() || !self.riding.is_empty() || self.describes {
            return None;
        }
        let (context, envelope, bytes) = envelope::decode(load)?;
        let link = self.peers[usize::from(from)].links[usize::from(rail)].as_ref()?;
        if !link.endpoint.foresee_arrival(at, seq, ack) {
            return None;
        }
        let serial = self.expand(from, serial);
        if self.node.has_seen(NodeId(from.into()), serial) {
            return None;
        }
        let message::Body::Eager { tag, bytes: length } = envelope.body else { return None };
        let peer = &self.peers[usize::from(from)];
        if bytes.len() as u64 != length || peer.kept_bytes + load.len() > self.most_kept_of_a_peer()
        {
            return None;
        }
        let messenger = &self.messengers[context as usize];
        let request =
            messenger.foresee_arrival(RankId(from.into()), tag, length, envelope.number?)?;
        Some((request_key(request), Status { from, tag, bytes: length }, bytes))
    }
}
