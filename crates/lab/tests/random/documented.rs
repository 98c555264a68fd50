//! The keys and choices that `experiments/README.md` documents.

use std::collections::BTreeSet;

/// Keys whose row names what may be chosen, each name in backticks.
const CHOICES: [&str; 8] = [
    "world",
    "routing",
    "bus",
    "node.bus",
    "switch.flow",
    "traffic.arrival",
    "frame.switch.forwarding",
    "channel.go-back-n.acknowledge",
];

/// Every documented key and choice; `*` stands for any text.
pub fn keys() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/README.md");
    let text = std::fs::read_to_string(path).expect("the description of experiment files");
    let (mut keys, mut prefix, mut head) = (BTreeSet::new(), "", "");
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            prefix = match title {
                "What is drawn" => "figure.",
                "What is tabulated" => "table.",
                _ => "",
            };
        }
        let Some(row) = line.strip_prefix("| ") else {
            head = if line.starts_with('|') { head } else { "" };
            continue;
        };
        let (first, rest) = row.split_once(" | ").expect("a table has several columns");
        match head {
            "" => head = first,
            "key" => {
                for key in quoted(first) {
                    if CHOICES.contains(&key) {
                        keys.extend(quoted(rest).map(|choice| format!("{key}.{choice}")));
                    }
                    keys.insert(format!("{prefix}{key}"));
                }
            }
            "operation" => keys.extend(quoted(first).map(|name| format!("work.{name}"))),
            "channel" => keys.extend(quoted(first).map(|name| format!("channel.{name}"))),
            "policy" => keys.extend(quoted(first).map(|name| format!("policy.{name}"))),
            "pattern" => keys.extend(quoted(first).flat_map(|text| pattern(text, rest))),
            "format" => {
                let ending = quoted(rest).next().expect("every format has an ending");
                keys.insert(format!("fabric.file.path.*{ending}"));
            }
            _ => {}
        }
    }
    keys
}

/// Whether a key is what is documented.
pub fn matches(documented: &str, key: &str) -> bool {
    match documented.split_once('*') {
        None => documented == key,
        Some((start, end)) => {
            key.len() >= start.len() + end.len() && key.starts_with(start) && key.ends_with(end)
        }
    }
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The keys of a pattern such as `hot-spot = { host = 0, share = 0.2 }`; its description may name
/// more of them, such as `along = "up-down"`.
fn pattern(text: &str, description: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split([' ', '{', '}', ',']).filter(|word| !word.is_empty()).collect();
    let name = format!("traffic.destination.{}", words[0]);
    let inner = words.windows(2).skip(1).filter(|pair| pair[1] == "=");
    let mut keys: Vec<String> = inner.map(|pair| format!("{name}.{}", pair[0])).collect();
    let more = quoted(description).filter(|text| !text.starts_with('{'));
    for (key, value) in more.filter_map(|text| text.split_once(" = ")) {
        keys.push(format!("{name}.{key}"));
        let choice = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        keys.extend(choice.map(|choice| format!("{name}.{key}.{choice}")));
    }
    keys.push(name);
    keys
}

#[test]
fn keys_and_choices_are_read() {
    let keys = keys();
    for key in [
        "title",
        "fabric.tree.k",
        "routing.*.root",
        "routing.up-down-mitb",
        "bus.half",
        "switch.flow.stop-and-go",
        "world.ideal",
        "policy.hybrid.threshold",
        "policy.static",
        "work.stream.both-ways",
        "traffic.destination.hot-spot.share",
        "traffic.destination.local.along.graph",
        "traffic.destination.local.along.up-down.root",
        "traffic.destination.mixture.parts",
        "fabric.file.path.*.edges",
        "figure.log-y",
        "table.columns",
    ] {
        assert!(keys.contains(key), "{key} in {keys:?}");
    }
    let patterns = crosstie_units::declared::choices::<crosstie_study::Destination>();
    let policies = crosstie_units::declared::choices::<crosstie_protocol::PolicyKind>();
    let operations = crosstie_units::declared::choices::<crosstie_study::Operation>();
    let patterns = patterns.iter().map(|pattern| format!("traffic.destination.{pattern}"));
    let policies = policies.iter().map(|policy| format!("policy.{policy}"));
    let operations = operations.iter().map(|operation| format!("work.{operation}"));
    for key in patterns.chain(policies).chain(operations) {
        assert!(keys.contains(&key), "{key} has no line in experiments/README.md");
    }
    assert!(matches("routing.*.root", "routing.dfs.root"));
    assert!(!matches("routing.*.root", "routing.dfs.pick"));
}
