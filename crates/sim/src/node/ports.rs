//! Messages of nodes whose NICs match them: what goes from port to port, and what threads of NICs
//! do for their hosts.

use super::identity::PacketId;
use super::report::{Letter, Listener};
use super::{Chore, Network, NodeId, Nodes, Part};

impl Nodes {
    /// Hands a letter to a processing element that goes from port to port, at the time that it is.
    pub fn send_to_port(
        &mut self,
        network: &mut dyn Network,
        letter: Letter,
        part: Part,
        to: &mut impl Listener,
    ) {
        self.hand_over(network, letter, Some(part), to);
    }

    /// The thread of a node's first NIC, where all of its messages are matched, has something to
    /// do; the listener is told by this number when it is done.
    pub fn charge(&mut self, network: &mut dyn Network, node: NodeId, number: u32, chore: Chore) {
        network.charge(0, node.0, PacketId::Chore(number).id(), chore);
    }
}
