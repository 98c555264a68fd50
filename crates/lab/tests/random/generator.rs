//! Random experiments that are valid by construction.
//!
//! What must fit together is drawn first and makes up the [`Frame`]; everything else is a line of
//! [`KEYS`], which may also be swept. A new key is one more line there, or a `put` in the part of
//! the frame that it must fit.

use crate::draw::{Draw, choice};
use crate::experiment::{Experiment, Style, put, table};
use crate::frame::{Frame, PERMUTATION};
use crate::{elan, ethernet};
use crate::{exchange, live, profile, rails};
use crosstie_fabric::SwitchId;
use crosstie_routing::{Need, Root, RoutingKind};
use crosstie_study::{Operation, Study, WorkKind};
use crosstie_units::Seed;
use crosstie_work::traffic::{Along, Local};
use toml::{Table, Value};

/// The experiment of a number.
pub fn generate(case: u64) -> Experiment {
    let mut draw = Draw(Seed(case).stream("experiment", 0));
    let mut file = Experiment::default();
    if draw.chance(0.5) {
        file.style = Style::Dotted;
    }
    file.put("title", draw.one(&["A case", "Ein \"Fall\"", "情形 \\ #1", "it's = [one]"]));
    let frame = Frame::draw(&mut draw, &mut file);
    for key in KEYS {
        if draw.chance(key.share)
            && let Some(value) = (key.draw)(&mut draw, &frame)
        {
            file.put(key.name, value);
        }
    }
    if draw.chance(0.3) {
        crowd(&frame, &mut file);
    }
    let kind = match draw.chance(0.2) {
        true => closed_loop(&mut draw, &frame, &mut file),
        false => WorkKind::Traffic,
    };
    let on_frames = draw.chance(if kind == WorkKind::Traffic { 0.05 } else { 0.4 });
    if on_frames {
        ethernet::ethernet(&mut draw, kind, &mut file);
    }
    let mut bound = if on_frames { ethernet::BOUND.to_vec() } else { Vec::new() };
    let mut aside = Draw(Seed(case).stream("rails", 0));
    if aside.chance(0.1) && rails::rails(&mut aside, kind, frame.hosts(), &mut file) {
        bound.extend(rails::BOUND);
    }
    let mut aside = Draw(Seed(case).stream("live", 0));
    if aside.chance(0.1) && live::live(&mut aside, kind, frame.hosts(), &mut file) {
        bound.extend(live::BOUND);
    }
    let mut aside = Draw(Seed(case).stream("channels", 0));
    if aside.chance(0.5) && ethernet::lossless(&mut aside, kind, &mut file) {
        bound.extend(ethernet::BOUND);
    }
    ethernet::stage(&mut Draw(Seed(case).stream("stage", 0)), &mut file);
    ethernet::clocks_and_circuits(&mut Draw(Seed(case).stream("circuits", 0)), &mut file);
    let mut aside = Draw(Seed(case).stream("elan", 0));
    if aside.chance(0.1) && elan::elan(&mut aside, &mut file) {
        bound.extend(elan::BOUND);
    }
    let mut aside = Draw(Seed(case).stream("exchange", 0));
    exchange::exchange(&mut aside, frame.hosts(), &mut file);
    if profile::profile(&mut Draw(Seed(case).stream("profile", 0)), &mut file) {
        bound.extend(profile::BOUND);
    }
    let swept = sweep(&mut draw, &frame, (kind, &bound), &mut file);
    let (swept, values): (Vec<&str>, Vec<Value>) = swept.into_iter().unzip();
    figures(&mut draw, kind, (&swept, &values), &mut file);
    tables(&mut draw, kind, &swept, &mut file);
    for (name, content) in &frame.files {
        file.files.insert((*name).to_owned(), content.clone());
    }
    file
}

/// A key that nothing else depends on.
struct Key {
    name: &'static str,
    /// How often a file has it.
    share: f64,
    /// A value for it; `None` where it has no place.
    draw: fn(&mut Draw, &Frame) -> Option<Value>,
}

const fn key(name: &'static str, share: f64, draw: fn(&mut Draw, &Frame) -> Option<Value>) -> Key {
    Key { name, share, draw }
}

