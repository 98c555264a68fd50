//! What a cluster is made of, beyond its fabric.

use crate::Packing;
use crosstie_protocol::{MatrixError, NodeError, PolicyKind};
use crosstie_units::Time;

/// Nodes, their NICs and the policy by which they use their rails.
#[derive(Debug, Clone)]
pub struct ClusterSpec {
    /// How messages find their rails.
    pub policy: PolicyKind,
    /// Processing elements per node.
    pub pes: u32,
    /// Whether a processing element waits until its message has left the node before it starts the
    /// next one.
    pub blocking: bool,
    /// Rails: copies of the fabric, and NICs per node.
    pub rails: u32,
    /// Stripes that a NIC sends at once; the others wait in its queue.
    pub transfers: u32,
    /// Packets that a NIC has under way at once.
    pub window: u32,
    /// How stripes become packets.
    pub packing: Packing,
    /// Flits of a control packet.
    pub control: u32,
    /// Ticks that the processor of a NIC takes to handle a control packet.
    pub response: u32,
    /// How long a tick is, for the time-outs of the policy.
    pub tick: Time,
}

/// Why a cluster cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The policy needs other rails for so many nodes.
    #[error(transparent)]
    Policy(#[from] MatrixError),
    /// There are no such nodes.
    #[error(transparent)]
    Node(#[from] NodeError),
}
