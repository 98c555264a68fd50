//! What fuzzers call: plain functions of bytes that panic where something does not hold. The
//! programs around them are in the folder `fuzz` of the repository, with seeds; a test runs all
//! seeds, and what is made of them by chance, on every system.
//!
//! | target | bytes are |
//! |---|---|
//! | [`datagram`], [`envelope`], [`offers`], [`told`], [`addresses`] | what is read |
//! | [`options`] | what users have left in the environment |
//! | [`ring`] | records, and what a peer writes into shared memory besides |
//! | [`segment`] | the file of a peer, before it is opened |
//! | [`neighbour`] | what a rank does, and the records of another one on its machine that keeps to no rule |
//! | [`pair`] | what two ranks do, and what happens to their datagrams, rails and themselves |
//! | [`peer`] | what a rank does, and what another one sends that knows the secret and keeps to no rule |

mod air;
#[cfg(unix)]
mod neighbour;
mod pair;
mod parsers;
mod peer;
#[cfg(test)]
mod tests;

pub use pair::pair;
pub use parsers::{addresses, datagram, envelope, offers, options, told};
pub use peer::peer;

#[cfg(unix)]
pub use crate::memory::fuzz::{ring, segment};
#[cfg(unix)]
pub use neighbour::neighbour;

/// A function that fuzzers call.
pub type Target = fn(&[u8]);

/// All there are, by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("datagram", datagram),
    ("envelope", envelope),
    ("offers", offers),
    ("told", told),
    ("addresses", addresses),
    ("options", options),
    #[cfg(unix)]
    ("ring", ring),
    #[cfg(unix)]
    ("segment", segment),
    #[cfg(unix)]
    ("neighbour", neighbour),
    ("pair", pair),
    ("peer", peer),
];

pub(crate) use crosstie_launch::fuzz::Decisions;
