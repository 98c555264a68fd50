//! One end of a channel: a sender and a receiver, so that acknowledgements can ride on data.

use crosstie_units::Time;

use super::go_back_n::GoBackN;
use super::selective::Selective;
use super::{ChannelError, ChannelSpec, Frame, History, Path, Seq, Tally};
use crate::Machine;

/// What can happen to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<T> {
    /// There is something to send. Beyond the window it waits.
    Send {
        /// What it is.
        item: T,
        /// Its bytes on the wire, as far as a window counts them.
        bytes: u32,
        /// Whether an acknowledgement can ride on it. What has no room for one repeats an old
        /// number, or none.
        rides: bool,
    },
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
    /// This has arrived, and is delivered once: in the order in which it was sent by go-back-N, as
    /// it comes by selective recovery.
    Deliver(T),
    /// The other end has this: it is not kept any longer. Said once, in the same order.
    Acknowledged(T),
}

/// One end of the reliable channel between two nodes on one rail. `T` is what a packet carries or
/// what stands for it; it is cloned for every transmission.
#[derive(Debug, Clone)]
pub struct Endpoint<T>(Recovery<T>);

/// How it sends again what is lost.
#[derive(Debug, Clone)]
enum Recovery<T> {
    GoBackN(Box<GoBackN<T>>),
    Selective(Box<Selective<T>>),
}

/// Does the same with either kind.
macro_rules! either {
    ($endpoint:expr, $machine:ident => $do:expr) => {
        match $endpoint {
            Recovery::GoBackN($machine) => $do,
            Recovery::Selective($machine) => $do,
        }
    };
}

impl<T: Clone> Endpoint<T> {
    /// An idle endpoint, whose packets and whose peer's are numbered from 0.
    pub fn new(spec: impl Into<ChannelSpec>) -> Result<Endpoint<T>, ChannelError> {
        Endpoint::starting_at(spec, Seq(0), Seq(0))
    }

    /// An idle endpoint that numbers its packets from `first`, and whose peer does from `expected`.
    pub fn starting_at(
        spec: impl Into<ChannelSpec>,
        first: Seq,
        expected: Seq,
    ) -> Result<Endpoint<T>, ChannelError> {
        let spec = spec.into();
        spec.check()?;
        Ok(Endpoint(match &spec {
            ChannelSpec::GoBackN(spec) => {
                Recovery::GoBackN(Box::new(GoBackN::new(spec, first, expected)))
            }
            ChannelSpec::Selective(spec) => {
                Recovery::Selective(Box::new(Selective::new(spec, first, expected)))
            }
        }))
    }

    /// The number of the oldest packet that is not acknowledged; all before it are.
    pub fn base(&self) -> Seq {
        either!(&self.0, machine => machine.base())
    }

    /// Packets sent and not acknowledged: at most the window.
    pub fn outstanding(&self) -> usize {
        either!(&self.0, machine => machine.outstanding())
    }

    /// Packets that wait for room in the window, or for the end of a Stall.
    pub fn queued(&self) -> usize {
        either!(&self.0, machine => machine.queued())
    }

    /// Whether the sender is in Stall, which only go-back-N knows.
    pub fn is_stalled(&self) -> bool {
        match &self.0 {
            Recovery::GoBackN(machine) => machine.is_stalled(),
            Recovery::Selective(_) => false,
        }
    }

    /// Tells that a packet has come that carries no acknowledgement. Returns true if it is new, and
    /// as the channel has it in order: then the caller delivers it, once. It is the same as
    /// [`Input::Frame`] for drivers that have what it carries at hand.
    #[inline]
    pub fn receive(&mut self, now: Time, seq: Seq) -> bool {
        either!(&mut self.0, machine => machine.receive(now, seq))
    }

    /// Tells that all packets transmitted so far have waited below the channel, and leave only now:
    /// no round trip has begun before. None of them has been acknowledged.
    pub fn leave(&mut self, now: Time) {
        match &mut self.0 {
            // It measures nothing.
            Recovery::GoBackN(_) => {}
            Recovery::Selective(machine) => machine.leave(now),
        }
    }

    /// Returns true if an acknowledgement is to be sent now, and may not wait for data.
    #[inline]
    pub fn owes(&self) -> bool {
        either!(&self.0, machine => machine.owes())
    }

    /// Whether there is nothing to send, to do or to acknowledge.
    pub fn is_idle(&self) -> bool {
        either!(&self.0, machine => machine.is_idle())
    }

    /// What it has sent and received.
    pub fn tally(&self) -> &Tally {
        either!(&self.0, machine => machine.tally())
    }

    /// The events of its sender.
    pub fn history(&self) -> &History {
        either!(&self.0, machine => machine.history())
    }

    /// What its sender has found out about the way; `None` for go-back-N, which finds out nothing.
    pub fn path(&self) -> Option<Path> {
        match &self.0 {
            Recovery::GoBackN(_) => None,
            Recovery::Selective(machine) => Some(machine.path()),
        }
    }
}

impl<T: Clone> Machine for Endpoint<T> {
    type Input = Input<T>;
    type Action = Action<T>;

    #[inline]
    fn handle(&mut self, now: Time, input: Input<T>) {
        either!(&mut self.0, machine => machine.handle(now, input))
    }

    fn handle_timeout(&mut self, now: Time) {
        either!(&mut self.0, machine => machine.handle_timeout(now))
    }

    #[inline]
    fn poll_action(&mut self, now: Time) -> Option<Action<T>> {
        either!(&mut self.0, machine => machine.poll_action(now))
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        either!(&self.0, machine => machine.poll_timeout())
    }
}
