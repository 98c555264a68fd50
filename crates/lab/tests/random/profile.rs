//! Random profiles, where ranks exchange messages.

use crate::draw::Draw;
use crate::experiment::Experiment;
use toml::{Table, Value};

/// Keys that could make what is drawn here impossible for real ranks, which obey what is written.
pub const BOUND: [&str; 14] = [
    "ideal.rate",
    "ideal.latency",
    "ideal.gap",
    "cluster.blocking",
    "routing",
    "switch.routing-delay",
    "switch.consumes-headers",
    "nic.packet",
    "nic.overhead",
    "nic.control",
    "nic.response",
    "nic.transfers",
    "nic.window",
    "world",
];

/// What real ranks obey, whatever machine they run on.
const LIVE: [&str; 11] = [
    "title",
    "citation",
    "description",
    "seed",
    "world",
    "fabric",
    "live",
    "work",
    "schedule",
    "measure",
    "message",
];

/// Names a profile if there are messages, and takes out what does not go with it. Returns true if
/// real ranks do the work.
pub fn profile(draw: &mut Draw, file: &mut Experiment) -> bool {
    let is_live = file.choice("world") == Some("live");
    if is_live {
        strip(file);
    }
    if file.get("message").is_none() {
        return is_live;
    }
    let is_wormhole = file.choice("world").is_none_or(|world| world == "wormhole");
    let has_elans = is_wormhole && file.get("node.elan").is_some();
    let policy = file.choice("policy").or_else(|| file.choice("scheme")).unwrap_or_default();
    let reserves = ["dynamic", "hybrid"].contains(&policy);
    let name = match () {
        () if has_elans && file.get("node.elan.tports").is_some() => "tports",
        () if has_elans || reserves => "liu",
        () if is_live => "live",
        () => draw.one(&["live", "live", "liu"]),
    };
    if name == "tports" {
        for key in ["message.strict", "message.fin"] {
            file.remove(key);
        }
    }
    if name != "live" || draw.chance(0.7) {
        file.put("profile", name);
    }
    // A frame has to have room for a packet and the headers of real ranks.
    if name == "live" && !is_live && file.get("nic.overhead").is_none() {
        file.put("nic.overhead", draw.one(&["0 B", "20 B"]));
    }
    is_live
}

/// Leaves what real ranks obey.
fn strip(file: &mut Experiment) {
    let boxed = file.get("live.own-box").is_some() || file.get("live.box").is_some();
    let policy =
        file.choice("policy").is_some_and(|policy| !["dynamic", "hybrid"].contains(&policy));
    let channel = file.choice("channel").is_some_and(|channel| channel != "raw");
    let kept = |key: &str| {
        LIVE.contains(&key)
            || (key == "policy" && policy)
            || (key == "channel" && channel)
            || key == "cluster"
    };
    file.keys.retain(|key, _| kept(key));
    if let Some(Value::Table(cluster)) = file.keys.get_mut("cluster") {
        cluster.retain(|key, _| key == "pes" || (key == "rails" && boxed));
    }
    if let Some(Value::Table(message)) = file.keys.get_mut("message") {
        message.retain(|key, _| ["eager", "credit", "synchronous"].contains(&key));
    }
    let is_empty = |key: &str| file.get(key).and_then(Value::as_table).is_some_and(Table::is_empty);
    for key in ["cluster", "message"].into_iter().filter(|key| is_empty(key)).collect::<Vec<_>>() {
        file.remove(key);
    }
}
