//! What channels have done: flits sent, ticks blocked.

use super::engine::Engine;
use super::plan::{Mux, in_turn, share};
use super::{NEVER, Tick};

impl Engine<'_> {
    /// The multiplexer has been idle until now: was a flit waiting for a credit?
    ///
    /// A flit that is there and has a credit is sent at once, so any flit that was there in an
    /// idle tick had none.
    pub(super) fn count_blocked(&mut self, mux: u32) {
        let Mux { active, idle_since, .. } = self.muxes[mux as usize];
        if idle_since >= self.now {
            return;
        }
        self.muxes[mux as usize].idle_since = self.now;
        let arrives = |bit| self.vcs[self.vc_of(mux, bit)].arrives;
        let waiting = in_turn(active, 0).map(arrives).min().unwrap_or(NEVER);
        let begin = waiting.max(idle_since);
        if begin < self.now {
            self.count_blocked_ticks(mux, self.now - begin);
        }
    }

    /// Only a channel with buffers ahead of it lacks credits: on a shared bus, the way in.
    fn count_blocked_ticks(&mut self, mux: u32, ticks: Tick) {
        let channel = self.vcs[self.vc_of(mux, 0)].channel;
        self.counts[channel as usize].blocked += ticks;
    }

    /// Counts what a plan does before tick `upto`.
    #[inline]
    pub(super) fn count_plan(&mut self, mux: u32, upto: Tick) {
        let plan = &self.muxes[mux as usize].plan;
        if plan.is_solo() && upto == plan.end && plan.counted == plan.start && !plan.pauses_blocked
        {
            let channel = self.vcs[self.vc_of(mux, u32::from(plan.first))].channel;
            self.counts[channel as usize].flits += u64::from(plan.slots);
        } else {
            self.count_part(mux, upto);
        }
    }

    /// The general case of [`Self::count_plan`].
    fn count_part(&mut self, mux: u32, upto: Tick) {
        let plan = self.muxes[mux as usize].plan;
        let (counted, before) = (plan.counted, |tick| self.slots_before(mux, &plan, tick));
        if upto <= counted {
            return;
        }
        let had = if counted == plan.start { 0 } else { before(counted) };
        let has = if upto >= plan.end { plan.slots } else { before(upto) };
        let count = plan.members.count_ones();
        for (rank, bit) in (0..).zip(in_turn(plan.members, plan.first)) {
            let channel = self.vcs[self.vc_of(mux, bit)].channel;
            let sent = share(has, rank, count) - share(had, rank, count);
            self.counts[channel as usize].flits += u64::from(sent);
        }
        if plan.pauses_blocked {
            let cost = self.vcs[self.vc_of(mux, u32::from(plan.first))].cost;
            let busy = |slots: u32, tick| {
                let last = plan.start + u64::from(slots - 1) * u64::from(plan.period);
                u64::from(slots - 1) * u64::from(cost) + u64::from(cost).min(tick - last)
            };
            let before = if had == 0 { 0 } else { busy(had, counted) };
            self.count_blocked_ticks(mux, (upto - counted) - (busy(has, upto) - before));
        }
        self.muxes[mux as usize].plan.counted = upto;
    }

    /// Brings all counters up to date with `now`.
    pub(super) fn settle_counts(&mut self) {
        for mux in 0..self.muxes.len() as u32 {
            if self.muxes[mux as usize].plan.members == 0 {
                self.count_blocked(mux);
            } else {
                // Not by the short cut, which leaves no trace: the plan may be counted again.
                self.count_part(mux, self.now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::network::{Ends, Priority};
    use crate::wormhole::{Bus, Config, EPOCH, Engine, Packet, Silent};
    use crosstie_routing::Shortest;

    #[test]
    fn looking_at_the_counters_does_not_change_them() {
        let fabric = crosstie_fabric::single(3).unwrap();
        let routing = Shortest::new(&fabric);
        // The small buffer makes plans with pauses.
        let config = Config { bus: Bus::Full, buffer: 2, ..Config::default() };
        let counts = |looks: bool| {
            let mut engine = Engine::new(&fabric, &routing, 1, &config);
            for (from, to, flits) in [(0, 2, 10), (1, 2, 7), (0, 1, 1)] {
                let ends = Ends::Memories;
                engine.inject(
                    EPOCH,
                    Packet { from, to, more: 0, flits, id: 0, ends, priority: Priority::Low },
                );
            }
            for tick in 1..200 {
                engine.run_until(EPOCH + tick, &mut Silent);
                if looks {
                    engine.counts();
                }
            }
            engine.counts().0.to_vec()
        };
        let once = counts(false);
        assert_eq!(once.iter().map(|count| count.flits).sum::<u64>(), 2 * 18);
        assert_eq!(counts(true), once);
    }
}
