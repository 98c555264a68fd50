//! Flow control by *stop* and *go*: what the sender into a buffer knows, and for how long it is
//! certain.
//!
//! The receiver looks at its buffer at the beginning of every tick: flits that have arrived,
//! without those that left in earlier ticks. What it says crosses the wire, so a sender sees the
//! filling of the buffer late: it sees a flit of its own again after the wire there and back, and a
//! flit that leaves the buffer after the wire back. Both are questions to the two timelines of the
//! buffer, and everything that happened before now is a fact there.
//!
//! More room than is known can only help: with the same flits sent, a buffer that empties sooner is
//! stopped for less time. So what is certain stays certain unless departures are taken back.
//!
//! In-transit buffers push back in the same way. What is marked `cold` here is so for a network
//! with credits, which must not pay for it.

use super::engine::{Engine, Vc, grants, sends};
use super::timeline::Timelines;
use super::wiring::{Target, Wire, Wiring};
use super::{Config, EPOCH, Flow, NEVER, Tick};

/// What a sender into a virtual channel has to heed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ahead {
    /// A buffer, for which it has credits.
    Credits,
    /// Nothing: what is sent ends here, in no buffer, and nobody is downstream.
    End,
    /// A buffer whose receiver says *stop* and *go*.
    StopAndGo,
    /// Nothing: the NIC at the end has in-transit buffers, but this packet goes to memory.
    Memory,
}

impl Ahead {
    /// What is ahead of a sender whose flits go to a target.
    pub fn of(target: Target, flow: Flow) -> Ahead {
        match (target, flow) {
            (Target::End, _) => Ahead::End,
            (Target::Host(_), _) => Ahead::Memory,
            (_, Flow::Credits) => Ahead::Credits,
            (_, Flow::StopAndGo { .. }) => Ahead::StopAndGo,
        }
    }

    /// Whether flits end here.
    #[inline]
    pub fn is_end(self) -> bool {
        matches!(self, Ahead::End | Ahead::Memory)
    }
}

/// A buffer as its sender sees it: how many flits have come and gone, and what it was told last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate {
    stop: u64,
    go: u64,
    /// Ticks after which the sender sees that a flit has come in, counted from sending it.
    seen_in: u32,
    /// Ticks after which it sees that a flit has gone out.
    seen_out: u32,
    /// The tick of which the rest is the picture.
    at: Tick,
    came: u64,
    left: u64,
    /// The most that has been in it, if it is an in-transit buffer.
    peak: u64,
    is_pool: bool,
    stopped: bool,
}

/// The gates of all virtual channels; none if no receiver says *stop* and *go*.
pub(super) fn gates(network: &Wiring, config: &Config) -> Vec<Gate> {
    if config.flow == Flow::Credits && config.in_transit.is_none() {
        return Vec::new();
    }
    let gate =
        |(target, wire): (&Target, _)| Gate::new(config, matches!(target, Target::Host(_)), wire);
    let channels = network.targets.iter().zip(&network.wires).map(gate);
    channels.flat_map(|gate| std::iter::repeat_n(gate, network.vcs as usize)).collect()
}

impl Gate {
    /// An empty buffer at the end of a wire: an in-transit buffer, or that of a virtual channel.
    fn new(config: &Config, is_pool: bool, wire: &Wire) -> Gate {
        let (stop, go) = match (config.in_transit, config.flow) {
            (Some(in_transit), _) if is_pool => {
                let stop = in_transit.share(config.virtual_channels) - 2 * config.wire;
                (stop.into(), u64::from(stop) - 1)
            }
            (_, Flow::StopAndGo { stop, go }) => (stop.into(), go.into()),
            // Its credits keep it from filling.
            (_, Flow::Credits) => (u64::MAX, 0),
        };
        let back = wire.latency - wire.cost;
        Gate {
            stop,
            go,
            seen_in: wire.latency + back,
            // What leaves in a tick is missed in the next.
            seen_out: back + 1,
            at: EPOCH,
            came: 0,
            left: 0,
            peak: 0,
            is_pool,
            stopped: false,
        }
    }

