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
