//! The sending half: packets until they are acknowledged, and which of them are lost.

use std::collections::VecDeque;

use crosstie_units::Time;

use super::backlog::Backlog;
use super::delivery::{Delivery, Departure};
use super::marks::Marks;
use super::reordering::{LATER, Reordering};
use super::round_trip::RoundTrip;
use super::trains::Trains;
use super::window::{Knowledge, News, Window};
use crate::channel::{Arrivals, History, Occurrence, Path, Sack, SelectiveSpec, Seq};

/// A packet that has been sent.
#[derive(Debug, Clone)]
struct Outstanding<T> {
    /// `None` when it is acknowledged.
    item: Option<T>,
    bytes: u32,
    /// Whether an acknowledgement can ride on it.
    rides: bool,
    /// Whether it is taken for lost, and not under way.
    lost: bool,
    /// Whether it has been sent more than once.
    again: bool,
    /// When it was last sent, and in which turn: every transmission has its own.
    sent: Time,
    turn: u64,
    departure: Departure,
}

/// Why a packet is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// It is its turn.
    First,
    /// It is taken for lost.
    Lost,
    /// Nothing has been heard.
    Silence,
}

/// The transmission that is known to have come of those sent last: what was sent before it should
/// have come, too.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    turn: u64,
    /// How long it took to be acknowledged, in picoseconds.
    trip: u64,
    /// Whether it may have been an earlier transmission of the same packet: then nothing is lost
    /// before this time.
    doubted: Option<Time>,
}

/// Keeps packets until they are acknowledged, and sends them as often as it takes.
#[derive(Debug, Clone)]
pub(super) struct Sender<T> {
    /// The oldest packet outstanding.
    base: Seq,
    /// The packets sent, from `base` on, which is not acknowledged; and which of them are.
    flight: VecDeque<Outstanding<T>>,
    acknowledged: Marks,
    /// How many of them are not.
    open: u32,
    /// Those that wait, with their bytes, and whether an acknowledgement can ride on them.
    waiting: VecDeque<(T, u32, bool)>,
    /// Transmissions in the order of their turns; of some the packet has been acknowledged, or
    /// sent again. The first one is neither.
    order: VecDeque<(Seq, u64)>,
    /// Those taken for lost, likewise.
    lost: VecDeque<(Seq, u64)>,
    turns: u64,
    /// Bytes sent that are neither acknowledged nor lost.
    under_way: u64,
    evidence: Evidence,
    /// When the next packet is to be taken for lost.
    overdue: Option<Time>,
    /// When something was last acknowledged, or sent when nothing was under way; and when
    /// something was last sent.
    heard: Time,
    sent: Time,
    /// How often something has been sent since, only to hear of it; when that was last, and
    /// whether it is to be done now.
    tries: u32,
    tried: Time,
    probe: bool,
    /// What the other end said last of packets that have come again; and how many were sent again
    /// that it may be about, in this round and the one before.
    repeated: u32,
    suspects: [u32; 2],
    known: Knowledge,
    window: Window,
    reordering: Reordering,
    history: History,
}

/// More transmissions than this are not remembered in order if their packets were sent again or
/// acknowledged.
const REMEMBERED: usize = 4 * SelectiveSpec::WIDEST as usize;

/// The most packets whose time on the rail counts until an acknowledgement comes.
const ACKNOWLEDGED: u64 = 3;

/// The longest time for which an answer to a packet that was sent more than once is in doubt.
const DOUBT: Time = Time::from_ns(25_000_000);

/// What comes of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Something is acknowledged.
    News,
    /// Nothing is that was not before.
    Nothing,
    /// It speaks of packets that were never sent.
    Impossible,
}

impl<T: Clone> Sender<T> {
    pub fn new(spec: &SelectiveSpec, base: Seq) -> Sender<T> {
        Sender {
            base,
            flight: VecDeque::new(),
            acknowledged: Marks::default(),
            open: 0,
            waiting: VecDeque::new(),
            order: VecDeque::new(),
            lost: VecDeque::new(),
            turns: 0,
            under_way: 0,
            evidence: Evidence::default(),
            overdue: None,
            heard: Time::ZERO,
            sent: Time::ZERO,
            tries: 0,
            tried: Time::ZERO,
            probe: false,
            repeated: 0,
            suspects: [0; 2],
            known: Knowledge {
                trips: RoundTrip::new(spec),
                backlog: Backlog::default(),
                delivery: Delivery::new(spec.ahead),
                trains: Trains::new(spec.ahead),
            },
            window: Window::new(spec),
            reordering: Reordering::new(spec),
            history: History::default(),
        }
    }

