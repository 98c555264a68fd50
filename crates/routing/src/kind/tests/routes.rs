//! The routes that the kinds make, on the networks of the paper and on any network.

use super::*;
use crate::balanced::balanced;
use crate::export::ForwardingTables;
use crate::moves::{Breach, Moves};
use crate::networks::{irregular as any_network, ring};
use crate::smart::smart;
use crate::table::Draft;
use crate::turns::Turns;
use crate::wiring::Wiring;
use crate::{
    Certificate, Choice, Load, Order, Pick, Root, Route, Summary, Tag, certify, dfs, place_itbs,
    split_by_order, updown,
};
use crosstie_fabric::{HostId, Irregular, Node, Search, SwitchId, irregular};
use proptest::prelude::*;

const UD: RoutingKind = up_down(Root::Central, Pick::Random);
const BALANCED_UD: RoutingKind = up_down(Root::Central, Pick::Balanced);
const TABLED_UD: RoutingKind = up_down(Root::Central, Pick::Destination);
const DFS: RoutingKind = depth_first(Root::FewestRestrictions, Pick::Random);
const TABLED_DFS: RoutingKind = depth_first(Root::FewestRestrictions, Pick::Destination);
const UD_ITB: RoutingKind = up_down_itb(Root::Central);
const UD_MITB: RoutingKind = up_down_mitb(Root::Central);
const DFS_ITB: RoutingKind = dfs_itb(Root::FewestRestrictions, Choice::Random);
const DFS_MITB: RoutingKind = dfs_itb(Root::FewestRestrictions, Choice::CompliantFirst);
const B_ITB: RoutingKind = RoutingKind::BalancedItb(BalancedItb { seed: None });
const MINIMAL: RoutingKind = minimal(Pick::Random);
/// Few moves: what holds for Smart holds after any number of them.
const SMART: RoutingKind = smart_with(30);

/// The kinds of irregular networks that promise freedom from deadlock, in all their forms.
const SAFE: [RoutingKind; 9] =
    [UD, BALANCED_UD, DFS, SMART, UD_ITB, UD_MITB, DFS_ITB, DFS_MITB, B_ITB];

const fn minimal(pick: Pick) -> RoutingKind {
    RoutingKind::Minimal(Minimal { pick, seed: None })
}

const fn up_down(root: Root, pick: Pick) -> RoutingKind {
    RoutingKind::UpDown(UpDown { root, pick, seed: None })
}

const fn depth_first(root: Root, pick: Pick) -> RoutingKind {
    RoutingKind::Dfs(Dfs { root, pick, seed: None })
}

const fn up_down_itb(root: Root) -> RoutingKind {
    RoutingKind::UpDownItb(UpDownItb { root, seed: None })
}

const fn up_down_mitb(root: Root) -> RoutingKind {
    RoutingKind::UpDownMitb(UpDownMitb { root, seed: None })
}

const fn dfs_itb(root: Root, choice: Choice) -> RoutingKind {
    RoutingKind::DfsItb(DfsItb { root, choice, seed: None })
}

const fn smart_with(moves: u32) -> RoutingKind {
    RoutingKind::Smart(Smart { moves, seed: None })
}

fn routes(
    kind: RoutingKind,
    fabric: &Fabric,
    seed: Seed,
) -> Result<Box<dyn Routing>, RoutingError> {
    let (made_by, routes) = kind.routes(fabric, seed)?;
    assert_eq!(made_by, kind);
    Ok(routes)
}

/// The networks of the paper: 8 ports, 4 of them for hosts.
fn paper(switches: u32, seed: u64) -> Fabric {
    let size = Irregular { switches, ports: 8, hosts_per_switch: 4, links: None };
    irregular(&size, Seed(seed)).unwrap()
}

/// Ten networks of each size of the paper, with the number that they follow from.
fn papers() -> impl Iterator<Item = (Fabric, Seed)> {
    let sizes = [16, 32, 64].into_iter();
    sizes.flat_map(|size| (1..=10).map(move |seed| (paper(size, seed), Seed(seed))))
}

