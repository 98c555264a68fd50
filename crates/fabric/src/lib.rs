//! The shape of a cluster network: hosts, switches, ports, links and channels.
//!
//! A [`Fabric`] is one rail: a graph whose nodes are hosts (the place where one NIC plugs in) and
//! switches. A *link* joins two ports; each link is two *channels*, one per direction. Fabrics come
//! from builders (`tree`, `single`) or from files, and do not change afterwards.

mod graph;
mod tree;

pub use graph::{
    Channel, ChannelId, End, Fabric, FabricBuilder, FabricError, HostId, LinkId, Node, Port, Shape,
    SwitchId,
};
pub use tree::KaryTree;
