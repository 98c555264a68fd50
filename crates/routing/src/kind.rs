//! All routings there are. This is the one place that lists them: a kind is an arm of
//! [`RoutingKind`], and what it is stands in its own file.
//!
//! A kind declares itself: its name, its keys with their defaults and ranges, a paragraph that
//! describes it, what it needs of a network and what it promises about deadlock. Experiment files,
//! the command line and its lists are made from these declarations. Every match that a new kind has
//! to answer is in this file and has no wildcard, so that the compiler asks for what is missing.

mod auto;
mod balanced_itb;
mod declaration;
mod dfs;
mod dfs_itb;
mod minimal;
mod shortest;
mod smart;
mod tree_adaptive;
mod tree_deterministic;
mod up_down;
mod up_down_itb;
mod up_down_mitb;

use crosstie_fabric::{Fabric, Shape};
use crosstie_units::{Seed, declared};
use serde::{Deserialize, Serialize};

pub use auto::Auto;
pub use balanced_itb::BalancedItb;
pub use declaration::{Declaration, Need, Promise};
pub use dfs::Dfs;
pub use dfs_itb::DfsItb;
pub use minimal::Minimal;
pub use smart::Smart;
pub use up_down::UpDown;
pub use up_down_itb::UpDownItb;
pub use up_down_mitb::UpDownMitb;

use crate::{Routing, RoutingError, Shortest, TreeAdaptive, TreeDeterministic};

/// A kind of routing, with its keys.
///
/// Where a kind draws at random among equally good routes, its `seed` is the number from which the
/// draws follow; `None` stands for the seed of whoever asks for routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum RoutingKind {
    /// Whichever suits the network.
    Auto(Auto),
    /// Up a tree by any free link, then down the only way.
    TreeAdaptive {},
    /// Up a tree by links fixed by the destination, then down the only way.
    TreeDeterministic {},
    /// Any network, along shortest paths.
    Shortest {},
    /// Any network, along minimal routes that may deadlock.
    Minimal(Minimal),
    /// Shortest routes that go up a breadth-first tree and then down (UD).
    UpDown(UpDown),
    /// Shortest routes that go up a depth-first tree and then down (DFS).
    Dfs(Dfs),
    /// Balanced routes over turns chosen for balance (SMART).
    Smart(Smart),
    /// Minimal routes, legal ones first, with stops where no minimal route is legal (UD_MITB).
    UpDownMitb(UpDownMitb),
    /// Any minimal routes, with stops where they are not legal (UD_ITB).
    UpDownItb(UpDownItb),
    /// Minimal routes with stops where they are not legal under DFS (DFS_ITB).
    DfsItb(DfsItb),
    /// Balanced minimal routes with stops where they would form a cycle (B_ITB).
    BalancedItb(BalancedItb),
}

