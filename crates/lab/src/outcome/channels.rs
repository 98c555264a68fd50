//! What every channel did.

use crate::World;
use crosstie_fabric::{Channel, ChannelId, Fabric, HostId, Node, Shape};
use crosstie_sim::run::ChannelUse;
use crosstie_sim::wormhole::{Layout, Place};
use crosstie_study::{ChannelRow, Point};

/// The counters of every channel: rail by rail the fabric's, then those of shared buses.
pub(super) fn rows(point: &Point, world: &World, used: &[ChannelUse]) -> Vec<ChannelRow> {
    let fabric = &world.network().fabric;
    let (channels, hosts) = (fabric.channels().len() as u32, fabric.hosts().len() as u32);
    let copies = world.copies();
    let layout = Layout::new(fabric, copies.len() as u32);
    let row = |(id, used): (u32, &ChannelUse)| {
        let (copy, part) = layout.place(id);
        let rail = copies[copy as usize];
        let (channel, place) = match part {
            Place::Fabric(channel) => (channel.0, fabric_place(fabric, channel)),
            Place::Read(host) => (channels + host.0, bus_place(fabric, host, ["memory", "NIC"])),
            Place::Write(host) => {
                (channels + hosts + host.0, bus_place(fabric, host, ["NIC", "memory"]))
            }
            // Packets that end in NICs belong to protocols; open-loop traffic has none.
            Place::Intake(_) => return None,
        };
        let [from, to, kind] = place;
        Some(ChannelRow {
            point: point.index,
            channel,
            rail,
            from,
            to,
            kind,
            flits: used.flits,
            utilisation: used.utilisation,
            blocked: used.blocked,
            waiting: used.waiting,
        })
    };
    (0..).zip(used).filter_map(row).collect()
}

/// Where a channel of the fabric begins and ends, and its kind.
fn fabric_place(fabric: &Fabric, channel: ChannelId) -> [String; 3] {
    let Channel { from, to } = fabric.channel(channel);
    let kind = match (from.node, to.node, fabric.shape()) {
        (Node::Host(_), _, _) => "injection",
        (_, Node::Host(_), _) => "ejection",
        (Node::Switch(from), Node::Switch(to), Shape::Tree(tree)) => {
            if tree.level(to) < tree.level(from) { "up" } else { "down" }
        }
        (Node::Switch(_), Node::Switch(_), _) => "link",
    };
    [fabric.label(from.node).to_owned(), fabric.label(to.node).to_owned(), kind.to_owned()]
}

/// The same for one direction of a shared bus.
fn bus_place(fabric: &Fabric, host: HostId, ends: [&str; 2]) -> [String; 3] {
    let label = fabric.label(Node::Host(host));
    let [from, to] = ends.map(|end| format!("{label} ({end})"));
    [from, to, "bus".to_owned()]
}
