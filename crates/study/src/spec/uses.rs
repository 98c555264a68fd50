//! Which keys each world uses: the one place that says so.
//!
//! A key has the worlds of its longest prefix in [`USES`], and every key of a spec has one.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{PolicyKind, Spec, World};
use crate::document;

/// A world in one of the forms that use different keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    Wormhole,
    Frame,
    Ideal,
    /// The model, whose parameters follow from the machine.
    Derived,
    /// The model, whose parameters are written.
    Parameters,
    /// Real ranks in a box of the experiment's own.
    OwnBox,
    /// Real ranks in the box of a file.
    BoxFile,
    /// Real ranks on machines by name.
    Machines,
}

use Ground::{BoxFile, Derived, Frame, Ideal, Machines, OwnBox, Parameters, Wormhole};

const ALL: &[Ground] = &[Wormhole, Frame, Ideal, Derived, Parameters, OwnBox, BoxFile, Machines];
const NETWORKS: &[Ground] = &[Wormhole, Frame, Ideal];
const NETWORKS_AND_MODEL: &[Ground] = &[Wormhole, Frame, Ideal, Derived];
const NETWORKS_AND_MODELS: &[Ground] = &[Wormhole, Frame, Ideal, Derived, Parameters];
const NETWORKS_AND_LIVE: &[Ground] = &[Wormhole, Frame, Ideal, OwnBox, BoxFile, Machines];
const LIVE: &[Ground] = &[OwnBox, BoxFile, Machines];

/// Keys, and the worlds that use them.
const USES: &[(&str, &[Ground])] = &[
    ("seed", ALL),
    ("world", ALL),
    ("cluster.rails", &[Wormhole, Frame, Ideal, Derived, Parameters, OwnBox, BoxFile]),
    ("cluster.pes", NETWORKS_AND_LIVE),
    ("cluster.blocking", NETWORKS_AND_MODELS),
    ("policy", ALL),
    ("profile", ALL),
    ("channel", ALL),
    ("fabric", ALL),
    ("routing", &[Wormhole, Frame, Derived]),
    ("switch", &[Wormhole]),
    ("link.flit", NETWORKS_AND_MODEL),
    ("link.rate", &[Wormhole, Frame, Ideal, Derived, OwnBox]),
    ("link.wire", NETWORKS_AND_MODEL),
    ("bus", &[Wormhole]),
    ("nic.packet", NETWORKS_AND_MODEL),
    ("nic.overhead", NETWORKS_AND_MODEL),
    ("nic.control", NETWORKS),
    ("nic.response", NETWORKS),
    ("nic.transfers", NETWORKS),
    ("nic.window", NETWORKS),
    ("nic.patience", NETWORKS),
    ("nic.in-transit", &[Wormhole]),
    ("node.overhead", NETWORKS_AND_MODELS),
    ("node.eager", NETWORKS_AND_MODELS),
    ("node.bus", &[Frame, Ideal]),
    ("node.elan", &[Wormhole]),
    ("node.commodity", NETWORKS_AND_MODEL),
    ("node.commodity.interrupts", NETWORKS),
    ("node.commodity.ring", NETWORKS),
    ("node.commodity.receive-ring", NETWORKS),
    ("node.commodity.pool", NETWORKS),
    ("node.commodity.jitter", NETWORKS),
    ("message", ALL),
    ("message.envelope", NETWORKS_AND_MODELS),
    ("message.strict", NETWORKS_AND_MODELS),
    ("message.fin", NETWORKS_AND_MODELS),
    ("message.memory", NETWORKS),
    ("message.latency", NETWORKS),
    ("event", &[Frame, Ideal]),
    ("competitor", &[Frame, Ideal, OwnBox, BoxFile]),
    ("frame.mtu", &[Frame, Derived, OwnBox]),
    ("frame.clock-ppm", &[Frame]),
    ("frame.uplink", &[Frame, Derived]),
    ("frame.switch", &[Frame, Derived]),
    ("frame.switch.memory", &[Frame, Derived, OwnBox]),
    ("frame.switch.memory.input.circuit", &[Frame, Derived]),
    ("frame.switch.memory.input.stage", &[Frame]),
    ("frame.core", &[Frame, Derived]),
    ("ideal", &[Ideal]),
    ("model", &[Parameters]),
    ("live", LIVE),
    ("traffic", ALL),
    ("work", ALL),
    ("schedule", ALL),
    ("measure", ALL),
];

/// Keys that say how ranks exchange messages, and not on which machine: real ranks have all of them
/// as they are written, or refuse them.
const OF_THE_PROFILE: &[&str] =
    &["profile", "channel", "message", "nic.packet", "nic.overhead", "nic.control", "nic.patience"];

/// Keys of a host among them: how fast it copies.
const OF_HOSTS: &[&str] = &["message.memory", "message.latency"];

/// Returns true if a key is a setting of the profile.
fn is_of_profile(key: &str) -> bool {
    let among = |keys: &[&str]| keys.iter().any(|outer| is_within(key, outer));
    among(OF_THE_PROFILE) && !among(OF_HOSTS)
}

/// Returns true if `inner` is `outer` or lies below it.
fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The worlds that use a key; `None` if nothing is declared of it.
fn users(key: &str) -> Option<&'static [Ground]> {
    let above = USES.iter().filter(|(declared, _)| is_within(key, declared));
    above.max_by_key(|(declared, _)| declared.len()).map(|(_, users)| *users)
}