    #[inline]
    pub fn base(&self) -> Seq {
        self.base
    }

    pub fn outstanding(&self) -> usize {
        self.open as usize
    }

    /// If something waits for room, how long an acknowledgement may wait for it: a quarter of a
    /// round trip, if one is known.
    #[inline]
    pub fn ride(&self) -> Option<Time> {
        let smoothed = self.known.trips.smoothed_if_known()?;
        let rides = self.waiting.front().is_some_and(|&(.., rides)| rides);
        rides.then(|| Time::from_ps(smoothed / 4))
    }

    pub fn queued(&self) -> usize {
        self.waiting.len()
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    pub fn path(&self) -> Path {
        Path {
            smoothed: self.known.trips.smoothed_if_known().map(Time::from_ps),
            smallest: self.known.trips.smallest().map(Time::from_ps),
            queue: self.known.backlog.queue().map(Time::from_ps),
            rate: self.known.delivery.known(),
            carries: self.known.carries(),
            window: self.window.limit(),
            under_way: self.under_way,
        }
    }

    /// Takes a packet to send.
    #[inline]
    pub fn send(&mut self, item: T, bytes: u32, rides: bool) {
        self.window.take(bytes);
        self.waiting.push_back((item, bytes, rides));
    }

    /// All packets sent so far have waited in front of the path and leave only now. What that took
    /// is no round trip, and no try was made.
    pub fn leave(&mut self, now: Time) {
        let mut alone = true;
        for packet in &mut self.flight {
            packet.departure = self.known.delivery.departs(now, alone);
            (packet.sent, packet.again, alone) = (now, false, false);
        }
        self.known.trains.begin(now, 0);
        (self.heard, self.sent, self.tries, self.probe) = (now, now, 0, false);
    }

    /// Whether one more packet may be under way, by their number.
    #[inline]
    fn has_place(&self) -> bool {
        let packets = self.window.packets();
        self.open < packets && self.flight.len() < 2 * packets as usize
    }

    /// The next packet to be sent, whether an acknowledgement can ride on it, and why.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<(Seq, T, bool, Cause)> {
        if self.flight.is_empty() && self.waiting.is_empty() {
            self.known.delivery.limit(0);
            return None;
        }
        if std::mem::take(&mut self.probe)
            && let Some(place) = self.probed()
        {
            return Some(self.again(now, place, Cause::Silence));
        }
        while let Some(&(seq, turn)) = self.lost.front() {
            let place = seq.since(self.base) as usize;
            let packet = self.flight.get(place).filter(|packet| packet.turn == turn);
            match packet.filter(|packet| packet.lost) {
                None => _ = self.lost.pop_front(),
                Some(packet) if self.fits(packet.bytes) => {
                    self.lost.pop_front();
                    return Some(self.again(now, place, Cause::Lost));
                }
                Some(_) => return None,
            }
        }
        match self.waiting.front() {
            None if self.window.has_room(self.under_way) => {
                self.known.delivery.limit(self.under_way)
            }
            None => {}
            Some(_) if !self.has_place() => {}
            Some(&(_, bytes, _)) if self.fits(bytes) => return self.first(now),
            Some(_) if self.window.is_drained() => self.known.delivery.limit(self.under_way),
            Some(_) => {}
        }
        None
    }

    /// Whether there is room for a packet in the window. There is for one at least.
    #[inline]
    fn fits(&self, bytes: u32) -> bool {
        self.under_way == 0 || self.under_way + u64::from(bytes) <= self.window.limit()
    }

    /// The packet to be sent only to hear of it: at first the one sent last, of which nobody would
    /// miss anything, later the oldest.
    fn probed(&self) -> Option<usize> {
        let open = |place: &usize| self.flight[*place].item.is_some();
        match self.tries {
            0 => None,
            1 => (0..self.flight.len()).rev().find(open),
            _ => (!self.flight.is_empty()).then_some(0),
        }
    }

