//! The cables of a tree (Petrini, Definition A.2).

use super::{KaryTree, TreeError};
use crate::{End, Fabric, FabricBuilder, HostId, Shape, SwitchId};

/// A k-ary n-tree with a host on every leaf.
///
/// Link h is the cable of host h, and its even channel is the injection channel; the other links
/// follow from the leaves to the roots, and their even channels lead up.
pub fn tree(k: u16, n: u16) -> Result<Fabric, TreeError> {
    KaryTree::full(k, n).map(wire)
}

/// A k-ary n-tree with hosts on its first leaves only. Switches with no host below are left out;
/// every other switch keeps all its upward links, so no path between two hosts is lost.
pub fn pruned_tree(k: u16, n: u16, hosts: u32) -> Result<Fabric, TreeError> {
    KaryTree::pruned(k, n, hosts).map(wire)
}

fn wire(tree: KaryTree) -> Fabric {
    let KaryTree { k, n, hosts } = tree;
    let mut builder = FabricBuilder::default();
    for host in 0..hosts {
        builder.host(listed(&tree.host_digits(HostId(host))));
    }
    for switch in 0..tree.switches() {
        let (mut label, level) = tree.switch_digits(SwitchId(switch));
        label.push(level);
        builder.switch(format!("⟨{}⟩", listed(&label)), 2 * k);
    }
    for host in 0..hosts {
        let leaf = tree.switch_numbered(n - 1, host / u32::from(k));
        let port = tree.down_port(tree.digit(HostId(host), n - 1));
        builder.connect(End::host(HostId(host)), End::switch(leaf, port));
    }
    for level in (0..n - 1).rev() {
        // Upper and lower switch agree in every digit but w_level.
        let place = tree.power(n - 2 - level);
        for w in 0..tree.width(level + 1) {
            let lower = tree.switch_numbered(level + 1, w);
            let down = tree.w_digit(w, level);
            for up in 0..k {
                let upper_w = w - u32::from(down) * place + u32::from(up) * place;
                let upper = tree.switch_numbered(level, upper_w);
                builder.connect(
                    End::switch(lower, tree.up_port(up)),
                    End::switch(upper, tree.down_port(down)),
                );
            }
        }
    }
    let name = match tree.is_pruned() {
        false => format!("{k}-ary {n}-tree"),
        true => format!("{k}-ary {n}-tree with {hosts} of {} hosts", tree.leaves()),
    };
    builder.build(name, Shape::Tree(tree)).expect("Definition A.2 describes a connected network")
}

fn listed(digits: &[u16]) -> String {
    digits.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::small_tree;
    use crate::{Distances, Node, Port, distances_from};
    use proptest::prelude::*;

    /// The ports at the two ends of the link between two switches, given by their labels.
    fn ports(fabric: &Fabric, upper: &str, lower: &str) -> Option<(u16, u16)> {
        let ends = fabric.links().map(|link| fabric.channel(link.channels()[0]));
        ends.into_iter().find_map(|c| {
            (fabric.label(c.from.node) == lower && fabric.label(c.to.node) == upper)
                .then_some((c.to.port.0, c.from.port.0))
        })
    }

    #[test]
    fn edges_of_the_4_ary_3_tree() {
        let fabric = tree(4, 3).unwrap();
        assert_eq!(ports(&fabric, "⟨1,2,0⟩", "⟨3,2,1⟩"), Some((3, 4 + 1)));
        assert_eq!(ports(&fabric, "⟨1,2,0⟩", "⟨1,3,1⟩"), None);
        assert_eq!(ports(&fabric, "⟨1,2,1⟩", "⟨1,3,2⟩"), Some((3, 4 + 2)));
        assert_eq!(ports(&fabric, "⟨1,3,2⟩", "1,3,0"), Some((0, 0)));
    }

    #[test]
    fn link_counts_are_n_k_to_the_n() {
        for (k, n, links) in [(2, 3, 24), (4, 2, 32), (4, 3, 192), (4, 5, 5120), (5, 1, 5)] {
            assert_eq!(tree(k, n).unwrap().links().len(), links, "({k},{n})");
        }
    }

    #[test]
    fn names_say_what_was_pruned() {
        assert_eq!(tree(4, 3).unwrap().name(), "4-ary 3-tree");
        let pruned = pruned_tree(4, 3, 32).unwrap();
        assert_eq!(pruned.name(), "4-ary 3-tree with 32 of 64 hosts");
        assert_eq!(pruned.describe(pruned.host_out(HostId(31))), "1,3,3 -> ⟨1,3,2⟩:3");
    }

    #[test]
    fn every_way_down_crosses_the_digits() {
        let fabric = tree(4, 2).unwrap();
        let host = HostId(14);
        for root in 0..4 {
            let mut node = Node::Switch(SwitchId(root));
            for label in [3, 2] {
                let Node::Switch(switch) = node else { panic!("{node} is no switch") };
                node = fabric.channel(fabric.switch_out(switch, Port(label)).unwrap()).to.node;
            }
            assert_eq!(node, Node::Host(host));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn wiring_follows_the_definition(shape in small_tree()) {
            let fabric = wire(shape);
            for host in fabric.hosts() {
                prop_assert_eq!(fabric.host_out(host).0, 2 * host.0);
            }
            for link in fabric.links().skip(shape.hosts as usize) {
                let up = fabric.channel(link.channels()[0]);
                let (Node::Switch(lower), Node::Switch(upper)) = (up.from.node, up.to.node) else {
                    panic!("a host link among the switch links")
                };
                let ((low, low_level), (high, level)) =
                    (shape.switch_digits(lower), shape.switch_digits(upper));
                prop_assert_eq!(low_level, level + 1);
                let l = usize::from(level);
                prop_assert!((0..low.len()).all(|i| i == l || low[i] == high[i]));
                prop_assert_eq!(up.to.port, shape.down_port(low[l]));
                prop_assert_eq!(up.from.port, shape.up_port(high[l]));
            }
            for switch in fabric.switches().filter(|&s| shape.level(s) > 0) {
                prop_assert!((0..shape.k).all(|j| fabric.switch_out(switch, shape.up_port(j)).is_some()));
            }
        }

        #[test]
        fn graph_search_agrees_with_the_arithmetic(shape in small_tree()) {
            let fabric = wire(shape);
            for p in fabric.hosts().step_by(7) {
                let by_label: Vec<_> = fabric.hosts().map(|q| shape.distance(p, q)).collect();
                prop_assert_eq!(distances_from(&fabric, p), by_label);
            }
            prop_assert_eq!(Distances::searched(&fabric), shape.distances());
        }
    }
}
