//! The shape of every protocol.

use crosstie_units::Time;

/// A protocol endpoint. It never blocks, reads no clock and draws no entropy.
///
/// A driver feeds inputs and takes actions until there are none; the simulator and the real runtime
/// are two drivers of the same machines. Time never runs backwards from one call to the next.
pub trait Machine {
    /// What happens to it: a packet has come in, the application asks for something.
    type Input;
    /// What it wants done: transmit on a rail, deliver to the application.
    type Action;

    /// Takes note of something that has happened.
    fn handle(&mut self, now: Time, input: Self::Input);

    /// Takes note that the time of [`Machine::poll_timeout`] has come.
    fn handle_timeout(&mut self, now: Time);

    /// The next thing to be done; to be asked after every input until there is nothing.
    fn poll_action(&mut self, now: Time) -> Option<Self::Action>;

    /// When [`Machine::handle_timeout`] wants to be called, if nothing happens before.
    fn poll_timeout(&self) -> Option<Time>;
}
