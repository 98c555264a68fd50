use super::*;
use crate::networks::ring;
use crate::{Root, certify};
use crosstie_fabric::{Irregular, SwitchId, irregular, pruned_tree, single, tree};

mod routes;

#[test]
fn every_kind_is_called_as_it_is_declared() {
    let all = RoutingKind::all();
    let names: Vec<&str> = all.iter().map(RoutingKind::name).collect();
    assert_eq!(names, declared::choices::<RoutingKind>());
    for kind in all {
        let Declaration { name, description, .. } = kind.declaration();
        assert!(description.len() > 100 && description.ends_with('.'), "{name}: {description}");
        let written = serde_json::to_value(kind.seeded(Seed(1))).unwrap();
        let mut keys: Vec<&str> = written[name].as_object().unwrap().keys().map(|k| &**k).collect();
        let mut declared = kind.keys().to_vec();
        keys.sort_unstable();
        declared.sort_unstable();
        assert_eq!(keys, declared, "{name}");
    }
    assert_eq!(RoutingKind::UpDown(UpDown::default()).keys(), ["root", "pick", "seed"]);
    assert!(RoutingKind::Shortest {}.keys().is_empty());
}

#[test]
fn seeds_are_handed_down_to_those_that_draw_and_have_none() {
    let up_down = |seed| RoutingKind::UpDown(UpDown { seed, ..UpDown::default() });
    assert_eq!(up_down(None).seeded(Seed(7)), up_down(Some(Seed(7))));
    assert_eq!(up_down(Some(Seed(3))).seeded(Seed(7)), up_down(Some(Seed(3))));
    assert_eq!(RoutingKind::Shortest {}.seeded(Seed(7)), RoutingKind::Shortest {});
}

#[test]
fn keys_are_read_within_their_range() {
    let read = |text| serde_json::from_str::<RoutingKind>(text).map_err(|error| error.to_string());
    let root = Root::Switch(SwitchId(3));
    let expected = RoutingKind::UpDown(UpDown { root, ..UpDown::default() });
    assert_eq!(read(r#"{"up-down": {"root": 3}}"#), Ok(expected));
    for (wrong, words) in [
        (r#"{"up-dwn": {}}"#, "`up-down`"),
        (r#"{"up-down": {"rot": 0}}"#, "`root`"),
        (r#"{"up-down": {"root": "centre"}}"#, "\"central\""),
        (r#"{"up-down": {"root": -1}}"#, "the number of a switch"),
        (r#"{"smart": {"moves": 2000000}}"#, "from 0 to 1000000"),
        (r#"{"balanced-itb": {"seed": -1}}"#, "a whole number from 0"),
        (r#"{"shortest": {"seed": 1}}"#, "unknown field"),
    ] {
        let error = read(wrong).unwrap_err();
        assert!(error.contains(words), "{wrong}: {error}");
    }
}

/// Fabrics of every shape, with and without cycles.
fn fabrics() -> Vec<Fabric> {
    let random = |switches, seed| {
        let size = Irregular { switches, ports: 8, hosts_per_switch: 4, links: None };
        irregular(&size, Seed(seed)).unwrap()
    };
    let trees = [tree(2, 3), tree(4, 2), pruned_tree(4, 3, 32), pruned_tree(3, 3, 11)];
    let mut fabrics: Vec<_> = trees.into_iter().map(Result::unwrap).collect();
    fabrics.push(single(9).unwrap());
    fabrics.extend([3, 5, 8].map(ring));
    fabrics.extend((1..=4).flat_map(|seed| [8, 16].map(|switches| random(switches, seed))));
    fabrics
}

#[test]
fn promises_are_kept() {
    for kind in RoutingKind::all().into_iter().map(RoutingKind::soonest) {
        let mut certified = 0;
        for fabric in fabrics() {
            let (name, fabric_name) = (kind.name(), fabric.name());
            let is_tree = matches!(fabric.shape(), Shape::Tree(_));
            let made = kind.routes(&fabric, Seed(1));
            assert_eq!(made.is_ok(), is_tree || !kind.needs(Need::Tree), "{name} on {fabric_name}");
            let Ok((_, routes)) = made else { continue };
            let free = certify(&fabric, &*routes).unwrap().is_deadlock_free();
            match kind.declaration().promise {
                Promise::DeadlockFree { .. } => assert!(free, "{name} on {fabric_name}"),
                Promise::Nothing => {}
            }
            certified += u32::from(free);
        }
        assert!(certified >= 4, "{}", kind.name());
    }
}

#[test]
fn who_promises_nothing_has_a_reason() {
    for kind in RoutingKind::all() {
        if kind.declaration().promise == Promise::Nothing {
            let (ring, seed) = (ring(5), Seed(1));
            let (_, routes) = kind.routes(&ring, seed).unwrap();
            assert!(!certify(&ring, &*routes).unwrap().is_deadlock_free(), "{}", kind.name());
        }
    }
}

#[test]
fn stops_are_made_by_those_that_need_them_alone() {
    for kind in RoutingKind::all().into_iter().map(RoutingKind::soonest) {
        let stops = fabrics().iter().any(|fabric| {
            let made = kind.routes(fabric, Seed(1));
            made.is_ok_and(|(_, routes)| crate::Summary::of(fabric, &*routes).unwrap().stops > 0)
        });
        assert_eq!(stops, kind.needs(Need::InTransit), "{}", kind.name());
    }
}
