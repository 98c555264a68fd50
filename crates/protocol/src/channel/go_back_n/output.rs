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

/// What is wanted. An action has room for what only others say, and many wait here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted<T> {
    Data { seq: Seq, ack: Seq, item: T },
    Pack(Seq),
    Nack(Seq),
    Deliver(T),
    Acknowledged(T),
}

impl<T> From<Wanted<T>> for Action<T> {
    #[inline]
    fn from(wanted: Wanted<T>) -> Action<T> {
        match wanted {
            Wanted::Data { seq, ack, item } => Action::Transmit(Frame::Data { seq, ack, item }),
            Wanted::Pack(ack) => Action::Transmit(Frame::Pack(ack)),
            Wanted::Nack(ack) => Action::Transmit(Frame::Nack(ack)),
            Wanted::Deliver(item) => Action::Deliver(item),
            Wanted::Acknowledged(item) => Action::Acknowledged(item),
        }
    }
}

/// What an endpoint wants done until it is taken.
#[derive(Debug, Clone)]
pub(super) struct Output<T> {
    pub wanted: VecDeque<Wanted<T>>,
    pub tally: Tally,
    pub acknowledgement: Acknowledgement,
}

impl<T> Output<T> {
    #[inline]
    pub fn data(&mut self, seq: Seq, item: T, rides: bool, cause: Cause) {
        match cause {
            Cause::First => self.tally.first += 1,
            Cause::Fast => self.tally.fast += 1,
            Cause::Timeout => self.tally.timeout += 1,
        }
        let acknowledgement = &mut self.acknowledgement;
        let ack = if rides { acknowledgement.pay() } else { acknowledgement.expected() };
        self.wanted.push_back(Wanted::Data { seq, ack, item });
    }

    #[inline]
    pub fn pack(&mut self) {
        self.tally.packs += 1;
        let ack = self.acknowledgement.pay();
        self.wanted.push_back(Wanted::Pack(ack));
    }

    pub fn nack(&mut self) {
        self.tally.nacks += 1;
        let ack = self.acknowledgement.pay();
        self.wanted.push_back(Wanted::Nack(ack));
    }

    #[inline]
    pub fn deliver(&mut self, item: T) {
        self.wanted.push_back(Wanted::Deliver(item));
    }

    #[inline]
    pub fn acknowledged(&mut self, item: T) {
        self.tally.acknowledged += 1;
        self.wanted.push_back(Wanted::Acknowledged(item));
    }
}
