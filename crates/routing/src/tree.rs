//! Minimal routing on k-ary n-trees (Petrini, Appendix A, Figure 19).
//!
//! A packet climbs to a nearest common ancestor of source and destination and then descends. Going
//! down there is no choice: the ports are the destination's digits. Going up every port is right,
//! and the two routings differ only in how they take one.
//!
//! A switch `s` at level `l` lies above destination `p`, so that the packet may turn, when
//! `mdi(p, s) >= l`. The paper prints `mdi(p, s) = l`, which fails when the switch happens to agree
//! with `p` in digit `l` too. Because the ancestors of two hosts all lie at level `mdi(p, q)`, a
//! source that writes the whole route need not look at switches: it climbs to that level.
//!
//! A packet to a range of hosts climbs by the edges labelled 0 to a common ancestor of its source
//! and the range, and each switch from there on forks it to all ports that lead to hosts of the
//! range. So all such packets come down by the edges of one tree, which has one root, and of which
//! no two channels lead into the same switch. That is what keeps them from waiting for each other
//! in a circle ([`certify_ranges`](crate::certify_ranges)).
//!
//! Both routings are free of deadlock. Order all upward channels from the leaves to the roots, then
//! all downward channels from the roots to the leaves: a packet only ever waits for a channel that
//! comes later, because no route turns from down to up. Pruned trees change nothing, since every
//! switch left in them keeps all its upward links.

use crosstie_fabric::{Fabric, HostId, KaryTree, Port, Shape};

use crate::{Branch, GroupId, HostRange, Onward, Route, Routing, Spread, Tag};

/// A tree routing was asked for on something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tree routing needs a k-ary n-tree, but \"{fabric}\" is not one: use shortest paths there")]
pub struct NotATree {
    /// The name of the fabric.
    pub fabric: String,
}

/// Minimal routing on a tree with the upward ports fixed by the destination (D-mod-k).
///
/// At level `l` a packet to `q` climbs by the edge labelled `q_l`, so all packets to one
/// destination meet at one ancestor and come down by one path, and under uniform traffic every
/// channel between two levels carries the same load. Deterministic: packets between two hosts take
/// one path, and overtake each other only from one virtual channel to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeDeterministic {
    tree: KaryTree,
}

/// Minimal routing on a tree where each switch on the way up takes any free upward port.
///
/// One group holds all upward ports; the way down is fixed by the destination. All
/// `k^(n-1-mdi)` minimal paths are in use, so packets may overtake each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeAdaptive {
    tree: KaryTree,
    groups: [Vec<Port>; 1],
}

/// No tree has more levels: its leaves are counted in 32 bits and k is at least 2.
const MAX_LEVELS: usize = 32;

/// The group of all upward ports.
const UP: GroupId = GroupId(0);

impl TreeDeterministic {
    /// The routing on a tree fabric.
    pub fn new(fabric: &Fabric) -> Result<TreeDeterministic, NotATree> {
        shape(fabric).map(|tree| TreeDeterministic { tree })
    }
}

impl TreeAdaptive {
    /// The routing on a tree fabric.
    pub fn new(fabric: &Fabric) -> Result<TreeAdaptive, NotATree> {
        let tree = shape(fabric)?;
        let up = (0..tree.k).map(|label| tree.up_port(label)).collect();
        Ok(TreeAdaptive { tree, groups: [up] })
    }
}

impl Routing for TreeDeterministic {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        climb_and_descend(self.tree, from, to, route, |label| Tag::Port(self.tree.up_port(label)));
    }

    fn spread(&self, from: HostId, range: HostRange, spread: &mut Spread) -> bool {
        climb_and_fork(self.tree, from, range, spread);
        true
    }
}

impl Routing for TreeAdaptive {
    fn groups(&self) -> &[Vec<Port>] {
        &self.groups
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        climb_and_descend(self.tree, from, to, route, |_| Tag::Group(UP));
    }

    fn spread(&self, from: HostId, range: HostRange, spread: &mut Spread) -> bool {
        climb_and_fork(self.tree, from, range, spread);
        true
    }
}

