//! What networks must do whatever the code looks like.

use crate::bench::{Bench, get, ring};
use crosstie_study::{Row, Status};

fn tree(keys: &str) -> String {
    format!(
        r#"
        title = "Physics"
        seed = 1
        fabric.tree = {{ k = 4, n = 2 }}
        traffic.size.fixed.size = "64 B"
        measure.precision = 0.05
        measure.min-cycles = 4000
        measure.max-cycles = 100_000
        measure.channels = false
        {keys}
        "#
    )
}

#[test]
fn a_half_duplex_bus_carries_half_and_a_full_duplex_bus_more() {
    let rows = Bench::with(&[]).rows(&tree(
        "sweep.product.bus = ['half', 'full', {asymmetric = {read = '200 MB/s', write = '275 MB/s'}}]
         sweep.product.'traffic.load' = [0.3, 0.6, 0.9]",
    ));
    let accepted = |bus: &str, load: f64| {
        let row = rows.iter().find(|row| {
            row.setting("bus").unwrap().to_string() == bus
                && row.setting("traffic.load").unwrap().number() == Some(load)
        });
        get(row.unwrap(), "accepted")
    };
    for load in [0.3, 0.6, 0.9] {
        assert!(accepted("half", load) <= 0.5, "{}", accepted("half", load));
        // Per flit sent and received, 2 + 16/11 cycles of bus.
        assert!(accepted("asymmetric", load) <= 1.0 / (2.0 + 16.0 / 11.0));
    }
    assert!(accepted("half", 0.6) > 0.4 && accepted("asymmetric", 0.6) > 0.2);
    assert!(accepted("full", 0.6) > 0.55, "{}", accepted("full", 0.6));
}

/// Head-of-line blocking: 2 - sqrt 2 of the links where an input hands over one frame at a time,
/// and sqrt 3 - 1 where it offers the next one at once; a little more with 64 ports than with many.
#[test]
fn memory_at_inputs_saturates_where_theory_says() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Head-of-line blocking"
        seed = 1
        world = "frame"
        fabric.single.hosts = 64
        link = { flit = "1 B", rate = "1 Gbit/s", wire = "0 ps" }
        traffic.size.fixed.size = "1500 B"
        # All that links carry, beside the 38 bytes that Ethernet adds.
        traffic.load = 0.975
        measure = { min-cycles = 2_000_000, max-cycles = 4_000_000, channels = false }
        sweep.product."frame.switch.memory" = [
            { input = { capacity = "2000 frames" } },
            { input = { capacity = "2000 frames", hand-over = "first-bit" } },
            { output = { capacity = "2000 frames" } },
        ]
        "#,
    );
    let carried: Vec<f64> = rows.iter().map(|row| get(row, "accepted") * 1538.0 / 1500.0).collect();
    assert!((carried[0] - 0.590).abs() < 0.01, "{carried:?}");
    assert!((carried[1] - 0.733).abs() < 0.01, "{carried:?}");
    assert!(carried[2] > 0.97, "{carried:?}");
}

#[test]
fn saturated_and_not_converged_are_told_apart() {
    let rows = Bench::with(&[]).rows(&tree(
        "sweep.zip.'traffic.load' = [1.0, 0.2, 0.2]
         sweep.zip.'measure.precision' = [0.05, 0.0001, 0.05]",
    ));
    let statuses: Vec<_> = rows.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [Status::Saturated, Status::NotConverged, Status::Converged]);
    assert_eq!((rows[0].note.as_str(), rows[2].note.as_str()), ("", ""));
    assert!(rows[1].note.contains("mean latency known to ±"), "{}", rows[1].note);
    assert!(get(&rows[1], "latency_mean") > 0.0, "the best estimate is still given");
}

#[test]
fn a_ring_with_shortest_paths_deadlocks_and_the_channels_are_named() {
    // Everyone to the second next switch.
    let to: String = (0..15).map(|host| format!("{}\n", (host + 6) % 15)).collect();
    let bench = Bench::with(&[("ring.anynet", &ring()), ("second.txt", &to)]);
    let rows = bench.rows(
        r#"
        title = "Ring"
        seed = 1
        fabric.file.path = "ring.anynet"
        routing = "shortest"
        switch = { virtual-channels = 1, buffer = 4 }
        bus = "full"
        traffic.destination.permutation.file = "second.txt"
        traffic.size.fixed.size = "128 B"
        measure.max-cycles = 100_000
        sweep.product.'traffic.load' = [0.001, 0.9]
        "#,
    );
    let [calm, stuck] = rows.as_slice() else { panic!("{rows:?}") };
    assert_ne!(calm.status, Status::Deadlocked);
    let warning = "the routing is not deadlock-free: packets may wait for each other along ";
    assert!(calm.note.contains(warning), "{}", calm.note);
    assert_eq!(stuck.status, Status::Deadlocked);
    assert!(stuck.note.starts_with("deadlock found at cycle "), "{}", stuck.note);
    assert!(stuck.note.contains(warning), "{}", stuck.note);
    assert_eq!(stuck.note.matches(" -> ").count(), 5 + 5, "both circles in full: {}", stuck.note);
    assert_eq!(stuck.measured, [("offered".to_owned(), 0.9)]);
}

