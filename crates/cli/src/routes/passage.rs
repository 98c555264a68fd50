//! One route, switch by switch.

use std::collections::BTreeSet;
use std::fmt;

use crosstie_fabric::{Fabric, HostId, Node, Port};
use crosstie_routing::{Route, Routing, Tag};
use serde::Serialize;

use crate::exit::Failure;

/// More switches than these in one step are counted, not listed.
const LISTED: usize = 4;

/// The route between two hosts.
#[derive(Debug, Serialize)]
pub struct Passage {
    from: Place,
    to: Place,
    switches: usize,
    legs: Vec<Leg>,
}

/// A host.
#[derive(Debug, Serialize)]
struct Place {
    host: u32,
    label: String,
}

/// A part of the route without a stop.
#[derive(Debug, Serialize)]
struct Leg {
    steps: Vec<Step>,
    /// Where it ends, unless at the destination.
    stop: Option<Place>,
}

/// What one switch is told.
#[derive(Debug, Serialize)]
struct Step {
    /// The switches where the packet may be, by label; several after a free choice.
    switches: Vec<String>,
    /// The ports it may leave by: one, or those of a group.
    ports: Vec<u16>,
    /// The group, if the switch may choose.
    group: Option<u16>,
}

impl Passage {
    /// The route between two hosts given by number or label.
    pub fn find(
        fabric: &Fabric,
        routes: &dyn Routing,
        from: &str,
        to: &str,
    ) -> Result<Passage, Failure> {
        let (from, to) = (host(fabric, from)?, host(fabric, to)?);
        if from == to {
            let label = fabric.label(Node::Host(from));
            return Err(Failure::user(format!(
                "host {} ({label}) is both source and destination: name two different hosts",
                from.0
            )));
        }
        let mut route = Route::default();
        routes.route(from, to, &mut route);
        let mut start = from;
        let mut legs = Vec::new();
        for leg in route.legs() {
            let end = leg.stop.unwrap_or(to);
            let steps = follow(fabric, routes, start, end, leg.tags)?;
            legs.push(Leg { steps, stop: leg.stop.map(|host| place(fabric, host)) });
            start = end;
        }
        Ok(Passage {
            from: place(fabric, from),
            to: place(fabric, to),
            switches: route.tags().len(),
            legs,
        })
    }
}

fn place(fabric: &Fabric, host: HostId) -> Place {
    Place { host: host.0, label: fabric.label(Node::Host(host)).to_owned() }
}

/// The host of that number, else of that label.
fn host(fabric: &Fabric, text: &str) -> Result<HostId, Failure> {
    let number = text.parse().ok().map(HostId).filter(|h| (h.0 as usize) < fabric.hosts().len());
    let labelled = || fabric.hosts().find(|&h| fabric.label(Node::Host(h)) == text);
    number.or_else(labelled).ok_or_else(|| {
        Failure::user(format!(
            "there is no host `{text}` in {}: its hosts are numbered from 0 to {}",
            fabric.name(),
            fabric.hosts().len() - 1
        ))
    })
}

/// Follows the tags of a leg along every way the switches may choose.
fn follow(
    fabric: &Fabric,
    routing: &dyn Routing,
    start: HostId,
    end: HostId,
    tags: &[Tag],
) -> Result<Vec<Step>, Failure> {
    let lost = |what: &str| {
        let (from, to) = (start.0, end.0);
        Failure::ours(format!("the route from host {from} to host {to} {what}"))
    };
    let mut here = BTreeSet::from([fabric.channel(fabric.host_out(start)).to.node]);
    let mut steps = Vec::new();
    for &tag in tags {
        let (allowed, group): (&[Port], _) = match &tag {
            Tag::Port(port) => (std::slice::from_ref(port), None),
            Tag::Group(group) => {
                let ports = routing.groups().get(usize::from(group.0));
                (ports.ok_or_else(|| lost("names a group that is none"))?, Some(group.0))
            }
        };
        let (mut ports, mut next) = (BTreeSet::new(), BTreeSet::new());
        for &node in &here {
            let Node::Switch(switch) = node else { return Err(lost("has tags left at a host")) };
            let outs = allowed.iter().filter_map(|&p| Some((p.0, fabric.switch_out(switch, p)?)));
            let outs: Vec<_> = outs.collect();
            if outs.is_empty() {
                return Err(lost("leaves a switch where nothing is plugged in"));
            }
            for (port, channel) in outs {
                ports.insert(port);
                next.insert(fabric.channel(channel).to.node);
            }
        }
        let switches = here.iter().map(|&node| fabric.label(node).to_owned()).collect();
        steps.push(Step { switches, ports: ports.into_iter().collect(), group });
        here = next;
    }
    if here == BTreeSet::from([Node::Host(end)]) { Ok(steps) } else { Err(lost("does not arrive")) }
}

impl Step {
    /// The switches in words.
    fn place(&self) -> String {
        match self.switches.as_slice() {
            [only] => only.clone(),
            [some @ .., last] if some.len() < LISTED => format!("{} or {last}", some.join(", ")),
            all => format!("one of {} switches", all.len()),
        }
    }

    /// The tag in words.
    fn order(&self) -> String {
        let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
        match self.group {
            None => format!("leave by port {}", ports.join(", ")),
            Some(_) => format!("leave by any free port of {}", ports.join(", ")),
        }
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passage { from, to, switches, legs } = self;
        writeln!(f, "  host {from} to host {to}, {switches} switches")?;
        let steps = || legs.iter().flat_map(|leg| &leg.steps);
        let width = steps().map(|step| step.place().chars().count()).max().unwrap_or(0);
        let mut number = 0;
        for leg in legs {
            for step in &leg.steps {
                number += 1;
                writeln!(f, "  {number:>3}  {:<width$}  {}", step.place(), step.order())?;
            }
            if let Some(stop) = &leg.stop {
                writeln!(f, "       taken out at host {stop} and put in again")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { host, label } = self;
        if label == &host.to_string() { write!(f, "{host}") } else { write!(f, "{host} ({label})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_fabric::{single, tree};
    use crosstie_routing::{Shortest, TreeAdaptive};

    #[test]
    fn adaptive_ascent_names_every_ancestor() {
        let fabric = tree(4, 2).unwrap();
        let routes = TreeAdaptive::new(&fabric).unwrap();
        let text = Passage::find(&fabric, &routes, "1", "3,2").unwrap().to_string();
        assert_eq!(
            text,
            "  host 1 (0,1) to host 14 (3,2), 3 switches\n    \
             1  ⟨0,1⟩                         leave by any free port of 4, 5, 6, 7\n    \
             2  ⟨0,0⟩, ⟨1,0⟩, ⟨2,0⟩ or ⟨3,0⟩  leave by port 3\n    \
             3  ⟨3,1⟩                         leave by port 2\n"
        );
    }

    #[test]
    fn many_ancestors_are_counted() {
        let fabric = tree(4, 3).unwrap();
        let routes = TreeAdaptive::new(&fabric).unwrap();
        let text = Passage::find(&fabric, &routes, "0", "63").unwrap().to_string();
        assert!(
            text.contains("  3  one of 16 switches                    leave by port 3\n"),
            "{text}"
        );
    }

    #[test]
    fn hosts_must_exist_and_differ() {
        let fabric = single(4).unwrap();
        let find = |from, to| match Passage::find(&fabric, &Shortest::new(&fabric), from, to) {
            Err(Failure::User(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(find("0", "4").contains("numbered from 0 to 3"));
        assert!(find("2", "2").contains("two different hosts"));
    }
}
