//! Rail schemes, from the experiment file to the row.

use crate::bench::{Bench, get};
use crosstie_study::Row;

fn rows(keys: &str) -> Vec<Row> {
    Bench::with(&[]).rows(&format!(
        r#"
        title = "Schemes"
        seed = 1
        fabric.tree = {{ k = 4, n = 2 }}
        cluster = {{ rails = 4, pes = 4 }}
        measure.precision = 0.1
        measure.min-cycles = 100_000
        measure.max-cycles = 200_000
        measure.channels = false
        {keys}
        "#
    ))
}

#[test]
fn below_saturation_every_scheme_carries_what_is_offered() {
    let rows = rows(
        "traffic = { load = 0.1, size.exponential.mean = '4 KiB' }
         sweep.product.scheme = ['basic', 'local-dynamic', {local-dynamic = {striping = 0}},
             'dynamic', {dynamic = {striping = 0}}, 'hybrid']",
    );
    for row in &rows {
        let (offered, accepted) = (get(row, "offered"), get(row, "accepted"));
        assert!((offered - 0.1).abs() < 0.02 && (accepted / offered - 1.0).abs() < 0.1, "{row:?}");
    }
    // At low load striping cuts latency, and so does not asking first.
    let latency = |i: usize| get(&rows[i], "latency_mean");
    assert!(latency(1) < latency(2) && latency(3) < latency(4), "striping");
    assert!(latency(1) < latency(3), "no reservation");
}

#[test]
fn no_scheme_passes_half_of_the_link_over_a_half_duplex_bus() {
    let rows = rows(
        "traffic = { load = 0.8, size.exponential.mean = '4 KiB' }
         sweep.product.scheme = ['basic', 'dynamic']",
    );
    for row in &rows {
        let accepted = get(row, "accepted");
        assert!(accepted > 0.1 && accepted <= 0.5, "{row:?}");
    }
}

/// Packets that stop at hosts on their way reach the nodes they are for, and only those.
#[test]
fn every_scheme_runs_on_routes_with_stops() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Stops"
        seed = 1
        fabric.irregular = {switches = 5, ports = 3, hosts-per-switch = 1, seed = 1}
        routing = "up-down-itb"
        bus = "full"
        nic.in-transit = {}
        cluster = {rails = 4, pes = 2}
        traffic = {load = 0.1, size.fixed.size = "4 KiB"}
        measure = {precision = 0.1, min-cycles = 100_000, max-cycles = 200_000, channels = false}
        sweep.product.scheme = ['basic', 'static', 'local-dynamic', 'dynamic', 'hybrid']
        "#,
    );
    assert_eq!(rows.len(), 5);
    for row in &rows {
        assert!(get(row, "stops_mean") > 0.0, "{row:?}");
        assert!((get(row, "accepted") / get(row, "offered") - 1.0).abs() < 0.1, "{row:?}");
    }
}

#[test]
fn too_few_rails_for_static_allocation_are_refused() {
    let bench = Bench::with(&[]);
    let text = "title = 'x'\nseed = 1\nfabric.tree = {k = 4, n = 2}\ncluster.rails = 4\n\
                scheme = 'static'\ntraffic = {load = 0.1, size.fixed.size = '64 B'}";
    let mistake = crosstie_study::Study::parse("x", text).unwrap_err().to_string();
    assert!(mistake.contains("rails"), "{mistake}");
    // Six nodes fit on four rails.
    let rows = bench.rows(&text.replace("tree = {k = 4, n = 2}", "single.hosts = 6"));
    assert!((get(&rows[0], "accepted") - 0.1).abs() < 0.02);
}
