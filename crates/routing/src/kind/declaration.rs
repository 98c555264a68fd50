//! What a kind of routing says of itself.

use std::fmt;

/// What a kind of routing says of itself, beside its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its name in experiment files and on the command line.
    pub name: &'static str,
    /// What it does, in a paragraph.
    pub description: &'static str,
    /// What it needs of the network it is used on.
    pub needs: &'static [Need],
    /// What it says about deadlock.
    pub promise: Promise,
    /// Where it was published.
    pub paper: Option<&'static str>,
}

/// What a routing may need of the network it is used on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A fabric that is known to be a k-ary n-tree.
    Tree,
    /// NICs that pass on packets which stop at their host.
    InTransit,
}

/// What a kind says about deadlock on every network that it routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// It cannot deadlock, by the way its routes are made.
    DeadlockFree {
        /// Why not.
        because: &'static str,
    },
    /// Nothing: its routes are certified before they are used.
    Nothing,
}

impl Declaration {
    /// The networks it can route, in words.
    pub fn networks(&self) -> &'static str {
        match self.needs.contains(&Need::Tree) {
            true => "k-ary n-trees, pruned or not",
            false => "any network",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Tree => "a k-ary n-tree, pruned or not",
            Need::InTransit => "NICs with in-transit buffers",
        })
    }
}

/// The paper that compares the routings for irregular networks.
pub(super) const FLICH: &str = "Flich, López, Malumbres, Duato, Rokicki: Combining In-Transit \
                                Buffers with Optimized Routing Schemes to Boost the Performance of \
                                Networks with Source Routing";

/// The paper of the routings on trees.
pub(super) const PETRINI: &str = "Petrini, Hoisie, Feng, Graham: Performance Evaluation of the Quadrics \
                                  Interconnection Network, Appendix A";
