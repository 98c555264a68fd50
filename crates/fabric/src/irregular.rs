//! Random irregular networks: every switch with the same number of hosts, cabled at random.
//!
//! Two switches are joined by at most one link, the network is connected, and every port that can
//! be linked is linked:
//!
//! - With an odd number of ports left for links, one port of one switch stays free; the switch is
//!   drawn at random.
//! - With more ports than there are other switches, every two switches are joined and the rest of
//!   the ports stay free.
//! - With a number of links asked for, links are taken out of such a network at random until so
//!   many are left, but none without which it would fall apart.
//!
//! The graph of the switches is drawn as [`wiring`] describes, each possible one with equal
//! probability as far as can be measured. Ports: the hosts of a switch come first, then its
//! neighbours in order of number. Host h hangs on switch h / hosts per switch.

mod wiring;

use crosstie_units::Seed;

use crate::reading::{MAX_HOSTS, MAX_PORTS};
use crate::{End, Fabric, FabricBuilder, Port, Shape, SwitchId};
use wiring::Degree;

/// The size of a random irregular network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Irregular {
    /// How many switches.
    pub switches: u32,
    /// Ports of each switch, for hosts and links together.
    pub ports: u16,
    /// Hosts on each switch.
    pub hosts_per_switch: u16,
    /// Links between switches, all told; `None`: as many as the ports allow.
    pub links: Option<u32>,
}

/// Why there is no such irregular network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IrregularError {
    /// Nobody to talk.
    #[error(
        "{switches} switches with {hosts_per_switch} hosts each: a network needs at least 2 hosts"
    )]
    TooFewHosts {
        /// The switches asked for.
        switches: u32,
        /// The hosts on each.
        hosts_per_switch: u16,
    },
    /// Hosts without a port.
    #[error("{hosts_per_switch} hosts on a switch with {ports} ports: each host needs a port")]
    TooFewPorts {
        /// The ports of a switch.
        ports: u16,
        /// The hosts on each.
        hosts_per_switch: u16,
    },
    /// Too few links to reach everybody.
    #[error(
        "{switches} switches with {links} ports left for links cannot be connected: each needs at \
         least {needed}, so take more ports or fewer hosts per switch"
    )]
    Disconnected {
        /// The switches asked for.
        switches: u32,
        /// The ports of a switch that no host takes.
        links: u16,
        /// How many it needs.
        needed: u16,
    },
    /// Too few links to reach everybody, or more than there are ports for.
    #[error(
        "{links} links between {switches} switches: at least {least} connect them, and there are ports \
         for at most {most}"
    )]
    Links {
        /// The links asked for.
        links: u32,
        /// The switches.
        switches: u32,
        /// The fewest.
        least: u64,
        /// The most.
        most: u64,
    },
    /// More than this program handles.
    #[error(
        "{hosts} hosts and {ports} switch ports: at most {MAX_HOSTS} hosts and {MAX_PORTS} ports are \
         allowed"
    )]
    TooLarge {
        /// All hosts.
        hosts: u64,
        /// All switch ports.
        ports: u64,
    },
}

impl Irregular {
    /// How many hosts it has.
    pub fn hosts(&self) -> u64 {
        u64::from(self.switches) * u64::from(self.hosts_per_switch)
    }

    /// Whether there are such networks.
    pub fn check(&self) -> Result<(), IrregularError> {
        let Irregular { switches, ports, hosts_per_switch, .. } = *self;
        if self.hosts() < 2 {
            return Err(IrregularError::TooFewHosts { switches, hosts_per_switch });
        }
        let links = ports
            .checked_sub(hosts_per_switch)
            .ok_or(IrregularError::TooFewPorts { ports, hosts_per_switch })?;
        let needed = switches.saturating_sub(1).min(2) as u16;
        if links < needed {
            return Err(IrregularError::Disconnected { switches, links, needed });
        }
        let (hosts, ports) = (self.hosts(), u64::from(switches) * u64::from(ports));
        if hosts > MAX_HOSTS || ports > MAX_PORTS {
            return Err(IrregularError::TooLarge { hosts, ports });
        }
        let Degree { links: each, .. } = self.degree();
        let (least, most) = (u64::from(switches - 1), u64::from(switches) * u64::from(each) / 2);
        match self.links {
            Some(links) if !(least..=most).contains(&u64::from(links)) => {
                Err(IrregularError::Links { links, switches, least, most })
            }
            _ => Ok(()),
        }
    }

    /// Links of each switch to others, except that one switch may have one less.
    fn degree(&self) -> Degree {
        let links = u32::from(self.ports - self.hosts_per_switch);
        Degree { switches: self.switches, links: links.min(self.switches - 1) }
    }
}

/// Draws a random irregular network. The same shape and seed give the same network for ever.
///
/// ```
/// use crosstie_fabric::{Irregular, Metrics, irregular};
/// use crosstie_units::Seed;
///
/// let shape = Irregular { switches: 16, ports: 8, hosts_per_switch: 4, links: None };
/// let metrics = Metrics::of(&irregular(&shape, Seed(7))?);
/// assert_eq!((metrics.hosts, metrics.switches, metrics.links), (64, 16, 64 + 32));
/// assert_eq!(metrics.degrees, [(8, 16)]);
/// # Ok::<(), crosstie_fabric::IrregularError>(())
/// ```
pub fn irregular(shape: &Irregular, seed: Seed) -> Result<Fabric, IrregularError> {
    shape.check()?;
    let Irregular { switches, ports, hosts_per_switch, links } = *shape;
    let mut builder = FabricBuilder::default();
    for switch in 0..switches {
        builder.switch(format!("s{switch}"), ports);
    }
    for switch in (0..switches).map(SwitchId) {
        for port in (0..hosts_per_switch).map(Port) {
            let label = switch.0 * u32::from(hosts_per_switch) + u32::from(port.0);
            let host = builder.host(label.to_string());
            builder.connect(End::host(host), End::switch(switch, port));
        }
    }
    let mut next_port = vec![hosts_per_switch; switches as usize];
    let mut plug = |switch: u32| {
        let port = &mut next_port[switch as usize];
        *port += 1;
        End::switch(SwitchId(switch), Port(*port - 1))
    };
    // In order of (lesser, greater), so each switch meets its neighbours in order of number.
    let mut cables = wiring::draw(shape.degree(), seed);
    if let Some(links) = links {
        wiring::thin(&mut cables, switches, links as usize, seed);
    }
    for (a, b) in cables {
        builder.connect(plug(a), plug(b));
    }
    let Seed(number) = seed;
    let links = links.map(|links| format!("{links} links, ")).unwrap_or_default();
    let name = format!(
        "irregular network of {switches} switches with {ports} ports and {hosts_per_switch} hosts \
         each, {links}seed {number}"
    );
    Ok(builder.build(name, Shape::Irregular).expect("a connected graph with a port for every end"))
}

#[cfg(test)]
mod tests;
