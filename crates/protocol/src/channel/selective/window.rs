//! How many bytes may be under way: a window that finds itself.
//!
//! The window is what the way delivers in a round trip without the queue there ([`Backlog`]), and
//! beside it what makes that queue: as much as the way delivers in the time `ahead` (more on a long
//! path), and a few packets. A sender with less than that under way sees a rate that is its window
//! by the round trip, and widens it; one with more sees the rate of the rail, and narrows it.
//!
//! | phase | the window | until |
//! |---|---|---|
//! | start | grows by what is acknowledged, so it doubles in a round | the rate has not grown by a quarter in three rounds, or the queue is as long as it is to be, or many packets are lost |
//! | steady | follows rate and round trip | |
//!
//! Three things bound it:
//!
//! - [`Losses`] bound the queue.
//! - What is taken for a way without a queue must have none of our own. Twice in a second, if there
//!   is a queue, the window is drained for a round, and what packets take then is what they take
//!   without a queue. All who send to the same end do so at once, for it is its clock that says
//!   when: else they would take each other's queue for the way, and lengthen theirs. Whoever loses
//!   packets however short the queue is bound to be, does so as well.
//! - 256 packets, or on paths of more than 2 ms what the way delivers in two of the smallest round
//!   trips, up to 4,096 packets. Without that, two nodes that send to each other would take each
//!   other's queue for the way, and lengthen theirs.

use crosstie_units::Rate;

use super::backlog::{Backlog, Waited};
use super::delivery::{Delivery, Step};
use super::losses::{Extent, Losses};
use super::round_trip::RoundTrip;
use super::trains::Trains;
use crate::channel::SelectiveSpec;

/// The window of one sender, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// In picoseconds.
    ahead: u64,
    /// The longest packet.
    packet: u64,
    phase: Phase,
    /// What it would be if it were not drained, and what it is.
    bytes: u64,
    limit: u64,
    /// The most packets that may be under way.
    packets: u32,
    losses: Losses,
    drain: Drain,
    /// How long packets have waited at least in this round, in picoseconds.
    queue: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The largest rate, and rounds since it has grown much.
    Start {
        rate: f64,
        rounds: u32,
    },
    Steady,
}

/// The window is kept narrow to find the way without a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drain {
    Not,
    /// More than that is under way.
    Begun,
    /// It is not, since the round began.
    Reached,
}

/// Packets of the first window.
const FIRST: u64 = 10;

/// Packets of the queue beside `ahead`: acknowledgements come for two at a time.
const SPARE: u64 = 6;

/// Where the smallest round trip takes longer than this, in picoseconds, there may be more packets
/// than usual.
const WIDER: u64 = 2_000_000_000;

/// A path whose smallest round trip is longer than this, in picoseconds, is long. There an eighth
/// of what is beyond it is kept ahead, if that is more: the window grows by no more than that in a
/// round.
pub(super) const LONG: u64 = 8_000_000_000;

/// Packets of the narrowest window, and of one that is drained.
const LEAST: u64 = 2;
const DRAINED: u64 = 1;

/// Rounds without much growth after which the rate is what the way can do.
const STAGNANT: u32 = 3;

/// What a sender knows of its way.
#[derive(Debug, Clone)]
pub(super) struct Knowledge {
    pub trips: RoundTrip,
    pub backlog: Backlog,
    pub delivery: Delivery,
    pub trains: Trains,
}

impl Knowledge {
    /// What the way delivers in a round trip without the queue there, in bytes.
    #[inline]
    fn carried(&self) -> u64 {
        let rest = self.backlog.rest().or(self.trips.smallest()).unwrap_or(0);
        (self.delivery.rate() * rest as f64) as u64
    }

    /// What the way carries of what is sent next, and how many bytes have shown that.
    pub fn carries(&self) -> Option<(Rate, u64)> {
        self.trains.known()
    }
}

/// What an acknowledgement has shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    pub bytes: u64,
    pub packets: u32,
    pub waited: Option<Waited>,
    pub step: Step,
    /// What is under way after it.
    pub under_way: u64,
}

impl Window {
    pub fn new(spec: &SelectiveSpec) -> Window {
        Window {
            ahead: spec.ahead.ps(),
            packet: 0,
            phase: Phase::Start { rate: 0.0, rounds: 0 },
            bytes: 0,
            limit: 0,
            packets: SelectiveSpec::USUAL,
            losses: Losses::new(),
            drain: Drain::Not,
            queue: None,
        }
    }

    /// Bytes that may be under way.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes of the longest packet.
    #[inline]
    pub fn longest(&self) -> u64 {
        self.packet
    }