/// The switches of each leg, found by following the tags; every step is checked.
fn followed(fabric: &Fabric, routes: &dyn Routing, from: HostId, to: HostId) -> Vec<Vec<SwitchId>> {
    let mut route = Route::default();
    routes.route(from, to, &mut route);
    let mut start = from;
    let leg = |leg: crate::Leg<'_>| {
        let mut node = fabric.channel(fabric.host_out(start)).to.node;
        let mut switches = Vec::new();
        for tag in leg.tags {
            let (Node::Switch(switch), Tag::Port(port)) = (node, *tag) else {
                panic!("{tag:?} at {node}")
            };
            assert!(!switches.contains(&switch), "{switches:?} leads to {switch:?} again");
            switches.push(switch);
            node = fabric.channel(fabric.switch_out(switch, port).unwrap()).to.node;
        }
        let end = leg.stop.unwrap_or(to);
        assert_eq!(node, Node::Host(end));
        assert_eq!(switches.len(), leg.tags.len(), "one tag for each switch");
        start = end;
        switches
    };
    route.legs().map(leg).collect()
}

fn pairs(fabric: &Fabric) -> impl Iterator<Item = (HostId, HostId)> {
    let hosts = fabric.hosts().len() as u32;
    (0..hosts)
        .flat_map(move |t| (0..hosts).map(move |f| (HostId(f), HostId(t))))
        .filter(|(f, t)| f != t)
}

/// Links between switches on a route.
fn links(legs: &[Vec<SwitchId>]) -> usize {
    legs.iter().map(|leg| leg.len() - 1).sum()
}

fn is_legal(order: &Order, leg: &[SwitchId]) -> bool {
    let ups: Vec<bool> = leg.windows(2).map(|w| order.place(w[1]) < order.place(w[0])).collect();
    ups.windows(2).all(|w| w[0] || !w[1])
}

/// The length of the shortest legal way between every two switches, by plain relaxation.
fn legal_lengths(fabric: &Fabric, order: &Order) -> Vec<Vec<usize>> {
    let wiring = Wiring::of(fabric);
    let n = wiring.switches().len();
    let from = |start: usize| {
        // Hops taken until each switch, by whether the last hop was down.
        let mut least = vec![[usize::MAX; 2]; n];
        least[start][0] = 0;
        for _ in 0..2 * n {
            for hop in wiring.hops() {
                let (a, b) = (hop.from.0 as usize, hop.to.0 as usize);
                let down = order.place(hop.to) > order.place(hop.from);
                let before = if down { least[a][0].min(least[a][1]) } else { least[a][0] };
                let known = &mut least[b][usize::from(down)];
                *known = (*known).min(before.saturating_add(1));
            }
        }
        least.into_iter().map(|[up, down]| up.min(down)).collect()
    };
    (0..n).map(from).collect()
}

#[test]
fn every_kind_arrives_and_cannot_deadlock() {
    for (fabric, seed) in papers() {
        for kind in SAFE {
            let routes = routes(kind, &fabric, seed).unwrap();
            for (from, to) in pairs(&fabric) {
                followed(&fabric, &*routes, from, to);
            }
            let certificate = certify(&fabric, &*routes).unwrap();
            assert!(certificate.is_deadlock_free(), "{kind:?} on {}", fabric.name());
        }
    }
}

#[test]
fn without_stops_routes_are_the_shortest_legal_ones() {
    for (fabric, seed) in papers() {
        let (ud, dfs) = (updown(&fabric, Root::Central), dfs(&fabric, Root::FewestRestrictions));
        for (kind, order) in [(UD, ud.clone()), (BALANCED_UD, ud), (DFS, dfs)] {
            let order = order.unwrap();
            let (routes, least) =
                (routes(kind, &fabric, seed).unwrap(), legal_lengths(&fabric, &order));
            for (from, to) in pairs(&fabric) {
                let legs = followed(&fabric, &*routes, from, to);
                let [leg] = &legs[..] else { panic!("{legs:?} has a stop") };
                assert!(is_legal(&order, leg), "{leg:?}");
                let ends = (leg[0].0 as usize, leg[leg.len() - 1].0 as usize);
                assert_eq!(links(&legs), least[ends.0][ends.1], "{leg:?}");
            }
        }
    }
}

