//! `--rails R`: the nodes that fit.

use std::fmt;

use serde::Serialize;

use super::capacity::{Capacity, bound};
use super::counted;

/// How many nodes so many rails join.
#[derive(Debug, Serialize)]
pub struct Room {
    rails: u32,
    /// By the best matrix there is.
    most_nodes: Capacity,
    /// By that of Algorithm 1.
    algorithm_1_nodes: Capacity,
}

impl Room {
    /// The room on so many rails.
    pub fn of(rails: u32) -> Room {
        let (most_nodes, algorithm_1_nodes) = (Capacity::most(rails), Capacity::simple(rails));
        Room { rails, most_nodes, algorithm_1_nodes }
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rails = self.rails;
        writeln!(f, "{}", counted(rails, "rail"))?;
        writeln!(f, "  at most      {}", bound(rails))?;
        writeln!(f, "  Algorithm 1  2^{} = {}", rails / 2, self.algorithm_1_nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_rails_join_twenty_nodes() {
        let text = "6 rails\n  at most      C(6,3) = 20 nodes\n  Algorithm 1  2^3 = 8 nodes\n";
        assert_eq!(Room::of(6).to_string(), text);
    }
}