impl Ground {
    /// The one that a spec is for.
    pub(crate) fn of(spec: &Spec) -> Ground {
        match spec.world {
            World::Wormhole => Wormhole,
            World::Frame => Frame,
            World::Ideal => Ideal,
            World::Model if spec.model.is_some() => Parameters,
            World::Model => Derived,
            World::Live if spec.live.own_box => OwnBox,
            World::Live if spec.live.boxed.is_some() => BoxFile,
            World::Live => Machines,
        }
    }

    /// The model, with the parameters that a spec gives it.
    pub(crate) fn of_model(spec: &Spec) -> Ground {
        if spec.model.is_some() { Parameters } else { Derived }
    }

    /// Returns true if a key without effect here is to be told of, beside points on all of these
    /// grounds. A key that another point uses is written for that one. But what the model leaves
    /// out of the machine of frames that it prices is always told, and so is what real ranks leave
    /// out of a profile.
    fn misses(self, key: &str, users: &[Ground], beside: &[Ground]) -> bool {
        let unpriced = users.contains(&Frame) && !users.contains(&Derived);
        let always = match self {
            Derived | Parameters => unpriced,
            OwnBox | BoxFile | Machines => is_of_profile(key),
            Wormhole | Frame | Ideal => false,
        };
        !users.contains(&self) && (always || !beside.iter().any(|ground| users.contains(ground)))
    }
}

/// The keys of a document that have no effect on a ground, although they make the spec another than
/// it would be without them: a default that is spelled out is none of them.
pub(crate) fn unused(root: &DeTable<'_>, ground: Ground, beside: &[Ground]) -> Vec<String> {
    let Ok(spec) = Spec::decode(root) else { return Vec::new() };
    let mut search = Search { root, spec, ground, beside, found: Vec::new() };
    for (key, value) in root {
        search.visit(key.get_ref(), value);
    }
    // A reservation of NICs has no price.
    let policy = search.spec.policy;
    let reserves = matches!(policy, PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. });
    if matches!(ground, Derived | Parameters) && reserves {
        search.found.push("policy".to_owned());
    }
    search.found
}

struct Search<'a, 'i> {
    root: &'a DeTable<'i>,
    spec: Spec,
    ground: Ground,
    beside: &'a [Ground],
    found: Vec<String>,
}

impl<'i> Search<'_, 'i> {
    fn visit(&mut self, path: &str, value: &Spanned<DeValue<'i>>) {
        let misses = |key: &str, users| self.ground.misses(key, users, self.beside);
        let verdict = users(path).map(|users| misses(path, users));
        let mut below = USES.iter().filter(|(key, _)| is_within(key, path));
        let is_split = below.any(|(key, users)| Some(misses(key, *users)) != verdict);
        match value.get_ref() {
            DeValue::Table(table) if is_split => {
                for (key, value) in table {
                    self.visit(&format!("{path}.{}", key.get_ref()), value);
                }
            }
            _ if verdict == Some(true) => {
                let found = self.effective(path, value);
                self.found.extend(found);
            }
            _ => {}
        }
    }

    /// The keys from here on that change the spec, as deep as they can be told.
    fn effective(&self, path: &str, value: &Spanned<DeValue<'i>>) -> Vec<String> {
        let mut without = self.root.clone();
        document::take(&mut without, path);
        match Spec::decode(&without) {
            Ok(spec) if spec != self.spec => {}
            // A default, or a part that what stands around it needs.
            _ => return Vec::new(),
        }
        let below: Vec<String> = match value.get_ref() {
            DeValue::Table(table) => table
                .iter()
                .flat_map(|(key, value)| {
                    self.effective(&format!("{path}.{}", key.get_ref()), value)
                })
                .collect(),
            _ => Vec::new(),
        };
        if below.is_empty() { vec![path.to_owned()] } else { below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_spec_is_declared() {
        for key in Spec::KEYS {
            let declared = USES.iter().any(|(known, _)| is_within(known, key));
            assert!(declared, "{key}");
        }
        for (key, users) in USES {
            assert!(!users.is_empty(), "{key}: nobody uses it");
            assert_eq!(USES.iter().filter(|(other, _)| other == key).count(), 1, "{key}");
        }
    }

    /// Every key that experiments/README.md documents, in the tables headed `key`.
    fn documented() -> Vec<String> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/README.md");
        let text = std::fs::read_to_string(path).expect("the description of experiment files");
        let (text, _) = text.split_once("## What is drawn").expect("a section on figures");
        let (mut keys, mut is_key) = (Vec::new(), false);
        for line in text.lines() {
            let first = line.strip_prefix("| ").and_then(|row| row.split(" | ").next());
            match first {
                Some("key") => is_key = true,
                Some(first) if is_key => {
                    keys.extend(first.split('`').skip(1).step_by(2).map(str::to_owned));
                }
                _ if !line.starts_with('|') => is_key = false,
                _ => {}
            }
        }
        keys
    }

    #[test]
    fn of_every_documented_key_it_is_declared_who_uses_it() {
        let keys = documented();
        assert!(keys.len() > 150, "{keys:?}");
        for key in keys.iter().filter(|key| !crate::study::HEADER_KEYS.contains(&key.as_str())) {
            assert!(users(key).is_some(), "{key}: nothing says which worlds use it");
        }
    }
}
