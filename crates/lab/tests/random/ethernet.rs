//! Random networks of frames, channels in all worlds, commodity nodes, and the model of them.

use crate::draw::{Draw, choice};
use crate::experiment::{Experiment, table};
use crosstie_study::WorkKind;
use toml::{Table, Value};

/// Keys that could make what is drawn here impossible.
pub const BOUND: [&str; 5] = ["world", "routing", "nic.packet", "nic.overhead", "cluster.blocking"];

/// Puts the work of an experiment on frames or on paper.
pub fn ethernet(draw: &mut Draw, kind: WorkKind, file: &mut Experiment) {
    for key in ["routing", "nic.packet", "nic.overhead"] {
        file.remove(key);
    }
    if draw.chance(0.3) {
        file.put("frame.mtu", draw.one(&["1500 B", "9000 B"]));
    }
    if draw.chance(0.5) {
        file.put("nic.overhead", "8 B");
    }
    if draw.chance(0.3) {
        file.put("nic.packet", draw.one(&["100 B", "1400 B"]));
    }
    uplink(draw, file);
    switch(draw, "frame.switch", file);
    if draw.chance(0.3) {
        switch(draw, "frame.core", file);
    }
    if kind == WorkKind::Traffic {
        file.put("world", "frame");
        // Losses without end would keep every run from an end.
        file.remove("measure.saturation");
        if file.get("traffic.load").is_none() {
            file.put("traffic.load", 0.1);
        }
        return;
    }
    let world = draw.one(&["frame", "frame", "model"]);
    file.put("world", world);
    // Without a channel, work whose messages are lost never ends.
    let raw = world == "model" && draw.chance(0.3);
    file.put("channel", if raw { draw.named("raw") } else { channel(draw, true) });
    if !raw {
        patience(draw, file);
    }
    if draw.chance(0.7) {
        file.remove("node");
        file.put("node.commodity", commodity(draw));
    }
    if draw.chance(0.3) {
        parameters(draw, file);
    }
}

/// Gives closed-loop work a channel on a network that loses nothing; false if it has another world.
pub fn lossless(draw: &mut Draw, kind: WorkKind, file: &mut Experiment) -> bool {
    let world = file.choice("world").unwrap_or("wormhole").to_owned();
    if kind == WorkKind::Traffic || !["wormhole", "ideal"].contains(&world.as_str()) {
        return false;
    }
    let hurries = draw.chance(0.2);
    file.put("channel", channel(draw, hurries));
    let ordered = file.choice("channel").is_some_and(|name| name.ends_with("go-back-n"));
    if ordered && world == "wormhole" {
        file.put("switch.virtual-channels", 1);
        file.put("routing", "dfs");
    }
    patience(draw, file);
    true
}

fn uplink(draw: &mut Draw, file: &mut Experiment) {
    if draw.chance(0.3) {
        file.put("frame.uplink.rate", draw.one(&["12.5 MB/s", "1 GB/s"]));
    }
    if draw.chance(0.3) {
        file.put("frame.uplink.wire", draw.one(&["0 ns", "1 us"]));
    }
}

fn switch(draw: &mut Draw, key: &str, file: &mut Experiment) {
    let mut put = |name: &str, value: Value| file.put(&format!("{key}.{name}"), value);
    if draw.chance(0.7) {
        put("forwarding", draw.one(&["store-and-forward", "cut-through"]).into());
    }
    if draw.chance(0.5) {
        put("lookup", draw.one(&["0 ns", "300 ns"]).into());
    }
    if draw.chance(0.5) {
        put("latency", draw.one(&["0 ns", "5 us"]).into());
    }
    let mut room = || Value::from(draw.one(&["20 frames", "95 frames", "32 KiB"]));
    let mut keys = Table::from_iter([("capacity".to_owned(), room())]);
    let (cap, uplink) = (room(), room());
    let kind = draw.one(&["input", "output", "shared"]);
    if draw.chance(0.5) {
        keys.insert("uplink".to_owned(), uplink);
    }
    if kind == "shared" && draw.chance(0.5) {
        keys.insert("cap".to_owned(), cap);
    }
    if kind == "input" && draw.chance(0.5) {
        keys.insert("hand-over".to_owned(), draw.one(&["last-bit", "first-bit"]).into());
    }
    if draw.chance(0.8) {
        put("memory", choice(kind, keys));
    }
}

/// Lets the outputs of switches with memory at their inputs keep frames of faster links.
pub fn stage(draw: &mut Draw, file: &mut Experiment) {
    for switch in ["frame.switch", "frame.core"] {
        if file.choice(&format!("{switch}.memory")) == Some("input") && draw.chance(0.5) {
            file.put(&format!("{switch}.memory.input.stage"), draw.one(&[0, 1, 4]));
        }
    }
}

/// Lets clocks be off, and both directions of an uplink share a circuit.
pub fn clocks_and_circuits(draw: &mut Draw, file: &mut Experiment) {
    if draw.chance(0.3) {
        file.put("frame.clock-ppm", draw.one(&[1, 100, 1000]));
    }
    for switch in ["frame.switch", "frame.core"] {
        if file.choice(&format!("{switch}.memory")) == Some("input") && draw.chance(0.5) {
            let mut rate = || Value::from(draw.one(&["10 MB/s", "125 MB/s", "1 GB/s"]));
            let circuit = Table::from_iter([("in".to_owned(), rate()), ("out".to_owned(), rate())]);
            file.put(&format!("{switch}.memory.input.circuit"), circuit);
        }
    }
}

