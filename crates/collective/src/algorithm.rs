//! All algorithms there are. An operation has its own enum of algorithms, and each algorithm its
//! own file.
//!
//! An algorithm declares itself: its name, its keys and a sentence. Every match that a new one has
//! to answer is in the file of its operation and has no wildcard, so that the compiler asks for
//! what is missing.
//!
//! Step after step means by dependencies: what belongs to a step waits until the sends and receives
//! of the step before are done, at the same rank.

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod binomial;
mod broadcast;
mod exclusive_scan;
mod fold;
mod gather;
mod reduce;
mod reduce_scatter;
mod ring;
mod round;
mod scan;
mod scatter;

pub use all_gather::AllGather;
pub use all_reduce::AllReduce;
pub use all_to_all::{AllToAll, Pairs, Permutation};
pub use barrier::Barrier;
pub use broadcast::Broadcast;
pub use exclusive_scan::ExclusiveScan;
pub use gather::Gather;
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use scan::Scan;
pub use scatter::Scatter;

/// What an operation or an algorithm says of itself, beside its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its name in experiment files.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub sentence: &'static str,
}

/// What the algorithms of an operation have in common.
macro_rules! choice {
    ($choice:ident) => {
        impl $choice {
            /// Its name, as in experiment files.
            pub fn name(&self) -> &'static str {
                self.declaration().name
            }

            /// What it does, in a sentence.
            pub fn sentence(&self) -> &'static str {
                self.declaration().sentence
            }

            /// The names of its keys.
            pub fn keys(&self) -> &'static [&'static str] {
                crosstie_units::declared::keys::<$choice>(self.name())
            }
        }
    };
}
use choice;
