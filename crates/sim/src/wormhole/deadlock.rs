//! Finding a deadlock that has happened, and naming the channels in it.

use super::Tick;
use super::cast::FORKED;
use super::engine::{Engine, GROUP, STOP, Vc, grants, sends};
use super::flow::Ahead;
use super::plan::{in_turn, share};
use super::wiring::{NONE, Target};
use crate::network::Deadlock;

impl Engine<'_> {
    /// Looks for packets that will never move, whatever happens elsewhere.
    ///
    /// A buffer can move if its front packet has a way on: space ahead, a free virtual channel
    /// among those it may take, or one of these behind a buffer that can move. A packet that is
    /// forked needs a way on for every branch, and what a branch has taken is free again when the
    /// fork behind it can move. What cannot move by this rule waits, directly or not, only for
    /// other such buffers.
    pub fn deadlock(&self) -> Option<Deadlock> {
        let occupied: Vec<u32> = self.buffers().filter(|&vc| self.vcs[vc].front != NONE).collect();
        let mut movable = vec![false; self.buffers().len()];
        loop {
            let before = movable.iter().filter(|&&m| m).count();
            for &vc in &occupied {
                if !movable[vc as usize] {
                    movable[vc as usize] = self.blocker(vc, &movable).is_none();
                }
            }
            if movable.iter().filter(|&&m| m).count() == before {
                break;
            }
        }
        let stuck: Vec<u32> = occupied.into_iter().filter(|&vc| !movable[vc as usize]).collect();
        let mut path = vec![*stuck.first()?];
        loop {
            let here = *path.last().expect("not empty");
            let next = self.blocker(here, &movable).expect("what is stuck waits for something");
            if let Some(begin) = path.iter().position(|&vc| vc == next) {
                let circle = path[begin..].iter().map(|vc| vc / self.network.vcs).collect();
                return Some(Deadlock { circle, stuck: stuck.len() });
            }
            path.push(next);
        }
    }

    /// The header that has waited longest for an output: how many ticks, and at the end of which
    /// channel.
    pub fn longest_wait(&self) -> Option<(Tick, u32)> {
        let waiting = (0..self.vcs.len() as u32).filter(|&vc| {
            let vc = &self.vcs[vc];
            vc.front != NONE && vc.next == NONE && vc.ready <= self.now
        });
        waiting
            .map(|vc| (self.now - self.vcs[vc].ready, vc / self.network.vcs))
            .max_by_key(|&(ticks, channel)| (ticks, std::cmp::Reverse(channel)))
    }

    /// A buffer because of which the front packet of a buffer cannot move, if it cannot.
    fn blocker(&self, vc: u32, movable: &[bool]) -> Option<u32> {
        let target = self.network.targets[self.vcs[vc].channel as usize];
        if self.casting.is_some() {
            let copies = self.copies(vc);
            if !copies.is_empty() {
                let branches = copies.iter().map(|&copy| self.vcs[copy].next);
                let mut held = branches.filter(|&vc| vc != NONE && self.unsent(vc) > 0);
                return held.find_map(|vc| self.shut(Way { vc, held: true }, movable));
            }
            if let (NONE, Target::Switch(switch)) = (self.vcs[vc].next, target) {
                if let Some(channels) = self.asks_together(switch, vc) {
                    let mut all = channels.into_iter();
                    return all.find_map(|channel| self.all_shut(vc, switch, channel, movable));
                }
                let mut ways = self.ways(vc).map(|way| way.vc / self.network.vcs).peekable();
                let first = *ways.peek().expect("a header asks for something");
                let mut shut = ways.map(|channel| self.all_shut(vc, switch, channel, movable));
                return match shut.any(|shut| shut.is_none()) {
                    true => None,
                    false => self.all_shut(vc, switch, first, movable),
                };
            }
        }
        let mut blocker = None;
        for way in self.ways(vc) {
            match self.shut(way, movable) {
                None => return None,
                shut => blocker = blocker.or(shut),
            }
        }
        blocker
    }

    /// Flits of its packet that have not begun to be sent into a virtual channel.
    fn unsent(&self, vc: u32) -> u32 {
        let Vc { remaining, mux, bit, planned, .. } = self.vcs[vc];
        if !planned {
            return remaining;
        }
        let plan = self.muxes[mux as usize].plan;
        let rank = in_turn(plan.members, plan.first).position(|member| member == u32::from(bit));
        let rank = rank.expect("it is in the plan") as u32;
        remaining - share(self.slots_before(mux, &plan, self.now), rank, plan.members.count_ones())
    }

    /// A buffer because of which a header gets no virtual channel of an output, if it gets none: a
    /// header that stands before it in line and is to be forked keeps the output, or all virtual
    /// channels are taken.
    fn all_shut(&self, vc: u32, switch: u32, channel: u32, movable: &[bool]) -> Option<u32> {
        let line = self.line_of(switch);
        let line = &self.line[line..line + self.switches[switch as usize].waiting as usize];
        let before = line.iter().take_while(|&&other| other != vc);
        let keeps = |other: &&u32| {
            !movable[**other as usize]
                && self.asks_together(switch, **other).is_some_and(|all| all.contains(&channel))
        };
        let keeper = before.copied().collect::<Vec<_>>().iter().find(keeps).copied();
        keeper.or_else(|| {
            let mut blocker = None;
            for vc in channel * self.network.vcs..(channel + 1) * self.network.vcs {
                match self.shut(Way { vc, held: false }, movable) {
                    None => return None,
                    shut => blocker = blocker.or(shut),
                }
            }
            blocker
        })
    }

    /// The virtual channels into which the front packet of a buffer goes, or may go.
    fn ways(&self, vc: u32) -> impl Iterator<Item = Way> + '_ {
        let state = &self.vcs[vc];
        let mut channels = Vec::new();
        let target = self.network.targets[state.channel as usize];
        match (state.next, target) {
            (NONE, Target::ReceivingNic(host)) => {
                channels.push(self.network.host_write[host as usize]);
            }
            (NONE, Target::SendingNic(host) | Target::Host(host)) => {
                channels.push(self.network.host_out[host as usize]);
            }
            _ => {}
        }
        if let (NONE, Target::Switch(switch)) = (state.next, target) {
            let worm = state.front as usize;
            let hop = self.worms[worm].hop as usize;
            let tag = self.tags[worm * self.tags_per_worm + hop] & !STOP;
            let first_port = self.network.first_port[switch as usize];
            let channel =
                |port: u16| self.network.port_out[(first_port + u32::from(port)) as usize];
            if tag & GROUP == 0 {
                channels.push(channel(tag));
            } else {
                let ports = self.groups[(tag & !GROUP) as usize].iter();
                channels.extend(ports.map(|&port| channel(port)).filter(|&c| c != NONE));
            }
        }
        let vcs = self.network.vcs;
        let wanted = channels.into_iter().flat_map(move |c| c * vcs..(c + 1) * vcs);
        let taken = (state.next != NONE).then_some(state.next);
        taken
            .map(|vc| Way { vc, held: true })
            .into_iter()
            .chain(wanted.map(|vc| Way { vc, held: false }))
    }

    /// A buffer because of which a packet cannot go this way, neither now nor once others have
    /// moved; nothing if it can.
    fn shut(&self, way: Way, movable: &[bool]) -> Option<u32> {
        if !self.open(way, movable) {
            return Some(way.vc);
        }
        if way.held || self.casting.is_none() { None } else { self.starved(way.vc, movable) }
    }

    /// A fork because of which the packet that is being sent into a virtual channel does not come
    /// to its end, if there is one: another of its branches cannot move.
    fn starved(&self, mut vc: u32, movable: &[bool]) -> Option<u32> {
        loop {
            let feeder = self.vcs[vc].feeder;
            if self.vcs[vc].packet == NONE || feeder == NONE {
                return None;
            }
            vc = feeder;
            if self.vcs[feeder].packet == FORKED {
                vc = self.vcs[feeder].feeder;
                if !movable[vc as usize] {
                    return Some(vc);
                }
            }
            if self.vcs[vc].packet != self.vcs[vc].front {
                // All of it has come here.
                return None;
            }
        }
    }

    /// Returns true if the packets before it leave room for a packet on this way, now or once those
    /// that can move have moved.
    fn open(&self, way: Way, movable: &[bool]) -> bool {
        let state = &self.vcs[way.vc];
        // Whatever comes into an empty buffer moves up to its front.
        if state.ahead.is_end() || state.front == NONE || movable[way.vc as usize] {
            return true;
        }
        if self.holding.is_some() {
            // Room for flits does not help a circuit: it is released when it has got through.
            return !way.held && state.packet == NONE;
        }
        match (way.held, state.packet) {
            (true, _) => self.takes(way.vc, 1),
            (false, NONE) => true,
            (false, _) => self.takes(way.vc, state.remaining),
        }
    }

    /// Whether this many flits more find room in a buffer, though none leaves it any more.
    fn takes(&self, vc: u32, flits: u32) -> bool {
        match self.vcs[vc].ahead {
            Ahead::End | Ahead::Memory => true,
            Ahead::Credits => {
                // Credits that are on the wire come back.
                let granted = self.vcs.before(grants(vc), self.now);
                granted - self.vcs.before(sends(vc), self.now) >= u64::from(flits)
            }
            // A sender that is not stopped sends; when it cannot send any more, it is stopped.
            Ahead::StopAndGo => !self.stays_stopped(vc),
        }
    }
}

/// One virtual channel ahead of a buffer.
#[derive(Clone, Copy)]
struct Way {
    vc: u32,
    /// The front packet has it already.
    held: bool,
}
