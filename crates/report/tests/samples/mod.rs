//! Synthetic results: some that look like the real ones, and any that could ever be stored.
//!
//! Each test binary uses a part of this module, hence the `dead_code`.
#![allow(dead_code)]

use proptest::prelude::*;

use crosstie_study::{
    ChannelRow, Figure, Meta, RankRow, ResultSet, Row, Setting, SideTables, Status, TimelineRow,
    WorkKind,
};

/// A row with these settings and measured columns.
pub fn row(
    point: u32,
    settings: &[(&str, Setting)],
    status: Status,
    measured: &[(&str, f64)],
) -> Row {
    Row {
        profile: None,
        point,
        kind: WorkKind::Traffic,
        settings: settings.iter().map(|(key, value)| (key.to_string(), value.clone())).collect(),
        status,
        note: match status {
            Status::Converged | Status::Completed => String::new(),
            Status::NotConverged => "stopped at 200000 cycles; latency is within 8.1%".to_owned(),
            Status::Saturated => "accepted stays below offered".to_owned(),
            Status::Deadlocked => {
                "4 channels wait in a circle: s3.p1, s7.p0, s2.p5, s1.p2".to_owned()
            }
            Status::Failed => "nothing came back within 10 ms".to_owned(),
        },
        measured: measured.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
    }
}

/// Latency and accepted load of a queue that saturates at `capacity`, for three ways of routing.
pub fn load_curves() -> Vec<Row> {
    let ways = [("adaptive", 0.62), ("deterministic", 0.41), ("random-ascent", 0.52)];
    let mut rows = Vec::new();
    for (routing, capacity) in ways {
        for step in 1..=14 {
            let load = f64::from(step) * 0.05;
            let settings = [
                ("routing.engine", Setting::Text(routing.to_owned())),
                ("traffic.load", Setting::Number(load)),
            ];
            let point = rows.len() as u32;
            let used = load / capacity;
            let (status, measured) = if used < 1.0 {
                let latency = 62.0 + 17.0 * used / (1.0 - used);
                let ci = 0.4 + latency * 0.004 / (1.0 - used);
                let status = if used > 0.96 { Status::NotConverged } else { Status::Converged };
                let measured = vec![
                    ("offered", load),
                    ("accepted", load * 0.9995),
                    ("accepted_ci", load * 0.004),
                    ("latency_mean", latency),
                    ("latency_ci", ci),
                    ("latency_p50", (latency * 0.93).round()),
                    ("latency_p99", (latency * 2.4).round()),
                    ("latency_p999", (latency * 3.7).round()),
                    ("hops_mean", 6.352),
                    ("packets", (load * 256_000.0).round()),
                    ("warmup", 2_400.0),
                    ("cycles", 32_000.0),
                    ("utilisation_mean", load * 0.98),
                    ("utilisation_max", (load * 1.3).min(1.0)),
                    ("blocked_mean", used * used * 0.2),
                ];
                (status, measured)
            } else {
                let accepted = capacity * (1.0 - 0.03 * (used - 1.0));
                let status = match (routing, step) {
                    ("random-ascent", _) => Status::Deadlocked,
                    _ => Status::Saturated,
                };
                (status, vec![("offered", load), ("accepted", accepted), ("accepted_ci", 0.004)])
            };
            rows.push(row(point, &settings, status, &measured));
        }
    }
    rows
}

/// Latency against load on linear axes.
pub fn latency_figure() -> Figure {
    Figure {
        name: "latency".to_owned(),
        title: Some("Latency of a 4-ary 4-tree under uniform traffic".to_owned()),
        x: "traffic.load".to_owned(),
        y: vec!["latency_mean".to_owned()],
        series: vec!["routing.engine".to_owned()],
        only: Default::default(),
        log_x: false,
        log_y: false,
        x_range: None,
        y_range: None,
    }
}

