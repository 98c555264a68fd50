//! Turns on a shared bus: one VC goes on for a burst before another has its turn.

use super::engine::{Engine, Observer, Vc};
use super::plan::{Mux, Outlook, Plan, in_turn};
use super::{NEVER, Tick};

impl Engine<'_> {
    /// The slot at or after `slots` (at least 1) in which a turn ends, if `streak` flits of the
    /// turn had been sent before the plan.
    fn end_of_turn(&self, streak: u16, slots: u32) -> u32 {
        let (burst, slots) = (self.network.burst, slots.max(1));
        slots + (burst - (u32::from(streak) + slots) % burst) % burst
    }

    /// Whether the flits of a plan follow each other without a pause.
    fn is_unbroken(&self, mux: u32, plan: &Plan) -> bool {
        plan.period == self.vcs[self.vc_of(mux, u32::from(plan.first))].cost
    }

    /// Something new has turned up during a plan: if a turn is under way, it is played to its end.
    pub(super) fn keeps_turn(&mut self, mux: u32) -> bool {
        let Mux { plan, streak, .. } = self.muxes[mux as usize];
        if plan.members == 0 || plan.end <= self.now || !self.is_unbroken(mux, &plan) {
            return false;
        }
        let begun = self.slots_before(mux, &plan, self.now);
        let last = self.end_of_turn(streak, begun).min(plan.slots);
        if last == begun {
            return false;
        }
        self.cut(mux, last);
        self.muxes[mux as usize].in_todo = false;
        let end = self.muxes[mux as usize].plan.end;
        self.wake_at(mux, end);
        true
    }

    /// Counts the flits of a plan that is over towards the turn they belong to.
    pub(super) fn end_streak(&mut self, mux: u32) {
        let Mux { plan, streak, .. } = self.muxes[mux as usize];
        let flits = u32::from(streak) + plan.slots - 1;
        let unbroken = self.is_unbroken(mux, &plan);
        self.muxes[mux as usize].streak =
            if unbroken { (flits % self.network.burst + 1) as u16 } else { 1 };
    }

    /// Decides who has the bus from this tick on.
    pub(super) fn plan_bus(&mut self, mux: u32, in_turn_still: bool, observer: &mut impl Observer) {
        let now = self.now;
        let Mux { active, last, streak, .. } = self.muxes[mux as usize];
        let mut others = Outlook { arrives: NEVER, ready: NEVER };
        let (mut ready_now, mut chosen) = (0u32, None);
        for bit in in_turn(active, (last + 1) % 32) {
            let vc = self.vc_of(mux, bit);
            let Outlook { arrives, ready } = self.outlook(vc);
            self.vcs[vc].arrives = arrives;
            if ready <= now {
                ready_now |= 1 << bit;
                chosen = chosen.or(Some(bit));
            } else {
                others.ready = others.ready.min(ready);
                others.arrives = others.arrives.min(arrives);
            }
        }
        let Some(mut first) = chosen else { return self.wake_at(mux, others.ready) };
        let goes_on =
            in_turn_still && u32::from(streak) < self.network.burst && ready_now & (1 << last) != 0;
        if goes_on {
            first = u32::from(last);
        }
        let streak = if goes_on { streak } else { 0 };
        self.muxes[mux as usize].streak = streak;

        let vc = self.vc_of(mux, first);
        let Vc { cost, remaining, .. } = self.vcs[vc];
        let mut plan = Plan::solo(first as u8, now, cost);
        let contested = !ready_now.is_power_of_two();
        plan.slots = self.certain(vc, remaining, now, cost);
        if plan.slots == 1 && remaining > 1 && !contested {
            // Not back to back: pauses end turns, and the common rules apply.
            self.plan_alone(mux, &mut plan, others.arrives <= now);
            if plan.period > cost {
                return self.conclude(mux, plan, &others, observer);
            }
        }
        let undisturbed = match (contested, others.ready) {
            (true, _) => 0,
            (false, NEVER) => plan.slots,
            (false, ready) => self.slots_before(mux, &plan, ready),
        };
        if undisturbed < plan.slots {
            plan.slots = plan.slots.min(self.end_of_turn(streak, undisturbed));
        }
        self.enact(mux, plan, Tick::MAX, observer);
    }
}
