//! How the packets of a node follow each other into the network.

/// How the packets of a node follow each other, over all peers.
///
/// The default is what NICs do by themselves. Otherwise a NIC is given a packet when the one before
/// has left the node, so that nothing is decided earlier than it has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Injection {
    /// True if messages take turns packet by packet, in the order in which they were sent:
    /// consecutive packets go to different peers. A packet that cannot leave holds up those behind
    /// it.
    pub interleaved: bool,
    /// How many packets may be outstanding, over all peers and rails; `None`: any number.
    pub window: Option<GlobalWindow>,
}

impl Injection {
    /// Returns true if it asks for nothing that NICs do not do by themselves.
    pub fn is_plain(&self) -> bool {
        *self == Injection::default()
    }
}

/// A limit on the outstanding packets of a node, W_g [tam, 6.1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalWindow {
    /// W_g.
    pub packets: u32,
    /// True if packets received count as if they acknowledged one that was sent: those outstanding
    /// are the packets sent less the packets received, which may be fewer than none. Otherwise
    /// they are those sent and not acknowledged.
    pub by_received: bool,
}