/// Patience that outlasts every time-out, beside policies that do not reserve.
fn patience(draw: &mut Draw, file: &mut Experiment) {
    let named = file.choice("policy").or(file.choice("scheme"));
    if draw.chance(0.5) && !matches!(named, Some("dynamic" | "hybrid")) {
        file.put("nic.patience.give-up", "100 s");
        if draw.chance(0.5) {
            file.put("nic.patience.least", draw.one(&["1 ms", "10 ms"]));
        }
        if draw.chance(0.5) {
            file.put("nic.patience.round-trips", draw.one(&[1, 100]));
        }
    }
}

/// A channel; `hurries`: perhaps with time-outs of its own, which may be too short.
pub fn channel(draw: &mut Draw, hurries: bool) -> Value {
    let mut keys = Table::new();
    if draw.chance(0.7) {
        keys.insert("window".to_owned(), draw.one(&[1, 4, 40]).into());
    }
    if draw.chance(0.5) && hurries {
        keys.insert("timeout".to_owned(), draw.one(&["10 ms", "200 ms"]).into());
    }
    if draw.chance(0.5) {
        let after = |draw: &mut Draw| table([("after", draw.one(&["100 us", "1 ms"]))]);
        let style = match draw.one(&[0, 1, 2]) {
            0 => "immediate".into(),
            1 => {
                let mut delayed = after(draw);
                delayed.insert("every".to_owned(), draw.one(&[1, 3]).into());
                choice("delayed", delayed)
            }
            _ => choice("piggyback", after(draw)),
        };
        keys.insert("acknowledge".to_owned(), style);
    }
    match draw.one(&["go-back-n", "simple-go-back-n", "selective"]) {
        "selective" => selective(draw, hurries),
        name if keys.is_empty() => draw.named(name),
        name => choice(name, keys),
    }
}

fn selective(draw: &mut Draw, hurries: bool) -> Value {
    let mut keys = Table::new();
    for (key, values) in
        [("least", ["100 us", "10 ms"]), ("ahead", ["0 ns", "1 ms"]), ("after", ["5 us", "100 us"])]
    {
        if draw.chance(0.4) && (hurries || key != "least") {
            keys.insert(key.to_owned(), draw.one(&values).into());
        }
    }
    if keys.is_empty() { draw.named("selective") } else { choice("selective", keys) }
}

fn cost(draw: &mut Draw) -> Value {
    match draw.one(&[0, 1]) {
        0 => draw.one(&["0 ns", "1 us", "20 us"]).into(),
        _ => {
            let parts =
                [("fixed", "3 us"), ("byte", "5 ns"), ("node", "10 ns"), ("byte-node", "1 ps")];
            let some = parts.into_iter().filter(|_| draw.chance(0.6));
            table(some.collect::<Vec<_>>()).into()
        }
    }
}

fn commodity(draw: &mut Draw) -> Table {
    let mut keys = Table::new();
    let costs = ["send", "send-gap", "outward", "inward", "receive-gap", "receive", "pickup"];
    for key in costs {
        if draw.chance(0.6) {
            keys.insert(key.to_owned(), cost(draw));
        }
    }
    if draw.chance(0.5) {
        keys.insert("interrupts".to_owned(), draw.chance(0.5).into());
    }
    for key in ["ring", "receive-ring", "pool"] {
        if draw.chance(0.3) {
            keys.insert(key.to_owned(), draw.one(&[8, 64]).into());
        }
    }
    if draw.chance(0.5) {
        keys.insert("jitter".to_owned(), draw.one(&["0 ns", "5 us"]).into());
    }
    keys
}

/// Parameters of the model, written or in a file.
fn parameters(draw: &mut Draw, file: &mut Experiment) {
    let mut keys = Table::new();
    for key in ["send", "send-gap", "latency", "receive-gap", "receive", "pickup"] {
        if draw.chance(0.7) {
            keys.insert(key.to_owned(), cost(draw));
        }
    }
    for (key, sizes) in [("packet", ["64 B", "1492 B"]), ("least", ["0 B", "38 B"])] {
        if draw.chance(0.5) {
            keys.insert(key.to_owned(), draw.one(&sizes).into());
        }
    }
    if draw.chance(0.3) {
        let buffer = table([("architecture", draw.one(&["input", "output", "shared"]))]);
        keys.insert("buffer".to_owned(), buffer.into());
        keys["buffer"].as_table_mut().expect("it is one").insert("frames".to_owned(), 95.into());
    }
    if draw.chance(0.3) {
        keys.insert("copy".to_owned(), table([("ctm", "1 us")]).into());
    }
    if draw.chance(0.3) {
        let mut uplink = table([("outward", cost(draw)), ("inward", cost(draw))]);
        uplink.insert("hosts".to_owned(), draw.one(&[1, 2, 3]).into());
        uplink.insert("shared".to_owned(), draw.chance(0.5).into());
        keys.insert("uplink".to_owned(), uplink.into());
    }
    if draw.chance(0.3) {
        file.files.insert("cluster.model".to_owned(), keys.to_string());
        file.put("model.file.path", "cluster.model");
    } else {
        file.put("model.parameters", keys);
    }
}
