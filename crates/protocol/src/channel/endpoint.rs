//! One end of a channel: a sender and a receiver, so that acknowledgements can ride on data.

use std::collections::VecDeque;

use crosstie_units::Time;

use super::acknowledgement::Acknowledgement;
use super::output::Output;
use super::receiver::Receiver;
use super::sender::Sender;
use super::table::{SenderEvent, SenderState};
use super::{ChannelError, ChannelSpec, Frame, History, Seq, Tally};
use crate::Machine;

/// What can happen to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<T> {
    /// There is something to send. Beyond the window it waits.
    Send(T),
    /// A frame has come.
    Frame(Frame<T>),
    /// A frame has come that could not be read. It is counted.
    Corrupt,
}

/// What an endpoint wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<T> {
    /// Send a frame to the other end.
    Transmit(Frame<T>),
    /// This has arrived: in order, and once.
    Deliver(T),
    /// The other end has this: it is not kept any longer.
    Acknowledged(T),
}

/// One end of the reliable channel between two nodes on one rail. `T` is what a packet carries or
/// what stands for it; it is cloned for every transmission.
#[derive(Debug, Clone)]
pub struct Endpoint<T> {
    sender: Sender<T>,
    receiver: Receiver,
    output: Output<T>,
}

impl<T: Clone> Endpoint<T> {
    /// An idle endpoint, whose packets and whose peer's are numbered from 0.
    pub fn new(spec: ChannelSpec) -> Result<Endpoint<T>, ChannelError> {
        Endpoint::starting_at(spec, Seq(0), Seq(0))
    }

    /// An idle endpoint that numbers its packets from `first`, and whose peer does from `expected`.
    pub fn starting_at(
        spec: ChannelSpec,
        first: Seq,
        expected: Seq,
    ) -> Result<Endpoint<T>, ChannelError> {
        spec.check()?;
        let output = Output {
            actions: VecDeque::new(),
            tally: Tally::default(),
            acknowledgement: Acknowledgement::new(&spec, expected),
        };
        Ok(Endpoint { sender: Sender::new(&spec, first), receiver: Receiver::new(&spec), output })
    }

    /// Packets sent and not acknowledged: at most the window.
    pub fn outstanding(&self) -> usize {
        self.sender.outstanding()
    }

    /// Packets that wait for room in the window, or for the end of a Stall.
    pub fn queued(&self) -> usize {
        self.sender.queued()
    }

    /// Whether the sender is in Stall.
    pub fn is_stalled(&self) -> bool {
        self.sender.state() == SenderState::Stall
    }

    /// Whether there is nothing to send, to do or to acknowledge.
    pub fn is_idle(&self) -> bool {
        self.outstanding() + self.queued() == 0
            && self.output.actions.is_empty()
            && self.output.acknowledgement.deadline().is_none()
    }

    /// What it has sent and received.
    pub fn tally(&self) -> &Tally {
        &self.output.tally
    }

    /// The events of its sender.
    pub fn history(&self) -> &History {
        self.sender.history()
    }

    #[inline]
    fn data(&mut self, now: Time, seq: Seq, ack: Seq, item: T) {
        let Endpoint { sender, receiver, output } = self;
        if sender.pack(ack) == SenderEvent::Beyond {
            output.tally.refused += 1;
            return;
        }
        // Received first, so that what is sent next acknowledges it.
        let possible = receiver.data(now, seq, item, output);
        // Where nothing goes the other way, every packet repeats the same number.
        if possible && ack != sender.base() {
            sender.act(now, sender.pack(ack), ack, output);
        }
    }
}

impl<T: Clone> Machine for Endpoint<T> {
    type Input = Input<T>;
    type Action = Action<T>;

    #[inline]
    fn handle(&mut self, now: Time, input: Input<T>) {
        let Endpoint { sender, output, .. } = self;
        match input {
            Input::Send(item) => sender.send(now, item, output),
            Input::Frame(Frame::Data { seq, ack, item }) => self.data(now, seq, ack, item),
            Input::Frame(Frame::Pack(n)) => sender.act(now, sender.pack(n), n, output),
            Input::Frame(Frame::Nack(e)) => sender.act(now, sender.nack(e), e, output),
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
        self.output.actions.pop_front()
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        match (self.sender.deadline(), self.output.acknowledgement.deadline()) {
            (Some(timer), Some(pack)) => Some(timer.min(pack)),
            (timer, pack) => timer.or(pack),
        }
    }
}
