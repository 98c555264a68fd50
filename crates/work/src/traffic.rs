//! Open-loop traffic: who sends how much to whom, and when.
//!
//! *Open loop* means that messages start whether or not the network keeps up; what it cannot take
//! waits at the source. The unit of time is the *cycle*, of the link.
//!
//! A [`Traffic`] is built from a [`TrafficSpec`]: a load, a law of arrivals, a law of sizes and a
//! destination pattern. The mean time between two messages of a host follows from the first three,
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
//! use crosstie_work::traffic::{Arrival, Destination, Size, Traffic, TrafficSpec};
//! use crosstie_units::Seed;
//!
//! let spec = TrafficSpec {
//!     load: 0.25,
//!     arrival: Arrival::Constant,
//!     size: Size::Fixed(16),
//!     destination: Destination::BitComplement,
//! };
//! let mut traffic = Traffic::new(Seed(1), 8, &spec)?;
//! assert_eq!(traffic.interval(), 64.0);
//! let message = traffic.draw();
//! assert_eq!((message.to, message.bytes), (7 - message.from, 16));
//! # Ok::<(), crosstie_work::traffic::TrafficError>(())
//! ```

mod arrival;
mod destination;
mod error;
mod merge;
mod neighbourhood;
mod pattern;
mod size;
mod source;

pub use arrival::Arrival;
pub use destination::Destination;
pub use error::TrafficError;
pub use neighbourhood::Neighbourhood;
pub use pattern::Pattern;
pub use size::Size;
pub use source::{Message, Traffic, TrafficSpec};
