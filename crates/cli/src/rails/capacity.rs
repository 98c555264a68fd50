//! How many nodes rails join.

use std::fmt;

use crosstie_protocol::matrix::largest_cluster;
use serde::Serialize;

/// A number of nodes; none where it is beyond 10^38 and does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Capacity(Option<u128>);

impl Capacity {
    /// The bound of Sperner, which Algorithm 2 attains: C(r, floor(r/2)).
    pub fn most(rails: u32) -> Capacity {
        Capacity(Some(largest_cluster(rails)).filter(|&nodes| nodes < u128::MAX))
    }

    /// What Algorithm 1 attains: 2^floor(r/2).
    pub fn simple(rails: u32) -> Capacity {
        Capacity(1u128.checked_shl(rails / 2))
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(1) => f.write_str("1 node"),
            Some(nodes) => write!(f, "{nodes} nodes"),
            None => f.write_str("more than 10^38 nodes"),
        }
    }
}

/// The bound of so many rails as people write it: `C(6,3) = 20 nodes`.
pub fn bound(rails: u32) -> String {
    format!("C({rails},{}) = {}", rails / 2, Capacity::most(rails))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_until_they_do_not_fit() {
        assert_eq!((Capacity::most(1).0, Capacity::simple(1).0), (Some(1), Some(1)));
        assert_eq!((Capacity::most(7).0, Capacity::simple(7).0), (Some(35), Some(8)));
        assert!(Capacity::most(131).0.is_some_and(|nodes| nodes > 10u128.pow(38)));
        assert_eq!(Capacity::most(132).0, None);
        assert_eq!((Capacity::simple(255).0, Capacity::simple(256).0), (Some(1 << 127), None));
    }

    #[test]
    fn a_bound_shows_its_formula() {
        assert_eq!(bound(6), "C(6,3) = 20 nodes");
        assert_eq!(bound(1), "C(1,0) = 1 node");
        assert_eq!(bound(132), "C(132,66) = more than 10^38 nodes");
    }
}
