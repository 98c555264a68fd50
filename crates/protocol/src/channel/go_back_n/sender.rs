//! The sending half of an endpoint.

use std::collections::VecDeque;

use crosstie_units::Time;

use super::output::{Cause, Output};
use super::table::{SenderDeed, SenderEvent, SenderState, sender_cell};
use crate::channel::history::{History, Occurrence};
use crate::channel::{GoBackNSpec, Seq};

/// Keeps packets until they are acknowledged, and sends them as often as it takes.
#[derive(Debug, Clone)]
pub(super) struct Sender<T> {
    state: SenderState,
    window: u32,
    timeout: Time,
    /// The oldest packet outstanding.
    base: Seq,
    outstanding: u32,
    /// The packets outstanding from `base` on, and behind them those that wait; and whether an
    /// acknowledgement can ride on them.
    packets: VecDeque<(T, bool)>,
    /// The timers in the order in which they expire, which is that in which they were started: all
    /// run equally long. Every packet outstanding has one; those of acknowledged packets may be
    /// left behind one that runs, so there are fewer than two windows of them. The first one
    /// runs.
    timers: VecDeque<(Seq, Time)>,
    /// For each Pack that takes a place in the window, the packet that was sent after it: when that
    /// is acknowledged the Pack is there as well, since frames do not overtake each other.
    after_packs: VecDeque<Seq>,
    history: History,
}

impl<T: Clone> Sender<T> {
    pub fn new(spec: &GoBackNSpec, base: Seq) -> Sender<T> {
        Sender {
            state: if spec.simple { SenderState::Simple } else { SenderState::Normal },
            window: spec.window,
            timeout: spec.timeout,
            base,
            outstanding: 0,
            packets: VecDeque::new(),
            timers: VecDeque::new(),
            after_packs: VecDeque::new(),
            history: History::default(),
        }
    }

    pub fn state(&self) -> SenderState {
        self.state
    }

    #[inline]
    pub fn base(&self) -> Seq {
        self.base
    }

    pub fn outstanding(&self) -> usize {
        self.outstanding as usize
    }

    pub fn queued(&self) -> usize {
        self.packets.len() - self.outstanding()
    }

    /// Returns true if there is more to send than there is room for: packets wait here, or the
    /// window is full of parts of something long, of which the others are kept elsewhere until
    /// there is room. Such parts cannot carry acknowledgements.
    #[inline]
    pub fn is_full(&self) -> bool {
        let parts = || !self.has_room() && self.has_parts();
        (self.queued() > 0 || parts()) && self.state != SenderState::Stall
    }

    /// Returns true if parts of something long are on their way.
    #[inline]
    fn has_parts(&self) -> bool {
        self.packets.back().is_some_and(|&(_, rides)| !rides)
    }

    /// A Pack has gone, of a style whose Packs may wait. Beside parts of something long, it takes a
    /// place in the window, as it does if it has waited.
    #[inline]
    pub fn pack_goes(&mut self) {
        if self.has_parts() && self.has_room() {
            self.after_packs.push_back(self.base.plus(self.outstanding));
        }
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    /// When the next timer expires.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.timers.front().map(|&(_, expiry)| expiry)
    }

    /// Takes a packet to send.
    #[inline]
    pub fn send(&mut self, now: Time, item: T, rides: bool, out: &mut Output<T>) {
        self.packets.push_back((item, rides));
        self.proceed(now, out);
    }

    /// What Pack(n) is to the sender.
    #[inline]
    pub fn pack(&self, n: Seq) -> SenderEvent {
        match n.since(self.base) {
            0 => SenderEvent::OldPack,
            ahead if ahead <= self.outstanding => SenderEvent::Pack,
            _ if n.is_before(self.base) => SenderEvent::OldPack,
            _ => SenderEvent::Beyond,
        }
    }

    /// What Nack(e) is to the sender.
    pub fn nack(&self, e: Seq) -> SenderEvent {
        match e.since(self.base) {
            0 if self.outstanding == 0 => SenderEvent::OldNack,
            0 => SenderEvent::Nack,
            ahead if ahead < self.outstanding => SenderEvent::LaterNack,
            ahead if ahead == self.outstanding => SenderEvent::EmptyNack,
            _ if e.is_before(self.base) => SenderEvent::OldNack,
            _ => SenderEvent::Beyond,
        }
    }

    /// Lets the timers expire whose time has come.
    pub fn expire(&mut self, now: Time, out: &mut Output<T>) {
        // Each at most once, even at the end of the clock, where time-outs take no time.
        for _ in 0..self.timers.len() {
            match self.timers.front() {
                Some(&(seq, expiry)) if expiry <= now => {
                    self.timers.pop_front();
                    if seq == self.base {
                        self.history.note(Occurrence::Timeout);
                    }
                    self.act(now, SenderEvent::Timeout, seq, out);
                    self.forget_timers();
                }
                _ => return,
            }
        }
    }