/// Several figures over [`load_curves`].
pub fn figures() -> Vec<Figure> {
    let accepted = Figure {
        name: "accepted".to_owned(),
        title: Some("Accepted load".to_owned()),
        x: "offered".to_owned(),
        y: vec!["accepted".to_owned()],
        ..latency_figure()
    };
    let tails = Figure {
        name: "tails".to_owned(),
        title: Some("Latency percentiles".to_owned()),
        y: ["latency_p50", "latency_p99", "latency_p999"].map(str::to_owned).to_vec(),
        log_y: true,
        ..latency_figure()
    };
    vec![latency_figure(), accepted, tails]
}

/// A whole experiment.
pub fn results() -> ResultSet {
    let rows = load_curves();
    ResultSet {
        folder: "no such folder".into(),
        meta: Meta {
            profiles: Default::default(),
            format: 1,
            crosstie: "0.1.0".to_owned(),
            revisions: ["wormhole 1".to_owned()].into(),
            title: "Adaptive and deterministic ascent on a fat tree".to_owned(),
            citation: Some(
                "F. Petrini et al., The Quadrics network, IEEE Micro 22(1), 2002".into(),
            ),
            description: Some(
                "How much load does a 4-ary 4-tree of 256 hosts carry under uniform traffic, and \
                 what does adaptive ascent buy?"
                    .to_owned(),
            ),
            seed: Some(20_020_101),
            points: rows.len(),
            finished: rows.len(),
            settings: vec!["routing.engine".to_owned(), "traffic.load".to_owned()],
            columns: Vec::new(),
            side_tables: Default::default(),
            inputs: Default::default(),
            rerun: "crosstie run study.toml".to_owned(),
            varies: None,
        },
        figures: figures(),
        tables: Vec::new(),
        rows,
        study: "title = \"Adaptive and deterministic ascent\"\nseed = 20020101\n\n[fabric.tree]\n\
                k = 4\nn = 4\n"
            .to_owned(),
    }
}

/// Pings of three sizes in two worlds; the last one failed.
pub fn pings() -> Vec<Row> {
    let mut rows = Vec::new();
    for (world, base) in [("wormhole", 0.61), ("ideal", 0.05)] {
        for (size, bytes) in [("8 B", 8.0), ("1 KiB", 1024.0), ("64 KiB", 65_536.0)] {
            let settings = [
                ("world", Setting::Text(world.to_owned())),
                ("work.ping.size", Setting::Text(size.to_owned())),
            ];
            let latency: f64 = base + bytes / 400.0;
            let measured = [
                ("time_mean", 2.0 * latency),
                ("time_ci", 0.01 * latency),
                ("time_p99", 2.1 * latency),
                ("latency", latency),
                ("bandwidth", bytes / latency),
                ("iterations", 90.0),
            ];
            let (status, measured) = match (world, size) {
                ("ideal", "64 KiB") => (Status::Failed, &[][..]),
                _ => (Status::Completed, &measured[..]),
            };
            let row = row(rows.len() as u32, &settings, status, measured);
            rows.push(Row { kind: WorkKind::Ping, ..row });
        }
    }
    rows
}

/// When each of so many ranks was done, at every point.
pub fn ranks(rows: &[Row], ranks: u32) -> SideTables {
    let rank = |point, rank| RankRow { point, rank, finish: 250.5 + f64::from(rank) };
    let ranks = rows.iter().flat_map(|row| (0..ranks).map(move |i| rank(row.point, i))).collect();
    SideTables { ranks, ..SideTables::default() }
}

/// Three ranks at a point: the first computes and sends at the same time, twice, and is answered.
pub fn timeline(point: u32) -> Vec<TimelineRow> {
    let line = |rank, to: Option<u32>, begin, left, end| TimelineRow {
        point,
        rank,
        to,
        bytes: to.map(|_| 1024),
        begin,
        left,
        end,
    };
    vec![
        line(0, None, 0.0, 3.0, 3.0),
        line(0, Some(1), 1.0, 2.5, 4.25),
        line(0, Some(2), 2.0, 4.0, 6.0),
        line(1, Some(0), 4.25, 5.0, 8.0),
        line(2, Some(0), 6.0, 7.5, 9.5),
    ]
}

