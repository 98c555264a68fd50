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
        let mut leaves = vec![Leaves::Nothing; self.buffers().len()];
        loop {
            let mut changed = false;
            for &vc in &occupied {
                if leaves[vc as usize] == Leaves::Packet {
                    continue;
                }
                let found = match self.blocker(vc, &leaves) {
                    None => Leaves::Packet,
                    Some(_) if self.branches_follow(vc, &leaves) => Leaves::Flits,
                    Some(_) => Leaves::Nothing,
                };
                changed |= found > leaves[vc as usize];
                leaves[vc as usize] = found.max(leaves[vc as usize]);
            }
            if !changed {
                break;
            }
        }
        let is_stuck = |vc: &u32| leaves[*vc as usize] != Leaves::Packet;
        let stuck: Vec<u32> = occupied.into_iter().filter(is_stuck).collect();
        let mut path = vec![*stuck.first()?];
        loop {
            let here = *path.last().expect("not empty");
            let next = self.blocker(here, &leaves).expect("what is stuck waits for something");
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
    fn blocker(&self, vc: u32, leaves: &[Leaves]) -> Option<u32> {
        let target = self.network.targets[self.vcs[vc].channel as usize];
        if self.casting.is_some() {
            let copies = self.copies(vc);
            if !copies.is_empty() {
                let branches = copies.iter().map(|&copy| self.vcs[copy].next);
                let mut held = branches.filter(|&vc| vc != NONE && self.unsent(vc) > 0);
                return held.find_map(|vc| self.shut(Way { vc, held: true }, leaves));
            }
            if let (NONE, Target::Switch(switch)) = (self.vcs[vc].next, target) {
                if let Some(channels) = self.asks_together(switch, vc) {
                    let mut all = channels.into_iter();
                    return all.find_map(|channel| self.all_shut(vc, switch, channel, leaves));
                }
                let mut ways = self.ways(vc).map(|way| way.vc / self.network.vcs).peekable();
                let first = *ways.peek().expect("a header asks for something");
                let mut shut = ways.map(|channel| self.all_shut(vc, switch, channel, leaves));
                return match shut.any(|shut| shut.is_none()) {
                    true => None,
                    false => self.all_shut(vc, switch, first, leaves),
                };
            }
        }
        let mut blocker = None;
        for way in self.ways(vc) {
            match self.shut(way, leaves) {
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
    fn all_shut(&self, vc: u32, switch: u32, channel: u32, leaves: &[Leaves]) -> Option<u32> {
        let line = self.line_of(switch);
        let line = &self.line[line..line + self.switches[switch as usize].waiting as usize];
        let mut before = line.iter().copied().take_while(|&other| other != vc);
        let keeper = before.find(|&other| {
            leaves[other as usize] != Leaves::Packet
                && !self.may_overtake(vc, other)
                && self.asks_together(switch, other).is_some_and(|all| all.contains(&channel))
        });
        keeper.or_else(|| {
            let mut blocker = None;
            for vc in channel * self.network.vcs..(channel + 1) * self.network.vcs {
                match self.shut(Way { vc, held: false }, leaves) {
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
    fn shut(&self, way: Way, leaves: &[Leaves]) -> Option<u32> {
        if !self.open(way, leaves) {
            return Some(way.vc);
        }
        if way.held || self.casting.is_none() { None } else { self.starved(way.vc, leaves) }
    }

    /// A fork because of which the packet that is being sent into a virtual channel does not come
    /// to its end, if there is one: another of its branches cannot move, and the buffer has no room
    /// for the rest of the packet.
    fn starved(&self, mut vc: u32, leaves: &[Leaves]) -> Option<u32> {
        // Buffers may feed each other in a ring, of which one round shows all there is.
        for _ in self.buffers() {
            let feeder = self.vcs[vc].feeder;
            if self.vcs[vc].packet == NONE || feeder == NONE {
                return None;
            }
            let is_fork = self.vcs[feeder].packet == FORKED;
            vc = if is_fork { self.vcs[feeder].feeder } else { feeder };
            if self.vcs[vc].packet != self.vcs[vc].front {
                // All of it has come here.
                return None;
            }
            // A circuit is released when all its branches have got through.
            let has_room = self.holding.is_none() && self.takes(vc, self.unsent(vc), leaves);
            if is_fork && leaves[vc as usize] != Leaves::Packet && !has_room {
                return Some(vc);
            }
        }
        None
    }

    /// Returns true if the packets before it leave room for a packet on this way, now or once those
    /// that can move have moved.
    fn open(&self, way: Way, leaves: &[Leaves]) -> bool {
        let state = &self.vcs[way.vc];
        // Whatever comes into an empty buffer moves up to its front.
        if state.ahead.is_end() || state.front == NONE || leaves[way.vc as usize] == Leaves::Packet
        {
            return true;
        }
        if self.holding.is_some() {
            // Room for flits does not help a circuit: it is released when it has got through.
            return !way.held && state.packet == NONE;
        }
        match (way.held, state.packet) {
            (true, _) => self.takes(way.vc, 1, leaves),
            (false, NONE) => true,
            (false, _) => self.takes(way.vc, self.unsent(way.vc), leaves),
        }
    }

    /// Returns true if `flits` more flits find room in a buffer whose front packet cannot leave it.
    fn takes(&self, vc: u32, flits: u32, leaves: &[Leaves]) -> bool {
        match self.vcs[vc].ahead {
            Ahead::End | Ahead::Memory => true,
            _ if leaves[vc as usize] == Leaves::Flits => true,
            Ahead::Credits => {
                // Credits that are on the wire come back.
                let granted = self.vcs.before(grants(vc), self.now);
                granted - self.vcs.before(sends(vc), self.now) >= u64::from(flits)
            }
            // A sender that is not stopped sends; when it cannot send any more, it is stopped.
            Ahead::StopAndGo => !self.stays_stopped(vc),
        }
    }

    /// Returns true if flits still leave a buffer though its front packet, which is forked, cannot:
    /// the branches that cannot move have sent them, others follow.
    fn branches_follow(&self, vc: u32, leaves: &[Leaves]) -> bool {
        let sent = |is_shut: bool| {
            let copies = self.copies(vc).iter().filter(move |&&copy| {
                let next = self.vcs[copy].next;
                let waits = next != NONE && self.unsent(next) > 0;
                is_shut == (waits && !self.open(Way { vc: next, held: true }, leaves))
            });
            copies.map(|&copy| self.vcs.before(grants(copy), self.now)).min()
        };
        sent(false).zip(sent(true)).is_some_and(|(behind, ahead)| behind < ahead)
    }
}

/// What leaves a buffer, now or once others have moved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leaves {
    Nothing,
    Flits,
    /// The packet at its front, all of it.
    Packet,
}

/// One virtual channel ahead of a buffer.
#[derive(Clone, Copy)]
struct Way {
    vc: u32,
    /// The front packet has it already.
    held: bool,
}