#[test]
fn with_stops_routes_are_minimal_and_their_legs_legal() {
    for (fabric, seed) in papers() {
        let mut search = Search::new(&fabric);
        let ud = updown(&fabric, Root::Central).unwrap();
        let dfs = dfs(&fabric, Root::FewestRestrictions).unwrap();
        let least = legal_lengths(&fabric, &ud);
        for (kind, order) in
            [(UD_ITB, Some(&ud)), (UD_MITB, Some(&ud)), (DFS_ITB, Some(&dfs)), (B_ITB, None)]
        {
            let routes = routes(kind, &fabric, seed).unwrap();
            for (from, to) in pairs(&fabric) {
                let legs = followed(&fabric, &*routes, from, to);
                let (source, target) =
                    (fabric.switch_of(from).unwrap(), fabric.switch_of(to).unwrap());
                let distance = search.from(source)[target.0 as usize] as usize;
                assert_eq!(links(&legs), distance, "{legs:?}");
                for pair in legs.windows(2) {
                    assert_eq!(pair[0].last(), pair[1].first(), "a stop is where the way is cut");
                }
                if let Some(order) = order {
                    assert!(legs.iter().all(|leg| is_legal(order, leg)), "{legs:?}");
                }
                if kind == UD_MITB {
                    let legal = least[source.0 as usize][target.0 as usize] == distance;
                    assert_eq!(legs.len() == 1, legal, "stops only if no minimal way is legal");
                }
            }
        }
    }
}

/// What the paper says of the ring of five with root 0: the kind, minimal routes, stops.
#[test]
fn the_ring_of_five_is_as_published() {
    let ring = ring(5);
    let root = Root::Switch(SwitchId(0));
    let summary =
        |kind: RoutingKind| Summary::of(&ring, &*routes(kind, &ring, Seed(1)).unwrap()).unwrap();
    for pick in [Pick::Random, Pick::Balanced] {
        assert_eq!(summary(up_down(root, pick)).minimal, 18);
        assert_eq!(summary(depth_first(root, pick)).minimal, 18);
    }
    for (kind, switch, ends) in [
        (up_down_itb(root), 3, [2, 4]),
        (up_down_mitb(root), 3, [2, 4]),
        (dfs_itb(root, Choice::Random), 4, [0, 3]),
        (dfs_itb(root, Choice::CompliantFirst), 4, [0, 3]),
    ] {
        let found = summary(kind);
        assert_eq!((found.minimal, found.stops, found.mean_stops()), (20, 2, 0.1));
        let routes = routes(kind, &ring, Seed(1)).unwrap();
        for (from, to) in pairs(&ring) {
            let legs = followed(&ring, &*routes, from, to);
            let stops = ends.contains(&from.0) && ends.contains(&to.0);
            assert_eq!(legs.len(), if stops { 2 } else { 1 });
            assert!(!stops || legs[1][0] == SwitchId(switch));
        }
    }
    // One stop each way round.
    assert_eq!(summary(B_ITB).stops, 2);
}

#[test]
fn minimal_routes_alone_can_deadlock() {
    let ring = ring(5);
    let routes = Minimal::default().routes(&ring, Seed(1)).unwrap();
    let Certificate::Cycle { cycle, .. } = certify(&ring, &routes).unwrap() else {
        panic!("five packets each going two hops round a ring block each other")
    };
    assert_eq!(cycle.len(), 5);
    for (fabric, seed) in papers() {
        let routes = Minimal::default().routes(&fabric, seed).unwrap();
        assert!(!certify(&fabric, &routes).unwrap().is_deadlock_free());
        // The same routes with stops can not.
        let order = updown(&fabric, Root::Central).unwrap();
        let split = split_by_order(&routes, &order).unwrap();
        assert!(certify(&fabric, &split).unwrap().is_deadlock_free());
        assert!(certify(&fabric, &place_itbs(&routes).unwrap()).unwrap().is_deadlock_free());
    }
}

/// The share of minimal routes under an order, from the lengths alone.
fn minimal_share(fabric: &Fabric, order: &Order) -> f64 {
    let wiring = Wiring::of(fabric);
    let (legal, free) = (Moves::ordered(&wiring, order, Breach::Forbidden), Moves::free(&wiring));
    let (mut minimal, mut all) = (0, 0);
    for target in wiring.switches() {
        let (legal_ways, ways) = (legal.toward(target), free.toward(target));
        for source in wiring.switches() {
            // Four hosts on each switch; no route from a host to itself.
            let routes = if source == target { 4 * 3 } else { 4 * 4 };
            all += routes;
            let same = legal_ways.cost(legal.start(source)) == ways.cost(free.start(source));
            minimal += if same { routes } else { 0 };
        }
    }
    100.0 * f64::from(minimal) / f64::from(all)
}

