//! What `ibnetdiscover` prints of an InfiniBand subnet, as it is or with `--full` or `--grouping`.
//!
//! ```text
//! switchguid=0x8f10400410015(8f10400410015)
//! Switch  8 "S-0008f10400410015"          # "leaf 1" base port 0 lid 3 lmc 0
//! [6]     "H-0008f10403960984"[1](8f10403960985)          # "node 7 HCA-1" lid 16 4xQDR
//! [1]     "S-005442ba00003080"[10]                # "spine 1" lid 6 4xQDR
//! ```
//!
//! - A host is where one cable ends at a channel adapter: an adapter with two cabled ports is two
//!   hosts, called `node 7 HCA-1:1` and `node 7 HCA-1:2`.
//! - A router to another subnet is a host too: packets end there.
//! - Ports keep their numbers. They start at 1, so port 0 of every switch, where its own management
//!   sits, is never linked.
//! - The adapters inside switches that sum up data on the way ("Aggregation Node") are left out.
//! - Hosts and switches are numbered in the order in which they are first named.
//! - Widths, speeds and addresses are not used: here all links are alike.
//!
//! A cable is listed from both its ends. One end is enough, so a file may be cut to a part of a
//! subnet, but two ends that contradict each other are refused.

mod line;

use std::collections::HashMap;

use crate::reading::check_length;
use crate::{End, Fabric, FabricBuilder, Node, Port, ReadError, Shape};
use line::{CableLine, Id, Kind, Line};

/// How the adapters inside switches are described.
const AGGREGATION: &str = "Aggregation Node";

/// What stands before a node, such as `switchguid=0x8f1`: who made it, and its numbers.
const IDENTITIES: [&str; 6] = ["vendid", "devid", "sysimgguid", "switchguid", "caguid", "rtguid"];

/// Whether a word is one that only this format has before its nodes.
pub(crate) fn is_identity(word: &str) -> bool {
    let named = word.split_once("=0x").map(|(name, _)| name);
    named.is_some_and(|name| IDENTITIES.contains(&name))
}

/// Reads a network; `name` is what it will be called.
pub fn read(name: &str, text: &str) -> Result<Fabric, ReadError> {
    check_length(text)?;
    let mut subnet = Subnet::default();
    for (line, content) in (1..).zip(text.lines()) {
        let unexpected = |found, expected: &str| ReadError::Unexpected {
            line,
            found,
            expected: expected.to_owned(),
        };
        match Line::parse(content).map_err(|m| unexpected(m.found, m.expected))? {
            Line::Remark => {}
            Line::Node(node) => {
                let known = subnet.device(node.id, node.description);
                known.ports = known.ports.max(node.ports);
                subnet.current = Some(subnet.numbers[node.id.text]);
            }
            Line::Cable(cable) => {
                let Some(device) = subnet.current else {
                    let found = "a port without a node".to_owned();
                    return Err(unexpected(found, "a line with `Switch`, `Ca` or `Rt` before it"));
                };
                subnet.connect(line, device, &cable)?;
            }
        }
    }
    subnet.build(name)
}

/// What the lines have said so far.
#[derive(Default)]
struct Subnet<'a> {
    numbers: HashMap<&'a str, usize>,
    devices: Vec<Device<'a>>,
    /// The device whose lines are being read.
    current: Option<usize>,
    /// Each cable once, as first listed.
    cables: Vec<(Plug, Plug)>,
    /// What is at the other end of a port, and the line that says so.
    peers: HashMap<Plug, (Plug, usize)>,
}

struct Device<'a> {
    id: Id<'a>,
    description: &'a str,
    /// The highest port there is.
    ports: u8,
    cables: u32,
}

/// A port of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Plug {
    device: usize,
    port: u8,
}

impl Device<'_> {
    fn label(&self) -> &str {
        if self.description.is_empty() { self.id.text } else { self.description }
    }

    /// What the host at one of its ports is called.
    fn host_label(&self, port: u8) -> String {
        match self.cables {
            1 => self.label().to_owned(),
            _ => format!("{}:{port}", self.label()),
        }
    }

    fn is_left_out(&self) -> bool {
        self.id.kind == Kind::Adapter && self.description.ends_with(AGGREGATION)
    }
}

impl<'a> Subnet<'a> {
    /// The device of that id, entered if it is new.
    fn device(&mut self, id: Id<'a>, description: &'a str) -> &mut Device<'a> {
        let number = *self.numbers.entry(id.text).or_insert_with(|| {
            self.devices.push(Device { id, description: "", ports: 0, cables: 0 });
            self.devices.len() - 1
        });
        let device = &mut self.devices[number];
        if device.description.is_empty() {
            device.description = description;
        }
        device
    }

    fn connect(
        &mut self,
        line: usize,
        device: usize,
        cable: &CableLine<'a>,
    ) -> Result<(), ReadError> {
        let CableLine { port, peer, peer_port, description } = *cable;
        self.device(peer, description);
        let near = Plug { device, port };
        let far = Plug { device: self.numbers[peer.text], port: peer_port };
        let unexpected = |found, expected| Err(ReadError::Unexpected { line, found, expected });
        if near.device == far.device {
            let found = format!("a cable from {} to {}", self.named(near), self.named(far));
            return unexpected(found, "cables between different nodes".to_owned());
        }
        let mut known = false;
        for (plug, other) in [(near, far), (far, near)] {
            match self.peers.get(&plug) {
                Some((peer, _)) if *peer == other => known = true,
                Some((peer, earlier)) => {
                    let found = format!("{} at {}", self.named(other), self.named(plug));
                    let expected = format!("{}, as in line {earlier}", self.named(*peer));
                    return unexpected(found, expected);
                }
                None => {}
            }
        }
        if !known {
            self.cables.push((near, far));
            for (plug, other) in [(near, far), (far, near)] {
                self.peers.insert(plug, (other, line));
                let device = &mut self.devices[plug.device];
                device.ports = device.ports.max(plug.port);
                device.cables += 1;
            }
        }
        Ok(())
    }

    fn named(&self, plug: Plug) -> String {
        format!("port {} of {}", plug.port, self.devices[plug.device].id.text)
    }

    fn build(&self, name: &str) -> Result<Fabric, ReadError> {
        let mut builder = FabricBuilder::default();
        let switches: Vec<_> = (self.devices.iter())
            .map(|device| {
                let ports = u16::from(device.ports) + 1;
                let is_switch = device.id.kind == Kind::Switch;
                is_switch.then(|| builder.switch(device.label(), ports))
            })
            .collect();
        for (near, far) in &self.cables {
            if [near, far].iter().any(|plug| self.devices[plug.device].is_left_out()) {
                continue;
            }
            let [near, far] = [near, far].map(|plug| match switches[plug.device] {
                Some(switch) => End::switch(switch, Port(plug.port.into())),
                None => End::host(builder.host(self.devices[plug.device].host_label(plug.port))),
            });
            // As in all other networks, the link of a host starts at the host.
            match far.node {
                Node::Host(_) => builder.connect(far, near),
                Node::Switch(_) => builder.connect(near, far),
            };
        }
        Ok(builder.build(name, Shape::Irregular)?)
    }
}

#[cfg(test)]
mod tests;
