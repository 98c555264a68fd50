//! The switches of a fabric and what joins them, laid out for path searches.

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, Port, SwitchId};

/// A hop: one channel between two switches, numbered from 0. The hops out of a switch have numbers
/// in a row, by port.
pub type HopId = u32;

/// Both ends of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The switch it leaves.
    pub from: SwitchId,
    /// The port it leaves by.
    pub port: Port,
    /// The switch it leads to.
    pub to: SwitchId,
    /// The other direction of the same link.
    pub reverse: HopId,
}

/// What is behind a port of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// Nothing is plugged in.
    Nothing,
    /// A host.
    Host(HostId),
    /// Another switch.
    Hop(HopId),
}

/// A host's place: its switch, and the port there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The switch.
    pub switch: SwitchId,
    /// The port of the switch that the host is plugged into.
    pub port: Port,
}

/// All hops and hosts of a fabric in flat arrays. Two hosts on one cable have no switch between
/// them: such a wiring has no places.
#[derive(Debug, Clone)]
pub struct Wiring {
    hops: Vec<Hop>,
    /// Hops out of switch s: `first_hop[s]..first_hop[s + 1]`.
    first_hop: Vec<HopId>,
    /// What is behind port p of switch s: `behind[first_port[s] + p]`.
    behind: Vec<Behind>,
    first_port: Vec<u32>,
    places: Vec<Place>,
    /// Hosts by switch: those of switch s are `residents[first_resident[s]..first_resident[s +
    /// 1]]`.
    residents: Vec<HostId>,
    first_resident: Vec<u32>,
}

impl Wiring {
    /// Lays out a fabric.
    pub fn of(fabric: &Fabric) -> Wiring {
        let mut wiring = Wiring {
            hops: Vec::new(),
            first_hop: vec![0],
            behind: Vec::new(),
            first_port: vec![0],
            places: Vec::new(),
            residents: Vec::new(),
            first_resident: vec![0],
        };
        let mut hop_of_channel = vec![HopId::MAX; fabric.channels().len()];
        let mut channels: Vec<ChannelId> = Vec::new();
        for switch in fabric.switches() {
            for port in (0..fabric.ports(switch)).map(Port) {
                let out = fabric.switch_out(switch, port);
                wiring.behind.push(match out.map(|c| (c, fabric.channel(c).to.node)) {
                    None => Behind::Nothing,
                    Some((_, Node::Host(host))) => {
                        wiring.residents.push(host);
                        Behind::Host(host)
                    }
                    Some((channel, Node::Switch(to))) => {
                        let hop = wiring.hops.len() as HopId;
                        hop_of_channel[channel.0 as usize] = hop;
                        channels.push(channel);
                        wiring.hops.push(Hop { from: switch, port, to, reverse: hop });
                        Behind::Hop(hop)
                    }
                });
            }
            wiring.first_hop.push(wiring.hops.len() as HopId);
            wiring.first_port.push(wiring.behind.len() as u32);
            wiring.first_resident.push(wiring.residents.len() as u32);
        }
        for (hop, channel) in wiring.hops.iter_mut().zip(channels) {
            hop.reverse = hop_of_channel[channel.reverse().0 as usize];
        }
        for host in fabric.hosts() {
            if let Some(switch) = fabric.switch_of(host) {
                let port = fabric.channel(fabric.host_in(host)).from.port;
                wiring.places.push(Place { switch, port });
            }
        }
        wiring
    }

    /// All switches in order.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = SwitchId> + use<> {
        (0..self.first_hop.len() as u32 - 1).map(SwitchId)
    }

    /// All hosts in order; none if they are joined without a switch.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = HostId> + use<> {
        (0..self.places.len() as u32).map(HostId)
    }

    /// All hops in order.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// One hop.
    pub fn hop(&self, hop: HopId) -> Hop {
        self.hops[hop as usize]
    }

    /// The hops out of a switch.
    pub fn out(&self, switch: SwitchId) -> std::ops::Range<HopId> {
        self.first_hop[switch.0 as usize]..self.first_hop[switch.0 as usize + 1]
    }

    /// What is behind a port.
    pub fn behind(&self, switch: SwitchId, port: Port) -> Behind {
        self.behind[self.first_port[switch.0 as usize] as usize + usize::from(port.0)]
    }

    /// Where a host plugs in.
    pub fn place(&self, host: HostId) -> Place {
        self.places[host.0 as usize]
    }

    /// The hosts on a switch, by port.
    pub fn residents(&self, switch: SwitchId) -> &[HostId] {
        let first = &self.first_resident[switch.0 as usize..];
        &self.residents[first[0] as usize..first[1] as usize]
    }

    /// The switches that carry hosts: where routes begin and end.
    pub fn inhabited(&self) -> impl Iterator<Item = SwitchId> + '_ {
        self.switches().filter(|&switch| !self.residents(switch).is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::{irregular, ring};
    use proptest::prelude::*;

    #[test]
    fn a_ring_laid_out() {
        let wiring = Wiring::of(&ring(5));
        assert_eq!((wiring.hops().len(), wiring.out(SwitchId(3))), (10, 6..8));
        // Port 1 of switch 3 leads to switch 4, whose port 2 leads back.
        let hop = Hop { from: SwitchId(3), port: Port(1), to: SwitchId(4), reverse: 9 };
        assert_eq!(wiring.hop(6), hop);
        assert_eq!(wiring.behind(SwitchId(3), Port(1)), Behind::Hop(6));
        assert_eq!(wiring.behind(SwitchId(3), Port(0)), Behind::Host(HostId(3)));
        assert_eq!(wiring.place(HostId(2)), Place { switch: SwitchId(2), port: Port(0) });
        assert_eq!(wiring.residents(SwitchId(4)), [HostId(4)]);
    }

    proptest! {
        #[test]
        fn reverses_lead_back(fabric in irregular()) {
            let wiring = Wiring::of(&fabric);
            for (id, hop) in (0..).zip(wiring.hops()) {
                let back = wiring.hop(hop.reverse);
                prop_assert_eq!((back.from, back.to, back.reverse), (hop.to, hop.from, id));
                prop_assert!(wiring.out(hop.from).contains(&id));
            }
            let residents: usize = wiring.switches().map(|s| wiring.residents(s).len()).sum();
            prop_assert_eq!(residents, fabric.hosts().len());
        }
    }
}
