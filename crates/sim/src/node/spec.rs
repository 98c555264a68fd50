//! What nodes are made of.

use super::StationSpec;
use crosstie_protocol::channel::{ChannelError, ChannelSpec};
use crosstie_protocol::{
    Ahead, Headers, Injection, MatrixError, NodeError, NodeId, NodeSpec, Pacing, Packing, Patience,
    PolicyKind, Rides,
};
use crosstie_units::{Rate, Seed, Time};

/// Nodes, their NICs and the policy by which they use their rails.
#[derive(Debug, Clone)]
pub struct NodesSpec {
    /// How messages find their rails.
    pub policy: PolicyKind,
    /// Processing elements per node.
    pub pes: u32,
    /// Whether a processing element waits until its message has left the node before it starts the
    /// next one, where the policy paces.
    pub blocking: bool,
    /// Rails, and NICs per node.
    pub rails: u32,
    /// Stripes that a NIC sends at once, where the policy paces; the others wait in its queue.
    pub transfers: u32,
    /// Packets that a NIC has under way at once, where the policy paces; `None`: any number.
    pub window: Option<u32>,
    /// How stripes become packets.
    pub packing: Packing,
    /// Bytes of a control packet on the wire.
    pub control: u32,
    /// How long the processor of a NIC takes to handle a control packet.
    pub response: Time,
    /// The channels between nodes, which send again what a network loses; `None`: what is lost is
    /// lost.
    pub channel: Option<ChannelSpec>,
    /// What nodes keep ahead of their rails, and how long packets become; `None`: nothing, and as
    /// long as they are cut.
    pub ahead: Option<Ahead>,
    /// How packets go through channels, if they do as those of real ranks; `None`: each is sent as
    /// it is, and carries an acknowledgement.
    pub exchange: Option<Exchange>,
    /// How long nodes wait for the acknowledgements of channels: they outlive their rails. `None`,
    /// and where there are no channels: for ever.
    pub patience: Option<Patience>,
    /// How fast the link of each rail carries payload, for nodes that outlive their rails. Empty:
    /// they do not know.
    pub rates: Vec<Rate>,
    /// What packets take of processors, rings and pools; `None`: nothing.
    pub station: Option<StationSpec>,
    /// True if packets are puts: NICs of the network cut them, acknowledge them, and need no byte
    /// to send nothing.
    pub puts: bool,
    /// How the packets of a node follow each other.
    pub injection: Injection,
    /// What is random about nodes.
    pub seed: Seed,
}

/// How packets of real ranks go through channels: the first on each path waits for the answer to a
/// greeting, and long ones go as trains of datagrams, of which each is a packet of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Which packets carry acknowledgements.
    pub rides: Rides,
    /// How long packets are besides what they carry.
    pub headers: Headers,
}

/// Who listens to the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Somebody who writes down what happens and does nothing about it.
    Silent,
    /// Somebody who sends because of what was delivered and completed.
    Replies,
    /// The same, who also has to do with messages while they come in.
    Receives,
    /// Somebody who sends because of what was delivered, and follows what he sends: which rails it
    /// takes, and whether it is there.
    Follows,
}

/// Why nodes cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodesError {
    /// The policy does not fit so many nodes and rails.
    #[error(transparent)]
    Policy(#[from] MatrixError),
    /// The policy does not fit a node.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// There can be no such channel.
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

impl NodesSpec {
    /// Whether nodes keep to a window, to a number of stripes at once, and to blocking.
    pub fn paces(&self) -> bool {
        self.policy.paces()
    }

    /// Whether packets are handed to the network as they are, and heard of when they arrive.
    pub fn is_plain(&self) -> bool {
        self.channel.is_none() && self.station.is_none()
    }

    /// Whether nodes are told of every packet that has left, and not of whole stripes only.
    pub fn follows_packets(&self) -> bool {
        self.outlives_rails() || !self.injection.is_plain() || self.ahead.is_some()
    }

    /// Returns true if ranks of a node send to each other through its NICs: these take puts, and
    /// the policy does not reserve both ends of a message, which would wait for themselves.
    pub fn loops(&self) -> bool {
        let reserves =
            matches!(self.policy, PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. });
        self.puts && !reserves
    }

    /// Whether nodes outlive their rails.
    pub fn outlives_rails(&self) -> bool {
        self.patience.is_some() && self.channel.is_some()
    }

    /// One of the nodes.
    pub fn node(&self, id: NodeId, audience: Audience) -> NodeSpec {
        let pacing = self.policy.pacing();
        let transfers = pacing == Pacing::Transfers;
        NodeSpec {
            id,
            pes: self.pes,
            rails: self.rails,
            packing: self.packing,
            // What may have to go again is bounded.
            window: self.window.filter(|_| self.paces() || self.outlives_rails()),
            transfers: transfers.then_some(self.transfers),
            in_order: pacing != Pacing::Transfers,
            blocking: transfers && self.blocking,
            completions: matches!(audience, Audience::Replies | Audience::Receives),
            reports: audience == Audience::Follows,
            // Simulated networks deliver nothing twice.
            repeats: false,
            loops: self.loops(),
            patience: self.patience.filter(|_| self.outlives_rails()),
            ahead: self.ahead,
            injection: self.injection,
        }
    }
}
