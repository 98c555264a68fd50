//! What communication costs on paper.
//!
//! [`Parameters`] say what a packet takes, stage by stage, as functions of its length and of the number of
//! nodes. From them follow closed forms, as in chapter 2 of Tam's thesis: of a [`Transfer`] and of a
//! [`PacketTree`]. The rest of the crate goes on where these end:
//!
//! - [`price`] evaluates any schedule of `crosstie-collective` under the same parameters and says what the time is
//!   spent on;
//! - [`congestion`] says what becomes of many flows into one port whose buffer is finite;
//! - [`fit`] goes the other way, from measurements to parameters.
//!
//! The thesis is Anthony T. C. Tam, *Performance Studies of High-Speed Communication on Commodity Cluster*,
//! University of Hong Kong, 2001, here "tam". Where it is silent or its forms do not hold, the page of a module says
//! what is done.

mod broadcast;
pub mod congestion;
mod cost;
pub mod fit;
mod parameters;
pub mod price;
#[cfg(test)]
mod testing;
mod transfer;

pub use broadcast::{Form, PacketTree};
pub use congestion::Architecture;
pub use cost::Cost;
pub use parameters::{Bandwidth, Buffer, Copies, Packet, Parameters, Stage, ethernet_gap};
pub use transfer::{Cut, Transfer, printed_2_6, printed_3_1};
