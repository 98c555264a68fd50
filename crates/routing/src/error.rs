//! Why there are no routes.

use crosstie_fabric::SwitchId;

use crate::NotATree;

/// Why a routing has no routes for a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// A tree routing on something else.
    #[error(transparent)]
    NotATree(#[from] NotATree),
    /// The root does not exist.
    #[error(
        "switch {} cannot be the root: the network has {switches} switches, numbered from 0 to {}",
        switch.0, switches - 1
    )]
    NoSuchRoot {
        /// The root asked for.
        switch: SwitchId,
        /// How many switches there are.
        switches: usize,
    },
    /// The table would be too large.
    #[error("{hosts} hosts: routes are written down for at most {most} hosts")]
    TooManyHosts {
        /// How many there are.
        hosts: usize,
        /// How many there may be.
        most: usize,
    },
    /// A stop is needed where there is no host.
    #[error(
        "packets would have to stop at switch {}, which carries no host: use a routing that follows \
         an order, such as up-down-itb",
        switch.0
    )]
    NoHostToStopAt {
        /// The switch.
        switch: SwitchId,
    },
}
