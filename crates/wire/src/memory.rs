//! Shared memory between the ranks of one machine.
//!
//! Ranks exchange *records*, short strings of bytes, through rings in shared memory, without any
//! system call. A long message goes by one copy out of the memory of its sender, where the kernel
//! allows that. A rank that has nothing to do can sleep until its *bell* rings.
//!
//! | file | is |
//! |---|---|
//! | `peers` | [`Memory`]: the peers of a rank on its machine |
//! | `driver` | how it is offered and connected, as drivers of rails are |
//! | `ring` | a ring of records between two ranks |
//! | `sleep` | how a rank falls asleep without missing anything |
//! | `word` | what these two need of shared words; models of the memory bring their own |
//! | `bell` | what wakes a rank |
//! | `segment`, `layout` | the file in which the peers of a rank write, and where what is in it |
//! | `mapping`, `lines` | a file in memory, and the ground of a ring in it |
//! | `folder` | where segments are, and what they are called |
//! | `reading`, `grant` | one copy, out of the memory of a peer, and the right to it |
//! | `machine` | which ranks can share memory |
//! | `elsewhere` | systems without all this |
//!
//! [`Memory`] is a [`Driver`](crate::rail::Driver) as rails are: ranks offer it to each other as a
//! device whose network is their machine, exchange addresses (the names of segments) with those of
//! rails, and learn its capabilities by the same flags. It is no [`Rail`](crate::rail::Rail): what
//! it carries arrives once and in order, so that nothing has to be cut into datagrams, tagged,
//! numbered, acknowledged or sent again, and long messages take one copy without passing the ring
//! at all. The layer of neighbours in `rank` uses it as it is.
//!
//! Peers are not believed: nothing that they write into shared memory makes this process read or
//! write where it must not, and a peer that writes what cannot be is reported ([`Memory::broken`],
//! [`Memory::fault`]).

mod driver;
mod error;
mod fault;
mod grant;

#[cfg(unix)]
mod bell;
#[cfg(unix)]
mod folder;
#[cfg(all(unix, any(test, feature = "bare")))]
pub(crate) mod fuzz;
#[cfg(unix)]
mod layout;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod machine;
#[cfg(unix)]
mod mapping;
#[cfg(unix)]
mod peers;
#[cfg(unix)]
mod reading;
#[cfg(unix)]
mod ring;
#[cfg(unix)]
mod segment;
#[cfg(unix)]
mod sleep;
#[cfg(unix)]
mod word;

#[cfg(not(unix))]
mod elsewhere;

pub(crate) use driver::{is_offer, offer};
pub use error::MemoryError;
pub use fault::Fault;
pub use grant::Grant;

#[cfg(unix)]
pub use {
    bell::Bell,
    machine::{machine, shares_cores},
    peers::{Memory, sweep_up},
};

#[cfg(not(unix))]
pub use elsewhere::{Memory, machine, shares_cores};
