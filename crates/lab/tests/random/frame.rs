//! The part of an experiment that must fit together.

use crate::draw::{Draw, choice};
use crate::experiment::{Experiment, table};
use crate::networks::{Cables, FORMATS};
use crosstie_fabric::{Fabric, Format, Irregular, irregular, pruned_tree, single, two_level};
use crosstie_study::Link;
use crosstie_units::{Bytes, Rate, Seed, Time};
use toml::{Table, Value};

/// What other keys must fit.
pub struct Frame {
    pub fabric: Fabric,
    /// Whether it is known to be a tree before any file is read.
    pub tree: bool,
    /// Whether every switch has a host.
    pub settled: bool,
    /// Whether NICs pass packets on.
    pub in_transit: bool,
    /// The highest load, where one is given.
    pub load: Option<f64>,
    /// Whether a message is one packet.
    pub whole_messages: bool,
    pub files: Vec<(&'static str, String)>,
}

/// The name of the file with a permutation.
pub const PERMUTATION: &str = "permutation.txt";

impl Frame {
    pub fn draw(draw: &mut Draw, file: &mut Experiment) -> Frame {
        let mut files = Vec::new();
        let (fabric, settled) = fabric(draw, file, &mut files);
        let hosts = fabric.hosts().len();
        let mut permutation: Vec<usize> = (0..hosts).collect();
        draw.0.shuffle(&mut permutation);
        if permutation.is_sorted() {
            permutation.reverse();
        }
        files.push((PERMUTATION, permutation.iter().map(|to| format!("{to}\n")).collect()));
        let (rails, pes) = cluster(draw, file, hosts);
        let link = link(draw, file);
        let in_transit = draw.chance(0.4);
        buffers(draw, file, &link, in_transit);
        bus(draw, file, &link, in_transit);
        measure(draw, file);
        let load = goal(draw, file, f64::from(pes) / f64::from(rails));
        let whole_messages = draw.chance(0.6);
        let tree = file.choice("fabric") == Some("tree");
        Frame { fabric, tree, settled, in_transit, load, whole_messages, files }
    }

