//! The reliable channel between two nodes on one rail.
//!
//! An [`Endpoint`] is one end, a [`Machine`](crate::Machine): it is told what there is to send and
//! which frames have come, and says which frames to transmit and what to deliver. It trusts nothing
//! that comes from outside: frames that cannot be are counted and change nothing.
//!
//! There are two ways to send again what is lost, behind the same interface:
//!
//! - [`go_back_n`]: a fixed window, a fixed time-out, packets in order; as a thesis describes it.
//! - [`selective`]: packets as they come, only what is missing is sent again, and the window finds
//!   itself.

mod arrivals;
mod endpoint;
mod frame;
pub mod go_back_n;
mod history;
mod kind;
mod path;
pub mod selective;
mod seq;
mod spec;
mod tally;

pub use arrivals::Arrivals;
pub use endpoint::{Action, Endpoint, Input};
pub use frame::{Frame, FrameError, HEADER, LONGEST, Sack};
pub use go_back_n::table;
pub use history::{History, Occurrence};
pub use kind::{Acknowledge, ChannelKind, Recommended};
pub use path::Path;
pub use seq::Seq;
pub use spec::{ChannelError, ChannelSpec, GoBackNSpec, SelectiveSpec};
pub use tally::Tally;
