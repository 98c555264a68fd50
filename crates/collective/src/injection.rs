//! How the packets of a rank follow each other into the network.

use serde::{Deserialize, Serialize};

/// How the packets of a rank's sends follow each other, over all peers.
///
/// The default is what a NIC does by itself: one message after the other, as fast as it can.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Injection {
    /// True if sends that are under way together take turns packet by packet, in the order in which
    /// they began: consecutive packets go to different peers. A packet that cannot go yet holds up
    /// those behind it.
    pub interleaved: bool,
    /// How many packets may be outstanding, over all peers; `None`: any number.
    pub window: Option<Window>,
}

impl Injection {
    /// Returns true if it asks for nothing that a NIC would not do by itself.
    pub fn is_plain(self) -> bool {
        self == Injection::default()
    }
}

/// A limit on the outstanding packets of a rank: the global window W_g [tam, 6].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// W_g, at least 1.
    pub packets: u32,
    /// Which packets are outstanding: eta.
    pub counts: Counting,
}

/// Which packets of a rank are outstanding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Those sent and not acknowledged: what the rank has in the network.
    #[default]
    Unacknowledged,
    /// Those sent less those received from others. The difference may be negative, and then lets
    /// a rank send more than a window.
    Received,
}
