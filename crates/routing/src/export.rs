//! Routes for other programs: as plain text, as JSON, and as the forwarding tables of InfiniBand
//! switches.
//!
//! | format | holds |
//! |---|---|
//! | [`text`] | one line per pair of hosts: the port at each switch |
//! | [`json`] | the same with the names of hosts and switches |
//! | [`ForwardingTables`] | the port at each switch for each destination, as OpenSM reads it |

mod forwarding;
mod json;
mod text;

use crosstie_fabric::{Fabric, HostId, Port};

use crate::{Routing, Tag};

pub use forwarding::{ForwardingTables, NotForwarding};
pub use json::json;
pub use text::text;

/// All pairs of different hosts, source by source: (source, destination).
fn pairs(fabric: &Fabric) -> impl Iterator<Item = (HostId, HostId)> + use<> {
    let hosts = fabric.hosts().len() as u32;
    let all = (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (HostId(from), HostId(to))));
    all.filter(|(from, to)| from != to)
}

/// The ports a tag allows; none if it names a group that the routing does not have.
fn ports<'a>(routing: &'a dyn Routing, tag: &'a Tag) -> &'a [Port] {
    match tag {
        Tag::Port(port) => std::slice::from_ref(port),
        Tag::Group(group) => {
            routing.groups().get(usize::from(group.0)).map_or(&[], |ports| ports.as_slice())
        }
    }
}