/// Time lines of so many points.
pub fn timelines(points: u32) -> SideTables {
    SideTables { timeline: (0..points).flat_map(timeline).collect(), ..SideTables::default() }
}

/// An experiment with [`pings`].
pub fn closed_loop() -> ResultSet {
    let mut results = results();
    results.meta.settings = ["world", "work.ping.size"].map(str::to_owned).to_vec();
    (results.rows, results.figures) = (pings(), Vec::new());
    (results.meta.points, results.meta.finished) = (results.rows.len(), results.rows.len());
    results
}

/// What there is beside the rows of [`results`].
pub fn side() -> SideTables {
    SideTables { channels: channels(), ..SideTables::default() }
}

/// The channels of one point of [`results`].
pub fn channels() -> Vec<ChannelRow> {
    let channel = |i: u32| ChannelRow {
        point: 7,
        channel: i,
        rail: 0,
        from: format!("s1.{}", i / 4),
        to: format!("s2.{}", i % 24),
        kind: "up".to_owned(),
        flits: u64::from(i) * 1000,
        utilisation: f64::from(i * 37 % 101) / 160.0,
        blocked: f64::from(i * 53 % 97) / 400.0,
        waiting: f64::from(i * 29 % 89) / 300.0,
    };
    (0..96).map(channel).collect()
}

/// Numbers of every kind, often equal, often unusable.
pub fn any_number() -> impl Strategy<Value = f64> {
    let few = [0.0, 0.1, 0.5, 1.0, 1e-7, -3.0, 1e300, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE];
    prop_oneof![prop::sample::select(few.to_vec()), any::<f64>()]
}

/// Rows of every kind, with keys that [`any_figure`] draws.
pub fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let text = prop_oneof![
        prop::sample::select(vec![
            "adaptive",
            "64 KiB",
            "1 B",
            "5 ns",
            "</svg><script>",
            "\x1b[2J"
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    let setting =
        prop_oneof![any_number().prop_map(Setting::Number), text.clone().prop_map(Setting::Text),];
    let kind = prop::sample::select(WorkKind::ALL.to_vec()).prop_flat_map(|kind| {
        let columns = prop::sample::select(kind.columns());
        let measured = prop::collection::vec((columns, any_number()), 0..8);
        (Just(kind), prop::sample::select(kind.statuses()), measured)
    });
    let row = (setting.clone(), setting, text, kind).prop_map(
        |(load, routing, note, (kind, status, measured))| Row {
            profile: None,
            point: 0,
            kind,
            settings: vec![("load".to_owned(), load), ("routing".to_owned(), routing)],
            status,
            note,
            measured: measured.into_iter().map(|(c, x)| (c.name.to_owned(), x)).collect(),
        },
    );
    prop::collection::vec(row, 0..9).prop_map(|mut rows| {
        (0..).zip(&mut rows).for_each(|(point, row)| row.point = point);
        rows
    })
}

/// Figures of every kind over [`any_rows`].
pub fn any_figure() -> impl Strategy<Value = Figure> {
    let key = || prop::sample::select(vec!["load", "routing", "offered", "latency_mean", "absent"]);
    let keys = || prop::collection::vec(key().prop_map(str::to_owned), 0..3);
    let range = || prop::option::of([any_number(), any_number()]);
    let logs = any::<(bool, bool)>();
    (
        any::<String>(),
        prop::option::of(any::<String>()),
        key(),
        keys(),
        keys(),
        logs,
        range(),
        range(),
    )
        .prop_map(|(name, title, x, y, series, (log_x, log_y), x_range, y_range)| Figure {
            only: Default::default(),
            name,
            title,
            x: x.to_owned(),
            y,
            series,
            log_x,
            log_y,
            x_range,
            y_range,
        })
}
