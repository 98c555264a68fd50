//! Broadcasts: packets to ranges of hosts, which switches fork.
//!
//! A header that is forked takes all its outputs at once, and each branch goes on as a packet of
//! its own ([`Strand`]). Between the buffer where the packet stands and each branch lies a *copy*
//! of that buffer: a virtual channel without a channel, whose timelines say when flits came into
//! the buffer and when they left it by this branch. So a branch sends from its copy as any packet
//! does from its buffer. A flit leaves the buffer itself when it has left all copies: the credits
//! granted for it are, one by one, the latest of those for the copies.
//!
//! What is marked `cold` is so for a network without broadcasts, which must not pay for them.

use super::engine::{Engine, Event, Vc, Worm, grants, sends};
use super::flow::Ahead;
use super::timeline::Run;
use super::wiring::NONE;
use super::{NEVER, Tick};
use crosstie_fabric::HostId;
use crosstie_routing::{HostRange, Onward, Spread};

/// In place of the virtual channel into which the front packet of a buffer is being sent: it is
/// forked. In place of the packet being sent into a virtual channel: that is a copy.
pub(super) const FORKED: u32 = NONE - 1;

/// What the network keeps of broadcasts.
#[derive(Debug)]
pub(super) struct Casting {
    casts: Vec<Cast>,
    spare_casts: Vec<u32>,
    /// Of each worm, by its number.
    strands: Vec<Strand>,
    /// The copies of each buffer whose front packet is forked.
    copies: Vec<Vec<u32>>,
    spare_copies: Vec<u32>,
    /// Outputs kept for headers that wait to be forked, with their free virtual channels, while the
    /// rest of the line is served.
    kept: Vec<(u32, u8)>,
}

/// A broadcast.
#[derive(Debug, Default)]
struct Cast {
    spread: Spread,
    /// The packet at its source.
    root: u32,
    /// Forks that its headers have not passed.
    forks: u32,
    /// Hosts that have not answered, if packets hold circuits.
    silent: u32,
    /// When the last of the answers is back at the source, so far.
    answered: Tick,
    /// A host has refused it.
    refused: bool,
}

/// What a worm is of a broadcast.
#[derive(Debug, Clone, Copy)]
struct Strand {
    /// The broadcast, or `NONE`.
    cast: u32,
    /// The fork that its header comes to next, or `NONE`.
    fork: u32,
}

const ALONE: Strand = Strand { cast: NONE, fork: NONE };

impl Casting {
    fn of(&self, worm: u32) -> Strand {
        self.strands.get(worm as usize).copied().unwrap_or(ALONE)
    }

    fn note(&mut self, worm: u32, strand: Strand) {
        let place = worm as usize;
        self.strands.resize(self.strands.len().max(place + 1), ALONE);
        self.strands[place] = strand;
    }
}

