//! Open-loop traffic: who sends how much to whom, and when.
//!
//! *Open loop* means that messages start whether or not the network keeps up; what it cannot take
//! waits at the source. The unit of time is the *cycle*, of the link.
//!
//! An experiment describes it as a [`TrafficSpec`]: a load, a law of arrivals, a law of sizes and a
//! destination pattern, each declared here with its keys. On a fabric the destination becomes a
//! [`Pattern`], and the four of them a [`Demand`] from which [`Traffic`] is drawn. The mean time
//! between two messages of a host follows from the first three,
//!
//! ```text
//! interval = E[bytes per message] / load
//! ```
//!
//! with the mean of the sizes as really drawn, rounding included ([`Size::mean`]), so the load
//! offered is the load asked for. Load counts per host *that sends*: hosts which a pattern maps to
//! themselves stay silent and are left out ([`Traffic::senders`]).
//!
//! ```
//! use crosstie_work::traffic::{Arrival, Demand, Destination, Size, Traffic};
//! use crosstie_units::{Bytes, Seed};
//!
//! let fabric = crosstie_fabric::single(8)?;
//! let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let demand = Demand {
//!     load: 0.25,
//!     arrival: Arrival::Constant {},
//!     size: Size::Fixed { size: Bytes::new(16) },
//!     pattern: Destination::BitComplement {}.on(&fabric, &no_files)?,
//! };
//! let mut traffic = Traffic::new(Seed(1), &demand)?;
//! assert_eq!(traffic.interval(), 64.0);
//! let message = traffic.draw();
//! assert_eq!((message.to, message.bytes), (7 - message.from, 16));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrival;
mod destination;
mod error;
mod merge;
mod neighbourhood;
mod pattern;
mod share;
mod size;
mod source;
mod spec;

pub use arrival::Arrival;
pub use crosstie_units::Misfit;
pub use destination::{
    Along, Declaration, Destination, HotSpot, Local, Mixture, Permutation, Portion, Reader,
};
pub use error::TrafficError;
pub use neighbourhood::Neighbourhood;
pub use pattern::Pattern;
pub use size::Size;
pub(crate) use size::in_bytes;
pub use source::{Demand, Message, Traffic};
pub use spec::TrafficSpec;