/// All that may be set or swept on its own.
const KEYS: &[Key] = &[
    key("seed", 1.0, |draw, _| Some(draw.seed().into())),
    key("world", 0.4, |draw, _| Some(draw.one(&["wormhole", "ideal"]).into())),
    key("ideal.rate", 0.1, |draw, _| Some(draw.one(&["1 kB/s", "1 GB/s"]).into())),
    key("ideal.latency", 0.1, |draw, _| Some(draw.one(&["0 ns", "1 us", "1 ms"]).into())),
    key("ideal.gap", 0.1, |draw, _| Some(draw.one(&["0 ns", "7 ns", "1 ms"]).into())),
    key("cluster.blocking", 0.3, |draw, _| Some(draw.chance(0.5).into())),
    key("routing", 0.8, |draw, frame| Some(routing(draw, frame))),
    key("switch.routing-delay", 0.7, |draw, _| Some(draw.one(&[1, 2, 6, 23, 100, 1000]).into())),
    key("switch.consumes-headers", 0.4, |draw, _| Some(draw.chance(0.7).into())),
    key("nic.packet", 0.7, |draw, frame| Some(packet(draw, frame))),
    key("nic.overhead", 0.4, |draw, _| Some(draw.size(0..=40, &["64 KiB", "1 MiB"]).into())),
    key("nic.control", 0.4, |draw, _| Some(draw.size(1..=100, &["1 B", "64 KiB"]).into())),
    key("nic.response", 0.4, |draw, _| Some(draw.one(&[0, 1, 30, 300, 1_000_000]).into())),
    key("nic.transfers", 0.4, |draw, _| Some(draw.one(&[1, 2, 3, 64]).into())),
    key("nic.window", 0.2, |draw, _| Some(draw.one(&[1, 2, 5, 65_536]).into())),
    key("traffic.load", 1.0, load),
    key("traffic.size", 1.0, |draw, frame| Some(size(draw, frame))),
    key("traffic.destination", 0.8, |draw, frame| Some(destination(draw, frame))),
    key("measure.precision", 1.0, |draw, _| Some(draw.one(&[0.0001, 0.05, 0.2, 0.5, 0.5]).into())),
    key("measure.confidence", 0.5, |draw, _| Some(draw.one(&[0.5, 0.9, 0.95, 0.9999]).into())),
    key("measure.channels", 0.5, |draw, _| Some(draw.chance(0.5).into())),
    key("citation", 0.2, |_, _| Some("Nobody, \"Nothing\", 2026".into())),
    key("description", 0.2, |_, _| Some("Two\nlines.".into())),
];

fn routing(draw: &mut Draw, frame: &Frame) -> Value {
    let times = |kind: &RoutingKind| match kind {
        // Rare shapes, rare NICs and deadlocks are worth more than their share.
        kind if kind.needs(Need::Tree) => {
            if frame.tree {
                3
            } else {
                0
            }
        }
        // Its stops may be anywhere.
        RoutingKind::BalancedItb(_) if !frame.settled => 0,
        kind if kind.needs(Need::InTransit) => {
            if frame.in_transit {
                2
            } else {
                0
            }
        }
        RoutingKind::Minimal(_) => 3,
        _ => 1,
    };
    let kinds: Vec<RoutingKind> =
        RoutingKind::all().into_iter().flat_map(|kind| [kind].repeat(times(&kind))).collect();
    let kind = draw.one(&kinds);
    let (name, has) = (kind.name(), |key| kind.keys().contains(&key));
    let mut keys = Table::new();
    let mut add = |draw: &mut Draw, key: &str, fits: bool, value: Value| {
        if fits && draw.chance(0.5) {
            keys.insert(key.to_owned(), value);
        }
    };
    let (root, _) = root(draw, frame);
    add(draw, "root", has("root"), root);
    let pick = draw.one(&["random", "balanced", "destination"]).into();
    add(draw, "pick", has("pick"), pick);
    let way = draw.one(&["random", "compliant-first"]).into();
    add(draw, "choice", has("choice"), way);
    let moves = draw.whole(0..=50).into();
    add(draw, "moves", has("moves"), moves);
    let seed = draw.seed().into();
    add(draw, "seed", has("seed"), seed);
    if keys.is_empty() { draw.named(name) } else { choice(name, keys) }
}

