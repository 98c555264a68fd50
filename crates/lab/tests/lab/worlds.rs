//! Worlds and closed-loop work, from the experiment file to the row.

use crate::bench::{Bench, get};
use crosstie_study::{Row, Status};

fn rows(keys: &str) -> Vec<Row> {
    Bench::with(&[]).rows(&format!(
        "title = 'Worlds'\nseed = 1\nfabric.tree = {{ k = 4, n = 3 }}\nbus = 'full'\n{keys}"
    ))
}

fn completed(rows: &[Row]) {
    for row in rows {
        assert_eq!(row.status, Status::Completed, "{row:?}");
    }
}

/// With the defaults a cycle is 5 ns, a wire takes 15 ns and a flit holds 2 bytes.
#[test]
fn ping_and_stream_take_what_the_formulas_say_in_every_world() {
    let rows = rows(
        "[sweep.product]
         work = [{ ping = { size = '64 B', to = 63 } }, { stream = { size = '64 B', to = 63 } }]
         world = ['wormhole', 'ideal']",
    );
    completed(&rows);
    let ps = |i: usize, column: &str| (get(&rows[i], column) * 1e6).round();
    // docs/simulator.md: T = (h + 1) L + h R + F - 1 with h = 5, L = 4, R = 6, F = 32.
    assert_eq!(get(&rows[0], "latency_cycles"), 85.0);
    assert_eq!(ps(0, "latency"), 425_000.0);
    // The first byte takes the latency, and each byte behind it 2.5 ns.
    assert_eq!(ps(1, "latency"), 15_000.0 + 63.0 * 2_500.0);
    // 64 messages back to back, the way of the last, and an answer of 4 bytes.
    assert_eq!(ps(2, "time_mean"), 64.0 * 160_000.0 + 265_000.0 + 275_000.0);
    assert_eq!(ps(3, "time_mean"), 64.0 * 160_000.0 - 2_500.0 + 15_000.0 + 22_500.0);
    for row in &rows {
        assert_eq!(get(row, "time_ci"), 0.0, "nothing varies: {row:?}");
    }
}

#[test]
fn every_policy_works_on_the_ideal_network() {
    let keys = "cluster.rails = 4\nnic.packet = '320 B'\nworld = 'ideal'\n";
    let policies = "['round-robin', 'basic', 'local-dynamic', 'dynamic', 'hybrid', 'static']";
    let work = "[{ ping = { size = '64 KiB', to = 63 } },
                 { stream = { size = '64 KiB', to = 63, both-ways = true } }]";
    let sweep = format!("[sweep.product]\npolicy = {policies}\nwork = {work}");
    // Static allocation on 4 rails joins no more than a few nodes.
    let small = sweep.replace("to = 63", "to = 3");
    let text = format!("title = 'Worlds'\nseed = 1\nfabric.single.hosts = 4\n{keys}{small}");
    completed(&Bench::with(&[]).rows(&text));
    let others = sweep.replace(", 'static'", "");
    let rows = rows(&format!("{keys}{others}"));
    completed(&rows);
    // 4 rails of 400 MB/s.
    for row in rows.iter().filter(|row| row.measured("bandwidth").is_some()) {
        assert!(get(row, "bandwidth") <= 3200.0, "{row:?}");
    }
    let bandwidth = |i: usize| get(&rows[i], "bandwidth");
    assert!(bandwidth(1) > 0.99 * 3200.0, "round robin fills all rails: {}", bandwidth(1));
}

/// What the best network would do stands beside what the network does, in any experiment.
#[test]
fn traffic_meets_no_contention_in_the_ideal_world() {
    let rows = rows(
        "traffic = { load = 0.8, size.fixed.size = '64 B', destination = 'tornado' }
         measure = { min-cycles = 20_000, max-cycles = 40_000 }
         routing = 'tree-deterministic'
         [sweep.product]
         world = ['wormhole', 'ideal']",
    );
    let (wormhole, ideal) = (&rows[0], &rows[1]);
    assert!(get(ideal, "latency_mean") < get(wormhole, "latency_mean"));
    assert!((get(ideal, "accepted") / 0.8 - 1.0).abs() < 0.03, "{ideal:?}");
    assert_eq!(ideal.measured("switches_mean").unwrap_or(0.0), 0.0);
}

/// Rails, processors and the protocol between ranks are priced; a price that leaves out a bus says
/// so in its row.
#[test]
fn a_price_tells_what_it_leaves_out() {
    let rows = |keys: &str| {
        Bench::with(&[]).rows(&format!(
            "title = 'On paper'\nseed = 1\nfabric.single.hosts = 2\n
             link = {{ flit = '1 B', rate = '1 Gbit/s', wire = '1 us' }}\nmessage = {{}}
             policy = 'pull'\nwork.ping.size = '1 MiB'\n{keys}\n[sweep.product]
             world = ['model', 'frame']\ncluster.rails = [1, 4]\nnode.overhead.message = ['0 ps', '10 us']"
        ))
    };
    let found = rows("");
    completed(&found);
    for (model, frame) in found[..4].iter().zip(&found[4..]) {
        let off = get(model, "time_p50") / get(frame, "time_p50") - 1.0;
        assert!(off.abs() < 0.02, "{off}: {model:?}\n{frame:?}");
        assert!(!model.note.contains("not used"), "{model:?}");
    }
    assert!(found[2].note.contains("rails carry 25.0 %, 25.0 %, 25.0 %, 25.0 %"), "{:?}", found[2]);
    for row in &rows("node.bus = 'half'")[..4] {
        assert!(row.note.contains("not used by the model: node.bus"), "{row:?}");
    }
}

#[test]
fn a_key_of_another_world_is_named_in_the_row() {
    let row = |keys: &str| {
        let rows = rows(&format!("work.ping = {{ size = '64 B', to = 63 }}\n{keys}"));
        rows[0].note.clone()
    };
    let told = "not used by the wormhole network: frame.uplink.rate";
    assert_eq!(row("frame.uplink.rate = '1 MB/s'"), told);
    assert_eq!(row(""), "");
}
