//! Quantities and randomness: the bottom layer of Crosstie.
//!
//! Every duration is a [`Time`] in integer picoseconds, every size a [`Bytes`], every speed a
//! [`Rate`]. All three parse from and print to text with units ("5 ns", "64 KiB", "400 MB/s"), and
//! refuse a bare number so that no file ever leaves a unit to be guessed.
//!
//! Values that come from files are read within their [`range`]; what may be chosen in them is
//! [`declared`] once.
//!
//! Randomness starts at a [`Seed`]. Each consumer asks the seed for its own named [`Stream`], so
//! that adding a consumer never shifts the numbers another one sees.

mod bytes;
mod capacity;
mod cost;
pub mod declared;
mod misfit;
mod quantity;
pub mod range;
mod rate;
mod recurrence;
mod seed;
mod time;

pub use bytes::Bytes;
pub use capacity::Capacity;
pub use cost::Cost;
pub use misfit::Misfit;
pub use quantity::QuantityError;
pub use rate::Rate;
pub use recurrence::Recurrence;
pub use seed::{Seed, Stream};
pub use time::Time;