impl Engine<'_> {
    fn casting(&mut self) -> &mut Casting {
        self.casting.as_mut().expect("a network with broadcasts")
    }

    /// A worm is no broadcast.
    #[cold]
    pub(super) fn forget_strand(&mut self, worm: u32) {
        self.casting().note(worm, ALONE);
    }

    /// Returns true if a worm is a part of a broadcast.
    #[cold]
    pub(super) fn is_branch(&self, worm: u32) -> bool {
        self.casting.as_ref().is_some_and(|casting| casting.of(worm).cast != NONE)
    }

    /// A host starts a broadcast.
    #[cold]
    pub(super) fn begin_cast(&mut self, worm: u32) {
        if self.casting.is_none() {
            self.prepare_casting();
        }
        let hosts = self.hosts_per_rail;
        let packet = self.worms[worm as usize].packet;
        let host = |host: u32| HostId(host % hosts);
        let first = host(packet.to);
        let range = HostRange { first, last: HostId(first.0 + u32::from(packet.more)) };
        let casting = self.casting.as_mut().expect("it has been made");
        let number = casting.spare_casts.pop().unwrap_or_else(|| {
            casting.casts.push(Cast::default());
            casting.casts.len() as u32 - 1
        });
        casting.note(worm, Strand { cast: number, fork: 0 });
        let mut spread = std::mem::take(&mut casting.casts[number as usize].spread);
        assert!(
            self.routing.spread(host(packet.from), range, &mut spread),
            "a packet to hosts {} to {} needs a routing that knows ways to ranges of hosts",
            range.first.0,
            range.last.0
        );
        self.route.clear();
        spread.tags().iter().for_each(|&tag| self.route.push(tag));
        self.write_tags(worm);
        if self.network.consumes_headers {
            self.worms[worm as usize].headers = spread.tags().len() as u32 + depth(&spread, 0);
        }
        let forks = spread.forks();
        let silent = u32::from(packet.more) + 1;
        let cast = Cast { spread, root: worm, forks, silent, answered: 0, refused: false };
        self.casting().casts[number as usize] = cast;
    }

    fn prepare_casting(&mut self) {
        // What branches plan is in one run each; a buffer remembers the latest of them.
        let widest = self.network.first_port.windows(2).map(|ports| ports[1] - ports[0]).max();
        self.vcs.widen(4 * widest.unwrap_or(0) as usize);
        self.casting = Some(Box::new(Casting {
            casts: Vec::new(),
            spare_casts: Vec::new(),
            strands: Vec::new(),
            copies: vec![Vec::new(); self.vcs.len()],
            spare_copies: Vec::new(),
            kept: Vec::new(),
        }));
    }

    /// Goes along the line of a switch, where headers may wait to be forked. Outputs that one of
    /// these asks for are kept for it: headers behind it get none of them.
    #[cold]
    pub(super) fn serve_casts(&mut self, switch: u32) {
        let line = self.line_of(switch);
        let places = line..line + self.switches[switch as usize].waiting as usize;
        let levels: &[bool] = if self.age.is_some() { &[true, false] } else { &[true] };
        for &comes_first in levels {
            for place in places.clone() {
                let vc = self.line[place];
                let in_turn = |age| vc != NONE && self.comes_first(vc, age) == comes_first;
                if vc == NONE || !self.age.is_none_or(in_turn) {
                    continue;
                }
                let served = match self.fork_of(switch, vc) {
                    NONE => self.serve_header(switch, vc),
                    fork => self.serve_fork(switch, vc, fork),
                };
                if served {
                    self.line[place] = NONE;
                }
            }
        }
        let mut kept = std::mem::take(&mut self.casting().kept);
        if let (Some(age), false) = (self.age, kept.is_empty()) {
            // A header that grows old may go before a fork that keeps what is free.
            let old = |place: usize| self.vcs[self.line[place]].ready + age;
            let waiting = places.clone().filter(|&place| self.line[place] != NONE);
            if let Some(at) = waiting.map(old).filter(|&at| at > self.now).min() {
                self.wheel.push(at, Event::Aged(switch));
            }
        }
        for (channel, free) in kept.drain(..) {
            self.free[channel as usize] = free;
        }
        self.casting().kept = kept;
        let mut stay = line;
        for place in places {
            if self.line[place] != NONE {
                self.line[stay] = self.line[place];
                stay += 1;
            }
        }
        self.switches[switch as usize].waiting = (stay - line) as u32;
    }

    /// The fork that the header at the front of a buffer waits for at a switch, or `NONE`.
    fn fork_of(&self, switch: u32, vc: u32) -> u32 {
        let Some(casting) = &self.casting else { return NONE };
        let worm = self.vcs[vc].front;
        let Strand { cast, fork } = casting.of(worm);
        if cast == NONE || switch >= self.network.switches {
            return NONE;
        }
        let climb = casting.casts[cast as usize].spread.tags().len();
        if (self.worms[worm as usize].hop as usize) < climb { NONE } else { fork }
    }

    /// The channels by which a fork leaves its switch, and where they lead.
    fn outputs(&self, switch: u32, worm: u32, fork: u32) -> Vec<(u32, Onward)> {
        let casting = self.casting.as_ref().expect("a network with broadcasts");
        let first_port = self.network.first_port[switch as usize];
        let spread = &casting.casts[casting.of(worm).cast as usize].spread;
        let branches = spread.branches(fork).iter();
        let outputs = branches.map(|branch| {
            let out = self.network.port_out[(first_port + u32::from(branch.port.0)) as usize];
            assert!(out != NONE, "a way leads to a port of switch {switch} with nothing linked");
            (out, branch.onward)
        });
        outputs.collect()
    }

    /// Gives the header at the front of a buffer all its outputs, if all are free; else keeps
    /// those that are.
    fn serve_fork(&mut self, switch: u32, vc: u32, fork: u32) -> bool {
        let Vc { front: worm, channel, bit, ready, .. } = self.vcs[vc];
        let outputs = self.outputs(switch, worm, fork);
        if outputs.iter().any(|&(out, _)| self.free[out as usize] == 0) {
            for (out, _) in outputs {
                let free = std::mem::take(&mut self.free[out as usize]);
                if free != 0 {
                    self.casting().kept.push((out, free));
                }
            }
            return false;
        }
        self.worms[worm as usize].hop += 1;
        if self.network.consumes_headers {
            self.worms[worm as usize].headers -= 1;
            self.leave(vc, Run { start: self.now, stride: 0, count: 1 });
        }
        self.take_turn(switch, channel, bit, ready);
        let Strand { cast, .. } = self.casting().of(worm);
        if let [(out, onward)] = outputs[..] {
            self.go_on(worm, cast, onward);
            self.connect_branch(worm, vc, out);
        } else {
            for (out, onward) in outputs {
                let branch = self.branch_of(worm);
                self.go_on(branch, cast, onward);
                let copy = self.copy_of(vc);
                self.connect_branch(branch, copy, out);
            }
            self.vcs[vc].next = FORKED;
        }
        let done = self.holding.is_none();
        let state = &mut self.casting().casts[cast as usize];
        state.forks -= 1;
        if state.forks == 0 && done {
            self.casting().spare_casts.push(cast);
        }
        true
    }

    fn connect_branch(&mut self, worm: u32, from: u32, out: u32) {
        let (to, _) = self.best_vc(out);
        if self.network.in_transit.is_some() {
            self.address(to, false);
        }
        self.connect(worm, from, to);
    }

    /// Says where a worm goes from a fork.
    fn go_on(&mut self, worm: u32, cast: u32, onward: Onward) {
        let fork = match onward {
            Onward::Fork(fork) => fork,
            Onward::Host(host) => {
                let packet = &mut self.worms[worm as usize].packet;
                let rail = packet.from / self.hosts_per_rail;
                (packet.to, packet.more) = (rail * self.hosts_per_rail + host.0, 0);
                NONE
            }
        };
        self.casting().note(worm, Strand { cast, fork });
    }

    /// One more worm like another.
    fn branch_of(&mut self, worm: u32) -> u32 {
        let branch = self.put_worm(Worm { ..self.worms[worm as usize] });
        if let Some(holding) = &mut self.holding {
            holding.branch(worm, branch);
        }
        branch
    }

    /// One more copy of a buffer.
    fn copy_of(&mut self, vc: u32) -> u32 {
        let empty = Vc {
            packet: FORKED,
            feeder: vc,
            remaining: 0,
            head_waits: false,
            planned: false,
            front: NONE,
            next: NONE,
            behind: (NONE, NONE),
            arrives: NEVER,
            ready: NEVER,
            ahead: Ahead::Credits,
            ..self.vcs[vc]
        };
        let copy = match self.casting().spare_copies.pop() {
            Some(copy) => copy,
            None => self.vcs.add(empty),
        };
        self.vcs[copy] = empty;
        self.vcs.copy_lines(vc, copy);
        self.casting().copies[vc as usize].push(copy);
        copy
    }

    /// Flits are planned into a buffer whose front packet is forked.
    #[cold]
    pub(super) fn announce_to_branches(&mut self, vc: u32, run: Run, memory: u32) {
        for place in 0..self.casting().copies[vc as usize].len() {
            let copy = self.casting().copies[vc as usize][place];
            self.vcs.push(sends(copy), run, self.now, memory);
            let next = self.vcs[copy].next;
            if next != NONE {
                self.look_again(next);
            }
        }
    }

    /// Flits that were planned into a buffer whose front packet is forked do not come.
    #[cold]
    pub(super) fn take_back_from_branches(&mut self, vc: u32, flits: u32) {
        for place in 0..self.casting().copies[vc as usize].len() {
            let copy = self.casting().copies[vc as usize][place];
            self.vcs.cut(sends(copy), flits);
            self.cut_consumer(copy, self.vcs[copy].next);
        }
    }

    /// Flits leave a copy: those that have left all copies leave the buffer.
    #[cold]
    pub(super) fn merge(&mut self, copy: u32) {
        let vc = self.vcs[copy].feeder;
        loop {
            let known = self.vcs.known(grants(vc));
            let copies = &self.casting.as_ref().expect("there is a copy").copies[vc as usize];
            let least = copies.iter().map(|&copy| self.vcs.known(grants(copy))).min();
            if least.is_none_or(|least| least <= known) {
                return;
            }
            let runs = copies.iter().map(|&copy| self.vcs.seek(grants(copy), known));
            let count = runs.clone().map(|run| run.count).min().expect("a copy");
            let last = |run: Run| run.start + u64::from(run.stride) * u64::from(count - 1);
            let latest = runs.clone().max_by_key(|&run| (run.start, last(run))).expect("a copy");
            let is_last = runs.map(last).all(|tick| tick <= last(latest));
            let count = if is_last { count } else { 1 };
            self.leave(vc, Run { count, ..latest });
        }
    }

    /// Flits that were planned to leave a copy do not. Returns the buffer, which they do not leave
    /// either.
    #[cold]
    pub(super) fn unmerge(&mut self, copy: u32) -> u32 {
        let vc = self.vcs[copy].feeder;
        let left = self.vcs.known(grants(copy));
        let excess = self.vcs.known(grants(vc)).saturating_sub(left);
        self.vcs.cut(grants(vc), excess as u32);
        vc
    }

    /// A tail has left a copy. When it has left all, the buffer has the next packet at its front.
    #[cold]
    pub(super) fn branch_has_left(&mut self, copy: u32) {
        self.vcs[copy].next = NONE;
        let vc = self.vcs[copy].feeder;
        let casting = self.casting.as_mut().expect("there is a copy");
        let copies = &mut casting.copies[vc as usize];
        if copies.iter().any(|&copy| self.vcs[copy].next != NONE) {
            return;
        }
        for copy in copies.drain(..) {
            self.vcs[copy].packet = NONE;
            casting.spare_copies.push(copy);
        }
        self.spare_worms.push(self.vcs[vc].front);
        self.next_in_buffer(vc);
    }

    /// A host answers a packet. The answer is back at its source at a tick; those of a broadcast go
    /// on together when all are there. Returns the packet at the source, when the source hears, and
    /// true if a host has refused it; `None` as long as other hosts are silent.
    pub(super) fn combine(
        &mut self,
        worm: u32,
        back: Tick,
        refused: bool,
    ) -> Option<(u32, Tick, bool)> {
        let alone = (worm, back, refused);
        let Some(casting) = &mut self.casting else { return Some(alone) };
        let Strand { cast: number, .. } = casting.of(worm);
        if number == NONE {
            return Some(alone);
        }
        let cast = &mut casting.casts[number as usize];
        cast.answered = cast.answered.max(back);
        cast.refused |= refused;
        cast.silent -= 1;
        if cast.silent > 0 {
            return None;
        }
        casting.spare_casts.push(number);
        Some((cast.root, cast.answered, cast.refused))
    }

    /// The buffers from which the front packet of a buffer is sent: itself, or its copies.
    pub(super) fn copies(&self, vc: u32) -> &[u32] {
        match &self.casting {
            Some(casting) if self.vcs[vc].next == FORKED => &casting.copies[vc as usize],
            _ => &[],
        }
    }

    /// The channels that the header at the front of a buffer asks for all together, if it waits to
    /// be forked at a switch.
    pub(super) fn asks_together(&self, switch: u32, vc: u32) -> Option<Vec<u32>> {
        match self.fork_of(switch, vc) {
            NONE => None,
            fork => {
                let outputs = self.outputs(switch, self.vcs[vc].front, fork);
                Some(outputs.into_iter().map(|(out, _)| out).collect())
            }
        }
    }
}

/// How many switches fork a packet one after the other, from a fork on.
fn depth(spread: &Spread, fork: u32) -> u32 {
    let below = spread.branches(fork).iter().map(|branch| match branch.onward {
        Onward::Fork(next) => depth(spread, next),
        Onward::Host(_) => 0,
    });
    1 + below.max().unwrap_or(0)
}
