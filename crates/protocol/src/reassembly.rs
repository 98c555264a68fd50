//! Stripes become messages again.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::outbox::Stray;
use crate::{MessageId, NodeId, Parcel};

/// Messages of which some stripes have arrived.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    partial: BTreeMap<(NodeId, MessageId), Partial>,
}

#[derive(Debug)]
struct Partial {
    length: u64,
    /// The bytes that are there, in the order they came; at most one piece per rail.
    pieces: Vec<Range<u64>>,
}

impl Reassembly {
    /// Takes in a stripe; true if its message is now whole.
    pub fn accept(&mut self, parcel: &Parcel) -> Result<bool, Stray> {
        let bytes = &parcel.stripe.bytes;
        if bytes.start > bytes.end || bytes.end > parcel.length {
            return Err(Stray);
        }
        let key = (parcel.from, parcel.message);
        if *bytes == (0..parcel.length) && !self.partial.contains_key(&key) {
            return Ok(true);
        }
        let new = || Partial { length: parcel.length, pieces: Vec::new() };
        let partial = self.partial.entry(key).or_insert_with(new);
        let overlaps = |piece: &Range<u64>| piece.start < bytes.end && bytes.start < piece.end;
        if partial.length != parcel.length || partial.pieces.iter().any(overlaps) {
            return Err(Stray);
        }
        partial.pieces.push(bytes.clone());
        let present: u64 = partial.pieces.iter().map(|piece| piece.end - piece.start).sum();
        let whole = present == partial.length;
        if whole {
            self.partial.remove(&key);
        }
        Ok(whole)
    }

    /// Whether no message is incomplete.
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RailId, Stripe};

    fn parcel(message: u64, length: u64, bytes: Range<u64>) -> Parcel {
        let stripe = Stripe { rail: RailId(0), bytes };
        let (from, to, message) = (NodeId(1), NodeId(0), MessageId(message));
        Parcel { from, to, message, length, stripe, reserved: false }
    }

    #[test]
    fn a_message_is_whole_when_its_last_stripe_comes_in_any_order() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.accept(&parcel(1, 9, 6..9)), Ok(false));
        assert_eq!(reassembly.accept(&parcel(2, 5, 0..5)), Ok(true), "in between, unstriped");
        assert_eq!(reassembly.accept(&parcel(1, 9, 0..3)), Ok(false));
        assert!(!reassembly.is_empty());
        assert_eq!(reassembly.accept(&parcel(1, 9, 3..6)), Ok(true));
        assert!(reassembly.is_empty());
        assert_eq!(reassembly.accept(&parcel(3, 0, 0..0)), Ok(true), "an empty message");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.accept(&parcel(1, 9, 0..5)), Ok(false));
        for bad in [parcel(1, 9, 0..5), parcel(1, 9, 4..9), parcel(1, 8, 5..8), parcel(1, 9, 0..9)]
        {
            assert_eq!(reassembly.accept(&bad), Err(Stray), "{bad:?}");
        }
        assert_eq!(reassembly.accept(&parcel(2, 9, 5..10)), Err(Stray));
        assert_eq!(reassembly.accept(&parcel(1, 9, 5..9)), Ok(true));
    }
}
