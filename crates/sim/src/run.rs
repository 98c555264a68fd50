//! Work done on nodes and a network, and what it shows.
//!
//! A [`Trial`] is open-loop traffic until its means are steady, or a search for the load at which
//! they no longer are. A [`Play`] is a closed-loop application until it is done.

mod findings;
mod ledger;
mod marks;
mod patience;
mod play;
mod search;
#[cfg(test)]
mod tests;
mod trial;

pub use findings::{ChannelUse, Ending, Findings, Measured, Starvation};
pub use play::{Delivery, Play, Played};
pub use search::{SearchSpec, Searched, TrialError};
pub use trial::{Effort, Trial};
