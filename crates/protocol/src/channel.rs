//! The reliable channel between two nodes on one rail: go-back-N with fast retransmit and Stall, of
//! Tam, "Performance Studies of High-Speed Communication on Commodity Cluster" (PhD thesis, 2001;
//! cited as \[tam\]).
//!
//! An [`Endpoint`] is one end, a [`Machine`](crate::Machine): it is told what there is to send and
//! which frames have come, and says which frames to transmit and what to deliver. It trusts nothing
//! that comes from outside: frames that cannot be are counted and change nothing.
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
//! - In Stall, a Nack of a later packet is a lost Pack and a Nack; one of the same packet is old news.
//! - A Nack after which nothing is outstanding is a Pack: without a timer, Stall would have no end.
//! - Old Packs and Nacks are ignored, and do not end a Stall.
//! - A duplicate is answered by a Pack, at once in every style: its sender may have missed one.
//! - A packet that the sender's window cannot reach, and the acknowledgement of a packet that was
//!   never sent, are refused with all that their frame says.
//! - A timer that expires in simple go-back-N is that of the oldest packet, since all are restarted
//!   together.
//! - All data carries an acknowledgement number, and is the acknowledgement of packets whose Pack is
//!   still waiting; a Nack, and the Pack for a duplicate, are too.
//! - A whole window of packets in order has a Pack at once in every style: its sender is waiting.
//! - In the [`History`], P is any acknowledgement that lets the window slide, on data or not, and N
//!   a Nack that is heeded.
//!
//! ```
//! use crosstie_protocol::Machine;
//! use crosstie_protocol::channel::{Action, ChannelSpec, Endpoint, Frame, Input, Seq};
//! use crosstie_units::Time;
//!
//! let timeout = Time::from_ns(50_000);
//! let spec = ChannelSpec { window: 2, timeout, every: 1, after: timeout, simple: false };
//! let mut sender = Endpoint::new(spec)?;
//! let now = Time::ZERO;
//! for word in ["never", "odd", "or", "even"] {
//!     sender.handle(now, Input::Send(word));
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
mod endpoint;
mod frame;
mod history;
mod kind;
mod output;
mod receiver;
mod sender;
mod seq;
mod spec;
pub mod table;
mod tally;

pub use endpoint::{Action, Endpoint, Input};
pub use frame::{Frame, FrameError, HEADER, LONGEST};
pub use history::{History, Occurrence};
pub use kind::{Acknowledge, ChannelKind};
pub use seq::Seq;
pub use spec::{ChannelError, ChannelSpec};
pub use tally::Tally;

#[cfg(test)]
mod tests;
