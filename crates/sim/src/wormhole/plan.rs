//! Plans: which virtual channel of a channel sends in which tick, as far ahead as is certain.
//!
//! One file, because planning and cutting hang on the one rule that turns slots into ticks.

use super::cast::FORKED;
use super::engine::{Engine, Event, Observer, Vc, grants, sends};
use super::flow::Ahead;
use super::timeline::{Beat, Run};
use super::wiring::NONE;
use super::{EPOCH, NEVER, Tick};

/// A stretch of sending that is certain unless something new turns up.
///
/// The members take turns in the order of their bits, starting with `first`; a member that is alone
/// sends every `period` ticks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    /// The VCs that send, one bit each; 0 for no plan.
    pub members: u32,
    pub first: u8,
    /// Ticks of the plan in which nothing is sent are blocked: a flit waits for a credit.
    pub pauses_blocked: bool,
    /// Flits to be sent, all members together.
    pub slots: u32,
    /// Ticks from one turn of a member to its next.
    pub period: u32,
    pub start: Tick,
    /// When the last flit has left the channel: the next decision.
    pub end: Tick,
    /// The channel counters have seen what lies before this tick.
    pub counted: Tick,
}

impl Plan {
    /// One VC sending every `period` ticks from `start` on; nothing is said yet of how long.
    pub fn solo(first: u8, start: Tick, period: u32) -> Plan {
        Plan { members: 1 << first, first, period, start, counted: start, ..Plan::default() }
    }

    pub fn is_solo(&self) -> bool {
        self.members.is_power_of_two()
    }

    /// Whether it has pauses that count as blocked as soon as another VC has a flit without credit.
    fn has_open_pauses(&self, first: &Vc) -> bool {
        self.is_solo() && self.period > first.cost && !self.pauses_blocked
    }
}

/// The multiplexer of a channel, or of a shared bus; one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Mux {
    /// VCs that hold a packet, one bit each.
    pub active: u32,
    /// The VC that sent last.
    pub last: u8,
    pub in_todo: bool,
    /// Flits of its turn that it had sent when the plan was made, or (without a plan) has sent.
    pub streak: u16,
    pub plan: Plan,
    /// When the next decision is due.
    wake: Tick,
    /// Idle since then, if there is no plan.
    pub idle_since: Tick,
}

impl Default for Mux {
    fn default() -> Self {
        Self {
            active: 0,
            last: 31,
            in_todo: false,
            streak: 0,
            plan: Plan::default(),
            wake: NEVER,
            idle_since: EPOCH,
        }
    }
}

/// The bits of a mask in round-robin order: from `first` upwards, then from 0.
#[inline]
pub(super) fn in_turn(mask: u32, first: u8) -> impl Iterator<Item = u32> {
    let mut rotated = mask.rotate_right(u32::from(first));
    std::iter::from_fn(move || {
        (rotated != 0).then(|| {
            let step = rotated.trailing_zeros();
            rotated &= rotated - 1;
            (u32::from(first) + step) % 32
        })
    })
}

/// How many of `slots` turns fall to the member in place `rank` of `members`.
#[inline]
pub(super) fn share(slots: u32, rank: u32, members: u32) -> u32 {
    if members == 1 { slots } else { (slots + members - 1 - rank) / members }
}

/// What the next flit of a VC waits for.
pub(super) struct Outlook {
    /// When the flit is there.
    pub arrives: Tick,
    /// When it is there and may be sent.
    pub ready: Tick,
}

