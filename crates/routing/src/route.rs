//! The one route type, and the trait of everything that makes routes.

use crosstie_fabric::{HostId, Port};

use crate::{HostRange, Spread, Summary};

/// A group of ports, numbered within its routing. A group means the same ports in every switch, as
/// the group tags of Elite switches do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u16);

/// What one switch is told: each switch removes the first tag and obeys it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Leave by this port.
    Port(Port),
    /// Leave by any free port of this group.
    Group(GroupId),
}

/// A route from one host to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    tags: Vec<Tag>,
    /// Where the packet is taken out: the number of tags before it, and the host.
    stops: Vec<(u32, HostId)>,
}

/// The part of a route between two hosts without a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg<'a> {
    /// One tag per switch crossed.
    pub tags: &'a [Tag],
    /// The host where the leg ends in an in-transit buffer; `None` on the last leg.
    pub stop: Option<HostId>,
}

impl Route {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.tags.clear();
        self.stops.clear();
    }

    /// Adds the tag for the next switch.
    pub fn push(&mut self, tag: Tag) {
        self.tags.push(tag);
    }

    /// Ends the leg: the packet is taken out at `host` and put in again there.
    pub fn stop(&mut self, host: HostId) {
        self.stops.push((self.tags.len() as u32, host));
    }

    /// All tags of all legs in order; their number is the number of switches crossed.
    pub fn tags(&self) -> &[Tag] {
        &self.tags
    }

    /// The legs in order; there is always at least one.
    pub fn legs(&self) -> impl Iterator<Item = Leg<'_>> {
        (0..=self.stops.len()).map(|i| {
            let start = if i == 0 { 0 } else { self.stops[i - 1].0 as usize };
            let (end, stop) = match self.stops.get(i) {
                Some(&(end, host)) => (end as usize, Some(host)),
                None => (self.tags.len(), None),
            };
            Leg { tags: &self.tags[start..end], stop }
        })
    }
}

/// A way of making routes on one fabric.
///
/// A routing is a pure function of the two hosts: adaptivity lies in the groups, where the *switch*
/// chooses.
pub trait Routing: Send + Sync {
    /// The ports of every group, indexed by [`GroupId`].
    fn groups(&self) -> &[Vec<Port>];

    /// Overwrites `route` with the route between two different hosts.
    fn route(&self, from: HostId, to: HostId, route: &mut Route);

    /// Overwrites `spread` with the way from a host to all hosts of a range, itself among them or
    /// not. Returns false if this routing knows no such ways.
    fn spread(&self, _from: HostId, _range: HostRange, _spread: &mut Spread) -> bool {
        false
    }

    /// What is known of all routes together without following them; `None` if nothing is.
    fn summary(&self) -> Option<&Summary> {
        None
    }
}
