//! Elans on wormhole networks.

use crate::draw::Draw;
use crate::experiment::{Experiment, table};
use crate::profile::profile;
use crosstie_units::Seed;
use toml::Table;

/// What a sweep must leave alone where there are Elans.
pub const BOUND: [&str; 5] = ["world", "bus", "routing", "nic.packet", "nic.overhead"];

/// Gives the nodes of an experiment Elans, if its network is one of wormholes without anything that
/// they do not go with.
pub fn elan(draw: &mut Draw, file: &mut Experiment) -> bool {
    let is_wormhole = file.choice("world").is_none_or(|world| world == "wormhole");
    let others = ["channel", "node.commodity", "nic.in-transit", "nic.patience"];
    let has_stops = file.choice("routing").is_some_and(|routing| routing.ends_with("itb"));
    if !is_wormhole || has_stops || others.iter().any(|key| file.get(key).is_some()) {
        return false;
    }
    for key in ["nic.packet", "nic.overhead", "bus"] {
        file.remove(key);
    }
    file.put("bus", "full");
    let mut keys = Table::new();
    let mut put = |draw: &mut Draw, key: &str, value: toml::Value| {
        if draw.chance(0.5) {
            keys.insert(key.to_owned(), value);
        }
    };
    for key in ["source", "destination"] {
        let memory = draw.one(&["main", "elan"]);
        put(draw, key, memory.into());
    }
    for key in
        ["post", "command", "start", "input", "event", "copy", "notice", "barrier", "acknowledge"]
    {
        let time = draw.one(&["1 ns", "200 ns", "1 us"]);
        put(draw, key, time.into());
    }
    for key in ["slice", "buffers", "ahead"] {
        let count = draw.one(&[1, 2, 8, 65_536]);
        put(draw, key, count.into());
    }
    let path = draw.one(&["100 MB/s", "540 MB/s", "1000 GB/s"]);
    put(draw, "path", path.into());
    let one_in = draw.one(&[10, 1_000_000_000]);
    put(draw, "garbled-one-in", one_in.into());
    let mut part = |draw: &mut Draw, name: &str, parts: Vec<(&'static str, toml::Value)>| {
        let some: Vec<_> = parts.into_iter().filter(|_| draw.chance(0.7)).collect();
        if draw.chance(0.5) {
            keys.insert(name.to_owned(), table(some).into());
        }
    };
    let pci = vec![
        ("read", draw.one(&["100 MB/s", "1 GB/s"]).into()),
        ("write", draw.one(&["100 MB/s", "1 GB/s"]).into()),
        ("shared", draw.chance(0.5).into()),
        ("read-latency", draw.one(&["0 ns", "500 ns"]).into()),
        ("write-latency", draw.one(&["0 ns", "250 ns"]).into()),
    ];
    part(draw, "pci", pci);
    let tlb = vec![
        ("entries", draw.one(&[1, 16]).into()),
        ("page", draw.one(&["4 KiB", "1 GiB"]).into()),
        ("miss", draw.one(&["0 ns", "100 ns"]).into()),
    ];
    part(draw, "tlb", tlb);
    let packet = table([
        ("block", draw.one(&["32 B", "64 B", "4 KiB"])),
        // At least two flits of any length that is drawn.
        ("header", draw.one(&["2 KiB", "64 KiB"])),
        ("block-overhead", draw.one(&["0 B", "8 B"])),
    ]);
    keys.insert("packet".to_owned(), packet.into());
    crate::experiment::put(&mut keys, "packet.blocks", draw.one(&[1, 5, 64]).into());
    file.put("node.elan", keys);
    if file.get("work").is_some() {
        closed_loop(draw, file);
    }
    true
}

/// A small experiment whose nodes have Elans: a barrier, or ranks that exchange messages. Among
/// random experiments these are rare.
pub fn small(case: u64) -> Experiment {
    let mut draw = Draw(Seed(case).stream("small elan", 0));
    let mut file = Experiment::default();
    file.put("title", "Elans");
    file.put("seed", draw.seed());
    file.put("fabric.tree.k", draw.one(&[2, 4]));
    file.put("fabric.tree.n", draw.one(&[1, 2]));
    file.put("schedule.iterations", draw.one(&[1, 2, 5]));
    if draw.chance(0.5) {
        file.put("work.barrier.algorithm", draw.one(&["linear", "k-ary-tree", "dissemination"]));
    } else {
        file.put("message.eager", draw.one(&["0 B", "288 B", "64 KiB"]));
        match draw.chance(0.5) {
            true => file.put("work.all-to-all.size", draw.size(1..=2000, &["1 B", "8 KiB"])),
            false => file.put("work.all-reduce.size", draw.size(1..=2000, &["1 B", "8 KiB"])),
        }
    }
    assert!(elan(&mut draw, &mut file), "nothing keeps Elans away");
    // Most of what is drawn above leaves no room for these.
    if draw.chance(0.2) {
        file.remove("message");
        file.remove("node.elan.tports");
        hardware_barrier(&mut file);
    }
    let is_live = profile(&mut Draw(Seed(case).stream("profile", 0)), &mut file);
    assert!(!is_live, "Elans are simulated");
    file
}

/// What such an experiment has of what is rare.
pub fn rare(file: &Experiment) -> impl Iterator<Item = &'static str> {
    let is_hardware = file.choice("work.barrier.algorithm") == Some("hardware");
    let has = |key| file.get(key).is_some();
    let met = [
        ("a barrier whose release switches fork", is_hardware),
        ("messages", has("message")),
        ("tagged ports", has("node.elan.tports")),
        ("reads", has("work.read")),
    ];
    met.into_iter().filter(|&(_, is_so)| is_so).map(|(name, _)| name)
}

/// NICs that match messages, and serve reads.
fn closed_loop(draw: &mut Draw, file: &mut Experiment) {
    let has_ports = draw.chance(0.5);
    let is_schedule = file.get("work.ping").is_none() && file.get("work.stream").is_none();
    let reads = is_schedule && draw.chance(0.5);
    if has_ports || reads {
        file.remove("node.overhead");
        file.remove("node.eager");
    }
    if has_ports {
        if file.get("message").is_none() {
            file.put("message.eager", draw.one(&["0 B", "288 B"]));
        }
        file.put("node.elan.tports.match", draw.one(&["0 ns", "885 ns", "1 ms"]));
        if draw.chance(0.5) {
            file.put("message.synchronous", draw.chance(0.7));
        }
    }
    if reads {
        file.remove("work");
        file.put("work.read.size", draw.size(1..=2000, &["1 B", "64 KiB"]));
        if draw.chance(0.5) {
            file.put("work.read.from", draw.one(&[0, 1]));
        }
    }
    if is_schedule && !has_ports && !reads {
        hardware_barrier(file);
    }
}

/// Makes a schedule a barrier whose release switches fork, if the network is a tree with one rank
/// to a host.
fn hardware_barrier(file: &mut Experiment) {
    let pes = file.get("cluster.pes").and_then(toml::Value::as_integer);
    let has_tree = file.choice("fabric") == Some("tree");
    if !has_tree || pes.is_some_and(|pes| pes > 1) || file.get("message").is_some() {
        return;
    }
    for key in ["work", "node.overhead", "node.eager", "schedule.hosts"] {
        file.remove(key);
    }
    if !file.choice("routing").is_some_and(|routing| routing.starts_with("tree-")) {
        file.put("routing", "auto");
    }
    file.put("work.barrier.algorithm", "hardware");
}