#[test]
fn minimal_shares_and_restrictions_are_as_published() {
    for (switches, ud_share, dfs_share) in [(16, 89.0, 94.0), (32, 71.0, 81.0), (64, 61.0, 70.0)] {
        let mut mean = [0.0; 2];
        let mut restrictions = [0; 2];
        for seed in 1..=30 {
            let fabric = paper(switches, seed);
            let ud = updown(&fabric, Root::Central).unwrap();
            let dfs = dfs(&fabric, Root::FewestRestrictions).unwrap();
            for (i, order) in [ud, dfs].iter().enumerate() {
                mean[i] += minimal_share(&fabric, order) / 30.0;
                restrictions[i] += order.restrictions(&fabric);
            }
        }
        let [ud, dfs] = mean;
        assert!((ud - ud_share).abs() < 4.0, "{switches} switches: {ud:.1}% under UD");
        assert!((dfs - dfs_share).abs() < 4.0, "{switches} switches: {dfs:.1}% under DFS");
        assert!(ud < dfs && restrictions[1] < restrictions[0], "{restrictions:?}");
    }
}

#[test]
fn stops_per_route_are_as_published() {
    let fabric = paper(64, 1);
    let stops = |kind: RoutingKind| {
        let routes = routes(kind, &fabric, Seed(1)).unwrap();
        let mut route = Route::default();
        let stops = |(from, to)| {
            routes.route(from, to, &mut route);
            route.legs().count() - 1
        };
        pairs(&fabric).map(stops).sum::<usize>() as f64 / (256.0 * 255.0)
    };
    let (ud, ud_least) = (stops(UD_ITB), stops(UD_MITB));
    let (dfs, dfs_least) = (stops(DFS_ITB), stops(DFS_MITB));
    assert!((0.45..0.6).contains(&ud), "published 0.55, found {ud}");
    assert!(dfs < ud && ud_least < ud && dfs_least < dfs, "{dfs} {ud_least}");
    assert!((0.2..0.4).contains(&dfs_least), "published 0.3, found {dfs_least}");
}

#[test]
fn the_hosts_of_a_switch_serve_alike() {
    let fabric = paper(16, 1);
    for kind in [UD_ITB, UD_MITB, DFS_ITB, B_ITB] {
        let routes = routes(kind, &fabric, Seed(1)).unwrap();
        let mut served = vec![0; fabric.hosts().len()];
        let mut route = Route::default();
        for (from, to) in pairs(&fabric) {
            routes.route(from, to, &mut route);
            route.legs().filter_map(|leg| leg.stop).for_each(|host| served[host.0 as usize] += 1);
        }
        for of_switch in served.chunks(4) {
            let (least, most) = (of_switch.iter().min().unwrap(), of_switch.iter().max().unwrap());
            assert!(most - least <= 1, "{kind:?}: {of_switch:?}");
        }
        assert!(served.iter().sum::<u32>() > 0);
    }
}

#[test]
fn balance_is_worth_the_work() {
    let fabric = paper(16, 2);
    let busiest = |kind: RoutingKind| {
        let routes = routes(kind, &fabric, Seed(1)).unwrap();
        Summary::of(&fabric, &*routes).unwrap().load.unwrap().max
    };
    assert!(busiest(BALANCED_UD) < busiest(UD));
    assert!(busiest(B_ITB) < 0.9 * busiest(MINIMAL));
    assert!(busiest(smart_with(200)) < 0.8 * busiest(DFS));
}

#[test]
fn ties_are_drawn_evenly() {
    // Round a ring of four there are two ways to the switch across, and four such pairs.
    let ring = ring(4);
    let mut clockwise = 0;
    for seed in 0..500 {
        let routes = Minimal::default().routes(&ring, Seed(seed)).unwrap();
        for from in 0..4 {
            let legs = followed(&ring, &routes, HostId(from), HostId((from + 2) % 4));
            clockwise += u32::from(legs[0][1].0 == (from + 1) % 4);
        }
    }
    // Four standard deviations.
    assert!((910..1090).contains(&clockwise), "{clockwise} of 2000");
}