    /// Sends a packet for the first time.
    #[inline]
    fn first(&mut self, now: Time) -> Option<(Seq, T, bool, Cause)> {
        let (item, bytes, rides) = self.waiting.pop_front()?;
        if self.flight.is_empty() {
            self.heard = now;
        }
        let seq = self.base.plus(self.flight.len() as u32);
        let paused = self.pauses(now);
        let departure = self.depart(now, seq, bytes);
        if paused && departure.limited {
            self.known.trains.begin(now, self.turns);
        }
        let (lost, again, sent, turn) = (false, false, now, self.turns);
        let kept = Some(item.clone());
        self.open += 1;
        self.flight.push_back(Outstanding {
            item: kept,
            bytes,
            rides,
            lost,
            again,
            sent,
            turn,
            departure,
        });
        Some((seq, item, rides, Cause::First))
    }

    /// Whether everything that was sent has come by now: it is acknowledged, or it is as long ago
    /// as that takes of late.
    #[inline]
    fn pauses(&self, now: Time) -> bool {
        let trip = self.known.trips.smoothed_if_known();
        let since = now.ps().saturating_sub(self.sent.ps());
        self.flight.is_empty() || trip.is_some_and(|trip| since > trip)
    }

    /// Sends a packet again.
    fn again(&mut self, now: Time, place: usize, cause: Cause) -> (Seq, T, bool, Cause) {
        let Outstanding { bytes, rides, lost, .. } = self.flight[place];
        let seq = self.base.plus(place as u32);
        let departure = self.depart(now, seq, if lost { bytes } else { 0 });
        let packet = &mut self.flight[place];
        (packet.lost, packet.again) = (false, true);
        (packet.sent, packet.turn, packet.departure) = (now, self.turns, departure);
        self.suspects[0] = self.suspects[0].saturating_add(1);
        let item = packet.item.clone().expect("what is acknowledged is not sent again");
        (seq, item, rides, cause)
    }

    /// A transmission has its turn, and so many bytes more are under way.
    #[inline]
    fn depart(&mut self, now: Time, seq: Seq, bytes: u32) -> Departure {
        let departure = self.known.delivery.departs(now, self.under_way == 0);
        self.under_way += u64::from(bytes);
        self.turns += 1;
        self.sent = now;
        if self.order.len() >= REMEMBERED {
            let Sender { order, flight, base, .. } = self;
            order.retain(|&(seq, turn)| {
                let packet = flight.get(seq.since(*base) as usize);
                packet.is_some_and(|packet| packet.turn == turn && packet.item.is_some())
            });
        }
        self.order.push_back((seq, self.turns));
        departure
    }

    /// Whether everything before a number may have come.
    #[inline]
    pub fn is_possible(&self, expected: Seq) -> bool {
        expected.since(self.base) as usize <= self.flight.len() || expected.is_before(self.base)
    }

    /// Everything before a number has come.
    #[inline]
    pub fn cumulative(&mut self, now: Time, expected: Seq, done: impl FnMut(T)) -> Told {
        match expected.since(self.base) {
            0 => Told::Nothing,
            run if run as usize <= self.flight.len() => {
                self.acknowledge(now, run, (run, &Arrivals::default()), None, done)
            }
            _ if expected.is_before(self.base) => Told::Nothing,
            _ => Told::Impossible,
        }
    }