fn shape(fabric: &Fabric) -> Result<KaryTree, NotATree> {
    match fabric.shape() {
        Shape::Tree(tree) => Ok(tree),
        Shape::Single | Shape::Irregular => Err(NotATree { fabric: fabric.name().to_owned() }),
    }
}

/// Writes the tags: up from level n-1 to level mdi, where `up` makes the tag at level `l` from
/// digit `l` of the destination; then down to the leaf.
fn climb_and_descend(
    tree: KaryTree,
    from: HostId,
    to: HostId,
    route: &mut Route,
    up: impl Fn(u16) -> Tag,
) {
    route.clear();
    let k = u32::from(tree.k);
    let mut digits = [0; MAX_LEVELS];
    let mut climbed = 0;
    // Digit by digit from the last, until the digits before are the same.
    let (mut p, mut q) = (from.0 / k, to.0);
    loop {
        let rest = q / k;
        digits[climbed] = (q - rest * k) as u16;
        if p == rest {
            break;
        }
        route.push(up(digits[climbed]));
        climbed += 1;
        (p, q) = (p / k, rest);
    }
    for &digit in digits[..=climbed].iter().rev() {
        route.push(Tag::Port(tree.down_port(digit)));
    }
}

/// Writes the way to a range: up by the edges labelled 0 to a switch above the source and all of
/// the range, then down by every edge that leads to a host of it.
fn climb_and_fork(tree: KaryTree, from: HostId, range: HostRange, spread: &mut Spread) {
    spread.clear();
    let k = u32::from(tree.k);
    // Hosts below a switch of this height share what is left of their numbers.
    let (mut below, mut height) = (k, 1);
    while [range.first, range.last].iter().any(|host| host.0 / below != from.0 / below) {
        spread.climb(Tag::Port(tree.up_port(0)));
        (below, height) = (below * k, height + 1);
    }
    // Forks level by level: which hosts are below each, as what their numbers begin with.
    let (mut level, mut next) = (vec![from.0 / below], 0);
    while height > 0 {
        below /= k;
        height -= 1;
        let mut lower = Vec::new();
        next += level.len() as u32;
        for prefix in level {
            let begun = |host: HostId| host.0 / below;
            let labels = (0..k).filter(|label| {
                (begun(range.first)..=begun(range.last)).contains(&(prefix * k + label))
            });
            let branches = labels.map(|label| {
                let number = prefix * k + label;
                let onward = match height {
                    0 => Onward::Host(HostId(number)),
                    _ => {
                        lower.push(number);
                        Onward::Fork(next + lower.len() as u32 - 1)
                    }
                };
                Branch { port: tree.down_port(label as u16), onward }
            });
            spread.fork(branches);
        }
        level = lower;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_fabric::{Node, SwitchId, pruned_tree, single, tree};
    use proptest::prelude::*;

    fn tags(routing: &dyn Routing, from: u32, to: u32) -> Vec<Tag> {
        let mut route = Route::default();
        routing.route(HostId(from), HostId(to), &mut route);
        route.tags().to_vec()
    }

    fn port(number: u16) -> Tag {
        Tag::Port(Port(number))
    }

    #[test]
    fn from_0_1_to_3_2_on_the_4_ary_2_tree() {
        let fabric = tree(4, 2).unwrap();
        let (from, to) = (1, 14);
        let fixed = TreeDeterministic::new(&fabric).unwrap();
        assert_eq!(tags(&fixed, from, to), [port(4 + 2), port(3), port(2)]);
        let adaptive = TreeAdaptive::new(&fabric).unwrap();
        assert_eq!(tags(&adaptive, from, to), [Tag::Group(UP), port(3), port(2)]);
        assert_eq!(adaptive.groups(), [[4, 5, 6, 7].map(Port)]);
        assert_eq!(tags(&adaptive, 1, 2), [port(2)], "hosts of one switch need no climb");
    }

    #[test]
    fn destinations_spread_over_the_roots() {
        let fabric = tree(4, 3).unwrap();
        let routing = TreeDeterministic::new(&fabric).unwrap();
        // Up by the destination's digits 3 and 2, then down its digits 1, 2 and 3.
        let route = [port(4 + 3), port(4 + 2), port(1), port(2), port(3)];
        assert_eq!(tags(&routing, 0, 16 + 2 * 4 + 3), route);
        assert_eq!(tags(&routing, 63, 16 + 2 * 4 + 3), route, "whatever the source");
    }

    #[test]
    fn refuses_what_is_not_a_tree() {
        let error = TreeDeterministic::new(&single(4).unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tree routing needs a k-ary n-tree, but \"single switch with 4 hosts\" is not one: use \
             shortest paths there"
        );
    }

    /// What Figure 19 makes of one ascent: the switches visited, or the root it is stuck at.
    fn figure_19(
        fabric: &Fabric,
        (from, to): (HostId, HostId),
        labels: &[u16],
        may_turn: fn(u16, u16) -> bool,
    ) -> Result<Vec<SwitchId>, SwitchId> {
        let tree = shape(fabric).unwrap();
        let mut labels = labels.iter();
        let mut ascending = true;
        let mut visited = Vec::new();
        let mut node = fabric.channel(fabric.host_out(from)).to.node;
        while let Node::Switch(switch) = node {
            visited.push(switch);
            let level = tree.level(switch);
            ascending &= !may_turn(tree.mdi_switch(to, switch), level);
            let port = match ascending {
                true => tree.up_port(*labels.next().unwrap_or(&0)),
                false => tree.down_port(tree.digit(to, level)),
            };
            let out = fabric.switch_out(switch, port).ok_or(switch)?;
            node = fabric.channel(out).to.node;
        }
        assert_eq!(node, Node::Host(to));
        Ok(visited)
    }

    #[test]
    fn the_printed_test_is_stuck_at_a_root() {
        let fabric = tree(4, 2).unwrap();
        let shape = shape(&fabric).unwrap();
        let pair = (HostId(1), HostId(14));
        let root = shape.switch_at(&[3], 0).unwrap();
        let stuck = figure_19(&fabric, pair, &[3], |mdi, level| mdi == level);
        assert_eq!(stuck, Err(root), "0,1 to 3,2 via ⟨3,0⟩: mdi = 1 at level 0");
        let path = figure_19(&fabric, pair, &[3], |mdi, level| mdi >= level);
        assert_eq!(path.unwrap()[1], root);
        // Over all pairs and choices.
        let (mut cases, mut dead_ends) = (0, 0);
        for (p, q) in fabric.hosts().flat_map(|p| fabric.hosts().map(move |q| (p, q))) {
            for label in 0..shape.nca(p, q).len() as u16 {
                cases += 1;
                let printed = figure_19(&fabric, (p, q), &[label], |mdi, level| mdi == level);
                dead_ends += u32::from(printed.is_err());
            }
        }
        assert_eq!((cases, dead_ends), (816, 192));
    }

    /// Follows a spread through the fabric: the hosts that it reaches, and the switches that fork.
    fn reached(fabric: &Fabric, from: HostId, spread: &Spread) -> (Vec<HostId>, Vec<SwitchId>) {
        let next = |switch, port| {
            fabric.channel(fabric.switch_out(switch, port).expect("a linked port")).to.node
        };
        let mut node = fabric.channel(fabric.host_out(from)).to.node;
        for &tag in spread.tags() {
            let (Tag::Port(port), Node::Switch(switch)) = (tag, node) else { panic!("{tag:?}") };
            node = next(switch, port);
        }
        let (mut hosts, mut switches) = (Vec::new(), Vec::new());
        let mut todo = vec![(node, Onward::Fork(0))];
        while let Some((node, onward)) = todo.pop() {
            match (node, onward) {
                (Node::Host(host), Onward::Host(named)) => {
                    assert_eq!(host, named);
                    hosts.push(host);
                }
                (Node::Switch(switch), Onward::Fork(fork)) => {
                    switches.push(switch);
                    let branches = spread.branches(fork).iter();
                    todo.extend(branches.map(|branch| (next(switch, branch.port), branch.onward)));
                }
                place => panic!("{place:?}"),
            }
        }
        hosts.sort_unstable();
        (hosts, switches)
    }

    proptest! {
        /// A spread reaches every host of its range once, and goes down through the switches whose
        /// digits after their prefix are 0, whatever its source.
        #[test]
        fn a_spread_reaches_its_range_by_the_one_tree(
            k in 2u16..5, n in 1u16..5, hosts in any::<u32>(), ends in any::<[u32; 3]>(),
        ) {
            let leaves = u32::from(k).pow(u32::from(n));
            let fabric = pruned_tree(k, n, 2 + hosts % (leaves - 1)).unwrap();
            let tree = shape(&fabric).unwrap();
            let [from, a, b] = ends.map(|end| HostId(end % tree.hosts));
            let range = HostRange { first: a.min(b), last: a.max(b) };
            let mut spread = Spread::default();
            prop_assert!(TreeAdaptive::new(&fabric).unwrap().spread(from, range, &mut spread));
            let (found, switches) = reached(&fabric, from, &spread);
            prop_assert!(found.into_iter().eq(range.hosts()));
            prop_assert_eq!(switches.len() as u32, spread.forks());
            for switch in switches {
                let (digits, level) = tree.switch_digits(switch);
                prop_assert!(digits[usize::from(level)..].iter().all(|&digit| digit == 0));
            }
        }

        #[test]
        fn every_ascent_delivers_on_a_minimal_path(
            k in 2u16..5, n in 1u16..4, hosts in any::<u32>(), pair in any::<(u32, u32)>(),
            labels in prop::collection::vec(0u16..4, 3),
        ) {
            let leaves = u32::from(k).pow(u32::from(n));
            let fabric = pruned_tree(k, n, 2 + hosts % (leaves - 1)).unwrap();
            let tree = shape(&fabric).unwrap();
            let (p, q) = (HostId(pair.0 % tree.hosts), HostId(pair.1 % tree.hosts));
            prop_assume!(p != q);
            let labels: Vec<u16> = labels.iter().map(|label| label % k).collect();
            let path = figure_19(&fabric, (p, q), &labels, |mdi, level| mdi >= level).unwrap();
            prop_assert_eq!(path.len() as u32, tree.distance(p, q) - 1);
            let top = path[path.len() / 2];
            prop_assert!(tree.nca(p, q).any(|s| s == top));
        }

        #[test]
        fn routes_take_the_ports_of_figure_19(
            k in 2u16..5, n in 1u16..5, hosts in any::<u32>(), pair in any::<(u32, u32)>(),
        ) {
            let leaves = u32::from(k).pow(u32::from(n));
            let fabric = pruned_tree(k, n, 2 + hosts % (leaves - 1)).unwrap();
            let tree = shape(&fabric).unwrap();
            let (p, q) = (HostId(pair.0 % tree.hosts), HostId(pair.1 % tree.hosts));
            prop_assume!(p != q);
            let labels: Vec<u16> = (0..n).rev().map(|level| tree.digit(q, level)).collect();
            let path = figure_19(&fabric, (p, q), &labels, |mdi, level| mdi >= level).unwrap();
            let fixed = tags(&TreeDeterministic::new(&fabric).unwrap(), p.0, q.0);
            let adaptive = TreeAdaptive::new(&fabric).unwrap();
            let grouped = tags(&adaptive, p.0, q.0);
            prop_assert_eq!((fixed.len(), grouped.len()), (path.len(), path.len()));
            for (i, &switch) in path.iter().enumerate() {
                let Tag::Port(port) = fixed[i] else { panic!("{:?} is no port", fixed[i]) };
                let next = fabric.channel(fabric.switch_out(switch, port).unwrap()).to.node;
                let expected = path.get(i + 1).map_or(Node::Host(q), |&s| Node::Switch(s));
                prop_assert_eq!(next, expected);
                match grouped[i] {
                    Tag::Port(same) => prop_assert_eq!(same, port),
                    Tag::Group(g) => {
                        prop_assert!(adaptive.groups()[usize::from(g.0)].contains(&port));
                    }
                }
            }
        }
    }
}