#[test]
fn destinations_alone_can_decide() {
    let fabric = paper(16, 1);
    let minimal = minimal(Pick::Destination);
    for kind in [TABLED_UD, TABLED_DFS, minimal] {
        let routes = routes(kind, &fabric, Seed(1)).unwrap();
        assert!(ForwardingTables::of(&fabric, &*routes).is_ok(), "{kind:?}");
    }
    let links = |kind: RoutingKind| {
        let routes = routes(kind, &fabric, Seed(1)).unwrap();
        Summary::of(&fabric, &*routes).unwrap().mean_links()
    };
    assert_eq!(links(minimal), links(MINIMAL));
    assert!((1.0..1.2).contains(&(links(TABLED_UD) / links(UD))), "not much longer");
}

#[test]
fn the_seed_decides_everything() {
    let fabric = paper(8, 1);
    let all = |kind: RoutingKind, seed| {
        let routes = routes(kind, &fabric, Seed(seed)).unwrap();
        let route = |(from, to)| {
            let mut route = Route::default();
            routes.route(from, to, &mut route);
            route
        };
        pairs(&fabric).map(route).collect::<Vec<_>>()
    };
    for kind in SAFE {
        assert_eq!(all(kind, 1), all(kind, 1));
        assert_ne!(all(kind, 1), all(kind, 2), "{kind:?}");
    }
}

#[test]
fn smart_turns_join_everybody_and_form_no_cycle() {
    let fabric = paper(16, 1);
    let wiring = Wiring::of(&fabric);
    let turns = smart(&fabric, 100, Seed(1)).unwrap();
    let legal = Turns::legal(&wiring, &dfs(&fabric, Root::FewestRestrictions).unwrap());
    assert_ne!(turns, legal, "a hundred moves change something");
    let draft = Draft::new(&fabric).unwrap();
    let routes = balanced(draft, &Moves::turned(&wiring, &turns), 1, Seed(1)).unwrap();
    for (from, to) in pairs(&fabric) {
        let legs = followed(&fabric, &routes, from, to);
        let hop = |w: &[SwitchId]| wiring.out(w[0]).find(|&h| wiring.hop(h).to == w[1]).unwrap();
        let hops: Vec<_> = legs[0].windows(2).map(hop).collect();
        assert!(hops.windows(2).all(|w| turns.has(&wiring, w[0], w[1])));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Parallel links, switches without hosts and networks without cycles included.
    #[test]
    fn any_network_is_routed_without_deadlock(fabric in any_network(), seed in any::<u64>()) {
        for kind in SAFE {
            match routes(kind, &fabric, Seed(seed)) {
                Ok(routes) => {
                    prop_assert!(certify(&fabric, &*routes).unwrap().is_deadlock_free());
                    for (from, to) in pairs(&fabric) {
                        followed(&fabric, &*routes, from, to);
                    }
                }
                Err(RoutingError::NoHostToStopAt { switch }) => {
                    prop_assert_eq!(kind, B_ITB);
                    prop_assert!(fabric.hosts().all(|h| fabric.switch_of(h) != Some(switch)));
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    /// What the turns of a table tell is what the certificate says.
    #[test]
    fn turns_without_a_cycle_are_a_certificate(fabric in any_network(), seed in any::<u64>()) {
        let tables = [
            Minimal::default().routes(&fabric, Seed(seed)),
            UpDown::default().routes(&fabric, Seed(seed)),
            UpDownItb::default().routes(&fabric, Seed(seed)),
        ];
        for routes in tables.map(Result::unwrap) {
            let proof = certify(&fabric, &routes).unwrap();
            prop_assert_eq!(routes.is_deadlock_free(), proof.is_deadlock_free());
        }
    }

    /// What a table counts while it is written is what following its routes gives.
    #[test]
    fn routes_are_counted_as_they_are_written(fabric in any_network(), seed in any::<u64>()) {
        for kind in SAFE.into_iter().chain([MINIMAL, TABLED_UD]) {
            let Ok(routes) = routes(kind, &fabric, Seed(seed)) else { continue };
            let followed = Summary::by_following(&fabric, &*routes).unwrap();
            let counted = Summary::of(&fabric, &*routes).unwrap();
            // The deviation is a sum of fractions, added up in another order.
            let deviation = |summary: &Summary| summary.load.map_or(0.0, |load| load.deviation);
            prop_assert!((deviation(&counted) - deviation(&followed)).abs() < 1e-9);
            let load = counted.load.map(|load| Load { deviation: deviation(&followed), ..load });
            prop_assert_eq!(Summary { load, ..counted }, followed);
        }
    }
}
