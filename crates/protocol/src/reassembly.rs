//! Packets become stripes and messages again.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::pieces::{insert, unite};
use crate::{MessageId, NodeId, Packet};

/// Something that does not fit what is known: whoever sends or reports it is wrong, or repeats
/// himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stray;

/// What a packet has made whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// Its message, and therefore its stripe.
    Message,
    /// Its stripe.
    Stripe,
    /// Nothing yet.
    Nothing,
    /// Nothing: all of it was there before.
    Known,
}

/// Messages of which some packets have arrived.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// Whether bytes may come more than once, in other packets than before.
    unites: bool,
    partial: BTreeMap<(NodeId, MessageId), Partial>,
    /// Lists of pieces that are not in use.
    spare: Vec<Vec<Range<u64>>>,
}

#[derive(Debug)]
struct Partial {
    length: u64,
    /// The bytes that are there: pieces in ascending order, none of which touch.
    pieces: Vec<Range<u64>>,
}

impl Reassembly {
    /// For messages whose bytes may come more than once, or not.
    pub fn new(unites: bool) -> Reassembly {
        Reassembly { unites, ..Reassembly::default() }
    }

    /// Takes in a packet.
    #[inline]
    pub fn accept(&mut self, packet: &Packet) -> Result<Whole, Stray> {
        let (bytes, stripe) = (&packet.bytes, &packet.parcel.stripe.bytes);
        let length = packet.parcel.length;
        // Only an empty message has an empty packet.
        let filled = if length == 0 { bytes.end == 0 } else { bytes.start < bytes.end };
        let inside = stripe.start <= bytes.start && bytes.end <= stripe.end && stripe.end <= length;
        if !filled || !inside {
            return Err(Stray);
        }
        let key = (packet.parcel.from, packet.parcel.message);
        if *bytes == (0..length) {
            let begun = !self.partial.is_empty() && self.partial.contains_key(&key);
            return match (begun, self.unites) {
                (false, _) => Ok(Whole::Message),
                (true, true) => self.add(packet),
                (true, false) => Err(Stray),
            };
        }
        self.add(packet)
    }

    /// Adds a packet to its message, which has several.
    #[inline(never)]
    fn add(&mut self, packet: &Packet) -> Result<Whole, Stray> {
        let (bytes, stripe) = (&packet.bytes, &packet.parcel.stripe.bytes);
        let (key, length) = ((packet.parcel.from, packet.parcel.message), packet.parcel.length);
        let spare = &mut self.spare;
        let new = || Partial { length, pieces: spare.pop().unwrap_or_default() };
        let partial = self.partial.entry(key).or_insert_with(new);
        if partial.length != length {
            return Err(Stray);
        }
        let piece = match self.unites {
            false => insert(&mut partial.pieces, bytes).ok_or(Stray)?,
            true => match unite(&mut partial.pieces, bytes) {
                (_, 0) => return Ok(Whole::Known),
                (piece, _) => piece,
            },
        };
        if piece == (0..length) {
            let mut pieces = self.partial.remove(&key).expect("it is there").pieces;
            pieces.clear();
            self.spare.push(pieces);
            return Ok(Whole::Message);
        }
        // This packet was missing, so the stripe is whole from now on.
        let whole = piece.start <= stripe.start && stripe.end <= piece.end;
        Ok(if whole { Whole::Stripe } else { Whole::Nothing })
    }

    /// Forgets what has come of messages from a node.
    pub fn forget(&mut self, from: NodeId) {
        self.partial.retain(|&(sender, _), _| sender != from);
    }

    /// How many messages are incomplete.
    pub fn len(&self) -> usize {
        self.partial.len()
    }

    /// Whether no message is incomplete.
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parcel, RailId, Stripe, StripeId};

    /// A packet of one of two stripes of a message of 9 bytes: 0 to 4 and 4 to 9.
    fn packet(message: u64, bytes: Range<u64>) -> Packet {
        let (stripe, id) = if bytes.start < 4 { (0..4, 0) } else { (4..9, 1) };
        let parcel = Parcel {
            from: NodeId(5),
            to: NodeId(0),
            id: StripeId(id),
            message: MessageId(message),
            length: 9,
            stripe: Stripe { rail: RailId(id), bytes: stripe },
            reserved: false,
            serial: 0,
        };
        Packet { parcel, number: 0, bytes }
    }

    /// A packet that is a message.
    fn whole(message: u64, length: u64) -> Packet {
        let mut whole = packet(message, 0..length);
        whole.parcel.length = length;
        whole.parcel.stripe.bytes = 0..length;
        whole
    }

    #[test]
    fn stripes_and_messages_are_whole_with_their_last_packet() {
        let mut reassembly = Reassembly::default();
        let mut arrive = |packet| reassembly.accept(&packet).unwrap();
        assert_eq!(arrive(packet(1, 2..4)), Whole::Nothing);
        assert_eq!(arrive(packet(1, 4..7)), Whole::Nothing, "touches what belongs to the other");
        assert_eq!(arrive(packet(2, 0..4)), Whole::Stripe, "all of it at once");
        assert_eq!(arrive(packet(1, 0..2)), Whole::Stripe);
        assert_eq!(arrive(whole(3, 9)), Whole::Message);
        assert_eq!(arrive(whole(4, 0)), Whole::Message, "an empty one");
        assert_eq!(arrive(packet(1, 7..9)), Whole::Message);
        assert_eq!(arrive(packet(2, 4..9)), Whole::Message);
        assert!(reassembly.is_empty());
    }

    #[test]
    fn bytes_that_come_again_are_united() {
        let mut reassembly = Reassembly::new(true);
        let mut arrive = |packet| reassembly.accept(&packet).unwrap();
        assert_eq!(arrive(packet(1, 1..3)), Whole::Nothing);
        assert_eq!(arrive(packet(1, 1..3)), Whole::Known);
        assert_eq!(arrive(packet(1, 0..4)), Whole::Stripe, "some of it is new");
        assert_eq!(arrive(packet(1, 5..8)), Whole::Nothing);
        assert_eq!(arrive(whole(1, 9)), Whole::Message, "the rest, in one piece");
        assert_eq!(arrive(packet(2, 5..8)), Whole::Nothing);
        reassembly.forget(NodeId(5));
        assert!(reassembly.is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.accept(&packet(1, 1..3)), Ok(Whole::Nothing));
        let longer = |bytes| {
            let mut packet = packet(1, bytes);
            packet.parcel.length = 10;
            packet
        };
        let empty = Packet { bytes: 2..2, ..whole(7, 9) };
        let nowhere = Packet { bytes: 3..3, ..whole(7, 0) };
        let backwards = Packet { bytes: Range { start: 3, end: 2 }, ..whole(7, 9) };
        for bad in [
            packet(1, 1..3),
            packet(1, 0..2),
            packet(1, 2..4),
            packet(1, 3..5),
            packet(2, 7..10),
            longer(7..9),
            whole(1, 9),
            empty,
            nowhere,
            backwards,
        ] {
            assert_eq!(reassembly.accept(&bad), Err(Stray), "{bad:?}");
        }
        assert_eq!(reassembly.accept(&packet(1, 0..1)), Ok(Whole::Nothing));
        assert_eq!(reassembly.accept(&packet(1, 3..4)), Ok(Whole::Stripe));
    }
}
