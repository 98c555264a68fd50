//! Machines that come with Crosstie, in the simulator and on paper.

use crate::bench::{Bench, get};
use crosstie_lab::Preset;
use crosstie_study::{ResultSet, Row, Status};

/// What is done on a preset, with keys of the file in the place of those that it has.
fn rows(preset: &str, hosts: Option<u32>, keys: &str) -> Vec<Row> {
    let mut text = Preset::find(preset).unwrap().text.to_owned();
    if let Some(hosts) = hosts {
        let from = text.find("fabric.single.hosts").unwrap();
        let to = from + text[from..].find('\n').unwrap();
        text.replace_range(from..to, &format!("fabric.single.hosts = {hosts}"));
    }
    let rows =
        Bench::with(&[]).rows(&format!("{keys}\n{}", text.replace("world = \"frame\"\n", "")));
    for row in &rows {
        assert_eq!(row.status, Status::Completed, "{preset}: {row:?}");
    }
    rows
}

fn of_thesis() -> impl Iterator<Item = &'static Preset> {
    Preset::ALL.iter().filter(|preset| preset.text.contains("[node.commodity]"))
}

#[test]
fn frames_and_the_model_agree_on_a_ping() {
    assert_eq!(of_thesis().count(), 15);
    for preset in of_thesis() {
        let keys = "sweep.product.'work.ping.size' = ['1 B', '46 B', '700 B', '1492 B', '1493 B', '64 KiB']
                    sweep.product.world = ['frame', 'model']
                    work.ping.iterations = 2";
        for pair in rows(preset.name, None, keys).chunks(2) {
            let [frame, model] = [0, 1].map(|i| get(&pair[i], "latency"));
            assert!(
                (model / frame - 1.0).abs() < 0.01,
                "{}, {:?}: {frame} us simulated, {model} us on paper",
                preset.name,
                pair[0].settings
            );
        }
    }
}

/// Section 3.2: the time of 1 B, and the bandwidth of long messages.
#[test]
fn chapter_3() {
    for (preset, latency, bandwidth) in
        [("fedp", 20.8, 12.2), ("gedp-up", 16.3, 75.2), ("gedp-smp", 33.4, 79.5)]
    {
        let work = "[{ ping = { size = '1 B', iterations = 2 } },
                     { stream = { size = '1 MiB', window = 10, iterations = 2 } }]";
        let rows = rows(preset, None, &format!("world = 'frame'\nsweep.product.work = {work}"));
        let found = get(&rows[0], "latency");
        assert!((found / latency - 1.0).abs() < 0.001, "{preset}: {found} us, not {latency}");
        let found = get(&rows[1], "bandwidth");
        assert!((found / bandwidth - 1.0).abs() < 0.01, "{preset}: {found} MB/s, not {bandwidth}");
    }
}

/// Table 5.2: O_s + L + O_r + U_r of p/2 pairs at once, with L = slope p + fixed.
#[test]
fn latency_grows_with_the_pairs_as_published() {
    for (preset, slope, fixed) in
        [("p450-ibm-8275-326", 0.3387, 149.0), ("p450-ibm-8275-416", 0.3413, 264.0)]
    {
        for p in [2, 4, 8, 12, 16] {
            let expected = slope * f64::from(p) + fixed + 39.5;
            let simulated = concurrent_pings(preset, p);
            assert!((simulated / expected - 1.0).abs() < 0.001, "{preset}, {p}: {simulated}");
        }
    }
}

/// Half of the mean round trip of pairs that begin together.
fn concurrent_pings(preset: &str, p: u32) -> f64 {
    let mut goal = format!("num_ranks {p}\n");
    for rank in 0..p {
        let (peer, first, then) = match rank < p / 2 {
            true => (rank + p / 2, "send 1492b to", "recv 1492b from"),
            false => (rank - p / 2, "recv 1492b from", "send 1492b to"),
        };
        goal += &format!(
            "rank {rank} {{\na: {first} {peer} tag 1\nb: {then} {peer} tag 1\nb requires a\n}}\n"
        );
    }
    let text = Preset::find(preset).unwrap().text;
    let bench = Bench::with(&[("pairs.goal", &goal)]);
    bench.rows(&format!("work.goal.file = 'pairs.goal'\n{text}"));
    let beside = ResultSet::open(bench.path("results")).unwrap().side_tables().unwrap();
    let began = beside.ranks.iter().filter(|done| done.rank < p / 2);
    began.map(|done| done.finish).sum::<f64>() / f64::from(p)
}
