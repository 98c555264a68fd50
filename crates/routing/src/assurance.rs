//! What is known about deadlock before a routing is used: a kind promises, and whoever promises
//! nothing is certified.

use crosstie_fabric::{ChannelId, Distances, Fabric};

use crate::{Certificate, Promise, RouteFault, Routing, RoutingKind, certify};

/// The most channels that routes may cross, all told, to be followed for a certificate. A crossing
/// takes about 12 ns (`cargo bench -p crosstie-routing`, column *proof*), and three times as long
/// among tens of thousands of switches: all of them take from a quarter to half a minute.
pub const MOST_CROSSINGS: u64 = 1 << 30;

/// What is known about deadlock before a routing is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assurance {
    /// It cannot deadlock: its kind promises it, or a certificate proves it.
    DeadlockFree,
    /// It can, along these channels, each of which waits for the next, and the last for the first.
    Cycle(Vec<ChannelId>),
    /// Nobody knows: its kind promises nothing, and to follow its routes would take too long.
    NotCertified {
        /// How many channels the routes cross, at least, all told.
        crossings: u64,
    },
}

impl Assurance {
    /// Trusts a kind that promises, and certifies the routes of any other.
    pub fn of(
        kind: &RoutingKind,
        fabric: &Fabric,
        routes: &dyn Routing,
    ) -> Result<Assurance, RouteFault> {
        match kind.declaration().promise {
            Promise::DeadlockFree { .. } => Ok(Assurance::DeadlockFree),
            Promise::Nothing => Assurance::certified(fabric, routes, MOST_CROSSINGS),
        }
    }

    /// Certifies routes, unless they cross more than so many channels.
    fn certified(
        fabric: &Fabric,
        routes: &dyn Routing,
        most: u64,
    ) -> Result<Assurance, RouteFault> {
        if fabric.switches().len() <= 1 {
            // Packets cross one switch at most and wait for nobody who waits.
            return Ok(Assurance::DeadlockFree);
        }
        let crossings = Distances::of(fabric).sum();
        if crossings > most {
            return Ok(Assurance::NotCertified { crossings });
        }
        Ok(match certify(fabric, routes)? {
            Certificate::DeadlockFree { .. } => Assurance::DeadlockFree,
            Certificate::Cycle { cycle, .. } => Assurance::Cycle(cycle),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shortest;
    use crate::kind::{Minimal, UpDown};
    use crate::networks::ring;
    use crosstie_fabric::{single, tree};
    use crosstie_units::Seed;

    fn of(kind: RoutingKind, fabric: &Fabric) -> Assurance {
        let (_, routes) = kind.routes(fabric, Seed(1)).unwrap();
        Assurance::of(&kind, fabric, &*routes).unwrap()
    }

    #[test]
    fn whoever_promises_nothing_is_certified() {
        let minimal = RoutingKind::Minimal(Minimal::default());
        for kind in [RoutingKind::Shortest {}, minimal] {
            assert!(matches!(of(kind, &ring(5)), Assurance::Cycle(cycle) if cycle.len() == 5));
            assert_eq!(of(kind, &tree(4, 2).unwrap()), Assurance::DeadlockFree);
            assert_eq!(of(kind, &single(9).unwrap()), Assurance::DeadlockFree);
        }
        let up_down = RoutingKind::UpDown(UpDown::default());
        assert_eq!(of(up_down, &ring(5)), Assurance::DeadlockFree);
    }

    #[test]
    fn what_would_take_too_long_is_not_certified() {
        let ring = ring(5);
        let routes = Shortest::new(&ring);
        let certified = |most| Assurance::certified(&ring, &routes, most).unwrap();
        // Five hosts, each with two others one link away and two others two links away.
        let crossings = 5 * (2 * 3 + 2 * 4);
        assert!(matches!(certified(crossings), Assurance::Cycle(_)));
        assert_eq!(certified(crossings - 1), Assurance::NotCertified { crossings });
    }

    #[test]
    fn a_thousand_hosts_are_certified() {
        let fabric = tree(4, 5).unwrap();
        assert_eq!(of(RoutingKind::Shortest {}, &fabric), Assurance::DeadlockFree);
        let crossings = Distances::of(&fabric).sum();
        let too_few = Assurance::certified(&fabric, &Shortest::new(&fabric), crossings - 1);
        assert_eq!(too_few, Ok(Assurance::NotCertified { crossings }));
    }
}
