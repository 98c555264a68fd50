//! Routings: the one that is chosen where none is named, and what is said of those that are.

use crate::bench::{Bench, get};
use crosstie_lab::RoutedFabric;
use crosstie_study::{Row, Spec, Status};
use std::fmt::Write;

const LEAVES: u32 = 8;
const SPINES: u32 = 4;
const HOSTS: u32 = 4;

/// What `ibnetdiscover` prints of a fat tree: eight leaves with four hosts each, four spines.
fn fat_tree() -> String {
    let mut text = String::new();
    let (leaf, spine) = (|l: u32| format!("S-b{l:03}"), |s: u32| format!("S-c{s:03}"));
    let host = |l: u32, h: u32| format!("H-a{:03}", l * HOSTS + h);
    for l in 0..LEAVES {
        writeln!(text, "\nvendid=0x2c9\nSwitch\t8 \"{}\"\t\t# \"leaf {l}\"", leaf(l)).unwrap();
        for h in 0..HOSTS {
            writeln!(text, "[{}]\t\"{}\"[1]\t\t# \"node\" 4xHDR", h + 1, host(l, h)).unwrap();
        }
        for s in 0..SPINES {
            let port = HOSTS + s + 1;
            writeln!(text, "[{port}]\t\"{}\"[{}]\t\t# \"spine\" 4xHDR", spine(s), l + 1).unwrap();
        }
    }
    for s in 0..SPINES {
        writeln!(text, "\nvendid=0x2c9\nSwitch\t8 \"{}\"\t\t# \"spine {s}\"", spine(s)).unwrap();
        for l in 0..LEAVES {
            let port = HOSTS + s + 1;
            writeln!(text, "[{}]\t\"{}\"[{port}]\t\t# \"leaf\" 4xHDR", l + 1, leaf(l)).unwrap();
        }
    }
    for (l, h) in (0..LEAVES).flat_map(|l| (0..HOSTS).map(move |h| (l, h))) {
        writeln!(text, "\nvendid=0x2c9\nCa\t1 \"{}\"\t\t# \"node\"", host(l, h)).unwrap();
        writeln!(text, "[1]\t\"{}\"[{}]\t\t# lid 1 \"leaf\" 4xHDR", leaf(l), h + 1).unwrap();
    }
    text
}

fn rows(keys: &str) -> Vec<Row> {
    Bench::with(&[("tree.ibnetdiscover", &fat_tree())]).rows(&format!(
        r#"
        title = "Fat tree"
        seed = 1
        fabric.file.path = "tree.ibnetdiscover"
        bus = "full"
        traffic = {{load = 0.3, size.fixed.size = "64 B"}}
        measure = {{precision = 0.1, min-cycles = 20_000, max-cycles = 50_000}}
        {keys}
        "#
    ))
}

#[test]
fn an_imported_fat_tree_is_routed_evenly_unless_another_routing_is_named() {
    let chosen = &rows("")[0];
    assert_eq!(chosen.status, Status::Converged, "{chosen:?}");
    assert_eq!(
        chosen.note,
        "routing = minimal,pick=balanced,seed=1, the most even that cannot deadlock here"
    );
    assert!((get(chosen, "accepted") - 0.3).abs() < 0.02, "{chosen:?}");
    let even = get(chosen, "utilisation_max") / get(chosen, "utilisation_mean");
    assert!(even < 1.2, "{chosen:?}");
    let rooted = &rows("routing = 'up-down'")[0];
    assert_eq!(rooted.status, Status::Saturated, "one of four spines cannot carry it");
    assert!(rooted.note.contains("the busiest channel has 4.0 times the mean"), "{}", rooted.note);
}

#[test]
fn what_was_chosen_can_be_named_and_gives_the_same_numbers() {
    let chosen = rows("");
    let named = rows("routing.minimal = {pick = 'balanced', seed = 1}");
    assert_eq!(chosen[0].measured, named[0].measured);
}

#[test]
fn crowded_channels_are_told_of_on_trees_too() {
    let text = "title = 'x'\nseed = 1\nfabric.tree = {k = 4, n = 2}\n\
                traffic = {load = 0.01, size.fixed.size = '64 B'}\n\
                measure = {precision = 0.2, min-cycles = 5000, max-cycles = 20_000}\n\
                sweep.product.routing = ['shortest', 'tree-adaptive']";
    let rows = Bench::with(&[]).rows(text);
    assert!(rows[0].note.contains("the busiest channel has 4.0 times"), "{}", rows[0].note);
    assert!(!rows[1].note.contains("busiest"), "{}", rows[1].note);
}

/// What is said of a routing on a random network of switches with so many hosts each.
fn remarks(switches: u32, hosts_per_switch: u32, routing: &str) -> Vec<String> {
    let ports = hosts_per_switch + 4;
    let text = format!(
        "seed = 1\ntraffic = {{load = 0.1, size.fixed.size = '64 B'}}\nrouting = '{routing}'\n\
         fabric.irregular = {{switches = {switches}, ports = {ports}, \
         hosts-per-switch = {hosts_per_switch}, seed = 1}}"
    );
    let spec = Spec::from_toml("remarks", &text).unwrap_or_else(|error| panic!("{error}"));
    RoutedFabric::build(&spec.fabric, &spec.routing, &|path| path.into()).unwrap().remarks
}

#[test]
fn who_promises_nothing_is_certified_as_far_as_routes_can_be_followed() {
    let deadlock = |remark: &String| remark.contains("certified") || remark.contains("deadlock");
    for routing in ["minimal", "shortest"] {
        let found = remarks(160, 4, routing);
        assert!(
            found.iter().any(|remark| remark.starts_with("the routing is not deadlock-free")),
            "640 hosts under {routing}: {found:?}"
        );
    }
    assert!(!remarks(160, 4, "up-down").iter().any(deadlock), "a promise is enough");
    // Each of 19,200 hosts has 2,399 others on its switch, 4 x 2,400 on the next, 3 x 2,400 beyond.
    assert_eq!(19_200 * (2_399 * 2 + 9_600 * 3 + 7_200 * 4), 1_198_041_600_u64);
    let found = remarks(8, 2400, "shortest");
    let said: Vec<_> = found.iter().filter(|remark| deadlock(remark)).collect();
    assert_eq!(
        said,
        [
            "the routing is not certified, it may deadlock: its routes cross 1198041600 channels, and \
             at most 1073741824 are followed"
        ]
    );
}
