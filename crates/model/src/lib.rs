//! What communication costs on paper.
//!
//! [`Parameters`] say what a packet takes, stage by stage, as functions of its length and of the
//! number of nodes. From them follow closed forms, as in chapter 2 of Tam's thesis: of a
//! [`Transfer`], of a [`PacketTree`] and of a complete [`Exchange`]. The rest of the crate goes on
//! where these end:
//!
//! - [`price`] evaluates any schedule of `crosstie-collective` under the same parameters and says
//!   what the time is spent on;
//! - [`Advice`] ranks the algorithms of a collective operation, at once;
//! - [`congestion`] says what becomes of many flows into one port whose buffer is finite;
//! - [`fit`] goes the other way, from measurements to parameters.
//!
//! ```
//! use crosstie_collective::Operation;
//! use crosstie_model::{Cost, Parameters, Transfer, price};
//!
//! let us = |us: u64| Cost::fixed(crosstie_units::Time::from_ns(us * 1_000));
//! let cluster = Parameters {
//!     send: us(12),
//!     send_gap: us(123),
//!     latency: us(150),
//!     receive_gap: us(123),
//!     receive: us(27),
//!     ..Parameters::default()
//! };
//! let message = Transfer::one_way(&cluster, 14_920, 16);
//! assert_eq!(message.time.to_string(), "1.296 ms");
//! assert_eq!(message.bottleneck.to_string(), "g_s");
//!
//! let gather = Operation::all()[2].collective(16)?.schedule;
//! let price = price::price(&gather, &cluster, 16)?;
//! assert_eq!((price.time.to_string().as_str(), price.bottleneck.name()), ("1.74 ms", "gap"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The thesis is Anthony T. C. Tam, *Performance Studies of High-Speed Communication on Commodity
//! Cluster*, University of Hong Kong, 2001, here "tam". Where it is silent or its forms do not
//! hold, the page of a module says what is done.

mod advice;
mod broadcast;
mod cluster;
pub mod congestion;
mod exchange;
pub mod fit;
mod packet;
mod parameters;
pub mod price;
mod spread;
#[cfg(test)]
mod testing;
mod transfer;
mod uplink;

pub use advice::Advice;
pub use broadcast::{Form, PacketTree};
pub use cluster::{Acknowledgements, Cluster, Messages, Processors, Rail};
pub use congestion::Architecture;
pub use crosstie_units::Cost;
pub use exchange::Exchange;
pub use packet::{Packet, Stage};

pub use parameters::{Bandwidth, Buffer, Copies, Parameters, ethernet_gap};
pub use transfer::{Cut, Transfer, printed_2_6, printed_3_1};
pub use uplink::Uplink;