/// Where a spanning tree begins: as it is written, and what it means.
fn root(draw: &mut Draw, frame: &Frame) -> (Value, Root) {
    let switch = draw.whole(0..=frame.fabric.switches().len() as i64 - 1);
    if draw.chance(0.4) {
        return (switch.into(), Root::Switch(SwitchId(switch as u32)));
    }
    let (word, root) = draw.one(&[
        ("central", Root::Central),
        ("remote", Root::Remote),
        ("fewest-restrictions", Root::FewestRestrictions),
    ]);
    (word.into(), root)
}

fn packet(draw: &mut Draw, frame: &Frame) -> Value {
    if frame.whole_messages {
        "message".into()
    } else {
        draw.size(8..=200, &["1 B", "1 GiB"]).into()
    }
}

fn load(draw: &mut Draw, frame: &Frame) -> Option<Value> {
    let most = frame.load?;
    let share = draw.one(&[1e-9, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0, 1.0]);
    Some((share * most).into())
}

fn size(draw: &mut Draw, frame: &Frame) -> Value {
    let one = |draw: &mut Draw| match frame.whole_messages && draw.chance(0.04) {
        true => draw.one(&["64 KiB", "1 MB", "1 GiB"]).to_owned(),
        false => {
            let most = draw.one(&[1, 16, 64, 256, 1024]);
            draw.bytes(1..=most)
        }
    };
    let (name, keys) = match draw.one(&["fixed", "exponential", "bimodal"]) {
        "fixed" => ("fixed", vec![("size", one(draw).into())]),
        "exponential" => ("exponential", vec![("mean", one(draw).into())]),
        _ => {
            let small = draw.whole(1..=100);
            let large = small + draw.whole(1..=1000);
            let share = Value::from(draw.real(0.0..=1.0));
            let bytes = |size: i64| Value::from(format!("{size} B"));
            let keys =
                vec![("small", bytes(small)), ("large", bytes(large)), ("small-share", share)];
            ("bimodal", keys)
        }
    };
    choice(name, table(keys))
}

fn destination(draw: &mut Draw, frame: &Frame) -> Value {
    if !draw.chance(0.1) {
        return pattern(draw, frame);
    }
    let shares: &[f64] = draw.one(&[&[1.0], &[0.5, 0.5], &[0.25, 0.7, 0.05], &[0.0, 1.0]]);
    let part = |&share: &f64| {
        let keys = [("share", share.into()), ("destination", pattern(draw, frame))];
        Value::from(table(keys))
    };
    let parts = shares.iter().map(part).collect::<Vec<_>>();
    choice("mixture", table([("parts", parts)]))
}

/// A pattern under which somebody sends.
fn pattern(draw: &mut Draw, frame: &Frame) -> Value {
    let hosts = frame.hosts();
    let mut names = vec!["uniform", "hot-spot", "local", "permutation"];
    if hosts > 2 {
        names.push("tornado");
    }
    if hosts.count_ones() == 1 {
        names.push("bit-complement");
        if hosts > 2 {
            names.extend(["bit-reversal", "shuffle"]);
        }
        if hosts.trailing_zeros().is_multiple_of(2) {
            names.push("transpose");
        }
    }
    let keys: Vec<(&str, Value)> = match draw.one(&names) {
        "hot-spot" => {
            vec![("host", draw.whole(0..=hosts - 1).into()), ("share", draw.real(0.0..=1.0).into())]
        }
        "local" => local(draw, frame),
        "permutation" => vec![("file", PERMUTATION.into())],
        name => return draw.named(name),
    };
    let name = match keys[0].0 {
        "host" => "hot-spot",
        "distance" => "local",
        _ => "permutation",
    };
    choice(name, table(keys))
}

/// Hosts so near that there is somebody.
fn local(draw: &mut Draw, frame: &Frame) -> Vec<(&'static str, Value)> {
    let (written, root) = root(draw, frame);
    let (written, along) = match draw.one(&["", "graph", "up-down", "root"]) {
        "" => (None, Along::Graph {}),
        "graph" => (Some(draw.named("graph")), Along::Graph {}),
        "up-down" => (Some(draw.named("up-down")), Along::UpDown { root: Root::Central }),
        _ => (Some(choice("up-down", table([("root", written)]))), Along::UpDown { root }),
    };
    let sends = |&distance: &u32| {
        let near = Local { distance, along }.neighbourhood(&frame.fabric).expect("a sound root");
        (0..near.hosts() as u32).any(|host| near.count(host) > 0)
    };
    let least = (1..).find(sends).expect("the network is connected");
    let more = draw.usually(i64::from(least) + 1, &[64, 64]);
    let distance = ("distance", draw.one(&[least.into(), more]).into());
    [distance].into_iter().chain(written.map(|along| ("along", along))).collect()
}