impl Engine<'_> {
    #[inline]
    pub(super) fn vc_of(&self, mux: u32, bit: u32) -> u32 {
        match bit.checked_sub(self.network.vcs) {
            None => mux * self.network.vcs + bit,
            Some(number) => self.network.sharing_vcs[mux as usize] + number,
        }
    }

    /// The VCs of a multiplexer that hold a packet.
    pub(super) fn active_vcs(&self, mux: u32) -> impl Iterator<Item = u32> + '_ {
        let active = self.muxes[mux as usize].active;
        in_turn(active, 0).map(move |bit| self.vc_of(mux, bit))
    }

    /// A VC has been given a packet: its multiplexer decides afresh in this tick.
    pub(super) fn activate(&mut self, vc: u32) {
        let Vc { mux, bit, .. } = self.vcs[vc];
        self.muxes[mux as usize].active |= 1 << bit;
        self.decide_now(mux);
    }

    fn decide_now(&mut self, mux: u32) {
        if !std::mem::replace(&mut self.muxes[mux as usize].in_todo, true) {
            self.mux_todo.push(mux);
        }
    }

    #[inline]
    pub(super) fn wake_at(&mut self, mux: u32, at: Tick) {
        let state = &mut self.muxes[mux as usize];
        if state.wake != at {
            state.wake = at;
            if at != NEVER {
                self.wheel.push(at, Event::Mux(mux));
            }
        }
    }

    /// The decision of a multiplexer is due, unless it has been put off since.
    pub(super) fn wake(&mut self, mux: u32, observer: &mut impl Observer) {
        let state = &self.muxes[mux as usize];
        if state.wake != self.now {
            return;
        }
        if state.plan.members != 0 && state.plan.end == self.now {
            self.fulfil(mux, observer);
        }
        let state = &mut self.muxes[mux as usize];
        if state.active == 0 {
            state.wake = NEVER;
        } else {
            self.decide_now(mux);
        }
    }

    /// All of the plan has happened.
    fn fulfil(&mut self, mux: u32, observer: &mut impl Observer) {
        self.count_plan(mux, self.muxes[mux as usize].plan.end);
        if self.network.buses.contains(&mux) {
            self.end_streak(mux);
        }
        let state = &mut self.muxes[mux as usize];
        let plan = state.plan;
        let Plan { members, slots, end, .. } = plan;
        state.plan.members = 0;
        state.idle_since = end.max(plan.counted);
        let count = members.count_ones();
        for (rank, bit) in (0..).zip(in_turn(members, plan.first)) {
            let vc = self.vc_of(mux, bit);
            let state = &mut self.vcs[vc];
            state.remaining -= share(slots, rank, count);
            state.planned = false;
            if count == 1 || (slots - 1) % count == rank {
                self.muxes[mux as usize].last = bit as u8;
            }
            if state.remaining == 0 {
                self.muxes[mux as usize].active &= !(1 << bit);
                self.release(vc, observer);
            } else if end < self.now {
                // The plan was cut in a pause; since it began, the flit has been there, or not.
                state.arrives = if plan.pauses_blocked { end } else { NEVER };
            }
        }
    }

    /// How many slots of a plan lie before a tick.
    pub(super) fn slots_before(&self, mux: u32, plan: &Plan, tick: Tick) -> u32 {
        let past = tick - plan.start;
        let period = u64::from(plan.period);
        if plan.is_solo() {
            return past.div_ceil(period).min(u64::from(plan.slots)) as u32;
        }
        let (rounds, mut rest) = (past / period, past % period);
        let mut begun = rounds * u64::from(plan.members.count_ones());
        for bit in in_turn(plan.members, plan.first) {
            if rest == 0 {
                break;
            }
            begun += 1;
            rest = rest.saturating_sub(u64::from(self.vcs[self.vc_of(mux, bit)].cost));
        }
        begun.min(u64::from(plan.slots)) as u32
    }

    /// The tick at which the flit in the last slot of a plan has left the channel.
    #[inline]
    fn end_of(&self, mux: u32, plan: &Plan) -> Tick {
        if plan.is_solo() {
            let cost = self.vcs[self.vc_of(mux, u32::from(plan.first))].cost;
            let last = u64::from(plan.slots - 1) * u64::from(plan.period);
            return plan.start + last + u64::from(cost);
        }
        let count = plan.members.count_ones();
        let (round, rank) = ((plan.slots - 1) / count, (plan.slots - 1) % count);
        let turns = in_turn(plan.members, plan.first).take(rank as usize + 1);
        let ticks: u32 = turns.map(|bit| self.vcs[self.vc_of(mux, bit)].cost).sum();
        plan.start + u64::from(round) * u64::from(plan.period) + u64::from(ticks)
    }

    /// Shortens a plan to `slots`, and with it everything that was built on the rest.
    pub(super) fn cut(&mut self, mux: u32, slots: u32) {
        self.cuts.push((mux, slots));
        while let Some((mux, slots)) = self.cuts.pop() {
            let mut plan = self.muxes[mux as usize].plan;
            let had = plan.slots;
            if slots >= had {
                continue;
            }
            debug_assert!(slots > 0, "the slot in which a plan was made is a fact");
            plan.slots = slots;
            plan.end = self.end_of(mux, &plan);
            self.muxes[mux as usize].plan = plan;
            if plan.end <= self.now {
                self.decide_now(mux);
            } else if self.muxes[mux as usize].wake > plan.end {
                self.wake_at(mux, plan.end);
            }
            let count = plan.members.count_ones();
            for (rank, bit) in (0..).zip(in_turn(plan.members, plan.first)) {
                let lost = share(had, rank, count) - share(slots, rank, count);
                if lost > 0 {
                    self.take_back(self.vc_of(mux, bit), lost);
                }
            }
        }
    }

    /// Takes back the last `flits` flits planned for a VC, and notes whose plans that cuts short.
    fn take_back(&mut self, vc: u32, flits: u32) {
        let Vc { ahead, next: consumer, feeder, .. } = self.vcs[vc];
        if !ahead.is_end() {
            self.vcs.cut(sends(vc), flits);
            if consumer == FORKED {
                self.take_back_from_branches(vc, flits);
            } else {
                self.cut_consumer(vc, consumer);
            }
        }
        if feeder != NONE {
            self.vcs.cut(grants(feeder), flits);
            let is_copy = self.vcs[feeder].packet == FORKED;
            let feeder = if is_copy { self.unmerge(feeder) } else { feeder };
            // The producer may have planned to use room that now does not come.
            let lost = if self.vcs[feeder].ahead == Ahead::Credits {
                let promised = self.vcs.known(sends(feeder));
                promised.saturating_sub(self.vcs.known(grants(feeder)))
            } else {
                self.doubtful(feeder)
            };
            self.cut_member(feeder, lost);
        }
    }

    /// The consumer of a buffer may have planned to pass on flits that now do not come.
    pub(super) fn cut_consumer(&mut self, vc: u32, consumer: u32) {
        let promised = self.vcs.known(grants(vc)) - u64::from(self.network.depth);
        let coming = self.vcs.known(sends(vc));
        if promised == coming && consumer != NONE {
            self.vcs[consumer].arrives = NEVER;
        }
        self.cut_member(consumer, promised.saturating_sub(coming));
    }

    /// Notes that the last `flits` flits planned for a VC cannot be sent as planned.
    fn cut_member(&mut self, vc: u32, flits: u64) {
        if flits == 0 {
            return;
        }
        let Vc { mux, bit, .. } = self.vcs[vc];
        let plan = self.muxes[mux as usize].plan;
        let count = plan.members.count_ones();
        let rank = in_turn(plan.members, plan.first)
            .position(|member| member == u32::from(bit))
            .expect("what is promised beyond what is coming is in a plan")
            as u32;
        let kept = share(plan.slots, rank, count) - flits as u32;
        self.cuts.push((mux, kept * count + rank));
    }

    /// How many flits have left the buffer of a VC, planned ones included.
    #[inline]
    fn passed_on(&self, vc: u32) -> u64 {
        self.vcs.known(grants(vc)) - u64::from(self.network.depth)
    }

    /// When the flit `places` after the next one to be sent into a VC is there.
    #[inline]
    fn flit_comes(&self, vc: u32, places: u64) -> Tick {
        match self.vcs[vc].feeder {
            NONE => 0,
            feeder => {
                let index = self.passed_on(feeder) + places;
                self.vcs.effect(sends(feeder), index, self.vcs[feeder].latency)
            }
        }
    }

    /// When there is a credit for the flit `places` after the next one to be sent into a VC.
    #[inline]
    fn credit_comes(&self, vc: u32, places: u64) -> Tick {
        let next = self.vcs.known(sends(vc)) + places;
        self.vcs.effect(grants(vc), next, self.vcs[vc].latency)
    }

    #[inline]
    pub(super) fn outlook(&self, vc: u32) -> Outlook {
        let arrives = self.flit_comes(vc, 0);
        let ready = match self.vcs[vc].ahead {
            Ahead::Credits => arrives.max(self.credit_comes(vc, 0)),
            Ahead::End | Ahead::Memory => arrives,
            Ahead::StopAndGo => self.goes_from(vc, arrives),
        };
        Outlook { arrives, ready }
    }

    /// How many flits of a VC, at most `limit`, may certainly be sent at `at`, `at + step`, ...
    #[inline]
    pub(super) fn certain(&self, vc: u32, limit: u32, at: Tick, step: u32) -> u32 {
        let Vc { feeder, ahead, latency, .. } = self.vcs[vc];
        let mut certain = limit;
        if feeder != NONE {
            let next = self.passed_on(feeder);
            let latency = self.vcs[feeder].latency;
            certain = self.vcs.in_time(sends(feeder), next, certain, Beat { at, step, latency });
        }
        match ahead {
            Ahead::Credits => {
                let next = self.vcs.known(sends(vc));
                self.vcs.in_time(grants(vc), next, certain, Beat { at, step, latency })
            }
            Ahead::End | Ahead::Memory => certain,
            Ahead::StopAndGo => self.goes_for(vc, certain, at, step),
        }
    }

    /// Decides what a multiplexer does from this tick on.
    pub(super) fn plan(&mut self, mux: u32, observer: &mut impl Observer) {
        let now = self.now;
        if self.network.buses.contains(&mux) && self.keeps_turn(mux) {
            return;
        }
        if self.muxes[mux as usize].plan.members != 0 {
            let mut shorter = self.muxes[mux as usize].plan;
            shorter.slots = self.slots_before(mux, &shorter, now);
            let free = self.end_of(mux, &shorter);
            if free > now {
                // A flit is still on its way out; decide when it has left.
                self.muxes[mux as usize].in_todo = false;
                return self.wake_at(mux, free);
            }
            self.cut(mux, shorter.slots);
            self.fulfil(mux, observer);
        }
        self.muxes[mux as usize].in_todo = false;
        // A turn of a bus goes on if no tick was idle.
        let in_turn_still = self.muxes[mux as usize].idle_since == now;
        self.count_blocked(mux);

        if self.network.buses.contains(&mux) {
            return self.plan_bus(mux, in_turn_still, observer);
        }
        if self.plan_back_to_back(mux, observer) {
            return;
        }
        // The first that can send now begins. The others join in if they are ready by their turn;
        // of the rest, when does the first become ready, when does it have a flit?
        let Mux { active, last, .. } = self.muxes[mux as usize];
        let mut plan = Plan { start: now, counted: now, ..Plan::default() };
        let mut others = Outlook { arrives: NEVER, ready: NEVER };
        let mut turn = now;
        for bit in in_turn(active, (last + 1) % 32) {
            let vc = self.vc_of(mux, bit);
            let Outlook { arrives, ready } = self.outlook(vc);
            self.vcs[vc].arrives = arrives;
            if ready <= turn {
                if plan.members == 0 {
                    plan.first = bit as u8;
                }
                plan.members |= 1 << bit;
                turn += u64::from(self.vcs[vc].cost);
            } else {
                others.ready = others.ready.min(ready);
                others.arrives = others.arrives.min(arrives);
            }
        }
        if plan.members == 0 {
            return self.wake_at(mux, others.ready);
        }
        if plan.is_solo() {
            self.plan_alone(mux, &mut plan, others.arrives <= now);
        } else {
            self.plan_turns(mux, &mut plan);
        }
        self.conclude(mux, plan, &others, observer);
    }

    /// Makes a plan that lasts until there is news of the others.
    pub(super) fn conclude(
        &mut self,
        mux: u32,
        mut plan: Plan,
        others: &Outlook,
        observer: &mut impl Observer,
    ) {
        // Somebody else becomes ready, or blocked during pauses: decide again then.
        let news = if plan.has_open_pauses(&self.vcs[self.vc_of(mux, u32::from(plan.first))]) {
            others.ready.min(others.arrives)
        } else {
            others.ready
        };
        if news != NEVER {
            plan.slots = self.slots_before(mux, &plan, news);
        }
        self.enact(mux, plan, news, observer);
    }

    /// Puts a plan into force, to be looked at again when it ends or when there is news.
    pub(super) fn enact(
        &mut self,
        mux: u32,
        mut plan: Plan,
        news: Tick,
        observer: &mut impl Observer,
    ) {
        plan.end = self.end_of(mux, &plan);
        self.muxes[mux as usize].plan = plan;
        self.wake_at(mux, plan.end.min(news));
        self.announce(mux, observer);
    }

    /// The common case, on a short path: one VC holds a packet and can send more than one flit, or
    /// its last.
    #[inline]
    fn plan_back_to_back(&mut self, mux: u32, observer: &mut impl Observer) -> bool {
        let members = self.muxes[mux as usize].active;
        if !members.is_power_of_two() {
            return false;
        }
        let (start, first) = (self.now, members.trailing_zeros() as u8);
        let vc = self.vc_of(mux, u32::from(first));
        let Vc { remaining, cost: period, .. } = self.vcs[vc];
        let slots = self.certain(vc, remaining, start, period);
        if slots < remaining.min(2) {
            return false;
        }
        let end = start + u64::from(slots) * u64::from(period);
        self.muxes[mux as usize].plan = Plan {
            members,
            first,
            pauses_blocked: false,
            slots,
            period,
            start,
            end,
            counted: start,
        };
        self.vcs[vc].planned = true;
        self.wake_at(mux, end);
        self.announce_run(vc, Run { start, stride: period, count: slots }, observer);
        true
    }

    /// One VC can send: how far, at which pace? `blocked` says that another VC has a flit but no
    /// credit.
    pub(super) fn plan_alone(&self, mux: u32, plan: &mut Plan, blocked: bool) {
        let vc = self.vc_of(mux, u32::from(plan.first));
        let Vc { cost, remaining, feeder, latency, ahead, .. } = self.vcs[vc];
        plan.period = cost;
        plan.slots = self.certain(vc, remaining, plan.start, cost);
        if plan.slots > 1 || remaining == 1 {
            return;
        }
        // It cannot send back to back. If its flits or its credits come evenly, follow their pace.
        let flit = self.flit_comes(vc, 1);
        let second = match ahead {
            Ahead::Credits => flit.max(self.credit_comes(vc, 1)),
            Ahead::End | Ahead::Memory | Ahead::StopAndGo => flit,
        };
        // What is stopped comes at no pace of its own.
        if second <= plan.start + u64::from(cost) || second - plan.start > u64::from(u16::MAX) {
            return;
        }
        let pace = (second - plan.start) as u32;
        let on_credit = || {
            let next = self.vcs.known(sends(vc)) + 1;
            self.vcs.on_time(grants(vc), next, remaining, Beat { at: second, step: pace, latency })
        };
        let supply = |limit, exactly| {
            let (line, next) = (sends(feeder), self.passed_on(feeder) + 1);
            let latency = self.vcs[feeder].latency;
            let beat = |at| Beat { at, step: pace, latency };
            if exactly {
                self.vcs.on_time(line, next, limit, beat(second))
            } else {
                self.vcs.in_time(line, next, limit, beat(plan.start + u64::from(cost)))
            }
        };
        // A pause is blocked if the flit was there when it began; if not, it must not have been
        // there before its time.
        let credit_paced = flit < second;
        let even = match (credit_paced, feeder) {
            (false, _) => supply(remaining, true),
            (true, NONE) => on_credit(),
            (true, _) => supply(on_credit(), false),
        };
        if even > 0 {
            plan.slots = self.certain(vc, remaining, plan.start, pace).min(even + 1);
            (plan.period, plan.pauses_blocked) = (pace, credit_paced || blocked);
        }
    }

    /// Several VCs can send: they take turns until one of them cannot, or ends its packet.
    fn plan_turns(&self, mux: u32, plan: &mut Plan) {
        let count = plan.members.count_ones();
        let vc = |bit| self.vc_of(mux, bit);
        let cost = |bit| self.vcs[vc(bit)].cost;
        plan.period = in_turn(plan.members, 0).map(cost).sum();
        plan.slots = u32::MAX;
        let mut turn = plan.start;
        for (rank, bit) in (0..).zip(in_turn(plan.members, plan.first)) {
            let Vc { remaining, head_waits, .. } = self.vcs[vc(bit)];
            let limit = remaining.min(plan.slots / count + 1);
            let certain = self.certain(vc(bit), limit, turn, plan.period);
            let slots = if certain == remaining {
                (certain - 1) * count + rank + 1
            } else {
                certain * count + rank
            };
            plan.slots = plan.slots.min(slots);
            // A header leaves in the tick of the decision, so that its departure is a fact.
            if rank > 0 && head_waits {
                plan.slots = plan.slots.min(rank);
            }
            turn += u64::from(cost(bit));
        }
    }

    /// Enters a new plan in the timelines and tells the neighbours it concerns.
    fn announce(&mut self, mux: u32, observer: &mut impl Observer) {
        let Plan { members, first, slots, period, mut start, .. } = self.muxes[mux as usize].plan;
        let count = members.count_ones();
        for (rank, bit) in (0..).zip(in_turn(members, first)) {
            let vc = self.vc_of(mux, bit);
            self.vcs[vc].planned = true;
            let run = Run { start, stride: period, count: share(slots, rank, count) };
            start += u64::from(self.vcs[vc].cost);
            if run.count > 0 {
                self.announce_run(vc, run, observer);
            }
        }
    }

    fn announce_run(&mut self, vc: u32, run: Run, observer: &mut impl Observer) {
        let Vc { ahead, next, feeder, latency, head_waits, .. } = self.vcs[vc];
        if head_waits {
            self.head_leaves(vc, observer);
        }
        if !ahead.is_end() {
            let memory = if ahead == Ahead::Credits { latency } else { self.settle(vc) };
            self.vcs.push(sends(vc), run, self.now, memory);
            if next < FORKED {
                self.look_again(next);
            } else if next == FORKED {
                self.announce_to_branches(vc, run, memory);
            }
        }
        if feeder != NONE {
            self.leave(feeder, run);
        }
    }

    /// Flits leave the buffer of a VC, now and as planned.
    #[inline]
    pub(super) fn leave(&mut self, vc: u32, run: Run) {
        let Vc { latency, packet, ahead, .. } = self.vcs[vc];
        if ahead != Ahead::Credits {
            self.settle(vc);
        }
        self.vcs.push(grants(vc), run, self.now, latency);
        if packet < FORKED {
            self.look_again(vc);
        } else if packet == FORKED {
            self.merge(vc);
        }
    }

    fn head_leaves(&mut self, vc: u32, observer: &mut impl Observer) {
        let now = self.now;
        let state = &mut self.vcs[vc];
        state.head_waits = false;
        let Vc { packet, feeder, ahead, channel, latency, .. } = *state;
        let worm = &mut self.worms[packet as usize];
        if feeder == NONE {
            worm.injected = now;
        }
        observer.head(&worm.packet, channel, vc - channel * self.network.vcs, now);
        if !ahead.is_end() {
            self.enter(vc, packet, now + u64::from(latency));
        }
    }

    /// More is known about what a VC waits for; if it is not part of a plan, it may now have a
    /// time.
    #[inline]
    pub(super) fn look_again(&mut self, vc: u32) {
        let Vc { mux, planned, .. } = self.vcs[vc];
        if planned {
            return;
        }
        let Mux { in_todo, wake, plan, .. } = &self.muxes[mux as usize];
        if *in_todo {
            return;
        }
        let wake = *wake;
        let open_pauses = plan.members != 0 && {
            let first = self.vc_of(mux, u32::from(plan.first));
            plan.has_open_pauses(&self.vcs[first])
        };
        let Outlook { arrives, ready } = self.outlook(vc);
        if arrives > self.now {
            self.vcs[vc].arrives = arrives;
        }
        let news = if open_pauses { arrives } else { ready };
        // What is ready already waits for the flit that is leaving, and `wake` is when it has left.
        if news < wake && news > self.now {
            self.wake_at(mux, news);
        }
    }
}
