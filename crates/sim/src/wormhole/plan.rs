//! Plans: which virtual channel of a channel sends in which tick, as far ahead as is certain.

use super::engine::{Engine, Event, Observer, grants, sends};
use super::network::NONE;
use super::timeline::Run;
use super::{EPOCH, NEVER, Tick};

/// A stretch of sending that is certain unless something new turns up.
///
/// The members take turns in the order of their bits, starting with `first`; with one member, that
/// member sends every `period` ticks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    /// Who sends, one bit per VC of the multiplexer; 0 for no plan.
    members: u32,
    first: u8,
    /// Flits to be sent, all members together.
    slots: u32,
    /// Ticks from one turn of a member to its next.
    period: u32,
    start: Tick,
    /// When the last flit has left the channel: the next decision.
    end: Tick,
    /// Every pause within the plan is for want of a credit.
    credit_paced: bool,
    /// The channel counters have seen what lies before this tick.
    counted: Tick,
}

/// The multiplexer of a channel, or of a shared bus.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mux {
    /// VCs that hold a packet, one bit each.
    active: u32,
    /// The VC that sent last.
    last: u8,
    pub in_todo: bool,
    plan: Plan,
    /// When the next decision is due.
    wake: Tick,
    /// Idle since then, if there is no plan.
    idle_since: Tick,
}

impl Default for Mux {
    fn default() -> Self {
        Self {
            active: 0,
            last: 31,
            in_todo: false,
            plan: Plan::default(),
            wake: NEVER,
            idle_since: EPOCH,
        }
    }
}

/// The bits of a mask in round-robin order: from `first` upwards, then from 0.
fn in_turn(mask: u32, first: u8) -> impl Iterator<Item = u32> {
    let low = mask & ((1u32 << first) - 1);
    let mut halves = [mask & !low, low];
    std::iter::from_fn(move || {
        let half = if halves[0] != 0 { &mut halves[0] } else { &mut halves[1] };
        (*half != 0).then(|| {
            let bit = half.trailing_zeros();
            *half &= *half - 1;
            bit
        })
    })
}

/// How many of `slots` turns fall to the member in place `rank` of `members`.
fn share(slots: u32, rank: u32, members: u32) -> u32 {
    (slots + members - 1 - rank) / members
}

/// What the next flit of a VC waits for.
struct Outlook {
    /// When the flit is there.
    arrives: Tick,
    /// When it is there and may be sent.
    ready: Tick,
}

