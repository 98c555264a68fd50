//! Selective recovery with a window that finds itself: for real paths, which lose single frames and
//! have rates that nobody has told.
//!
//! # Receiver
//!
//! It delivers every packet as it comes, once. What has come it tells in a [`Sack`]: the number
//! expected, which of the next packets have come, how many have come again, and for how long it has
//! held this back. It does so
//!
//! - at once for the first packet after a pause, for every second one, and when a packet comes out
//!   of order, fills a gap or comes again;
//! - otherwise when the packet has waited (`after`), unless data goes the other way before, which
//!   carries the number expected.
//!
//! What is due is made when it is asked for: who hands in a heap of frames and then asks what to do
//! gets one Sack.
//!
//! # Sender
//!
//! It sends as much as the window allows (see below), in the order of numbers, and what is lost
//! before what is new. Also this is decided when it is asked for.
//!
//! *Losses* are found by order and time, in the spirit of RFC 8985. Every transmission has a turn.
//! When one has come, those that were sent before it and are not acknowledged are lost, if it is as
//! long since they were sent as the one that came took, and a margin for packets that overtake
//! others. Where none has ever been overtaken, three turns later are enough. So only what is
//! missing is sent again, and a packet sent again and lost again is found likewise.
//!
//! *Silence* means that the last packets or their acknowledgements are lost: after about two round
//! trips the last packet goes again, and then the oldest after a time-out that doubles, up to 25
//! ms, for ever. Nothing else is sent again until there is an answer. Perhaps it answers an earlier
//! transmission, and the other end was only busy: for a round trip, and no longer than 25 ms,
//! others may be answered as well. Then all that was sent before the probe is lost, as far as it
//! should have come.
//!
//! *Round trips* are measured with packets that were sent once, without the time for which the
//! acknowledgement was held.
//!
//! # Window
//!
//! What the way delivers in the smallest round trip and the time `ahead`, and a few packets. The
//! files of this folder tell how it is found (`window.rs`, `delivery.rs`) and what bounds it.
//!
//! # What the way carries
//!
//! A sender that sends less than the window does not see what the path would deliver of more. A
//! train of packets on an idle path shows it in a short time (`trains.rs`): policies that choose
//! among rails go by that.
//!
//! # Readings
//!
//! - A Sack has room for 512 packets. Where more are after the one expected, every other Sack tells
//!   of those up to the packet that came last.
//! - A Sack that speaks of packets that were never sent is refused, and so are a Pack and a Nack,
//!   which nobody sends here.
//! - A Sack that is overtaken by another is believed as far as it says something new.
//! - A Sack that says to have been held for longer than the packet is known to be under way tells
//!   no round trip.
//! - In the [`History`], P is an acknowledgement of something new, N a packet or several found
//!   lost, TO a try after silence.

mod backlog;
mod delivery;
mod losses;
mod marks;
mod receiver;
mod reordering;
mod round_trip;
mod sender;
mod trains;
mod window;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crosstie_units::Time;

use super::{Action, Frame, History, Input, Path, Sack, SelectiveSpec, Seq, Tally};
use crate::Machine;
use receiver::{Arrival, Receiver};
use sender::{Cause, Sender, Told};

/// One end of a channel with selective recovery.
#[derive(Debug, Clone)]
pub(super) struct Selective<T> {
    sender: Sender<T>,
    receiver: Receiver,
    /// What has come and what is acknowledged, until somebody asks.
    done: VecDeque<Done<T>>,
    tally: Tally,
}

/// What an action says of a packet that nothing has to be done for any more. An action has room for
/// more, and many wait here.
#[derive(Debug, Clone)]
enum Done<T> {
    Delivered(T),
    Acknowledged(T),
}