    pub fn hosts(&self) -> i64 {
        self.fabric.hosts().len() as i64
    }
}

/// A network of at most 27 hosts, and whether every switch has one.
fn fabric(
    draw: &mut Draw,
    file: &mut Experiment,
    files: &mut Vec<(&'static str, String)>,
) -> (Fabric, bool) {
    match draw.one(&["tree", "single", "two-level", "irregular", "irregular", "file"]) {
        "tree" => {
            let (k, n) = draw.one(&[(2, 1), (2, 2), (2, 3), (3, 2), (4, 1), (4, 2), (3, 3)]);
            file.put("fabric.tree.k", i64::from(k));
            file.put("fabric.tree.n", i64::from(n));
            let leaves = i64::from(k).pow(n.into());
            let hosts = if draw.chance(0.4) { draw.whole(2..=leaves) } else { leaves };
            if hosts < leaves || draw.chance(0.2) {
                file.put("fabric.tree.hosts", hosts);
            }
            (pruned_tree(k, n, hosts as u32).expect("a tree"), false)
        }
        "single" => {
            let hosts = draw.whole(2..=16);
            file.put("fabric.single.hosts", hosts);
            (single(hosts as u32).expect("a switch"), true)
        }
        "two-level" => {
            let (leaves, hosts) = (draw.whole(2..=4), draw.whole(1..=5));
            file.put("fabric.two-level.leaves", leaves);
            file.put("fabric.two-level.hosts-per-leaf", hosts);
            (two_level(leaves as u32, hosts as u32).expect("two levels"), false)
        }
        "irregular" => {
            let hosts = draw.whole(1..=3);
            let switches = draw.whole(if hosts == 1 { 2 } else { 1 }..=8);
            // With two links at each switch it is a ring, which can deadlock.
            let ports = hosts + draw.one(&[2, 2, 2, 3, 4]);
            let seed = draw.seed();
            for (key, value) in [
                ("switches", switches),
                ("ports", ports),
                ("hosts-per-switch", hosts),
                ("seed", seed),
            ] {
                file.put(&format!("fabric.irregular.{key}"), value);
            }
            let mut shape = Irregular {
                switches: switches as u32,
                ports: ports as u16,
                hosts_per_switch: hosts as u16,
                links: None,
            };
            let full = irregular(&shape, Seed(seed as u64)).expect("a network");
            if !draw.chance(0.3) {
                return (full, true);
            }
            let most = (full.channels().len() / 2 - full.hosts().len()) as i64;
            let links = draw.whole(switches - 1..=most);
            file.put("fabric.irregular.links", links);
            shape.links = Some(links as u32);
            (irregular(&shape, Seed(seed as u64)).expect("a network"), true)
        }
        _ => {
            let (ending, parallel, write) = draw.one(&FORMATS);
            let text = write(&Cables::draw(&mut draw.0, parallel));
            let name = match ending {
                "anynet" => "network.anynet",
                "graphml" => "network.graphml",
                "edges" => "network.edges",
                _ => "network.ibnetdiscover",
            };
            file.put("fabric.file.path", name);
            let fabric = Format::of(name, &text).read(name, &text).expect("a network file");
            files.push((name, text));
            (fabric, true)
        }
    }
}

/// Rails, processing elements and their policy; returns how many there are of both.
fn cluster(draw: &mut Draw, file: &mut Experiment, hosts: usize) -> (u32, u32) {
    let mut rails = draw.one(&[1, 1, 2, 3, 4]);
    rails = draw.usually(rails, &[16]);
    let mut pes = 1;
    if draw.chance(0.5) {
        pes = draw.whole(1..=4);
        pes = draw.usually(pes, &[64]);
        let policy = draw.one(&POLICIES);
        // Static allocation joins at most C(r, r/2) hosts.
        let enough = [(2, 2), (3, 3), (6, 4), (10, 5), (20, 6), (35, 7)];
        let (_, least) = enough.into_iter().find(|&(most, _)| hosts <= most).expect("few hosts");
        match policy {
            "static" => rails = least + draw.whole(0..=1),
            "round-robin" => pes = 1,
            _ => {}
        }
        let keys = policy_keys(draw, policy);
        let value = if keys.is_empty() { draw.named(policy) } else { choice(policy, keys) };
        // By its earlier name, too.
        file.put(draw.one(&["policy", "policy", "scheme"]), value);
    }
    for (key, value) in [("cluster.rails", rails), ("cluster.pes", pes)] {
        if value > 1 || draw.chance(0.2) {
            file.put(key, value);
        }
    }
    (rails as u32, pes as u32)
}

pub const POLICIES: [&str; 14] = [
    "round-robin",
    "static",
    "basic",
    "local-dynamic",
    "dynamic",
    "hybrid",
    "binding",
    "weighted-round-robin",
    "window-round-robin",
    "even-striping",
    "weighted-striping",
    "adaptive-striping",
    "fastest",
    "pull",
];

/// Some of the keys of a policy.
fn policy_keys(draw: &mut Draw, policy: &str) -> Table {
    let weights: Vec<i64> = (0..draw.whole(1..=3)).map(|_| draw.whole(1..=9)).collect();
    let mut keys = Table::new();
    for (key, value) in [
        ("striping", Value::from(draw.real(0.0..=1.0))),
        ("timeout", draw.one(&["1 ns", "300 ns", "2 us", "20 us", "400 ms"]).into()),
        ("threshold", draw.size(0..=300, &["0 B", "1 GiB"]).into()),
        ("weights", weights.into()),
        ("window", draw.whole(1..=9).into()),
        ("alpha", draw.real(0.01..=1.0).into()),
        ("floor", draw.real(0.0..=0.5).into()),
        ("units", draw.whole(10..=3072).into()),
    ] {
        let known: &[&str] = match policy {
            "local-dynamic" => &["striping"],
            "dynamic" => &["striping", "timeout"],
            "hybrid" => &["striping", "timeout", "threshold"],
            "weighted-round-robin" => &["weights"],
            "window-round-robin" => &["window"],
            "even-striping" => &["threshold"],
            "weighted-striping" => &["weights", "threshold"],
            "adaptive-striping" => &["alpha", "floor", "units", "threshold"],
            _ => &[],
        };
        if known.contains(&key) && draw.chance(0.6) {
            keys.insert(key.to_owned(), value);
        }
    }
    keys
}

/// The highest rate: a flit of a byte takes a picosecond.
const FASTEST: &str = "1000 GB/s";

/// Flits, rate and wire; a wire is at most 1000 cycles.
fn link(draw: &mut Draw, file: &mut Experiment) -> Link {
    let flit = draw.one(&[1, 2, 2, 4, 8, 32, 1024]);
    let rate = draw.one(&["100 MB/s", "400 MB/s", "1 GB/s", "10 Gbit/s"]);
    let rate = draw.usually(rate, &["2 kB/s", FASTEST]);
    let wire = draw.one(&["0 ns", "1 ns", "15 ns", "15 ns", "60 ns"]);
    for (key, value) in
        [("link.flit", &*format!("{flit} B")), ("link.rate", rate), ("link.wire", wire)]
    {
        if draw.chance(0.7) {
            file.put(key, value);
        }
    }
    if file.get("link.rate").and_then(Value::as_str) == Some(FASTEST) {
        file.put("link.wire", "1 ns");
    }
    let text = |key: &str| file.get(key).and_then(Value::as_str);
    let default = Link::default();
    Link {
        flit: text("link.flit").map_or(default.flit, |text| text.parse::<Bytes>().unwrap()),
        rate: text("link.rate").map_or(default.rate, |text| text.parse::<Rate>().unwrap()),
        wire: text("link.wire").map_or(default.wire, |text| text.parse::<Time>().unwrap()),
    }
}

/// Buffers and pools that have room for what is on the wire.
fn buffers(draw: &mut Draw, file: &mut Experiment, link: &Link, in_transit: bool) {
    let wire = link.wire_cycles() as i64;
    let channels = draw.one(&[1, 1, 1, 2, 3, 8]);
    file.put("switch.virtual-channels", channels);
    if draw.chance(0.3) {
        let stop = draw.whole(1..=60);
        let go = draw.whole(0..=stop - 1);
        file.put("switch.flow.stop-and-go", table([("stop", stop), ("go", go)]));
        file.put("switch.buffer", stop + 2 * wire + draw.whole(0..=20));
    } else {
        if draw.chance(0.2) {
            file.put("switch.flow", draw.named("credits"));
        }
        if draw.chance(0.7) {
            let buffer = draw.one(&[1, 2, 2, 4, 4, 16, 64, 65_536]);
            file.put("switch.buffer", buffer);
        }
    }
    if !in_transit {
        return;
    }
    file.put("nic.in-transit", Table::new());
    if draw.chance(0.5) {
        file.put("nic.in-transit.recognition", draw.ns(1..=400));
    }
    if draw.chance(0.5) {
        file.put("nic.in-transit.setup", draw.ns(0..=300));
    }
    if draw.chance(0.5) {
        let flits = channels * (2 * wire + draw.one(&[1, 2, 10, 100, 10_000]));
        file.put("nic.in-transit.pool", format!("{} B", flits * link.flit.get() as i64));
    }
}

/// A bus, which is full duplex where NICs pass packets on.
fn bus(draw: &mut Draw, file: &mut Experiment, link: &Link, in_transit: bool) {
    let name = if in_transit { "full" } else { draw.one(&["", "half", "full", "asymmetric"]) };
    match name {
        "" => {}
        // A cycle has as many ticks as the ratio of the rates needs, and each lasts a picosecond.
        "asymmetric"
            if link.flit.get() * 1_000_000_000_000 / link.rate.bytes_per_second() < 100 => {}
        "asymmetric" => {
            let rate = link.rate.bytes_per_second() as i64;
            for key in ["read", "write"] {
                // From a fifth to one and a half of the link.
                let rate = (rate / 10 * draw.whole(2..=15)).clamp(2000, 1_000_000_000_000);
                file.put(&format!("bus.asymmetric.{key}"), format!("{} kB/s", rate / 1000));
            }
        }
        name => {
            let bus = draw.named(name);
            file.put("bus", bus);
        }
    }
}

/// Short runs.
fn measure(draw: &mut Draw, file: &mut Experiment) {
    let least = draw.one(&[100, 300, 1000, 2000]);
    file.put("measure.min-cycles", least);
    file.put("measure.max-cycles", least + draw.one(&[0, 1, 2000, 5000]));
}

/// When messages start, and a load or the search for one. A node with a coin per element and cycle
/// has `most` messages per cycle and rail to begin.
fn goal(draw: &mut Draw, file: &mut Experiment, most: f64) -> Option<f64> {
    let search = draw.chance(0.12);
    let arrival = draw.one(&["", "exponential", "constant", "bernoulli"]);
    let coins = arrival == "bernoulli" && !(search && most < 1.0);
    if !arrival.is_empty() && (arrival != "bernoulli" || coins) {
        let arrival = draw.named(arrival);
        file.put("traffic.arrival", arrival);
    }
    if search {
        file.put("measure.saturation", Table::new());
        // A second is a million packets: these searches make few runs longer.
        file.put("measure.saturation.budget", draw.one(&["0 s", "1 ms", "5 ms"]));
        if draw.chance(0.8) {
            let precision = draw.real(0.05..=0.2);
            file.put("measure.saturation.precision", precision);
        }
        return None;
    }
    Some(if coins { most.min(1.0) } else { 1.0 })
}