/// Long packets, small buffers and minimal routes at high load: where there is a ring, they
/// deadlock.
fn crowd(frame: &Frame, file: &mut Experiment) {
    let Some(most) = frame.load.filter(|_| frame.settled && !frame.in_transit) else { return };
    for key in ["switch.flow", "policy", "scheme", "cluster.pes", "traffic.arrival"] {
        file.remove(key);
    }
    file.remove("traffic.destination");
    file.put("routing", "minimal");
    file.put("bus", "full");
    file.put("switch.virtual-channels", 1);
    file.put("switch.buffer", 4);
    file.put("traffic.size", choice("fixed", table([("size", "4 KiB")])));
    file.put("traffic.load", most);
    file.put("measure.max-cycles", 8000);
}

/// Ping or stream in place of traffic, and without what goes with traffic only.
fn closed_loop(draw: &mut Draw, frame: &Frame, file: &mut Experiment) -> WorkKind {
    for key in ["traffic", "cluster.pes", "measure.saturation"] {
        file.remove(key);
    }
    if draw.chance(0.8) {
        file.remove("measure.min-cycles");
        file.remove("measure.max-cycles");
    }
    if draw.chance(0.5) {
        let mut overhead = Table::new();
        put_some(draw, &mut overhead, "message", &["0 ns", "100 ns", "1 ms"]);
        put_some(draw, &mut overhead, "byte", &["0 ns", "300 ps"]);
        file.put("node.overhead", overhead);
        if draw.chance(0.5) {
            file.put("node.eager", draw.one(&["1 B", "100 B", "1 GiB"]));
        }
    }
    if draw.chance(0.3) {
        file.remove("node.eager");
        let mut message = Table::new();
        put_some(draw, &mut message, "eager", &["0 B", "100 B", "64 KiB"]);
        put_some(draw, &mut message, "envelope", &["1 B", "64 B", "1 KiB"]);
        put_some(draw, &mut message, "credit", &["64 KiB", "1 MiB"]);
        put_some(draw, &mut message, "memory", &["1 MB/s", "10 GB/s"]);
        put_some(draw, &mut message, "latency", &["0 ns", "1 ms"]);
        for key in ["strict", "fin"] {
            if draw.chance(0.5) {
                message.insert(key.to_owned(), draw.chance(0.5).into());
            }
        }
        file.put("message", message);
    }
    if draw.chance(0.5) {
        return schedule(draw, frame, file);
    }
    if draw.chance(0.1) {
        let mut keys = table([("size", draw.size(1..=2000, &["1 B", "64 KiB"]))]);
        if draw.chance(0.5) {
            keys.insert("both-ways".to_owned(), draw.chance(0.5).into());
        }
        file.put("work.pairs", keys);
        if frame.hosts() > 3 && draw.chance(0.5) {
            file.put("schedule.hosts", "3, 0-2");
        } else {
            file.put("schedule.ranks", frame.hosts() / 2 * 2);
        }
        return WorkKind::Pairs;
    }
    let from = draw.whole(0..=frame.hosts() - 1);
    let to = (from + draw.whole(1..=frame.hosts() - 1)) % frame.hosts();
    let mut keys = vec![("size", Value::from(draw.size(1..=2000, &["1 B", "64 KiB"])))];
    if (from, to) != (0, 1) || draw.chance(0.5) {
        keys.extend([("from", from.into()), ("to", to.into())]);
    }
    let iterations = ("iterations", draw.one(&[1, 2, 31, 32, 60]).into());
    let (name, kind) = match draw.chance(0.5) {
        true => ("ping", WorkKind::Ping),
        false => {
            keys.push(("window", draw.one(&[1, 2, 7]).into()));
            keys.push(("both-ways", draw.chance(0.5).into()));
            let pairs = (from - to).abs().min(frame.hosts() - from.max(to));
            if draw.chance(0.3) {
                keys.push(("pairs", draw.whole(1..=pairs).into()));
                keys.push(("crossed", draw.chance(0.5).into()));
            }
            ("stream", WorkKind::Stream)
        }
    };
    keys.push(iterations);
    file.put("work", choice(name, table(keys)));
    kind
}

