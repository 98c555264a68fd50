//! Finding a deadlock that has happened, and naming the channels in it.

use super::Tick;
use super::engine::{Engine, GROUP, STOP, grants, sends};
use super::flow::Ahead;
use super::wiring::{NONE, Target};
use crate::network::Deadlock;

impl Engine<'_> {
    /// Looks for packets that will never move, whatever happens elsewhere.
    ///
    /// A buffer can move if its front packet has a way on: space ahead, a free virtual channel
    /// among those it may take, or one of these behind a buffer that can move. What cannot move
    /// by this rule waits, directly or not, only for other such buffers.
    pub fn deadlock(&self) -> Option<Deadlock> {
        let occupied: Vec<u32> =
            (0..self.vcs.len() as u32).filter(|&vc| self.vcs[vc].front != NONE).collect();
        let mut movable = vec![false; self.vcs.len()];
        loop {
            let before = movable.iter().filter(|&&m| m).count();
            for &vc in &occupied {
                if !movable[vc as usize] {
                    movable[vc as usize] = self.ways(vc).any(|way| self.open(way, &movable));
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
            let next = self.ways(here).next().expect("what is stuck waits for something").vc;
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

    /// Whether a packet can go this way, now or once others have moved.
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
struct Way {
    vc: u32,
    /// The front packet has it already.
    held: bool,
}
