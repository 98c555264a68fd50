//! The keys of exchanges whose packets take turns, and of those that know switches.

use crate::draw::{Draw, choice};
use crate::experiment::Experiment;
use toml::{Table, Value};

/// Gives the exchange of an experiment, if that is its work, an algorithm with keys.
pub fn exchange(draw: &mut Draw, hosts: i64, file: &mut Experiment) {
    if file.choice("work") != Some("all-to-all") {
        return;
    }
    let ranks = file.get("schedule.ranks").and_then(Value::as_integer).unwrap_or(hosts);
    let is_live = file.choice("world") == Some("live");
    let mut keys = Table::new();
    let mut put = |draw: &mut Draw, key: &str, value: Value| {
        if draw.chance(0.7) {
            keys.insert(key.to_owned(), value);
        }
    };
    let even: Vec<i64> = (1..=ranks).filter(|here| ranks % here == 0).collect();
    let here = draw.one(&even);
    put(draw, "hosts-per-switch", here.into());
    let names = ["pairwise", "synchronous-shuffle", "group-shuffle", "modified-shuffle"];
    let name = draw.one(&names);
    if ["pairwise", "group-shuffle"].contains(&name) {
        let pairs = draw.one(&["xor", "edge-colour"]);
        put(draw, "pairs", pairs.into());
    } else {
        let mut permutations = vec!["shift"];
        permutations.extend((ranks % 2 == 0).then_some("edge-colour"));
        permutations.extend((ranks.count_ones() == 1).then_some("xor"));
        let permutation = draw.one(&permutations);
        put(draw, "permutation", permutation.into());
        // Real ranks do not count what they receive.
        let counts =
            draw.one(&["unacknowledged", if is_live { "unacknowledged" } else { "received" }]);
        put(draw, "counts", counts.into());
    }
    let number = |draw: &mut Draw, most| Value::from(draw.one(&[1, 2, 9, 40, most]));
    match name {
        "synchronous-shuffle" => {
            let window = number(draw, 1 << 20);
            put(draw, "window", window);
        }
        "group-shuffle" => {
            let group = number(draw, 65_535);
            put(draw, "group", group);
        }
        "modified-shuffle" => {
            let buffer = number(draw, 1 << 24);
            put(draw, "buffer", buffer);
            let reading = draw.one(&["floor", "published", "data"]);
            put(draw, "reading", reading.into());
        }
        _ => {}
    }
    // Where messages go whole, packets cannot take turns.
    for key in ["policy", "scheme", "node.overhead", "node.eager"] {
        file.remove(key);
    }
    file.put("work.all-to-all.algorithm", choice(name, keys));
}
