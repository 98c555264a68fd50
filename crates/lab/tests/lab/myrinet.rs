//! A Myrinet-like network: stop and go, headers that are used up, packets that stop on their way.

use crate::bench::{Bench, get};
use crosstie_study::Status;

/// The machine of Flich et al.: 160 MB/s in flits of a byte, 10 m of cable, 150 ns per switch.
fn myrinet(keys: &str) -> String {
    format!(
        r#"
        title = "Myrinet"
        seed = 1
        bus = "full"
        link = {{ flit = "1 B", rate = "160 MB/s", wire = "49.2 ns" }}
        nic.in-transit = {{}}
        traffic.size.fixed.size = "512 B"
        {keys}

        [switch]
        virtual-channels = 1
        buffer = 80
        flow.stop-and-go = {{ stop = 56, go = 40 }}
        consumes-headers = true
        routing-delay = 23
        "#
    )
}

const SIXTEEN: &str =
    "fabric.irregular = {switches = 16, ports = 8, hosts-per-switch = 4, seed = 1}";

#[test]
fn a_lone_message_takes_what_the_paper_calculates() {
    // One switch of 24 cycles, two cables of 8, 512 flits: the paper has 3448.4 ns, 551.7 cycles.
    let rows = Bench::with(&[]).rows(&myrinet(
        "fabric.single.hosts = 8
         traffic.load = 0.001
         measure = {precision = 0.05, min-cycles = 1_000_000, max-cycles = 2_000_000}",
    ));
    let network = get(&rows[0], "network_mean");
    assert!((552.0..555.0).contains(&network), "{network} cycles");
}

#[test]
fn minimal_routes_deadlock_and_with_stops_they_do_not() {
    let rows = Bench::with(&[]).rows(&myrinet(&format!(
        "{SIXTEEN}
         traffic.load = 0.3
         measure = {{min-cycles = 20_000, max-cycles = 40_000, channels = false}}
         sweep.product.routing = ['minimal', 'up-down-itb', 'up-down']",
    )));
    let statuses: Vec<_> = rows.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [Status::Deadlocked, Status::Saturated, Status::Saturated]);
    assert!(rows[0].note.contains("packets wait for each other along"), "{}", rows[0].note);
    let [_, stopping, legal] = &rows[..] else { panic!("three rows") };
    assert_eq!(get(stopping, "minimal_share"), 1.0);
    assert!((0.1..0.4).contains(&get(stopping, "stops_mean")));
    assert!((1.0..524_288.0).contains(&get(stopping, "pool_peak")));
    assert!((0.7..1.0).contains(&get(legal, "minimal_share")));
    assert_eq!(get(legal, "stops_mean"), 0.0);
    assert!(get(stopping, "accepted") > get(legal, "accepted"));
}

#[test]
fn no_scheme_deadlocks_far_beyond_saturation() {
    let rows = Bench::with(&[]).rows(&myrinet(&format!(
        "{SIXTEEN}
         traffic.load = 0.9
         measure = {{min-cycles = 100_000, max-cycles = 100_000, channels = false}}
         sweep.product.routing = [
             'up-down', 'dfs', {{smart.moves = 50}}, 'up-down-mitb', 'up-down-itb', 'dfs-itb',
             'balanced-itb',
         ]",
    )));
    assert_eq!(rows.len(), 7);
    for row in &rows {
        assert_ne!(row.status, Status::Deadlocked, "{row:?}");
        assert!((0.05..0.5).contains(&get(row, "accepted")), "{row:?}");
        assert!(get(row, "pool_peak") <= 524_288.0, "{row:?}");
    }
}

/// Traffic times the links of a route, spread over the channels between switches.
#[test]
fn utilisation_is_traffic_times_distance() {
    let rows = Bench::with(&[]).rows(&myrinet(&format!(
        "{SIXTEEN}
         traffic.load = 0.06
         measure = {{min-cycles = 400_000, max-cycles = 400_000}}
         sweep.product.routing = ['up-down', 'up-down-itb', 'balanced-itb']",
    )));
    for row in &rows {
        let links = get(row, "hops_mean") - 1.0 - get(row, "stops_mean");
        // As many channels lead out of a switch as it has hosts; headers are a few flits of 512.
        let ratio = get(row, "utilisation_mean") / (get(row, "accepted") * links);
        assert!((0.99..1.02).contains(&ratio), "{ratio} on {row:?}");
    }
}
