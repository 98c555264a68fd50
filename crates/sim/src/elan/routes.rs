//! Route tables: where a NIC sends what is for a process.
//!
//! The DMA engine fetches the route of a put, a get or a put to several processes when it takes it
//! up. A process without an entry is no partner: the put ends in [`Violation::Route`], and no
//! packet of it leaves. An entry names the hosts behind a route; the tags of the switches on the
//! way there are those of the network's routing. Each rail has tables of its own.

use super::mmu::{Process, Violation};
use std::ops::RangeInclusive;

/// An entry of the table of one process: processes whose numbers follow each other, on hosts whose
/// numbers do so, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Whose table it is in.
    pub process: Process,
    /// The processes that it leads to.
    pub partners: RangeInclusive<Process>,
    /// The host of the first of them.
    pub host: u32,
}

/// The hosts that packets go to, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hosts {
    pub first: u32,
    pub last: u32,
}

/// The tables of the processes of a node.
#[derive(Debug, Clone)]
pub(super) struct RouteTables(Vec<Route>);

impl RouteTables {
    pub fn new(routes: Vec<Route>) -> RouteTables {
        RouteTables(routes)
    }

    /// The hosts of all processes from the first to the last, to which one packet must lead.
    pub fn fetch(
        &self,
        process: Process,
        (first, last): (Process, Process),
    ) -> Result<Hosts, Violation> {
        let leads = |route: &&Route| {
            route.process == process
                && route.partners.contains(&first)
                && route.partners.contains(&last)
        };
        let route = self.0.iter().find(leads).ok_or(Violation::Route)?;
        let host = |partner: Process| route.host + (partner - route.partners.start());
        Ok(Hosts { first: host(first), last: host(last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_leads_to_the_hosts_of_its_entry_and_to_no_others() {
        let route = |process, partners, host| Route { process, partners, host };
        let tables =
            RouteTables::new(vec![route(3, 0..=3, 8), route(3, 4..=7, 0), route(4, 9..=9, 9)]);
        let fetch = |process, first, last| tables.fetch(process, (first, last));
        assert_eq!(fetch(3, 2, 2), Ok(Hosts { first: 10, last: 10 }));
        assert_eq!(fetch(3, 4, 7), Ok(Hosts { first: 0, last: 3 }));
        assert_eq!(fetch(3, 3, 4), Err(Violation::Route), "their hosts do not follow each other");
        assert_eq!(fetch(3, 7, 8), Err(Violation::Route));
        assert_eq!(fetch(3, 9, 9), Err(Violation::Route), "only process 4 has that");
        assert_eq!(fetch(4, 9, 9), Ok(Hosts { first: 9, last: 9 }));
    }
}
