use super::*;
use crate::{Branch, Route, Shortest, TreeAdaptive, TreeDeterministic};
use crosstie_fabric::{pruned_tree, tree};

fn all_ranges(fabric: &Fabric) -> Vec<HostRange> {
    let hosts = fabric.hosts().len() as u32;
    let range = |(first, last)| HostRange { first: HostId(first), last: HostId(last) };
    let ends = (0..hosts).flat_map(|first| (first..hosts).map(move |last| (first, last)));
    ends.map(range).collect()
}

/// Every range of hosts, from every host, together with all traffic between single hosts.
#[test]
fn ranges_certify_on_trees() {
    for fabric in [tree(2, 1), tree(4, 2), tree(2, 4), pruned_tree(3, 3, 20)] {
        let fabric = fabric.unwrap();
        let fixed = TreeDeterministic::new(&fabric).unwrap();
        let adaptive = TreeAdaptive::new(&fabric).unwrap();
        for routing in [&fixed as &dyn Routing, &adaptive] {
            let ranges = all_ranges(&fabric);
            let found = certify_ranges(&fabric, routing, ranges, Taking::AtOnce).unwrap();
            let RangeCertificate::DeadlockFree { order } = found else {
                panic!("{}: {found:?}", fabric.name())
            };
            let different: BTreeSet<_> = order.iter().collect();
            assert_eq!(different.len(), order.len(), "no turn twice");
        }
    }
}

#[test]
fn a_large_tree_certifies_some_of_its_ranges() {
    let fabric = tree(4, 4).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let range = |first, last| HostRange { first: HostId(first), last: HostId(last) };
    let ranges = [range(0, 255), range(1, 254), range(60, 70), range(128, 131)];
    let found = certify_ranges(&fabric, &routing, ranges, Taking::AtOnce).unwrap();
    assert!(found.is_deadlock_free());
}

/// Forks that hold some outputs while they wait for others: two that enter a switch by different
/// channels hold what the other one asks for.
#[test]
fn forks_that_take_outputs_one_by_one_wait_for_each_other() {
    let fabric = tree(2, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let found = certify_ranges(&fabric, &routing, all_ranges(&fabric), Taking::OneByOne).unwrap();
    let RangeCertificate::Cycle { cycle } = found else { panic!("{found:?}") };
    let [one, other] = cycle[..] else { panic!("{cycle:?}") };
    assert!(one.came_by != other.came_by && one.holds != other.holds, "{cycle:?}");
    let from = |turn: Turn| fabric.channel(turn.holds).from.node;
    assert_eq!(from(one), from(other), "at one switch");
}

/// A tree routing whose ranges do not share one way down: each goes by the root that the first host
/// of the range is assigned to.
struct ManyRoots(TreeAdaptive);

impl Routing for ManyRoots {
    fn groups(&self) -> &[Vec<Port>] {
        self.0.groups()
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        self.0.route(from, to, route);
    }
    fn spread(&self, from: HostId, range: HostRange, spread: &mut Spread) -> bool {
        let mut ways = Spread::default();
        self.0.spread(from, range, &mut ways);
        spread.clear();
        for tag in ways.tags() {
            let Tag::Port(Port(up)) = *tag else { panic!("{tag:?}") };
            spread.climb(Tag::Port(Port(up + (range.first.0 % 2) as u16)));
        }
        (0..ways.forks()).for_each(|fork| spread.fork(ways.branches(fork).iter().copied()));
        true
    }
}

/// Two packets to the same hosts by different roots: each holds what the other one waits for, at
/// two switches.
#[test]
fn ranges_with_different_roots_wait_for_each_other() {
    let fabric = tree(2, 2).unwrap();
    let routing = ManyRoots(TreeAdaptive::new(&fabric).unwrap());
    let range = |first| HostRange { first: HostId(first), last: HostId(3) };
    let one = certify_ranges(&fabric, &routing, [range(0)], Taking::AtOnce).unwrap();
    assert!(one.is_deadlock_free());
    let found = certify_ranges(&fabric, &routing, [range(0), range(1)], Taking::AtOnce).unwrap();
    let RangeCertificate::Cycle { cycle } = found else { panic!("{found:?}") };
    assert!(cycle.len() >= 2, "{cycle:?}");
    let switches: BTreeSet<_> =
        cycle.iter().map(|turn| fabric.channel(turn.holds).from.node).collect();
    assert_eq!(switches.len(), 2, "at two switches: {cycle:?}");
}

/// Leaves out a host, names one that is not there, or knows no way.
struct Wrong(TreeAdaptive, Option<Onward>);

impl Routing for Wrong {
    fn groups(&self) -> &[Vec<Port>] {
        self.0.groups()
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        self.0.route(from, to, route);
    }
    fn spread(&self, _: HostId, _: HostRange, spread: &mut Spread) -> bool {
        spread.clear();
        let branch = |onward| Branch { port: Port(0), onward };
        spread.fork(self.1.map(branch));
        true
    }
}

#[test]
fn ways_that_do_not_reach_their_range_are_named() {
    let fabric = tree(4, 1).unwrap();
    let adaptive = || TreeAdaptive::new(&fabric).unwrap();
    let range = HostRange { first: HostId(0), last: HostId(1) };
    let fault = |routing: &dyn Routing| {
        certify_ranges(&fabric, routing, [range], Taking::AtOnce).unwrap_err().fault
    };
    let host = |number| Some(Onward::Host(HostId(number)));
    assert_eq!(fault(&Wrong(adaptive(), host(0))), Fault::Missed { host: HostId(1) });
    assert_eq!(fault(&Wrong(adaptive(), host(1))), Fault::WrongHost { reached: HostId(0) });
    assert_eq!(fault(&Shortest::new(&fabric)), Fault::NoSpread { last: HostId(1) });
}
