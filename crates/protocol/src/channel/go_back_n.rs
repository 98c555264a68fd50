//! Go-back-N with fast retransmit and Stall, of Tam, "Performance Studies of High-Speed
//! Communication on Commodity Cluster" (PhD thesis, 2001; cited as \[tam\]).
//!
//! # Sender
//!
//! It numbers packets, sends up to W_FC of them, and keeps them until they are acknowledged. Each
//! packet outstanding has a timer of the same length; sending it again restarts it. Acknowledgement
//! numbers are cumulative: Pack(n) says that everything before n has arrived, and so does Nack(n).
//!
//! | happens | in Normal | in Stall |
//! |---|---|---|
//! | there is data, and room in the window | send it | wait |
//! | Pack(n) | base = n | base = n, enter Normal |
//! | Nack(e) | base = e, send all packets outstanding again, enter Stall | ignore; if e > base, as in Normal |
//! | the timer of a packet expires | send that packet again | send that packet again |
//!
//! So a sender whose fast retransmission has failed is silent for a whole time-out: a load less on
//! a buffer that overflows.
//!
//! # Receiver
//!
//! | packet | first one since the last in order | later ones |
//! |---|---|---|
//! | the one expected | deliver, Pack by the chosen style | the same |
//! | a later one | drop, Nack | drop |
//! | an earlier one | drop, Pack at once | the same |
//!
//! *Simple* go-back-N knows neither Nack nor Stall, and a time-out sends all packets outstanding
//! again. [`table`] has every cell, and the machines run from it.
//!
//! # Readings
//!
//! The thesis draws its states and describes them in prose. Where that is silent:
//!
//! - Nack(e) acknowledges everything before e.
//! - In Stall, a Nack of a later packet is a lost Pack and a Nack; one of the same packet is old
//!   news.
//! - A Nack after which nothing is outstanding is a Pack: without a timer, Stall would have no end.
//! - Old Packs and Nacks are ignored, and do not end a Stall.
//! - A duplicate is answered by a Pack, at once in every style: its sender may have missed one.
//! - A packet that the sender's window cannot reach, and the acknowledgement of a packet that was
//!   never sent, are refused with all that their frame says.
//! - A timer that expires in simple go-back-N is that of the oldest packet, since all are restarted
//!   together.
//! - All data carries an acknowledgement number, and is, where it has room for that, the
//!   acknowledgement of packets whose Pack is still waiting; a Nack, and the Pack for a duplicate,
//!   are too.
//! - A whole window of packets in order has a Pack at once in every style: its sender is waiting.
//! - A window says how much may be on its way to a node, and buffers are chosen by it. So no Pack
//!   is sent beside a full one if there is more to send: Packs for less than half a window wait for
//!   room, as long as those of other styles at most, and go on the packet that goes next, or take
//!   the place of one that cannot carry an acknowledgement. A style that acknowledges at once has
//!   no time to wait, and its Packs take no place.
//! - In the [`History`], P is any acknowledgement that lets the window slide, on data or not, and N
//!   a Nack that is heeded.
//!
//! ```
//! use crosstie_protocol::Machine;
//! use crosstie_protocol::channel::{Action, Endpoint, Frame, GoBackNSpec, Input, Seq};
//! use crosstie_units::Time;
//!
//! let timeout = Time::from_ns(50_000);
//! let spec = GoBackNSpec { window: 2, timeout, every: 1, after: timeout, simple: false };
//! let mut sender = Endpoint::new(spec)?;
//! let now = Time::ZERO;
//! for word in ["never", "odd", "or", "even"] {
//!     sender.handle(now, Input::Send { item: word, bytes: 1000, rides: true });
//! }
//! let mut sent = |sender: &mut Endpoint<_>| -> Vec<&str> {
//!     let actions = std::iter::from_fn(|| sender.poll_action(now));
//!     let words = actions.filter_map(|action| match action {
//!         Action::Transmit(frame) => frame.item().copied(),
//!         _ => None,
//!     });
//!     words.collect()
//! };
//! assert_eq!(sent(&mut sender), ["never", "odd"]);
//! sender.handle(now, Input::Frame(Frame::Pack(Seq(1))));
//! assert_eq!(sent(&mut sender), ["or"]);
//! sender.handle(now, Input::Frame(Frame::Nack(Seq(1))));
//! assert_eq!(sent(&mut sender), ["odd", "or"]);
//! # Ok::<(), crosstie_protocol::channel::ChannelError>(())
//! ```

