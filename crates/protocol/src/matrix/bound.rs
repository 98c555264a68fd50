//! Proposition 1: how many nodes rails can join, and how many rails nodes need.

/// The most nodes that `rails` rails join under static allocation: `C(r, floor(r/2))`
/// [coll, proposition 1]. From 132 rails on, where the number does not fit, [`u128::MAX`].
///
/// ```
/// assert_eq!(crosstie_protocol::largest_cluster(6), 20);
/// ```
pub fn largest_cluster(rails: u32) -> u128 {
    // C(2m, m) = 2 C(2m-1, m-1), and C(2m+1, m) = C(2m, m) / (m+1) * (2m+1), where the quotient is
    // a Catalan number and therefore whole: no step is larger than its result.
    let mut most: u128 = 1;
    for r in 1..=rails {
        let m = u128::from(r / 2);
        let next = match r % 2 {
            0 => most.checked_mul(2),
            _ => (most / (m + 1)).checked_mul(2 * m + 1),
        };
        match next {
            Some(next) => most = next,
            None => return u128::MAX,
        }
    }
    most
}

/// The least number of rails that join `nodes` nodes under static allocation. A lone node needs
/// none.
///
/// ```
/// assert_eq!(crosstie_protocol::rails_optimal(21), 7);
/// ```
pub fn rails_optimal(nodes: u32) -> u32 {
    (0..).find(|&rails| largest_cluster(rails) >= u128::from(nodes)).expect("the bound grows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_nodes_by_rails() {
        let table = [1, 2, 3, 6, 10, 20, 35, 70, 126, 252, 462, 924, 1716, 3432, 6435];
        for (rails, most) in (1..).zip(table) {
            assert_eq!(largest_cluster(rails), most, "{rails} rails");
        }
    }

    #[test]
    fn exact_until_it_does_not_fit() {
        // C(n, k) by Pascal's triangle, which only adds.
        let mut row = vec![1u128];
        for rails in 1..=131 {
            let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
            row = std::iter::once(1).chain(inner).chain([1]).collect();
            assert_eq!(largest_cluster(rails), row[rails as usize / 2], "{rails} rails");
        }
        assert!(largest_cluster(131) < u128::MAX);
        for rails in [132, 133, 1000, u32::MAX] {
            assert_eq!(largest_cluster(rails), u128::MAX, "{rails} rails");
        }
    }

    #[test]
    fn rails_needed_are_the_least() {
        assert_eq!((rails_optimal(0), rails_optimal(1)), (0, 0));
        for nodes in 2..5000 {
            let rails = rails_optimal(nodes);
            assert!(largest_cluster(rails) >= u128::from(nodes), "{nodes} nodes");
            assert!(largest_cluster(rails - 1) < u128::from(nodes), "{nodes} nodes");
        }
        assert_eq!(rails_optimal(u32::MAX), 35);
    }
}