    /// What has come is told one by one.
    #[inline]
    pub fn selective(&mut self, now: Time, sack: &Sack, done: impl FnMut(T)) -> Told {
        let (run, start, came) = if sack.expected.is_before(self.base) {
            let behind = self.base.since(sack.expected);
            match sack.skipped.checked_sub(behind) {
                Some(start) => (0, start, sack.came),
                None => (0, 0, sack.came.later(behind - sack.skipped)),
            }
        } else {
            let run = sack.expected.since(self.base);
            (run, run.saturating_add(sack.skipped), sack.came)
        };
        let end = came.last().map_or(run, |last| start.saturating_add(last + 1));
        let never_sent = !sack.last.is_before(self.base)
            && sack.last.since(self.base) as usize >= self.flight.len();
        let is_missing = sack.skipped == 0 && sack.came.has(0);
        if never_sent || is_missing || run.max(end) as usize > self.flight.len() {
            return Told::Impossible;
        }
        let again = sack.repeated.wrapping_sub(self.repeated);
        if again != 0 && again <= i32::MAX as u32 {
            self.repeated = sack.repeated;
            let [now, before] = std::mem::take(&mut self.suspects);
            let for_nothing = again.min(now.saturating_add(before));
            if for_nothing > 0 {
                self.reordering.for_nothing();
                self.window.were_none_lost(for_nothing);
            }
        }
        self.acknowledge(now, run, (start, &came), Some(sack), done)
    }

    /// All packets before a number have come, and others after it; perhaps a Sack has said so.
    fn acknowledge(
        &mut self,
        now: Time,
        run: u32,
        (start, came): (u32, &Arrivals),
        sack: Option<&Sack>,
        mut done: impl FnMut(T),
    ) -> Told {
        let before = self.evidence.turn;
        let last = sack.and_then(|sack| self.flight.get(sack.last.since(self.base) as usize));
        let last = last.filter(|last| last.item.is_some() && !last.again);
        let last = last.map(|last| (last.sent, last.bytes));
        let (mut bytes, mut packets) = (0, 0);
        let mut newest: Option<(u64, usize)> = None;
        let mut overtaken = false;
        let mut take = |this: &mut Self, place: usize| {
            let packet = &mut this.flight[place];
            let Some(item) = packet.item.take() else { return };
            bytes += u64::from(packet.bytes);
            packets += 1;
            this.open -= 1;
            overtaken |= packet.turn < before && !packet.again;
            if newest.is_none_or(|(turn, _)| packet.turn > turn) {
                newest = Some((packet.turn, place));
            }
            if !std::mem::take(&mut packet.lost) {
                this.under_way -= u64::from(packet.bytes);
            }
            this.known.delivery.deliver(packet.bytes);
            if !packet.again {
                this.known.trains.deliver(packet.turn, packet.bytes);
            }
            done(item);
        };
        for place in 0..run as usize {
            take(self, place);
        }
        if !came.is_empty() {
            let known = self.acknowledged.view(self.base.plus(start));
            for place in came.without(&known).iter() {
                take(self, (start + place) as usize);
                self.acknowledged.insert(self.base.plus(start + place));
            }
        }
        let Some((_, place)) = newest else { return Told::Nothing };
        let Outstanding { sent, turn, again, departure, bytes: newest, .. } = self.flight[place];
        self.slide(run);
        self.history.note(Occurrence::Pack);
        (self.heard, self.tries, self.probe) = (now, 0, false);
        if overtaken {
            self.reordering.overtaken();
        }
        let trip = now.ps().saturating_sub(sent.ps());
        let mut waited = None;
        if let Some((sack, (sent, bytes))) = sack.zip(last) {
            // Who says to have held it for longer than it is known to be under way tells nothing.
            let taken =
                now.ps().saturating_sub(sent.ps()).checked_sub(u64::from(sack.held) * 1_000);
            if let Some(taken) = taken {
                self.known.trips.note(taken, bytes);
                let smallest = self.known.trips.smallest().unwrap_or(taken);
                waited = Some(self.known.backlog.note(sent, sack.at, taken, smallest));
            }
        } else if sack.is_none() && !again {
            self.known.trips.note(trip, newest);
        }
        let smallest = self.known.trips.smallest();
        // As long as nothing is known, it may be the answer to any of several transmissions.
        if turn > before && (!again || smallest.is_some()) {
            // With more than one answer in doubt, the sender waits no longer than for the first.
            let doubted = again.then(|| {
                let doubted = now + Time::from_ps(self.known.trips.smoothed()).min(DOUBT);
                let before = self.evidence.doubted.filter(|&before| before > now);
                before.map_or(doubted, |before| before.min(doubted))
            });
            // What seems to come sooner than ever was sent before.
            let trip = smallest.filter(|_| again).map_or(trip, |smallest| trip.max(smallest));
            self.evidence = Evidence { turn, trip, doubted };
        }
        let smallest = smallest.unwrap_or(0);
        let step = self.known.delivery.measure(now, &departure, sent, smallest);
        if let Some(quickest) = self.known.trips.quickest() {
            let held = sack.map_or(0, |sack| u64::from(sack.held) * 1_000);
            let came = Time::from_ps(now.ps().saturating_sub(held));
            self.known.trains.acknowledged(came, quickest, &step, self.known.delivery.rate());
        }
        let news = News { bytes, packets, waited, step, under_way: self.under_way };
        self.window.acknowledged(news, &mut self.known);
        if news.step.round {
            self.suspects = [0, self.suspects[0]];
        }
        self.detect(now);
        Told::News
    }

