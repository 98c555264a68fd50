//! Routes that do not arrive.

use crosstie_fabric::{HostId, Port, SwitchId};

use crate::GroupId;

/// A route that does not lead from its source to its destination.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the route from host {} to host {} {fault}", from.0, to.0)]
pub struct RouteFault {
    /// The source.
    pub from: HostId,
    /// The destination.
    pub to: HostId,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A tag names a port with nothing plugged in.
    #[error("leaves switch {} by port {}, where nothing is plugged in", switch.0, port.0)]
    UnlinkedPort {
        /// The switch.
        switch: SwitchId,
        /// The port named.
        port: Port,
    },
    /// A tag names a group that the routing does not have.
    #[error("asks switch {} for group {}, which its routing does not define", switch.0, group.0)]
    NoSuchGroup {
        /// The switch.
        switch: SwitchId,
        /// The group named.
        group: GroupId,
    },
    /// A tag names a group of which no port is linked.
    #[error("asks switch {} for group {}, of which no port is plugged in", switch.0, group.0)]
    UnlinkedGroup {
        /// The switch.
        switch: SwitchId,
        /// The group named.
        group: GroupId,
    },
    /// The tags end at a switch.
    #[error("has no tag left at switch {}", switch.0)]
    TooFewTags {
        /// The switch.
        switch: SwitchId,
    },
    /// A host is reached with tags left.
    #[error("reaches host {} with tags left over", reached.0)]
    TooManyTags {
        /// The host.
        reached: HostId,
    },
    /// A leg ends at another host than it should.
    #[error("ends a leg at host {}, which is neither its stop nor its destination", reached.0)]
    WrongHost {
        /// The host.
        reached: HostId,
    },
    /// A stop names a host that does not exist.
    #[error("stops at host {}, which does not exist", host.0)]
    NoSuchStop {
        /// The host named.
        host: HostId,
    },
    /// The routing knows no ways to ranges of hosts.
    #[error(
        "is asked to reach all hosts up to {}, and this routing has no ways to ranges of hosts; \
         `tree-adaptive` and `tree-deterministic` have",
        last.0
    )]
    NoSpread {
        /// The last host of the range.
        last: HostId,
    },
    /// A spread leaves a host of its range out.
    #[error("is spread over a range of hosts and does not reach host {}", host.0)]
    Missed {
        /// The host.
        host: HostId,
    },
}