    /// Moves on to the next *stop* or *go* and says when it is seen; [`NEVER`] if none is known to
    /// come by `limit`.
    ///
    /// The filling changes by single flits, so it cannot reach a mark before as many have come, or
    /// gone, as are missing: leap to that tick, and see what went the other way meanwhile.
    fn turn(&mut self, lines: &Lines, limit: Tick) -> Tick {
        loop {
            let filling = self.filling();
            let at = if self.stopped {
                lines.out_seen(self, self.left + (filling - self.go - 1))
            } else {
                lines.in_seen(self, self.came.saturating_add(self.stop - filling - 1))
            };
            if at > limit || at == NEVER {
                return NEVER;
            }
            let turned = if self.stopped {
                self.look(lines, at);
                self.filling() <= self.go
            } else {
                // No two flits come in one tick.
                (self.at, self.came) = (at, self.came + (self.stop - filling));
                self.left = lines.out_by(self, at);
                self.filling() == self.stop
            };
            if turned {
                self.stopped = !self.stopped;
                return at;
            }
        }
    }

    /// Moves on to a tick.
    fn pass(&mut self, lines: &Lines, to: Tick) {
        let mut next = *self;
        while next.turn(lines, to) != NEVER {
            *self = next;
        }
        self.look(lines, to);
    }

    /// The most that will have been in it by a tick. Leaps as [`Self::turn`] does.
    fn peak_by(mut self, lines: &Lines, to: Tick) -> u64 {
        loop {
            let at = lines.in_seen(&self, self.came + (self.peak - self.filling()));
            if at > to {
                return self.peak;
            }
            self.look(lines, at);
            self.peak = self.peak.max(self.filling());
        }
    }

    fn look(&mut self, lines: &Lines, at: Tick) {
        self.at = at;
        (self.came, self.left) = (lines.in_by(self, at), lines.out_by(self, at));
    }

    fn filling(&self) -> u64 {
        self.came - self.left
    }
}

/// The two timelines of a buffer, and flits that may be sent into it besides.
struct Lines<'a> {
    times: &'a Timelines<Vc>,
    vc: u32,
    /// Credits granted before time began.
    depth: u64,
    /// Flits that are sent after all known ones: how many, when the first, how far apart.
    more: (u32, Tick, u32),
}

impl Lines<'_> {
    /// When the sender sees that flit `index` has come in.
    fn in_seen(&self, gate: &Gate, index: u64) -> Tick {
        let known = self.times.known(sends(self.vc));
        let (count, first, step) = self.more;
        match index.checked_sub(known) {
            None => self.times.effect(sends(self.vc), index, gate.seen_in),
            Some(n) if n < u64::from(count) => {
                first + n * u64::from(step) + u64::from(gate.seen_in)
            }
            Some(_) => NEVER,
        }
    }

    /// When the sender sees that flit `index` has gone out.
    fn out_seen(&self, gate: &Gate, index: u64) -> Tick {
        self.times.effect(grants(self.vc), self.depth + index, gate.seen_out)
    }

    /// How many flits the sender has seen come in by a tick.
    fn in_by(&self, gate: &Gate, at: Tick) -> u64 {
        let before = (at + 1).saturating_sub(u64::from(gate.seen_in));
        let (count, first, step) = self.more;
        let more = before.saturating_sub(first).div_ceil(u64::from(step)).min(u64::from(count));
        self.times.before(sends(self.vc), before) + more
    }

    /// How many flits the sender has seen go out by a tick.
    fn out_by(&self, gate: &Gate, at: Tick) -> u64 {
        let before = (at + 1).saturating_sub(u64::from(gate.seen_out));
        self.times.before(grants(self.vc), before) - self.depth
    }
}