impl<T: Clone> Selective<T> {
    pub fn new(spec: &SelectiveSpec, first: Seq, expected: Seq) -> Selective<T> {
        Selective {
            sender: Sender::new(spec, first),
            receiver: Receiver::new(spec, expected),
            done: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    pub fn base(&self) -> Seq {
        self.sender.base()
    }

    pub fn outstanding(&self) -> usize {
        self.sender.outstanding()
    }

    pub fn queued(&self) -> usize {
        self.sender.queued()
    }

    pub fn leave(&mut self, now: Time) {
        self.sender.leave(now);
    }

    pub fn is_idle(&self) -> bool {
        self.outstanding() + self.queued() == 0 && self.done.is_empty() && self.receiver.is_idle()
    }

    #[inline]
    pub fn owes(&self) -> bool {
        self.receiver.is_due()
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn history(&self) -> &History {
        self.sender.history()
    }

    pub fn path(&self) -> Path {
        self.sender.path()
    }

    #[inline]
    fn data(&mut self, now: Time, seq: Seq, ack: Seq, item: T) {
        if !self.sender.is_possible(ack) {
            self.tally.refused += 1;
            return;
        }
        match self.arrives(now, seq) {
            Arrival::New => self.done.push_back(Done::Delivered(item)),
            Arrival::Repeated => {}
            Arrival::Beyond => return,
        }
        self.cumulative(now, ack);
    }

    /// Returns true if a packet is new.
    #[inline]
    pub fn receive(&mut self, now: Time, seq: Seq) -> bool {
        self.arrives(now, seq) == Arrival::New
    }

    #[inline]
    fn arrives(&mut self, now: Time, seq: Seq) -> Arrival {
        let arrival = self.receiver.data(now, seq, self.sender.ride());
        match arrival {
            Arrival::New => self.tally.delivered += 1,
            Arrival::Repeated => self.tally.duplicates += 1,
            Arrival::Beyond => self.tally.refused += 1,
        }
        arrival
    }

    /// Everything before a number has come at the other end.
    #[inline]
    fn cumulative(&mut self, now: Time, ack: Seq) {
        // Where nothing goes the other way, every packet repeats the same number.
        if ack != self.sender.base() {
            let Selective { sender, done, tally, .. } = self;
            let told = sender.cumulative(now, ack, |item| acknowledged(item, done, tally));
            self.count(told);
        }
    }

    #[inline]
    fn sack(&mut self, now: Time, sack: &Sack) {
        let Selective { sender, done, tally, .. } = self;
        let told = sender.selective(now, sack, |item| acknowledged(item, done, tally));
        self.count(told);
    }

    #[inline]
    fn count(&mut self, told: Told) {
        match told {
            Told::News => {}
            Told::Nothing => self.tally.stale += 1,
            Told::Impossible => self.tally.refused += 1,
        }
    }
}

#[inline]
fn acknowledged<T>(item: T, done: &mut VecDeque<Done<T>>, tally: &mut Tally) {
    tally.acknowledged += 1;
    done.push_back(Done::Acknowledged(item));
}

impl<T: Clone> Machine for Selective<T> {
    type Input = Input<T>;
    type Action = Action<T>;

    #[inline]
    fn handle(&mut self, now: Time, input: Input<T>) {
        match input {
            Input::Send { item, bytes, rides } => self.sender.send(item, bytes, rides),
            Input::Frame(Frame::Data { seq, ack, item }) => self.data(now, seq, ack, item),
            Input::Frame(Frame::Sack(sack)) => self.sack(now, &sack),
            Input::Frame(Frame::Pack(ack)) => self.cumulative(now, ack),
            Input::Frame(Frame::Nack(_)) => self.tally.refused += 1,
            Input::Corrupt => self.tally.corrupt += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.sender.expire(now);
        self.receiver.expire(now);
    }

    #[inline]
    fn poll_action(&mut self, now: Time) -> Option<Action<T>> {
        match self.done.pop_front() {
            Some(Done::Delivered(item)) => return Some(Action::Deliver(item)),
            Some(Done::Acknowledged(item)) => return Some(Action::Acknowledged(item)),
            None => {}
        }
        // What is missing is told before data that would not tell it.
        if !self.receiver.is_detailed()
            && let Some((seq, item, rides, cause)) = self.sender.poll(now)
        {
            match cause {
                Cause::First => self.tally.first += 1,
                Cause::Lost => self.tally.fast += 1,
                Cause::Silence => self.tally.timeout += 1,
            }
            let ack = if rides { self.receiver.ride() } else { self.receiver.expected() };
            return Some(Action::Transmit(Frame::Data { seq, ack, item }));
        }
        if self.receiver.is_due() {
            self.tally.sacks += 1;
            return Some(Action::Transmit(Frame::Sack(self.receiver.sack(now))));
        }
        None
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        match (self.sender.deadline(), self.receiver.deadline()) {
            (Some(sender), Some(receiver)) => Some(sender.min(receiver)),
            (sender, receiver) => sender.or(receiver),
        }
    }
}
