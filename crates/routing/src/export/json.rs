//! Routes as JSON.

use std::io::{self, Write};

use crosstie_fabric::{Fabric, HostId, Node};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{pairs, ports};
use crate::{Leg, Route, Routing};

/// Writes one JSON document, on one line:
///
/// ```text
/// {"format": 1, "network": "...", "hosts": ["h0", ...], "switches": ["s0", ...],
///  "routes": [{"from": 0, "to": 9, "legs": [{"steps": [[5], [3]], "stop": 12},
///                                           {"steps": [[6], [1]], "stop": null}]}, ...]}
/// ```
///
/// `format` changes when a reader of the old form would go wrong. Hosts are numbered as in the list
/// of their names. A step lists the ports that a switch may take, several if it has a choice.
pub fn json(fabric: &Fabric, routing: &dyn Routing, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Document { fabric, routing }).map_err(io::Error::from)?;
    writeln!(out)
}

const FORMAT: u32 = 1;

struct Document<'a> {
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let fabric = self.fabric;
        let hosts = fabric.hosts().map(|host| fabric.label(Node::Host(host)));
        let switches = fabric.switches().map(|switch| fabric.label(Node::Switch(switch)));
        let mut document = to.serialize_struct("Routes", 5)?;
        document.serialize_field("format", &FORMAT)?;
        document.serialize_field("network", fabric.name())?;
        document.serialize_field("hosts", &hosts.collect::<Vec<_>>())?;
        document.serialize_field("switches", &switches.collect::<Vec<_>>())?;
        document.serialize_field("routes", &Routes(self))?;
        document.end()
    }
}

/// All routes, written as they are made.
struct Routes<'a>(&'a Document<'a>);

impl Serialize for Routes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Document { fabric, routing } = *self.0;
        to.collect_seq(pairs(fabric).map(|(from, to)| Entry::of(routing, from, to)))
    }
}

#[derive(Serialize)]
struct Entry {
    from: u32,
    to: u32,
    legs: Vec<EntryLeg>,
}

#[derive(Serialize)]
struct EntryLeg {
    steps: Vec<Vec<u16>>,
    stop: Option<u32>,
}

impl Entry {
    fn of(routing: &dyn Routing, from: HostId, to: HostId) -> Entry {
        let mut route = Route::default();
        routing.route(from, to, &mut route);
        let leg = |leg: Leg<'_>| EntryLeg {
            steps: (leg.tags.iter())
                .map(|tag| ports(routing, tag).iter().map(|port| port.0).collect())
                .collect(),
            stop: leg.stop.map(|host| host.0),
        };
        Entry { from: from.0, to: to.0, legs: route.legs().map(leg).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Root;
    use crate::kind::UpDownItb;
    use crate::networks::ring;
    use crosstie_fabric::SwitchId;
    use crosstie_units::Seed;

    #[test]
    fn a_document_can_be_read_again() {
        let root = Root::Switch(SwitchId(0));
        let itb = UpDownItb { root, seed: None };
        let mut out = Vec::new();
        json(&ring(5), &itb.routes(&ring(5), Seed(1)).unwrap(), &mut out).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(read["hosts"], serde_json::json!(["h0", "h1", "h2", "h3", "h4"]));
        let routes = read["routes"].as_array().unwrap();
        assert_eq!(routes.len(), 20);
        let stopping = routes.iter().find(|r| r["from"] == 4 && r["to"] == 2).unwrap();
        assert_eq!(
            stopping["legs"],
            serde_json::json!([
                {"steps": [[2], [0]], "stop": 3},
                {"steps": [[2], [0]], "stop": null}
            ])
        );
    }
}