fn put_some(draw: &mut Draw, table: &mut Table, key: &str, values: &[&str]) {
    if draw.chance(0.7) {
        table.insert(key.to_owned(), draw.one(values).into());
    }
}

/// A collective operation, or a schedule from a file.
fn schedule(draw: &mut Draw, frame: &Frame, file: &mut Experiment) -> WorkKind {
    // Many messages: what each of them costs must be bearable.
    file.remove("nic.overhead");
    if draw.chance(0.5) {
        file.put("schedule.iterations", draw.one(&[1, 2, 33]));
    }
    if draw.chance(0.3) {
        file.put("schedule.outstanding", draw.one(&[1, 3, 65_536]));
    }
    if draw.chance(0.2) {
        // Everybody computes, sends to the next one and receives from the one before.
        let hosts = draw.whole(2..=frame.hosts());
        let mut text = format!("num_ranks {hosts}\n");
        for rank in 0..hosts {
            let (next, before) = ((rank + 1) % hosts, (rank + hosts - 1) % hosts);
            text += &format!(
                "rank {rank} {{\na: calc {}\nb: send {}b to {next} tag 1\nb requires a\n\
                 recv 9999b from {} tag {} cpu 1\n}}\n",
                draw.whole(0..=900),
                draw.whole(0..=900),
                draw.one(&[-1, before]),
                draw.one(&[-1, 1]),
            );
        }
        file.files.insert("ring.goal".to_owned(), text);
        file.put("work.goal.file", "ring.goal");
        return WorkKind::Goal;
    }
    let operation = draw.one(&Operation::all());
    let ranks = draw.usually(frame.hosts(), &[2, frame.hosts()]);
    if ranks < frame.hosts() || draw.chance(0.3) {
        file.put("schedule.ranks", ranks);
    }
    if draw.chance(0.3) {
        file.put("schedule.compute", draw.one(&["0 ps", "1 us", "3 ms"]));
    }
    let mut keys = Table::new();
    for key in operation.keys() {
        let value: Value = match *key {
            "algorithm" => {
                let mut algorithms = operation.algorithms();
                // It needs Elans and a tree: drawn with these.
                algorithms.retain(|algorithm| algorithm.name != "hardware");
                let name = draw.one(&algorithms).name;
                if matches!(name, "chain" | "segmented-binomial") && draw.chance(0.8) {
                    let segment = table([("segment", draw.size(1..=300, &["1 GiB"]))]);
                    choice(name, segment)
                } else if name == "k-ary-tree" && draw.chance(0.8) {
                    choice(name, table([("arity", draw.whole(1..=5))]))
                } else {
                    draw.named(name)
                }
            }
            "root" => draw.whole(0..=ranks - 1).into(),
            "combine" => draw.one(&["1 MB/s", "3 GB/s"]).into(),
            _ => draw.size(1..=500, &["1 B", "8 KiB"]).into(),
        };
        if *key == "size" || draw.chance(0.7) {
            keys.insert((*key).to_owned(), value);
        }
    }
    let name = operation.name();
    file.put("work", if keys.is_empty() { draw.named(name) } else { choice(name, keys) });
    WorkKind::Collective
}

