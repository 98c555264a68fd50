//! Who and what: nodes, rails, processing elements, ranks, messages, stripes.

/// A node of the cluster, numbered from 0. It has one NIC on every rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A rail, numbered from 0; also the NIC that a node has on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RailId(pub u32);

/// A processing element (PE) of a node, numbered from 0 within its node: what sends messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeId(pub u32);

/// A rank: what messages are exchanged between, numbered from 0 over all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankId(pub u32);

/// A message, numbered by the application; different from all others that the same node has under
/// way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

/// A stripe that a node is sending, numbered by the node: a small number, different from those of
/// all other stripes that it has under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StripeId(pub u32);