mod acknowledgement;
mod output;
mod receiver;
mod sender;
pub mod table;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crosstie_units::Time;

use super::{Action, Frame, GoBackNSpec, History, Input, Seq, Tally};
use crate::Machine;
use acknowledgement::Acknowledgement;
use output::Output;
use receiver::Receiver;
use sender::Sender;
use table::{SenderEvent, SenderState};

/// One end of a go-back-N channel.
#[derive(Debug, Clone)]
pub(super) struct GoBackN<T> {
    sender: Sender<T>,
    receiver: Receiver,
    output: Output<T>,
}

impl<T: Clone> GoBackN<T> {
    pub fn new(spec: &GoBackNSpec, first: Seq, expected: Seq) -> GoBackN<T> {
        let output = Output {
            wanted: VecDeque::new(),
            tally: Tally::default(),
            acknowledgement: Acknowledgement::new(spec, expected),
        };
        GoBackN { sender: Sender::new(spec, first), receiver: Receiver::new(spec), output }
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

    pub fn is_stalled(&self) -> bool {
        self.sender.state() == SenderState::Stall
    }

    pub fn is_idle(&self) -> bool {
        self.outstanding() + self.queued() == 0
            && self.output.wanted.is_empty()
            && self.output.acknowledgement.deadline().is_none()
    }

    pub fn owes(&self) -> bool {
        !self.output.wanted.is_empty()
    }

    pub fn tally(&self) -> &Tally {
        &self.output.tally
    }

    pub fn history(&self) -> &History {
        self.sender.history()
    }

    #[inline]
    fn data(&mut self, now: Time, seq: Seq, ack: Seq, item: T) {
        if self.sender.pack(ack) == SenderEvent::Beyond {
            self.output.tally.refused += 1;
            return;
        }
        // Received first, so that what is sent next acknowledges it.
        let possible = self.arrives(now, seq, |output| output.deliver(item));
        let GoBackN { sender, output, .. } = self;
        // Where nothing goes the other way, every packet repeats the same number.
        if possible && ack != sender.base() {
            sender.act(now, sender.pack(ack), ack, output);
        }
    }

    /// Returns true if a packet is the one expected.
    pub fn receive(&mut self, now: Time, seq: Seq) -> bool {
        let mut is_expected = false;
        self.arrives(now, seq, |_| is_expected = true);
        is_expected
    }

    /// A packet has come, which is delivered if it is the one expected; whether it was one that can
    /// be.
    #[inline]
    fn arrives(&mut self, now: Time, seq: Seq, deliver: impl FnOnce(&mut Output<T>)) -> bool {
        let GoBackN { sender, receiver, output } = self;
        let packs = output.tally.packs;
        let possible = receiver.data(now, seq, sender.is_full(), output, deliver);
        if output.tally.packs > packs && output.acknowledgement.may_wait() {
            sender.pack_goes();
        }
        possible
    }
}

impl<T: Clone> Machine for GoBackN<T> {
    type Input = Input<T>;
    type Action = Action<T>;

    #[inline]
    fn handle(&mut self, now: Time, input: Input<T>) {
        let GoBackN { sender, output, .. } = self;
        match input {
            Input::Send { item, rides, .. } => sender.send(now, item, rides, output),
            Input::Frame(Frame::Data { seq, ack, item }) => self.data(now, seq, ack, item),
            Input::Frame(Frame::Pack(n)) => sender.act(now, sender.pack(n), n, output),
            Input::Frame(Frame::Nack(e)) => sender.act(now, sender.nack(e), e, output),
            Input::Frame(Frame::Sack(_)) => output.tally.refused += 1,
            Input::Corrupt => output.tally.corrupt += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.sender.expire(now, &mut self.output);
        if self.output.acknowledgement.deadline().is_some_and(|deadline| deadline <= now) {
            self.output.pack();
        }
    }

    #[inline]
    fn poll_action(&mut self, _now: Time) -> Option<Action<T>> {
        self.output.wanted.pop_front().map(Action::from)
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        match (self.sender.deadline(), self.output.acknowledgement.deadline()) {
            (Some(timer), Some(pack)) => Some(timer.min(pack)),
            (timer, pack) => timer.or(pack),
        }
    }
}
