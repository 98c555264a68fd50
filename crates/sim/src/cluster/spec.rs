//! What a cluster is made of, beyond its fabric.

use crosstie_protocol::Scheme;
use crosstie_units::Time;

/// Nodes, their NICs and the scheme by which they use their rails.
#[derive(Debug, Clone)]
pub struct ClusterSpec {
    /// How messages find their rails.
    pub scheme: Scheme,
    /// Processing elements per node.
    pub pes: u32,
    /// Rails: copies of the fabric, and NICs per node.
    pub rails: u32,
    /// Stripes that a NIC has under way at once.
    pub window: u32,
    /// Bytes in a flit.
    pub flit: u64,
    /// Bytes added to every stripe on the wire.
    pub overhead: u64,
    /// Flits of a control packet.
    pub control: u32,
    /// Ticks that the processor of a NIC takes to handle a control packet.
    pub response: u32,
    /// How long a tick is, for the time-outs of the scheme.
    pub tick: Time,
}

impl ClusterSpec {
    /// The flits of so many bytes as one packet.
    pub fn flits(&self, bytes: u64) -> u64 {
        (bytes + self.overhead).div_ceil(self.flit).max(1)
    }
}