impl RoutingKind {
    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            RoutingKind::Auto(_) => &auto::DECLARATION,
            RoutingKind::TreeAdaptive {} => &tree_adaptive::DECLARATION,
            RoutingKind::TreeDeterministic {} => &tree_deterministic::DECLARATION,
            RoutingKind::Shortest {} => &shortest::DECLARATION,
            RoutingKind::Minimal(_) => &minimal::DECLARATION,
            RoutingKind::UpDown(_) => &up_down::DECLARATION,
            RoutingKind::Dfs(_) => &dfs::DECLARATION,
            RoutingKind::Smart(_) => &smart::DECLARATION,
            RoutingKind::UpDownMitb(_) => &up_down_mitb::DECLARATION,
            RoutingKind::UpDownItb(_) => &up_down_itb::DECLARATION,
            RoutingKind::DfsItb(_) => &dfs_itb::DECLARATION,
            RoutingKind::BalancedItb(_) => &balanced_itb::DECLARATION,
        }
    }

    /// The routes of a fabric, and the kind that made them: what [`Auto`] stands for on this
    /// fabric, else this one. A kind that draws at random and has no seed of its own draws from
    /// `seed`.
    pub fn routes(
        self,
        fabric: &Fabric,
        seed: Seed,
    ) -> Result<(RoutingKind, Box<dyn Routing>), RoutingError> {
        let routes: Box<dyn Routing> = match self {
            RoutingKind::Auto(auto) => return auto.routes(fabric, seed),
            RoutingKind::TreeAdaptive {} => Box::new(TreeAdaptive::new(fabric)?),
            RoutingKind::TreeDeterministic {} => Box::new(TreeDeterministic::new(fabric)?),
            RoutingKind::Shortest {} => Box::new(Shortest::new(fabric)),
            RoutingKind::Minimal(minimal) => Box::new(minimal.routes(fabric, seed)?),
            RoutingKind::UpDown(up_down) => Box::new(up_down.routes(fabric, seed)?),
            RoutingKind::Dfs(dfs) => Box::new(dfs.routes(fabric, seed)?),
            RoutingKind::Smart(smart) => Box::new(smart.routes(fabric, seed)?),
            RoutingKind::UpDownMitb(mitb) => Box::new(mitb.routes(fabric, seed)?),
            RoutingKind::UpDownItb(itb) => Box::new(itb.routes(fabric, seed)?),
            RoutingKind::DfsItb(itb) => Box::new(itb.routes(fabric, seed)?),
            RoutingKind::BalancedItb(itb) => Box::new(itb.routes(fabric, seed)?),
        };
        Ok((self, routes))
    }

    /// The place of its seed, if it draws at random.
    fn own_seed(&mut self) -> Option<&mut Option<Seed>> {
        match self {
            RoutingKind::TreeAdaptive {}
            | RoutingKind::TreeDeterministic {}
            | RoutingKind::Shortest {} => None,
            RoutingKind::Auto(auto) => Some(&mut auto.seed),
            RoutingKind::Minimal(minimal) => Some(&mut minimal.seed),
            RoutingKind::UpDown(up_down) => Some(&mut up_down.seed),
            RoutingKind::Dfs(dfs) => Some(&mut dfs.seed),
            RoutingKind::Smart(smart) => Some(&mut smart.seed),
            RoutingKind::UpDownMitb(mitb) => Some(&mut mitb.seed),
            RoutingKind::UpDownItb(itb) => Some(&mut itb.seed),
            RoutingKind::DfsItb(itb) => Some(&mut itb.seed),
            RoutingKind::BalancedItb(itb) => Some(&mut itb.seed),
        }
    }

    /// The routing of a fabric of this shape for which nobody names one.
    pub fn usual(shape: Shape) -> RoutingKind {
        match shape {
            Shape::Tree(_) => RoutingKind::TreeAdaptive {},
            Shape::Single => RoutingKind::Shortest {},
            Shape::Irregular => RoutingKind::Auto(Auto::default()),
        }
    }

    /// Every kind, with the defaults of its keys, in the order of their declaration.
    pub fn all() -> Vec<RoutingKind> {
        let plain = |name: &&str| {
            let read = serde_json::from_value(serde_json::json!({ *name: {} }));
            read.expect("every key of a routing has a default")
        };
        declared::choices::<RoutingKind>().iter().map(plain).collect()
    }

    /// Its name, as in experiment files.
    pub fn name(&self) -> &'static str {
        self.declaration().name
    }

    /// The names of its keys.
    pub fn keys(&self) -> &'static [&'static str] {
        declared::keys::<RoutingKind>(self.name())
    }

    /// Whether it needs something of the network it is used on.
    pub fn needs(&self, need: Need) -> bool {
        self.declaration().needs.contains(&need)
    }

    /// The same kind, with this seed if it draws at random and has none of its own.
    pub fn seeded(mut self, seed: Seed) -> RoutingKind {
        if let Some(own) = self.own_seed() {
            own.get_or_insert(seed);
        }
        self
    }

    /// A kind that exists on the same fabrics and is found sooner: how long Smart searches decides
    /// how good its routes are, not whether there are any.
    pub fn soonest(self) -> RoutingKind {
        if let RoutingKind::Smart(smart) = self {
            return RoutingKind::Smart(Smart { moves: 0, ..smart });
        }
        self
    }
}

#[cfg(test)]
mod tests;