    /// Does what the table says about an event, which has a number: n, e or i.
    #[inline]
    pub fn act(&mut self, now: Time, event: SenderEvent, number: Seq, out: &mut Output<T>) {
        let cell = sender_cell(self.state, event);
        self.state = cell.next;
        match cell.deed {
            SenderDeed::Slide => {
                self.history.note(Occurrence::Pack);
                self.slide(number, out);
                self.proceed(now, out);
                if self.queued() == 0 && out.acknowledgement.is_due() {
                    // It has waited for room, and nothing is here that could go instead. What comes
                    // has less room.
                    if self.after_packs.is_empty() {
                        self.after_packs.push_back(self.base.plus(self.outstanding));
                    }
                    out.pack();
                }
            }
            SenderDeed::SlideAndResend => {
                self.history.note(Occurrence::Nack);
                self.slide(number, out);
                self.resend_all(now, Cause::Fast, out);
            }
            SenderDeed::ResendOne => self.transmit(now, number, Cause::Timeout, out),
            SenderDeed::ResendAll => self.resend_all(now, Cause::Timeout, out),
            SenderDeed::Send => {
                let next = self.base.plus(self.outstanding);
                self.outstanding += 1;
                self.transmit(now, next, Cause::First, out);
            }
            SenderDeed::Wait => {}
            SenderDeed::Ignore => out.tally.stale += 1,
            SenderDeed::Refuse => out.tally.refused += 1,
        }
    }

    /// Sends what may be sent.
    #[inline(always)]
    fn proceed(&mut self, now: Time, out: &mut Output<T>) {
        while self.outstanding() < self.packets.len() {
            self.let_pack_go(out);
            let room = self.has_room();
            let event = if room { SenderEvent::Room } else { SenderEvent::Full };
            let before = self.outstanding;
            self.act(now, event, self.base, out);
            if self.outstanding == before {
                return;
            }
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.outstanding + (self.after_packs.len() as u32) < self.window
    }

    /// Sends a Pack that has waited for room before the packet whose turn it is, if that cannot
    /// carry it. It takes the place of one; one at a time does.
    #[inline]
    fn let_pack_go(&mut self, out: &mut Output<T>) {
        let (_, rides) = self.packets[self.outstanding()];
        let waits = !rides && out.acknowledgement.is_due() && self.after_packs.is_empty();
        if waits && self.has_room() && self.state != SenderState::Stall {
            self.after_packs.push_back(self.base.plus(self.outstanding));
            out.pack();
        }
    }

    #[inline]
    fn slide(&mut self, base: Seq, out: &mut Output<T>) {
        while self.base != base
            && let Some((item, _)) = self.packets.pop_front()
        {
            out.acknowledged(item);
            self.base = self.base.plus(1);
            self.outstanding -= 1;
        }
        while self.after_packs.front().is_some_and(|after| after.is_before(self.base)) {
            self.after_packs.pop_front();
        }
        self.forget_timers();
    }

    /// Drops timers of acknowledged packets until the first one runs.
    #[inline]
    fn forget_timers(&mut self) {
        while let Some(&(seq, _)) = self.timers.front()
            && seq.is_before(self.base)
        {
            self.timers.pop_front();
        }
    }

    fn resend_all(&mut self, now: Time, cause: Cause, out: &mut Output<T>) {
        self.timers.clear();
        for ahead in 0..self.outstanding {
            self.transmit(now, self.base.plus(ahead), cause, out);
        }
    }

    /// Sends a packet and starts its timer.
    #[inline]
    fn transmit(&mut self, now: Time, seq: Seq, cause: Cause, out: &mut Output<T>) {
        let (item, rides) = self.packets[seq.since(self.base) as usize].clone();
        out.data(seq, item, rides, cause);
        self.timers.push_back((seq, now + self.timeout));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Tally;
    use crate::channel::go_back_n::acknowledgement::Acknowledgement;
    use proptest::prelude::*;

    const SPEC: GoBackNSpec = GoBackNSpec {
        window: 4,
        timeout: Time::from_ns(100),
        every: 1,
        after: Time::ZERO,
        simple: false,
    };

    proptest! {
        #[test]
        fn every_packet_outstanding_has_one_timer_and_the_first_one_runs(
            first: u32, steps in prop::collection::vec((0..4u8, 0..6u32, 0..40u64), 0..300),
        ) {
            let mut sender = Sender::new(&SPEC, Seq(first));
            let acknowledgement = Acknowledgement::new(&SPEC, Seq(0));
            let wanted = VecDeque::new();
            let mut out = Output { wanted, tally: Tally::default(), acknowledgement };
            let mut now = Time::ZERO;
            for (step, ahead, passed) in steps {
                now = now + Time::from_ns(passed);
                let number = sender.base.plus(ahead);
                match step {
                    0 => sender.send(now, (), ahead % 2 == 0, &mut out),
                    1 => sender.act(now, sender.pack(number), number, &mut out),
                    2 => sender.act(now, sender.nack(number), number, &mut out),
                    _ => sender.expire(now, &mut out),
                }
                let running = |timer: &&(Seq, Time)| !timer.0.is_before(sender.base);
                let mut packets: Vec<u32> = sender.timers.iter().filter(running)
                    .map(|timer| timer.0.since(sender.base)).collect();
                packets.sort_unstable();
                prop_assert!(packets.into_iter().eq(0..sender.outstanding));
                prop_assert!(sender.timers.front().is_none_or(|timer| running(&timer)));
                prop_assert!(sender.timers.iter().is_sorted_by_key(|timer| timer.1));
                prop_assert!(sender.timers.len() < 2 * SPEC.window as usize);
                prop_assert!(sender.outstanding <= SPEC.window);
            }
        }
    }
}
