//! The receiving half of an endpoint.

use crosstie_units::Time;

use super::output::Output;
use super::table::{Packet, ReceiverDeed, ReceiverState, receiver_cell};
use crate::channel::{GoBackNSpec, Seq};

/// Takes packets in order and drops all others.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    state: ReceiverState,
    window: u32,
}

impl Receiver {
    pub fn new(spec: &GoBackNSpec) -> Receiver {
        let state = if spec.simple { ReceiverState::Simple } else { ReceiverState::Clear };
        Receiver { state, window: spec.window }
    }

    #[cfg(test)]
    pub fn state(&self) -> ReceiverState {
        self.state
    }

    /// Does with a packet what the table says, and calls `deliver` for one in order; whether it was
    /// one that can be. The Pack for one in order waits if the window of this end is full.
    #[inline]
    pub fn data<T>(
        &mut self,
        now: Time,
        seq: Seq,
        full: bool,
        out: &mut Output<T>,
        deliver: impl FnOnce(&mut Output<T>),
    ) -> bool {
        let cell = receiver_cell(self.state, self.place(seq, out.acknowledgement.expected()));
        self.state = cell.next;
        match cell.deed {
            ReceiverDeed::Deliver => {
                out.tally.delivered += 1;
                deliver(out);
                if out.acknowledgement.note(now, full) {
                    out.pack();
                }
            }
            ReceiverDeed::DropAndNack => {
                out.tally.out_of_order += 1;
                out.nack();
            }
            ReceiverDeed::Drop => out.tally.out_of_order += 1,
            ReceiverDeed::DropAndPack => {
                out.tally.duplicates += 1;
                out.pack();
            }
            ReceiverDeed::Refuse => {
                out.tally.refused += 1;
                return false;
            }
        }
        true
    }

    #[inline]
    fn place(&self, seq: Seq, expected: Seq) -> Packet {
        match seq.since(expected) {
            0 => Packet::InOrder,
            _ if seq.is_before(expected) => Packet::Behind,
            // The oldest packet outstanding is no later than the one expected.
            ahead if ahead < self.window => Packet::Ahead,
            _ => Packet::Beyond,
        }
    }
}