/// Sweeps at most two keys, each over up to three values; returns their names and first values.
fn sweep(
    draw: &mut Draw,
    frame: &Frame,
    (kind, bound): (WorkKind, &[&str]),
    file: &mut Experiment,
) -> Vec<(&'static str, Value)> {
    let mut swept: Vec<(&str, Value)> = Vec::new();
    let mut kinds = Table::new();
    let together = draw.chance(0.4);
    for _ in 0..draw.one(&[0, 0, 1, 1, 2]) {
        let key = &KEYS[draw.0.below(KEYS.len() as u64) as usize];
        let header = ["citation", "description"].contains(&key.name) || bound.contains(&key.name);
        let elsewhere = kind != WorkKind::Traffic && key.name.starts_with("traffic.");
        let values: Vec<Value> = (0..2).filter_map(|_| (key.draw)(draw, frame)).collect();
        if swept.iter().any(|(name, _)| *name == key.name)
            || header
            || elsewhere
            || values.len() < 2
            || same(file, key, &values)
        {
            continue;
        }
        let first = values[0].clone();
        let kind = if together { "zip" } else { "product" };
        let lists = kinds.entry(kind).or_insert_with(|| Table::new().into());
        // Both ways to write a key of several names.
        if draw.chance(0.5) {
            put(lists.as_table_mut().expect("a table"), key.name, values.into());
        } else {
            lists.as_table_mut().expect("a table").insert(key.name.to_owned(), values.into());
        }
        swept.push((key.name, first));
    }
    if !swept.is_empty() {
        file.put("sweep", kinds);
    }
    swept
}

/// Whether two values mean the same, in whatever words: such a sweep is refused.
fn same(file: &Experiment, key: &Key, values: &[Value]) -> bool {
    let spec = |value: &Value| {
        let mut alone = file.clone();
        alone.put(key.name, value.clone());
        Study::parse("alone", &alone.text()).ok().map(|study| study.points()[0].spec.clone())
    };
    values[0] == values[1] || spec(&values[0]).is_some_and(|one| Some(one) == spec(&values[1]))
}

/// Figures of swept keys, of which the first values are given.
fn figures(
    draw: &mut Draw,
    kind: WorkKind,
    (swept, values): (&[&'static str], &[Value]),
    file: &mut Experiment,
) {
    let columns: Vec<&str> = kind.columns().iter().map(|column| column.name).collect();
    let count = draw.one(&[0, 0, 1, 2]);
    let figure = |number: i64| {
        let x = swept.first().copied().filter(|_| draw.chance(0.5)).unwrap_or(draw.one(&columns));
        let y = draw.one(&columns);
        let y = if draw.chance(0.5) { y.into() } else { Value::from(vec![y, columns[0]]) };
        let mut figure = Table::new();
        let mut add = |key: &str, value: Value| figure.insert(key.to_owned(), value);
        add("name", format!("figure-{number}").into());
        add("x", x.into());
        add("y", y);
        if draw.chance(0.3) {
            add("title", "A figure".into());
        }
        if draw.chance(0.5) {
            add("series", swept.to_vec().into());
        }
        if draw.chance(0.2) {
            // Tables have names of their own in figures, which depend on what they are told apart
            // from.
            let others = swept.iter().zip(values).filter(|(key, value)| {
                **key != x && !matches!(value, Value::Table(_) | Value::Array(_))
            });
            let only = others.map(|(key, value)| ((*key).to_owned(), value.clone()));
            add("only", only.collect::<Table>().into());
        }
        for key in ["log-x", "log-y"] {
            if draw.chance(0.3) {
                add(key, draw.chance(0.5).into());
            }
        }
        for key in ["x-range", "y-range"] {
            if draw.chance(0.3) {
                add(key, vec![0.01, draw.real(0.02..=9.0)].into());
            }
        }
        Value::from(figure)
    };
    let list: Vec<Value> = (0..count).map(figure).collect();
    if !list.is_empty() {
        file.put("figure", list);
    }
}

/// A table by the first swept key, and by the second if there is one.
fn tables(draw: &mut Draw, kind: WorkKind, swept: &[&'static str], file: &mut Experiment) {
    let Some((rows, others)) = swept.split_first().filter(|_| draw.chance(0.5)) else { return };
    let columns: Vec<&str> = kind.columns().iter().map(|column| column.name).collect();
    let mut keys = table([("rows", *rows)]);
    let mut add = |key: &str, value: Value| keys.insert(key.to_owned(), value);
    match others.first().filter(|_| draw.chance(0.7)) {
        Some(across) => {
            add("columns", (*across).into());
            add("value", draw.one(&columns).into());
        }
        None => {
            add("value", vec![draw.one(&columns), columns[0]].into());
        }
    }
    if draw.chance(0.3) {
        add("name", "a-table".into());
        add("title", "A table".into());
    }
    file.put("table", vec![Value::from(keys)]);
}