    /// Packets that may be under way.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Whether it is kept narrow.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.drain != Drain::Not
    }

    /// Whether another packet of the longest would fit.
    #[inline]
    pub fn has_room(&self, under_way: u64) -> bool {
        under_way + self.packet <= self.limit
    }

    /// Whether a packet as long as this was sent before: then it is as wide as it was.
    #[inline]
    pub fn has_seen(&self, bytes: u32) -> bool {
        u64::from(bytes) <= self.packet
    }

    /// A packet is to be sent.
    #[inline]
    pub fn take(&mut self, bytes: u32) {
        if !self.has_seen(bytes) {
            self.packet = u64::from(bytes);
            self.bytes = self.bytes.max(FIRST * self.packet);
            self.narrow();
        }
    }

    /// Something has been acknowledged.
    #[inline]
    pub fn acknowledged(&mut self, news: News, known: &mut Knowledge) {
        self.losses.delivered(news.packets);
        let smallest = known.trips.smallest().unwrap_or(0);
        if smallest > WIDER {
            let most = 2.0 * known.delivery.rate() * smallest as f64 / self.packet.max(1) as f64;
            self.packets = (most as u32).clamp(SelectiveSpec::USUAL, SelectiveSpec::WIDEST);
        }
        let queue = news.waited.map(|waited| waited.queue);
        self.queue = self.queue.into_iter().chain(queue).min();
        if self.drain == Drain::Begun && news.under_way <= DRAINED * self.packet {
            self.drain = Drain::Reached;
            known.delivery.begin_round();
            known.backlog.begin_round();
            self.queue = None;
        } else if news.step.round {
            self.end_round(news.step.limited, known);
        }
        let steady = matches!(self.phase, Phase::Steady);
        if steady && self.drain == Drain::Not && news.waited.is_some_and(|waited| waited.look) {
            self.drain = Drain::Begun;
        }
        match self.phase {
            Phase::Start { .. } => {
                if !news.step.limited && !self.is_long(queue, known) {
                    self.bytes += news.bytes;
                }
            }
            Phase::Steady => self.bytes = self.found(known),
        }
        self.narrow();
    }

    /// The window as rate and round trips have it.
    #[inline]
    fn found(&self, known: &Knowledge) -> u64 {
        known.carried() + self.losses.bound(self.beside(known))
    }

    /// Bytes of the queue that is wanted.
    #[inline]
    fn beside(&self, known: &Knowledge) -> u64 {
        let long = known.trips.smallest().unwrap_or(0).saturating_sub(LONG);
        let ahead = self.ahead.max(long / 8);
        (known.delivery.rate() * ahead as f64) as u64 + SPARE * self.packet
    }

    /// Whether a queue, in picoseconds, is longer than is wanted.
    #[inline]
    fn is_long(&self, queue: Option<u64>, known: &Knowledge) -> bool {
        queue.is_some_and(|queue| queue as f64 * known.delivery.rate() > self.beside(known) as f64)
    }

    fn end_round(&mut self, limited: bool, known: &mut Knowledge) {
        let queue = self.queue.take();
        let rate = known.delivery.rate();
        if self.drain == Drain::Reached {
            // Where many are lost, others fill the buffers, and what is measured has their queue in
            // it.
            if !self.losses.are_many() {
                known.backlog.settle();
            }
            self.drain = Drain::Not;
        }
        known.backlog.begin_round();
        self.losses.round(self.beside(known), self.packet, queue);
        match &mut self.phase {
            Phase::Start { rate: largest, rounds } => {
                if rate >= 1.25 * *largest {
                    (*largest, *rounds) = (rate, 0);
                } else if !limited {
                    *rounds += 1;
                }
                if *rounds >= STAGNANT || self.is_long(queue, known) {
                    self.phase = Phase::Steady;
                }
            }
            Phase::Steady => {}
        }
    }

    /// Packets have been lost, the last of them sent at a turn, while so much was under way; and
    /// how many turns there were.
    pub fn lost(&mut self, packets: u32, last: u64, turns: u64, under_way: u64, known: &Knowledge) {
        let beside = under_way.saturating_sub(known.carried());
        let extent = self.losses.lost(packets, last, turns, beside, self.packet);
        if extent != Extent::Few {
            self.phase = Phase::Steady;
            self.bytes = self.found(known);
        }
        // What is taken for the way without a queue must have one in it.
        if extent == Extent::TooMany && self.drain == Drain::Not {
            self.drain = Drain::Begun;
        }
        self.narrow();
    }

    /// Packets that were taken for lost had come.
    pub fn were_none_lost(&mut self, packets: u32) {
        self.losses.were_none(packets);
    }

    /// Keeps it within its bounds.
    #[inline]
    fn narrow(&mut self) {
        self.bytes = self.bytes.min(u64::from(self.packets) * self.packet);
        self.limit = match self.is_drained() {
            true => DRAINED * self.packet,
            false => self.bytes.max(LEAST * self.packet),
        };
    }
}
