//! The search for saturation where it is weakest: few long messages, short runs, long wires.

use crate::bench::Bench;
use crosstie_study::{Row, Status};

/// Where a search says that saturation lies.
fn interval(row: &Row) -> (f64, f64) {
    let low = row.measured("saturation_low").unwrap();
    (low, row.measured("saturation_high").unwrap_or(f64::INFINITY))
}

#[test]
fn intervals_hold_what_longer_runs_find() {
    let rows = |max_cycles: u32| {
        Bench::with(&[]).rows(&format!(
            r#"
            title = "Sixteen hosts"
            seed = 1
            fabric.tree = {{ k = 4, n = 2 }}
            bus = "full"
            [measure]
            precision = 0.05
            min-cycles = 10_000
            max-cycles = {max_cycles}
            channels = false
            saturation = {{ precision = 0.05, budget = "0 s" }}
            [sweep.zip]
            seed = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
            traffic.size.fixed.size = [
                "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB",
                "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB",
                "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB",
            ]
            "#
        ))
    };
    let (short, long) = (rows(100_000), rows(1_000_000));
    let mut held = 0;
    for (short, long) in short.iter().zip(&long) {
        let (low, high) = interval(short);
        // A longer run that found no saturation leaves nothing to hold.
        let held_here = match long.measured("saturation_high") {
            Some(_) => {
                let (lower, higher) = interval(long);
                let middle = f64::midpoint(lower, higher);
                low <= middle && middle <= high
            }
            None => true,
        };
        held += u32::from(held_here);
        let known = high - low <= 0.1 + 1e-9;
        assert_eq!(short.status == Status::Converged, known, "{short:?}");
    }
    assert!(held >= 18, "{held} of 20");
    let narrow = short.iter().filter(|row| interval(row).1 - interval(row).0 < 0.2).count();
    assert!(narrow >= 5, "short messages are many, and tell a lot: {narrow} of 20");
}

#[test]
fn a_few_long_messages_are_no_evidence() {
    // Each host sends some ten messages at the loads in question: 0.2 is carried.
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Long messages"
        seed = 1
        fabric.tree = { k = 4, n = 2 }
        traffic.size.fixed.size = "64 KiB"
        [measure]
        max-cycles = 1_000_000
        channels = false
        saturation = { precision = 0.05, budget = "0 s" }
        [sweep]
        product.seed = [1, 2, 3, 4, 5, 6]
        "#,
    );
    for row in &rows {
        let (low, high) = interval(row);
        assert!(low <= 0.45 && high >= 0.3, "{row:?}");
        assert_eq!(row.status, Status::NotConverged, "{row:?}");
        assert!(row.note.contains("runs of 1000000 cycles are too short"), "{}", row.note);
        assert!(row.note.contains("measure.saturation.budget than 0 s allows"), "{}", row.note);
        assert_eq!(row.measured("saturation"), None, "the middle is no result");
    }
}

#[test]
fn longer_runs_tell_what_a_few_long_messages_do_not() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Long messages, for longer"
        seed = 1
        fabric.tree = { k = 4, n = 2 }
        traffic.size.fixed.size = "1 KiB"
        measure = { min-cycles = 8_000, max-cycles = 16_000, channels = false, saturation.precision = 0.06 }
        sweep.product.seed = [1, 2]
        "#,
    );
    for row in &rows {
        let (low, high) = interval(row);
        assert!(row.status == Status::Converged && high - low <= 0.12 + 1e-9, "{row:?}");
        assert_eq!(row.measured("saturation"), Some(f64::midpoint(low, high)));
        assert!(row.note.contains(" cycles, the other columns are"), "{}", row.note);
    }
}

#[test]
fn a_few_long_messages_among_many_short_ones_are_no_evidence() {
    // One message in a hundred has nearly all the bytes.
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Rare and long"
        seed = 1
        fabric.single.hosts = 3
        cluster.rails = 3
        bus = "full"
        traffic.size.bimodal = { small = "8 B", large = "64 KiB", small-share = 0.99 }
        measure = { max-cycles = 300_000, channels = false, saturation.budget = "0 s" }
        sweep.product.seed = [7, 8, 9]
        "#,
    );
    for row in &rows {
        assert!(interval(row).1 >= 0.5 && row.status == Status::NotConverged, "{row:?}");
    }
}

#[test]
fn a_wire_that_is_longer_than_the_run_is_no_evidence() {
    // Packets are under way for 5000 cycles on each of up to four wires.
    let rows = Bench::with(&[]).rows(
        r#"
        title = "A long wire"
        seed = 1
        fabric.tree = { k = 4, n = 2 }
        bus = "full"
        link.wire = "25 us"
        switch.buffer = 20_000
        traffic.size.fixed.size = "64 B"
        measure = { channels = false, saturation = { precision = 0.02, budget = "0 s" } }
        sweep.product.measure.max-cycles = [20_000, 50_000, 1_000_000]
        "#,
    );
    for row in &rows[..2] {
        let (low, high) = interval(row);
        assert!(low < 0.8 && high > 0.8 && row.status == Status::NotConverged, "{row:?}");
    }
    let (low, high) = interval(&rows[2]);
    assert!(low > 0.5 && high > 0.7, "{:?}", rows[2]);
}

#[test]
fn a_light_load_converges_as_soon_as_its_latency_is_known() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Light loads"
        seed = 1
        fabric.tree = { k = 4, n = 2 }
        traffic.size.fixed.size = "64 B"
        measure = { max-cycles = 400_000, channels = false }
        sweep.product.traffic.load = [0.002, 0.01, 0.05]
        "#,
    );
    for row in &rows {
        assert_eq!(row.status, Status::Converged, "{row:?}");
    }
    let accepted = |row: &Row| {
        let column = |name| row.measured(name).unwrap();
        column("accepted_ci") / column("accepted")
    };
    assert!(accepted(&rows[0]) > 0.02, "accepted load is not known as well, and says so");
}

#[test]
fn a_run_does_not_exceed_its_limit() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Short runs"
        seed = 1
        fabric.single.hosts = 4
        traffic = { load = 0.3, size.fixed.size = "64 B" }
        measure = { min-cycles = 100, precision = 0.0001 }
        sweep.product.measure.max-cycles = [100, 127, 129, 1000, 12_345]
        "#,
    );
    for (row, limit) in rows.iter().zip([100.0, 127.0, 129.0, 1000.0, 12_345.0]) {
        let cycles = row.measured("cycles").unwrap() + row.measured("warmup").unwrap();
        assert!(cycles <= limit && cycles > 0.6 * limit, "{cycles} of {limit}");
    }
}

/// A packet takes 5 ms, a run a microsecond: what waits counts too, else a search fills all memory.
#[test]
fn a_search_in_which_nothing_arrives_ends_with_its_budget() {
    let rows = Bench::with(&[]).rows(
        r#"
        title = "Headers of a megabyte"
        seed = 814
        world = "ideal"
        fabric.tree = { k = 2, n = 2 }
        cluster = { rails = 2, blocking = false }
        policy = "local-dynamic"
        nic = { packet = "message", overhead = "1 MiB", window = 5 }
        traffic = { destination = "transpose", size.exponential.mean = "21 B" }
        [measure]
        min-cycles = 1000
        max-cycles = 3000
        precision = 0.0001
        saturation = { precision = 0.07, budget = "5 ms" }
        "#,
    );
    assert_eq!((rows[0].status, rows[0].measured("saturation")), (Status::NotConverged, None));
}
