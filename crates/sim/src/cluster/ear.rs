//! The engine's observer: it remembers what concerns the nodes.

use super::BusWatch;
use super::shipment::{Cargo, Place, Shipment};
use crate::wormhole::{Delivery, Layout, Observer, Part, Tick};
use crosstie_fabric::{Fabric, Node as End};

/// What the engine told, to be handled after its tick.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notice {
    /// The last flit of a stripe has left its node.
    Sent { cargo: u64 },
    /// A packet from a NIC is in memory; all of its stripe is if it was the last.
    Arrived { cargo: u64, nic: u32, last: bool },
    /// A control packet came to its NIC.
    Control { cargo: u64, nic: u32, at: Tick },
}

/// Listens to the engine and remembers what concerns the nodes. A NIC is `rail * nodes + node`.
pub(super) struct Ear {
    /// What each fabric channel is to its host, if it leads to or from one.
    doors: Vec<Door>,
    layout: Layout,
    cargo: Vec<Cargo>,
    spare: Vec<u64>,
    pub notices: Vec<Notice>,
    /// First flits of stripes on the last channel to a NIC: when that is noticed, at which node and
    /// rail.
    pub arriving: Vec<(Tick, u32, u32)>,
    /// Packets of data delivered.
    pub packets: Vec<Delivery>,
    pub watch: BusWatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Out { node: u32 },
    In { node: u32 },
    Neither,
}

/// A stripe at one of its places.
struct Passing<'a> {
    place: Place,
    nic: u32,
    shipment: &'a mut Shipment,
}

impl Ear {
    pub fn new(fabric: &Fabric, rails: u32) -> Ear {
        let door =
            |channel| match (fabric.channel(channel).from.node, fabric.channel(channel).to.node) {
                (End::Host(host), _) => Door::Out { node: host.0 },
                (_, End::Host(host)) => Door::In { node: host.0 },
                _ => Door::Neither,
            };
        Ear {
            doors: fabric.channels().map(door).collect(),
            layout: Layout::new(fabric, rails),
            cargo: Vec::new(),
            spare: Vec::new(),
            notices: Vec::new(),
            arriving: Vec::new(),
            packets: Vec::new(),
            watch: BusWatch::new(rails * fabric.hosts().len() as u32),
        }
    }

    /// Keeps cargo until it is taken; packets carry its number.
    pub fn put(&mut self, cargo: Cargo) -> u64 {
        match self.spare.pop() {
            Some(id) => {
                self.cargo[id as usize] = cargo;
                id
            }
            None => {
                self.cargo.push(cargo);
                self.cargo.len() as u64 - 1
            }
        }
    }

    pub fn take(&mut self, id: u64) -> Cargo {
        self.spare.push(id);
        self.cargo[id as usize].clone()
    }

    /// A stripe under way.
    ///
    /// # Panics
    /// If the cargo is a control packet.
    pub fn shipment(&mut self, id: u64) -> &mut Shipment {
        match &mut self.cargo[id as usize] {
            Cargo::Data(shipment) => shipment,
            Cargo::Control { .. } => unreachable!("only stripes are listened for"),
        }
    }

    /// The stripe of a packet, if the channel is one of its places. A host where the packet stops on
    /// its way is none: the stripe neither begins nor ends there, and its node is not told.
    fn passing(&mut self, id: u64, channel: u32) -> Option<Passing<'_>> {
        let Cargo::Data(shipment) = &mut self.cargo[id as usize] else { return None };
        let (rail, part) = self.layout.place(channel);
        let (place, node) = match part {
            Part::Fabric(channel) => match self.doors[channel.0 as usize] {
                Door::Out { node } => (Place::Departure, node),
                Door::In { node } => (Place::Arrival, node),
                Door::Neither => return None,
            },
            Part::Read(host) => (Place::Read, host.0),
            Part::Write(host) => (Place::Write, host.0),
            Part::Intake(_) => return None,
        };
        let own = match place {
            Place::Read | Place::Departure => shipment.parcel.from,
            Place::Arrival | Place::Write => shipment.parcel.to,
        };
        let nic = rail * self.layout.hosts() + node;
        (own.0 == node).then_some(Passing { place, nic, shipment })
    }
}

impl Observer for Ear {
    fn delivered(&mut self, delivery: &Delivery) {
        let (cargo, nic) = (delivery.packet.id, delivery.packet.to);
        match &mut self.cargo[cargo as usize] {
            Cargo::Control { .. } => {
                self.notices.push(Notice::Control { cargo, nic, at: delivery.delivered });
            }
            Cargo::Data(shipment) => {
                self.packets.push(*delivery);
                let last = shipment.ends(Place::Arrival);
                if last {
                    self.watch.has_arrived(nic);
                }
                self.notices.push(Notice::Arrived { cargo, nic: delivery.packet.from, last });
            }
        }
    }

    fn head(&mut self, id: u64, channel: u32, _vc: u32, at: Tick) {
        let Some(Passing { place, nic, shipment }) = self.passing(id, channel) else { return };
        if !shipment.begins(place) {
            return;
        }
        match place {
            Place::Read => self.watch.reads(nic),
            Place::Departure => {}
            Place::Arrival => {
                let (rail, node) = (nic / self.layout.hosts(), nic % self.layout.hosts());
                self.arriving.push((at + 1, node, rail));
                self.watch.arrives(nic);
            }
            Place::Write => self.watch.writes(nic),
        }
    }

    fn tail(&mut self, id: u64, channel: u32, _vc: u32, _at: Tick) {
        let Some(Passing { place, nic, shipment }) = self.passing(id, channel) else { return };
        match place {
            Place::Read if shipment.ends(place) => self.watch.has_read(nic),
            Place::Departure if shipment.ends(place) => {
                self.notices.push(Notice::Sent { cargo: id });
            }
            Place::Write if shipment.ends(place) => self.watch.has_written(nic),
            // A packet has arrived when it is in memory, which the engine tells as a delivery.
            Place::Read | Place::Departure | Place::Arrival | Place::Write => {}
        }
    }

    fn interrupts(&self) -> bool {
        !self.notices.is_empty() || !self.arriving.is_empty()
    }
}