impl Engine<'_> {
    fn lines(&self, vc: u32, more: (u32, Tick, u32)) -> Lines<'_> {
        Lines { times: &self.vcs, vc, depth: u64::from(self.network.depth), more }
    }

    /// The timelines of a buffer without further flits.
    fn known_lines(&self, vc: u32) -> Lines<'_> {
        self.lines(vc, (0, 0, 1))
    }

    /// A buffer as its sender sees it at a tick that is not over.
    fn gate(&self, lines: &Lines, at: Tick) -> Gate {
        let mut gate = self.gates[lines.vc as usize];
        if gate.at < at {
            gate.pass(lines, at);
        }
        gate
    }

    /// Brings the sender's view of a buffer up to now, before its timelines forget; says for how
    /// long they must remember a flit that is sent.
    #[cold]
    pub(super) fn settle(&mut self, vc: u32) -> u32 {
        let lines = self.known_lines(vc);
        let mut gate = self.gate(&lines, self.now);
        if gate.is_pool {
            gate.peak = self.gates[vc as usize].peak_by(&lines, self.now);
        }
        self.gates[vc as usize] = gate;
        gate.seen_in
    }

    /// The most flits that have been in an in-transit buffer before now.
    fn peak(&self, vc: u32) -> u32 {
        let gate = self.gates[vc as usize];
        // The sender sees the last tick that is over as late as what left in it.
        let peak = gate.peak_by(&self.known_lines(vc), self.now + u64::from(gate.seen_out) - 2);
        u32::try_from(peak).expect("a pool has at most 2^32 flits")
    }

    /// The most flits that the in-transit buffers of each host have held since time began, in the
    /// fullest share of a virtual channel. How long they were full is told by
    /// [`ChannelCount::blocked`](super::ChannelCount::blocked) of the channel into the host.
    ///
    /// Empty without [`Config::in_transit`].
    pub fn pool_peaks(&self) -> Vec<u32> {
        let peak = |&channel: &u32| {
            let first = channel * self.network.vcs;
            (first..first + self.network.vcs).map(|vc| self.peak(vc)).max().expect("a VC")
        };
        let hosts = self.network.host_in.iter().filter(|_| self.network.in_transit.is_some());
        hosts.map(peak).collect()
    }

    /// What counts as credits in hand for a VC without credits: all or nothing.
    #[cold]
    pub(super) fn credits_or_none(&self, vc: u32) -> u64 {
        let stopped = self.vcs[vc].ahead == Ahead::StopAndGo
            && self.gate(&self.known_lines(vc), self.now).stopped;
        if stopped { 0 } else { u64::from(self.network.depth) }
    }

    /// Returns true if the sender into a VC is stopped, and no *go* is on its way. When nothing
    /// happens any more, a *stop* on its way comes before any flit is sent.
    #[cold]
    pub(super) fn stays_stopped(&self, vc: u32) -> bool {
        let lines = self.known_lines(vc);
        let mut gate = self.gate(&lines, self.now);
        if self.next().is_none() {
            while gate.turn(&lines, NEVER) != NEVER {}
            return gate.stopped;
        }
        gate.stopped && gate.turn(&lines, NEVER) == NEVER
    }

    /// The first tick from `from` on, but not before now, in which the sender into a VC is not
    /// stopped; [`NEVER`] if it is not yet known.
    #[inline(never)]
    pub(super) fn goes_from(&self, vc: u32, from: Tick) -> Tick {
        if from == NEVER {
            return NEVER;
        }
        let lines = self.known_lines(vc);
        let from = from.max(self.now);
        let mut gate = self.gate(&lines, from);
        if gate.stopped { gate.turn(&lines, NEVER) } else { from }
    }

    /// How many flits, at most `limit`, the sender into a VC is certain not to be stopped for if it
    /// sends them at `at`, `at + step`, ...
    #[inline(never)]
    pub(super) fn goes_for(&self, vc: u32, limit: u32, at: Tick, step: u32) -> u32 {
        let lines = self.lines(vc, (limit, at, step));
        let mut gate = self.gate(&lines, at);
        if gate.stopped || limit == 0 {
            return 0;
        }
        let last = at + u64::from(limit - 1) * u64::from(step);
        match gate.turn(&lines, last) {
            NEVER => limit,
            stop => (stop - at).div_ceil(u64::from(step)) as u32,
        }
    }

    /// How many of the flits planned last for a VC would meet a *stop*, now that departures from
    /// its buffer have been taken back.
    #[cold]
    pub(super) fn doubtful(&self, vc: u32) -> u64 {
        let lines = self.known_lines(vc);
        let known = self.vcs.known(sends(vc));
        let mut gate = self.gates[vc as usize];
        let mut stop = if gate.stopped { gate.at } else { gate.turn(&lines, NEVER) };
        while stop != NEVER {
            let first = self.vcs.before(sends(vc), stop);
            if first == known {
                break;
            }
            if self.vcs.effect(sends(vc), first, 0) < gate.turn(&lines, NEVER) {
                return known - first;
            }
            stop = gate.turn(&lines, NEVER);
        }
        0
    }
}
