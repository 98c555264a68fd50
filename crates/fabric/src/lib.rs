//! The shape of a cluster network: hosts, switches, ports, links and channels.
//!
//! A [`Fabric`] is one rail: a graph whose nodes are hosts (the place where one NIC plugs in) and
//! switches. A *link* joins two ports; each link is two *channels*, one per direction. Fabrics come
//! from builders ([`tree()`], [`pruned_tree()`], [`single()`], [`two_level()`], [`irregular()`]) or
//! from files, and do not change afterwards.
//!
//! ```
//! use crosstie_fabric::{Metrics, tree};
//!
//! let qsnet = tree(4, 2)?;
//! let metrics = Metrics::of(&qsnet);
//! assert_eq!((metrics.hosts, metrics.switches, metrics.links), (16, 8, 32));
//! assert_eq!(metrics.distances.diameter(), 4);
//! # Ok::<(), crosstie_fabric::TreeError>(())
//! ```
//!
//! | format | read | write |
//! |---|---|---|
//! | BookSim's [`anynet`] | yes | yes, without ports |
//! | [`graphml`] | yes | yes |
//! | plain [`edge_list`] | yes | no |
//! | InfiniBand's [`ibnetdiscover`] | yes | no |
//! | Graphviz [`dot`] | no | yes |
//! | SVG picture ([`draw`]) | no | yes, small networks |
//!
//! [`Format`] tells which of them a file is in.

pub mod anynet;
pub mod dot;
pub mod draw;
pub mod edge_list;
mod format;
mod graph;
pub mod graphml;
pub mod ibnetdiscover;
mod irregular;
mod metrics;
#[cfg(test)]
mod networks;
mod reading;
mod search;
mod single;
mod tree;
mod two_level;

pub use format::Format;
pub use graph::{
    Channel, ChannelId, End, Fabric, FabricBuilder, FabricError, HostId, LinkId, Node, Port, Shape,
    SwitchId,
};
pub use irregular::{Irregular, IrregularError, irregular};
pub use metrics::{Distances, Metrics};
pub use reading::ReadError;
pub use search::{Search, distances_from};
pub use single::single;
pub use tree::{KaryTree, TreeError, pruned_tree, tree};
pub use two_level::two_level;