#[test]
fn a_sweep_runs_over_many_irregular_networks() {
    let rows = |seeds: &str| {
        let text = r#"
        title = "Random networks"
        seed = 1
        fabric.irregular = { switches = 8, ports = 6, hosts-per-switch = 2, seed = 0 }
        bus = "full"
        traffic.load = 0.05
        traffic.size.fixed.size = "64 B"
        measure = { precision = 0.1, max-cycles = 50_000 }
        sweep.zip.'fabric.irregular.seed' = "#;
        Bench::with(&[]).rows(&format!("{text}{seeds}\n"))
    };
    let [one, two] = &rows("[1, 2]")[..] else { panic!("two networks") };
    assert_eq!(one.status, Status::Converged);
    assert_ne!(one.measured, two.measured);
    let [again] = &rows("[1]")[..] else { panic!("one network") };
    assert_eq!(one.measured, again.measured);
}

#[test]
fn routings_of_irregular_networks_run_and_the_unsafe_one_is_named() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Irregular"
        seed = 1
        fabric.irregular = { switches = 8, ports = 6, hosts-per-switch = 2, seed = 1 }
        bus = "full"
        traffic.load = 0.05
        traffic.size.fixed.size = "64 B"
        measure = { precision = 0.1, max-cycles = 50_000 }
        sweep.product.routing = ["up-down", "dfs", { smart.moves = 20 }, "minimal"]
        "#,
    );
    let [safe @ .., minimal] = rows.as_slice() else { panic!("{rows:?}") };
    for row in safe {
        assert_eq!((row.status, row.note.as_str()), (Status::Converged, ""));
    }
    assert!(minimal.note.contains("the routing is not deadlock-free"), "{}", minimal.note);
}

#[test]
fn rails_share_the_messages_of_a_node() {
    let rows =
        Bench::with(&[]).rows(&tree("sweep.product.'cluster.rails' = [1, 3]\ntraffic.load = 0.2"));
    let [one, three] = rows.as_slice() else { panic!("{rows:?}") };
    assert!((get(three, "accepted") / get(one, "accepted") - 1.0).abs() < 0.05);
    let rate = |row: &Row| get(row, "packets") / get(row, "cycles");
    assert!((rate(three) / rate(one) / 3.0 - 1.0).abs() < 0.15, "{rows:?}");
}

#[test]
fn saturation_lies_where_the_search_says() {
    let bench = Bench::with(&[]);
    let rows = bench.rows(&tree("measure.saturation.precision = 0.08\nbus = 'full'"));
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    let (low, high) = (get(row, "saturation_low"), get(row, "saturation_high"));
    assert!(row.status == Status::Converged && high - low < 0.161 && low > 0.4, "{row:?}");
    assert_eq!(get(row, "saturation"), f64::midpoint(low, high));
    assert!(row.measured("latency_mean").is_none() && get(row, "accepted") < high);
    assert!(row.note.starts_with("saturation lies between "), "{}", row.note);
    let load = |load: f64| format!("bus = 'full'\ntraffic.load = {load}");
    assert_ne!(bench.rows(&tree(&load(low - 0.1)))[0].status, Status::Saturated);
    assert_eq!(bench.rows(&tree(&load(high + 0.1)))[0].status, Status::Saturated);
}

#[test]
fn neighbours_on_a_switch_of_their_own_never_saturate() {
    let bench = Bench::with(&[("swap.txt", "1\n0\n")]);
    let rows = bench.rows(
        r#"
        title = "Two hosts"
        seed = 1
        fabric.single.hosts = 2
        bus = "full"
        traffic.destination.permutation.file = "swap.txt"
        traffic.arrival = "constant"
        traffic.size.fixed.size = "64 B"
        measure = { precision = 0.1, max-cycles = 20_000, saturation.precision = 0.1 }
        "#,
    );
    assert_eq!(get(&rows[0], "saturation_low"), 1.0);
    assert!(
        rows[0].measured("saturation").is_none() && rows[0].measured("utilisation_max").is_none()
    );
    assert!(rows[0].note.contains("even a load of 1 is carried"), "{}", rows[0].note);
}

#[test]
fn two_hosts_on_one_cable_need_no_switch() {
    let cable = r#"<graphml><key id="kind" for="node" attr.name="kind" attr.type="string"/>
        <graph edgedefault="undirected">
        <node id="a"><data key="kind">host</data></node>
        <node id="b"><data key="kind">host</data></node>
        <edge source="a" target="b"/>
        </graph></graphml>"#;
    let rows = Bench::with(&[("cable.graphml", cable)]).rows(
        "title = 'Cable'
         seed = 1
         fabric.file.path = 'cable.graphml'
         traffic = {load = 0.2, size.fixed.size = '64 B'}
         measure = {precision = 0.2, min-cycles = 5000, max-cycles = 50_000}
         sweep.product.bus = ['full', 'half']",
    );
    for row in &rows {
        assert_eq!(row.status, Status::Converged, "{row:?}");
        assert_eq!(get(row, "hops_mean"), 0.0);
        // 31 flits ahead of the last, which takes a cycle and 3 of wire.
        assert!(get(row, "latency_p50") >= 35.0, "{row:?}");
    }
}