impl Engine<'_> {
    fn vc_of(&self, mux: u32, bit: u32) -> u32 {
        let [first, second] = self.network.mux_vcs[mux as usize];
        if bit < self.network.vcs { first + bit } else { second + bit - self.network.vcs }
    }

    fn bit_of(&self, vc: u32) -> u32 {
        u32::from(self.network.wire(vc).bit) + vc % self.network.vcs
    }

    /// A VC has been given a packet: its multiplexer decides afresh in this tick.
    pub(super) fn activate(&mut self, vc: u32) {
        let mux = self.network.wire(vc).mux;
        self.muxes[mux as usize].active |= 1 << self.bit_of(vc);
        self.decide_now(mux);
    }

    fn decide_now(&mut self, mux: u32) {
        if !std::mem::replace(&mut self.muxes[mux as usize].in_todo, true) {
            self.mux_todo.push(mux);
        }
    }

    fn wake_at(&mut self, mux: u32, at: Tick) {
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
        self.decide_now(mux);
    }

    /// All of the plan has happened.
    fn fulfil(&mut self, mux: u32, observer: &mut impl Observer) {
        self.count_plan(mux, self.muxes[mux as usize].plan.end);
        let Plan { members, first, slots, end, counted, credit_paced, .. } =
            std::mem::take(&mut self.muxes[mux as usize].plan);
        let count = members.count_ones();
        for (rank, bit) in in_turn(members, first).enumerate() {
            let vc = self.vc_of(mux, bit);
            self.vcs[vc as usize].remaining -= share(slots, rank as u32, count);
            if (slots - 1) % count == rank as u32 {
                self.muxes[mux as usize].last = bit as u8;
            }
            if self.vcs[vc as usize].remaining == 0 {
                self.muxes[mux as usize].active &= !(1 << bit);
                self.release(vc, observer);
            } else if end < self.now {
                // The plan was cut in a pause; since it began, the flit has been there, or not.
                self.vcs[vc as usize].arrives = if credit_paced { end } else { NEVER };
            }
        }
        self.muxes[mux as usize].idle_since = end.max(counted);
    }

    /// How many slots of a plan lie before a tick.
    fn slots_before(&self, mux: u32, plan: &Plan, tick: Tick) -> u32 {
        let Plan { members, first, slots, period, start, .. } = *plan;
        let past = tick - start;
        let rounds = (past / u64::from(period)) as u32;
        let mut rest = (past % u64::from(period)) as u32;
        let count = members.count_ones();
        let mut begun = 0;
        for bit in in_turn(members, first) {
            if rest == 0 {
                break;
            }
            begun += 1;
            rest = rest.saturating_sub(self.network.wire(self.vc_of(mux, bit)).cost);
        }
        (rounds.saturating_mul(count)).saturating_add(begun).min(slots)
    }

    /// The tick at which the flit in the last slot of a plan has left the channel.
    fn end_of(&self, mux: u32, plan: &Plan) -> Tick {
        let count = plan.members.count_ones();
        let (round, rank) = ((plan.slots - 1) / count, (plan.slots - 1) % count);
        let turns = in_turn(plan.members, plan.first).take(rank as usize + 1);
        let ticks: u32 = turns.map(|bit| self.network.wire(self.vc_of(mux, bit)).cost).sum();
        plan.start + u64::from(round) * u64::from(plan.period) + u64::from(ticks)
    }

    /// Shortens a plan to `slots`, and with it everything that was built on the rest.
    fn cut(&mut self, mux: u32, slots: u32) {
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
            for (rank, bit) in in_turn(plan.members, plan.first).enumerate() {
                let lost = share(had, rank as u32, count) - share(slots, rank as u32, count);
                if lost == 0 {
                    continue;
                }
                let vc = self.vc_of(mux, bit);
                if !self.is_sink(vc) {
                    self.lines.cut(sends(vc), lost);
                    // The consumer may have planned to pass on flits that now do not come.
                    let promised = self.lines.known(grants(vc)) - u64::from(self.network.depth);
                    let coming = self.lines.known(sends(vc));
                    let consumer = self.vcs[vc as usize].next;
                    if promised == coming && consumer != NONE {
                        self.vcs[consumer as usize].arrives = NEVER;
                    }
                    self.cut_member(consumer, promised.saturating_sub(coming));
                }
                let feeder = self.vcs[vc as usize].feeder;
                if feeder != NONE {
                    self.lines.cut(grants(feeder), lost);
                    // The producer may have planned to use credits that now do not come.
                    let promised = self.lines.known(sends(feeder));
                    let coming = self.lines.known(grants(feeder));
                    self.cut_member(feeder, promised.saturating_sub(coming));
                }
            }
        }
    }

    /// Notes that the last `flits` flits planned for a VC cannot be sent as planned.
    fn cut_member(&mut self, vc: u32, flits: u64) {
        if flits == 0 {
            return;
        }
        let mux = self.network.wire(vc).mux;
        let plan = self.muxes[mux as usize].plan;
        let count = plan.members.count_ones();
        let bit = self.bit_of(vc);
        let rank = in_turn(plan.members, plan.first)
            .position(|member| member == bit)
            .expect("what is promised beyond what is coming is in a plan")
            as u32;
        let kept = share(plan.slots, rank, count) - flits as u32;
        self.cuts.push((mux, kept * count + rank));
    }

    /// What the next flit to be sent into a VC waits for.
    #[inline]
    fn outlook(&self, vc: u32) -> Outlook {
        let feeder = self.vcs[vc as usize].feeder;
        let arrives = match feeder {
            NONE => 0,
            _ => {
                let passed_on = self.lines.known(grants(feeder)) - u64::from(self.network.depth);
                self.lines.effect(sends(feeder), passed_on, self.network.wire(feeder).latency)
            }
        };
        let credit = if self.is_sink(vc) {
            0
        } else {
            let next = self.lines.known(sends(vc));
            self.lines.effect(grants(vc), next, self.network.wire(vc).latency)
        };
        Outlook { arrives, ready: arrives.max(credit) }
    }

    /// How many flits of a VC, at most `limit`, may certainly be sent at `by`, `by + step`, ...
    #[inline]
    fn certain(&self, vc: u32, limit: u32, by: Tick, step: u32) -> u32 {
        let mut certain = limit;
        let feeder = self.vcs[vc as usize].feeder;
        if feeder != NONE {
            let passed_on = self.lines.known(grants(feeder)) - u64::from(self.network.depth);
            let latency = self.network.wire(feeder).latency;
            certain = self.lines.in_time(sends(feeder), passed_on, certain, latency, by, step);
        }
        if !self.is_sink(vc) {
            let next = self.lines.known(sends(vc));
            let latency = self.network.wire(vc).latency;
            certain = self.lines.in_time(grants(vc), next, certain, latency, by, step);
        }
        certain
    }

    /// Decides what a multiplexer does from this tick on.
    pub(super) fn plan(&mut self, mux: u32, observer: &mut impl Observer) {
        let now = self.now;
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
        self.count_blocked(mux);

        // Who can send now, and when can the first of the others?
        let Mux { active, last, .. } = self.muxes[mux as usize];
        let (mut eligible, mut others) = (0u32, NEVER);
        for bit in in_turn(active, 0) {
            let vc = self.vc_of(mux, bit);
            let Outlook { arrives, ready } = self.outlook(vc);
            self.vcs[vc as usize].arrives = arrives;
            if ready <= now {
                eligible |= 1 << bit;
            } else {
                others = others.min(ready);
            }
        }
        if eligible == 0 {
            return self.wake_at(mux, others);
        }
        let mut plan = Plan {
            members: eligible,
            first: in_turn(eligible, (last + 1) % 32).next().expect("not empty") as u8,
            slots: 0,
            period: 0,
            start: now,
            end: 0,
            credit_paced: false,
            counted: now,
        };
        if eligible.is_power_of_two() {
            self.plan_alone(mux, &mut plan, eligible == active);
        } else {
            self.plan_turns(mux, &mut plan);
        }
        // Somebody else becomes ready: decide again then.
        if others != NEVER {
            plan.slots = self.slots_before(mux, &plan, others);
        }
        plan.end = self.end_of(mux, &plan);
        self.muxes[mux as usize].plan = plan;
        self.wake_at(mux, plan.end.min(others));
        self.announce(mux, observer);
    }

    /// One VC can send: how far, at which pace? `only` says that no other VC holds a packet.
    fn plan_alone(&self, mux: u32, plan: &mut Plan, only: bool) {
        let vc = self.vc_of(mux, u32::from(plan.first));
        let cost = self.network.wire(vc).cost;
        let remaining = self.vcs[vc as usize].remaining;
        plan.period = cost;
        plan.slots = self.certain(vc, remaining, plan.start, cost);
        if plan.slots > 1 || remaining == 1 || !only {
            return;
        }
        // It cannot send back to back. If its flits or its credits come evenly, follow their pace.
        let feeder = self.vcs[vc as usize].feeder;
        let sink = self.is_sink(vc);
        let depth = u64::from(self.network.depth);
        let flit = match feeder {
            NONE => 0,
            _ => {
                let index = self.lines.known(grants(feeder)) - depth + 1;
                self.lines.effect(sends(feeder), index, self.network.wire(feeder).latency)
            }
        };
        let credit = if sink {
            0
        } else {
            let index = self.lines.known(sends(vc)) + 1;
            self.lines.effect(grants(vc), index, self.network.wire(vc).latency)
        };
        let second = flit.max(credit);
        if second == NEVER || second - plan.start > u64::from(u16::MAX) {
            return;
        }
        let pace = (second - plan.start) as u32;
        let paced = self.certain(vc, remaining, plan.start, pace);
        if flit == second {
            let index = self.lines.known(grants(feeder)) - depth + 1;
            let latency = self.network.wire(feeder).latency;
            let even = self.lines.on_time(sends(feeder), index, remaining, latency, second, pace);
            (plan.slots, plan.period) = (paced.min(even + 1), pace);
        } else {
            // Each pause counts as blocked, so every flit must be there when its pause begins.
            let index = self.lines.known(sends(vc)) + 1;
            let latency = self.network.wire(vc).latency;
            let mut even = self.lines.on_time(grants(vc), index, remaining, latency, second, pace);
            if feeder != NONE {
                let index = self.lines.known(grants(feeder)) - depth + 1;
                let latency = self.network.wire(feeder).latency;
                let pause = plan.start + u64::from(cost);
                even = self.lines.in_time(sends(feeder), index, even, latency, pause, pace);
            }
            if even > 0 {
                (plan.slots, plan.period) = (paced.min(even + 1), pace);
                plan.credit_paced = true;
            }
        }
    }

    /// Several VCs can send: they take turns until one of them cannot, or ends its packet.
    fn plan_turns(&self, mux: u32, plan: &mut Plan) {
        let count = plan.members.count_ones();
        let cost = |bit: u32| self.network.wire(self.vc_of(mux, bit)).cost;
        plan.period = in_turn(plan.members, 0).map(cost).sum();
        plan.slots = u32::MAX;
        let mut turn = plan.start;
        for (rank, bit) in in_turn(plan.members, plan.first).enumerate() {
            let rank = rank as u32;
            let vc = self.vc_of(mux, bit);
            let remaining = self.vcs[vc as usize].remaining;
            let limit = remaining.min(plan.slots / count + 1);
            let certain = self.certain(vc, limit, turn, plan.period);
            let slots = if certain == remaining {
                (certain - 1) * count + rank + 1
            } else {
                certain * count + rank
            };
            plan.slots = plan.slots.min(slots);
            // A header leaves in the tick of the decision, so that its departure is a fact.
            if rank > 0 && self.head_is_next(vc) {
                plan.slots = plan.slots.min(rank);
            }
            turn += u64::from(cost(bit));
        }
    }

    fn head_is_next(&self, vc: u32) -> bool {
        let vc = &self.vcs[vc as usize];
        vc.remaining == self.worms[vc.packet as usize].packet.flits
    }

    /// Enters a new plan in the timelines and tells the neighbours it concerns.
    fn announce(&mut self, mux: u32, observer: &mut impl Observer) {
        let now = self.now;
        let plan = self.muxes[mux as usize].plan;
        let count = plan.members.count_ones();
        let mut start = now;
        for (rank, bit) in in_turn(plan.members, plan.first).enumerate() {
            let vc = self.vc_of(mux, bit);
            let wire = *self.network.wire(vc);
            let run =
                Run { start, stride: plan.period, count: share(plan.slots, rank as u32, count) };
            start += u64::from(wire.cost);
            if run.count == 0 {
                continue;
            }
            let sink = self.is_sink(vc);
            if rank == 0 && self.head_is_next(vc) {
                self.head_leaves(vc, observer);
            }
            if !sink {
                self.lines.push(sends(vc), run, now, wire.latency);
                let consumer = self.vcs[vc as usize].next;
                if consumer != NONE {
                    self.look_again(consumer);
                }
            }
            let feeder = self.vcs[vc as usize].feeder;
            if feeder != NONE {
                self.lines.push(grants(feeder), run, now, self.network.wire(feeder).latency);
                if self.vcs[feeder as usize].packet != NONE {
                    self.look_again(feeder);
                }
            }
        }
    }

    fn head_leaves(&mut self, vc: u32, observer: &mut impl Observer) {
        let Engine { vcs, worms, network, now, .. } = self;
        let (packet, from_memory) = (vcs[vc as usize].packet, vcs[vc as usize].feeder == NONE);
        let worm = &mut worms[packet as usize];
        if from_memory {
            worm.injected = *now;
        }
        observer.head(worm.packet.id, vc / network.vcs, vc % network.vcs, *now);
        let arrives = *now + u64::from(network.wire(vc).latency);
        if !self.is_sink(vc) {
            self.enter(vc, packet, arrives);
        }
    }

    /// More is known about what a VC waits for; if it is not part of a plan, it may now have a time.
    fn look_again(&mut self, vc: u32) {
        let mux = self.network.wire(vc).mux;
        let state = &self.muxes[mux as usize];
        if state.in_todo || state.plan.members & (1 << self.bit_of(vc)) != 0 {
            return;
        }
        let wake = state.wake;
        let Outlook { arrives, ready } = self.outlook(vc);
        if arrives > self.now {
            self.vcs[vc as usize].arrives = arrives;
        }
        // What is ready already waits for the flit that is leaving, and `wake` is when it has left.
        if ready < wake && ready > self.now {
            self.wake_at(mux, ready);
        }
    }

    /// The multiplexer has been idle until now: was a flit waiting for a credit?
    ///
    /// A flit that is there and has a credit is sent at once, so any flit that was there in an
    /// idle tick had none.
    fn count_blocked(&mut self, mux: u32) {
        let Mux { active, idle_since, .. } = self.muxes[mux as usize];
        if idle_since < self.now {
            let waiting = in_turn(active, 0)
                .map(|bit| self.vcs[self.vc_of(mux, bit) as usize].arrives)
                .min()
                .unwrap_or(NEVER);
            let begin = waiting.max(idle_since);
            if begin < self.now {
                let channel = self.network.mux_vcs[mux as usize][0] / self.network.vcs;
                self.counts[channel as usize].blocked += self.now - begin;
            }
            self.muxes[mux as usize].idle_since = self.now;
        }
    }

    /// Counts what a plan does before tick `upto`.
    fn count_plan(&mut self, mux: u32, upto: Tick) {
        let plan = self.muxes[mux as usize].plan;
        let (counted, before) = (plan.counted, |tick| self.slots_before(mux, &plan, tick));
        if upto <= counted {
            return;
        }
        let had = if counted == plan.start { 0 } else { before(counted) };
        let has = if upto >= plan.end { plan.slots } else { before(upto) };
        let count = plan.members.count_ones();
        for (rank, bit) in in_turn(plan.members, plan.first).enumerate() {
            let vc = self.vc_of(mux, bit);
            let sent = share(has, rank as u32, count) - share(had, rank as u32, count);
            let cost = self.network.wire(vc).cost;
            let counter = &mut self.counts[(vc / self.network.vcs) as usize];
            counter.flits += u64::from(sent);
            if plan.credit_paced {
                let busy = |slots: u32, tick| {
                    let last = plan.start + u64::from(slots - 1) * u64::from(plan.period);
                    u64::from(slots - 1) * u64::from(cost) + u64::from(cost).min(tick - last)
                };
                let before = if had == 0 { 0 } else { busy(had, counted) };
                counter.blocked += (upto - counted) - (busy(has, upto) - before);
            }
        }
        self.muxes[mux as usize].plan.counted = upto;
    }

    /// Brings all counters up to date with `now`.
    pub(super) fn settle_counts(&mut self) {
        for mux in 0..self.muxes.len() as u32 {
            if self.muxes[mux as usize].plan.members == 0 {
                self.count_blocked(mux);
            } else {
                self.count_plan(mux, self.now);
            }
        }
    }
}
