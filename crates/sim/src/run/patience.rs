//! When to suspect that packets will never move.

use super::Starvation;
use crate::network::{Deadlock, Network};

/// Looks for deadlock when a header has waited long, and then ever more rarely.
///
/// In every deadlock some header waits for an output for ever, so a network in which no header has
/// waited for [`FIRST_LOOK`](Patience::FIRST_LOOK) cycles need not be searched. A search that finds
/// nothing is repeated when the wait has doubled: headers behind long packets wait for good
/// reasons.
pub(super) struct Patience {
    /// Cycles of waiting at which to look next.
    next: u64,
}

impl Patience {
    /// Cycles that a header may wait before anyone looks.
    pub const FIRST_LOOK: u64 = 1000;
    /// Cycles of waiting that are suspicious even without deadlock, if they are also
    /// [`LONGEST_QUEUE`](Patience::LONGEST_QUEUE) times as long as the longest that may go first.
    pub const STARVING: u64 = 20_000;
    /// As many of the greatest length may well go first.
    pub const LONGEST_QUEUE: u64 = 100;

    pub fn new() -> Patience {
        Patience { next: Patience::FIRST_LOOK }
    }

    /// Looks for a deadlock if it is time to.
    pub fn look(&mut self, network: &dyn Network) -> Option<Deadlock> {
        let wait = longest_wait(network).map_or(0, |wait| wait.cycles);
        if wait < Patience::FIRST_LOOK {
            self.next = Patience::FIRST_LOOK;
        }
        if wait < self.next {
            return None;
        }
        self.next = 2 * wait;
        network.deadlock()
    }

    /// The header that has waited longest, if that is suspicious where the longest that may go
    /// before it has so many flits.
    pub fn starving(network: &dyn Network, longest: u64) -> Option<Starvation> {
        let limit = Patience::STARVING.max(Patience::LONGEST_QUEUE * longest);
        longest_wait(network).filter(|wait| wait.cycles >= limit)
    }
}

fn longest_wait(network: &dyn Network) -> Option<Starvation> {
    let (ticks, channel) = network.longest_wait()?;
    Some(Starvation { cycles: ticks / network.grain().ticks_per_cycle(), channel })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Attention, Ends, Interest, Packet, Priority};
    use crate::wormhole::{Bus, Config, Wormhole, WormholeSpec};
    use crosstie_routing::Shortest;
    use crosstie_units::Time;

    #[test]
    fn a_wait_behind_a_huge_packet_is_no_deadlock_and_only_suspicious_if_packets_are_short() {
        let fabric = crosstie_fabric::single(3).unwrap();
        let routing = Shortest::new(&fabric);
        let config = Config { virtual_channels: 1, bus: Bus::Full, ..Config::default() };
        let cycle = Time::from_ns(1);
        let spec = WormholeSpec {
            fabric: &fabric,
            routing: &routing,
            rails: 1,
            config: &config,
            flit: 1,
            cycle,
        };
        let attention = Attention::Late;
        let mut network = Wormhole::new(
            &spec,
            Interest { departures: false, arriving: false, acknowledges: false, attention },
        );
        let packet = |from, bytes| Packet {
            rail: 0,
            from,
            to: 2,
            bytes,
            id: 0,
            siblings: 1,
            departs: false,
            ends: Ends::Memories,
            priority: Priority::Low,
        };
        let mut told = Vec::new();
        network.inject(packet(0, 100_000));
        network.run_until(cycle * 100, &mut told);
        network.inject(packet(1, 1));
        let mut patience = Patience::new();
        let mut looks = 0;
        for cycles in (500..50_000).step_by(500) {
            network.run_until(cycle * cycles, &mut told);
            let before = patience.next;
            assert_eq!(patience.look(&network), None);
            looks += u32::from(patience.next != before);
        }
        assert_eq!(looks, 6, "at 1000 cycles, 2000, 4000 and so on");
        let behind = fabric.host_out(crosstie_fabric::HostId(1)).0;
        let starving = Patience::starving(&network, 64).unwrap();
        assert!(starving.channel == behind && starving.cycles > 49_000, "{starving:?}");
        assert_eq!(Patience::starving(&network, 100_000), None);
    }
}
