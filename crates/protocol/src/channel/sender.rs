//! The sending half of an endpoint.

use std::collections::VecDeque;

use crosstie_units::Time;

use super::history::{History, Occurrence};
use super::output::{Cause, Output};
use super::table::{SenderDeed, SenderEvent, SenderState, sender_cell};
use super::{ChannelSpec, Seq};

/// Keeps packets until they are acknowledged, and sends them as often as it takes.
#[derive(Debug)]
pub(super) struct Sender<T> {
    state: SenderState,
    window: u32,
    timeout: Time,
    /// The oldest packet outstanding.
    base: Seq,
    outstanding: u32,
    /// The packets outstanding from `base` on, and behind them those that wait.
    packets: VecDeque<T>,
    /// The timers in the order in which they expire, which is that in which they were started: all
    /// run equally long. Every packet outstanding has one; those of acknowledged packets may be left
    /// behind one that runs, so there are fewer than two windows of them. The first one runs.
    timers: VecDeque<(Seq, Time)>,
    history: History,
}

impl<T: Clone> Sender<T> {
    pub fn new(spec: &ChannelSpec, base: Seq) -> Sender<T> {
        Sender {
            state: if spec.simple { SenderState::Simple } else { SenderState::Normal },
            window: spec.window,
            timeout: spec.timeout,
            base,
            outstanding: 0,
            packets: VecDeque::new(),
            timers: VecDeque::new(),
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
    pub fn send(&mut self, now: Time, item: T, out: &mut Output<T>) {
        self.packets.push_back(item);
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
    #[inline]
    fn proceed(&mut self, now: Time, out: &mut Output<T>) {
        while self.outstanding() < self.packets.len() {
            let room = self.outstanding < self.window;
            let event = if room { SenderEvent::Room } else { SenderEvent::Full };
            let before = self.outstanding;
            self.act(now, event, self.base, out);
            if self.outstanding == before {
                return;
            }
        }
    }

    #[inline]
    fn slide(&mut self, base: Seq, out: &mut Output<T>) {
        while self.base != base
            && let Some(item) = self.packets.pop_front()
        {
            out.acknowledged(item);
            self.base = self.base.plus(1);
            self.outstanding -= 1;
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
        let item = self.packets[seq.since(self.base) as usize].clone();
        out.data(seq, item, cause);
        self.timers.push_back((seq, now + self.timeout));
    }
}
