//! What an endpoint wants done: frames with their acknowledgement numbers, and the count of them.

use std::collections::VecDeque;

use super::acknowledgement::Acknowledgement;
use crate::channel::{Action, Frame, Seq, Tally};

/// Why a packet is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cause {
    /// It is its turn.
    First,
    /// A Nack.
    Fast,
    /// A time-out.
    Timeout,
}

/// The actions of an endpoint until they are taken.
#[derive(Debug, Clone)]
pub(super) struct Output<T> {
    pub actions: VecDeque<Action<T>>,
    pub tally: Tally,
    pub acknowledgement: Acknowledgement,
}

impl<T> Output<T> {
    #[inline]
    pub fn data(&mut self, seq: Seq, item: T, cause: Cause) {
        match cause {
            Cause::First => self.tally.first += 1,
            Cause::Fast => self.tally.fast += 1,
            Cause::Timeout => self.tally.timeout += 1,
        }
        let ack = self.acknowledgement.pay();
        self.actions.push_back(Action::Transmit(Frame::Data { seq, ack, item }));
    }

    #[inline]
    pub fn pack(&mut self) {
        self.tally.packs += 1;
        let ack = self.acknowledgement.pay();
        self.actions.push_back(Action::Transmit(Frame::Pack(ack)));
    }

    pub fn nack(&mut self) {
        self.tally.nacks += 1;
        let ack = self.acknowledgement.pay();
        self.actions.push_back(Action::Transmit(Frame::Nack(ack)));
    }

    #[inline]
    pub fn deliver(&mut self, item: T) {
        self.tally.delivered += 1;
        self.actions.push_back(Action::Deliver(item));
    }

    #[inline]
    pub fn acknowledged(&mut self, item: T) {
        self.tally.acknowledged += 1;
        self.actions.push_back(Action::Acknowledged(item));
    }
}
