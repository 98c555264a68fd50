//! When to suspect that packets will never move.

use super::Starvation;
use crate::wormhole::{Deadlock, Engine};

/// Looks for deadlock when a header has waited long, and then ever more rarely.
///
/// In every deadlock some header waits for an output for ever, so a network in which no header has
/// waited for [`FIRST_LOOK`](Patience::FIRST_LOOK) cycles need not be searched. A search that finds
/// nothing is repeated when the wait has doubled: headers behind long packets wait for good reasons.
pub(super) struct Patience {
    /// Cycles of waiting at which to look next.
    next: u64,
}

impl Patience {
    /// Cycles that a header may wait before anyone looks.
    pub const FIRST_LOOK: u64 = 1000;
    /// Cycles of waiting that are suspicious even without deadlock, if they are also
    /// [`LONGEST_QUEUE`](Patience::LONGEST_QUEUE) times as long as the longest packet.
    pub const STARVING: u64 = 20_000;
    /// As many packets of the greatest length may well go first.
    pub const LONGEST_QUEUE: u64 = 100;

    pub fn new() -> Patience {
        Patience { next: Patience::FIRST_LOOK }
    }

    /// Looks for a deadlock if it is time to.
    pub fn look(&mut self, engine: &Engine<'_>) -> Option<Deadlock> {
        let wait = longest_wait(engine).map_or(0, |wait| wait.cycles);
        if wait < Patience::FIRST_LOOK {
            self.next = Patience::FIRST_LOOK;
        }
        if wait < self.next {
            return None;
        }
        self.next = 2 * wait;
        engine.deadlock()
    }

    /// The header that has waited longest, if that is suspicious.
    pub fn starving(engine: &Engine<'_>, longest_packet: u64) -> Option<Starvation> {
        let limit = Patience::STARVING.max(Patience::LONGEST_QUEUE * longest_packet);
        longest_wait(engine).filter(|wait| wait.cycles >= limit)
    }
}

fn longest_wait(engine: &Engine<'_>) -> Option<Starvation> {
    let (ticks, channel) = engine.longest_wait()?;
    Some(Starvation { cycles: ticks / u64::from(engine.ticks_per_cycle()), channel })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wormhole::{Bus, Config, EPOCH, Ends, Packet, Silent};
    use crosstie_routing::Shortest;

    #[test]
    fn a_wait_behind_a_huge_packet_is_no_deadlock_and_only_suspicious_if_packets_are_short() {
        let fabric = crosstie_fabric::single(3).unwrap();
        let routing = Shortest::new(&fabric);
        let config = Config { virtual_channels: 1, bus: Bus::Full, ..Config::default() };
        let mut engine = Engine::new(&fabric, &routing, 1, &config);
        engine
            .inject(EPOCH, Packet { from: 0, to: 2, flits: 100_000, id: 0, ends: Ends::Memories });
        engine
            .inject(EPOCH + 100, Packet { from: 1, to: 2, flits: 1, id: 1, ends: Ends::Memories });
        let mut patience = Patience::new();
        let mut looks = 0;
        for cycle in (0..50_000).step_by(500) {
            engine.run_until(EPOCH + cycle, &mut Silent);
            let before = patience.next;
            assert_eq!(patience.look(&engine), None);
            looks += u32::from(patience.next != before);
        }
        assert_eq!(looks, 6, "at 1000 cycles, 2000, 4000 and so on");
        let behind = fabric.host_out(crosstie_fabric::HostId(1)).0;
        let starving = Patience::starving(&engine, 64).unwrap();
        assert!(starving.channel == behind && starving.cycles > 49_000, "{starving:?}");
        assert_eq!(Patience::starving(&engine, 100_000), None);
    }
}