    /// Forgets the first packets, which are acknowledged, and those after them that are.
    #[inline]
    fn slide(&mut self, run: u32) {
        let run = self.acknowledged.pass(self.base, run);
        self.flight.drain(..run as usize);
        self.base = self.base.plus(run);
    }

    /// Finds out which packets are lost.
    #[inline]
    fn detect(&mut self, now: Time) {
        self.overdue = None;
        let (mut packets, mut bytes, mut last) = (0, 0, 0);
        while let Some(&(seq, turn)) = self.order.front() {
            let packet = self.flight.get_mut(seq.since(self.base) as usize);
            let live = |packet: &&mut Outstanding<T>| {
                packet.turn == turn && packet.item.is_some() && !packet.lost
            };
            if let Some(packet) = packet.filter(live) {
                if turn >= self.evidence.turn {
                    break;
                }
                let Evidence { turn: later, trip, doubted } = self.evidence;
                let smallest = self.known.trips.smallest().unwrap_or(0);
                let margin = self.reordering.margin(smallest, self.known.trips.smoothed());
                let due = packet.sent + Time::from_ps(trip) + Time::from_ps(margin);
                let due = doubted.map_or(due, |doubted| due.max(doubted));
                let in_order = self.reordering.keeps_order() && doubted.is_none();
                if due > now && !(in_order && later - turn >= LATER) {
                    self.overdue = Some(due);
                    break;
                }
                packet.lost = true;
                packets += 1;
                bytes += u64::from(packet.bytes);
                last = turn;
                self.lost.push_back((seq, turn));
            }
            self.order.pop_front();
        }
        if packets > 0 {
            let before = self.under_way;
            self.under_way -= bytes;
            self.history.note(Occurrence::Nack);
            self.reordering.lost();
            self.window.lost(packets, last, self.turns, before, &self.known);
        }
    }

    /// When something is to be done, if nothing is heard before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.overdue.or_else(|| self.silence())
    }

    /// When something is to be sent only to hear of it.
    #[inline]
    fn silence(&self) -> Option<Time> {
        if self.flight.is_empty() {
            return None;
        }
        let serial = self.serial();
        Some(match self.tries {
            0 => {
                let probe = self.sent.max(self.heard) + self.known.trips.probe(serial);
                probe.min(self.heard + self.known.trips.timeout(0, serial))
            }
            tries => self.tried + self.known.trips.timeout(tries - 1, serial),
        })
    }

    /// What the rail takes to transmit the packets that the next acknowledgement may be about,
    /// beyond what round trips have shown: packets may be longer than those that were measured. An
    /// acknowledgement comes for two packets, and may ride on one as long.
    #[inline]
    fn serial(&self) -> Time {
        let (longest, shown) = (self.window.longest(), self.known.trips.bytes());
        if longest <= shown {
            return Time::ZERO;
        }
        let bytes = (2 * self.under_way).min(ACKNOWLEDGED * longest);
        self.known.trains.time_for(bytes.saturating_sub(ACKNOWLEDGED * shown))
    }

    /// Lets the time come.
    pub fn expire(&mut self, now: Time) {
        if self.overdue.is_some_and(|overdue| overdue <= now) {
            self.detect(now);
        }
        // Once there is an answer, what is missing is found by that.
        if self.overdue.is_none() && self.silence().is_some_and(|silence| silence <= now) {
            self.tries = self.tries.saturating_add(1);
            (self.tried, self.probe) = (now, true);
            self.history.note(Occurrence::Timeout);
        }
    }
}
