//! Release and allocation: how headers get output virtual channels.

use super::engine::{Behind, Engine, Event, GROUP, Observer, Vc, grants, sends};
use super::network::{NONE, Origin, Target};
use super::{NEVER, Tick};

/// The arbitration state of one switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Switch {
    /// Its words in `Engine::asking`.
    first_word: u32,
    words: u32,
    /// The input at which the next round begins.
    turn: u32,
    /// The position in a group at which the next adaptive choice begins to look.
    choice: u32,
    in_todo: bool,
}

impl Switch {
    /// The place in a group at which the next adaptive choice begins to look.
    pub fn choice(&self) -> usize {
        self.choice as usize
    }

    pub fn new(first_word: u32, words: u32) -> Self {
        Self { first_word, words, turn: 0, choice: 0, in_todo: false }
    }
}

impl Engine<'_> {
    /// The header at the front of a buffer has been routed: it asks from now on.
    pub(super) fn header_routed(&mut self, vc: u32) {
        match self.network.targets[self.vcs[vc as usize].channel as usize] {
            Target::Switch(switch) => {
                let input = self.input(vc);
                let word = self.switches[switch as usize].first_word + input / 64;
                self.asking[word as usize] |= 1 << (input % 64);
                self.arbitrate_soon(switch);
            }
            // A NIC has a drain for every VC; it is free whenever a new packet is at the front.
            Target::Nic(host) => {
                let drain = self.network.host_drain[host as usize];
                let to = drain * self.network.vcs + vc % self.network.vcs;
                self.connect(self.vcs[vc as usize].front, vc, to);
            }
            Target::Memory => unreachable!("memory takes flits without looking at headers"),
        }
    }

    /// The number of a VC among the inputs of its switch.
    fn input(&self, vc: u32) -> u32 {
        let Vc { channel, bit, .. } = self.vcs[vc as usize];
        self.network.in_port[channel as usize] * self.network.vcs + u32::from(bit)
    }

    fn arbitrate_soon(&mut self, switch: u32) {
        let Switch { first_word, words, in_todo, .. } = &mut self.switches[switch as usize];
        let asking = &self.asking[*first_word as usize..(*first_word + *words) as usize];
        if !*in_todo && asking.iter().any(|&word| word != 0) {
            *in_todo = true;
            self.switch_todo.push(switch);
        }
    }

    /// Serves the waiting headers of all switches in which something has changed.
    pub(super) fn allocate(&mut self) {
        let mut todo = std::mem::take(&mut self.switch_todo);
        for switch in todo.drain(..) {
            self.switches[switch as usize].in_todo = false;
            self.serve(switch);
        }
        self.switch_todo = todo;
    }

    /// One round over the waiting headers of a switch.
    fn serve(&mut self, switch: u32) {
        let Switch { first_word, words, turn, .. } = self.switches[switch as usize];
        // The word in which the round begins is visited twice: its upper bits first, its lower
        // bits last.
        let (start, bit) = (turn / 64, turn % 64);
        for step in 0..=words {
            let word = (start + step) % words;
            let mut bits = self.asking[(first_word + word) as usize];
            if step == 0 {
                bits &= !0 << bit;
            }
            if step == words {
                bits &= !(!0 << bit);
            }
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if self.try_input(switch, input) {
                    self.asking[(first_word + word) as usize] &= !(1 << (input % 64));
                    let inputs = words * 64;
                    self.switches[switch as usize].turn = (input + 1) % inputs;
                }
            }
        }
    }

    fn try_input(&mut self, switch: u32, input: u32) -> bool {
        let first_port = self.network.first_port[switch as usize];
        let channel = self.network.port_in[(first_port + input / self.network.vcs) as usize];
        let vc = channel * self.network.vcs + input % self.network.vcs;
        let packet = self.vcs[vc as usize].front;
        let hop = self.worms[packet as usize].hop as usize;
        let tag = self.tags[packet as usize * self.tags_per_worm + hop];
        let out = if tag & GROUP == 0 {
            self.network.port_out[(first_port + u32::from(tag)) as usize]
        } else {
            match self.choose_port(switch, first_port, (tag & !GROUP) as usize) {
                NONE => return false,
                out => out,
            }
        };
        assert!(
            out != NONE,
            "a route leads to port {tag} of switch {switch}: nothing is linked there"
        );
        if self.free[out as usize] == 0 {
            return false;
        }
        let (to, _) = self.best_vc(out);
        self.worms[packet as usize].hop += 1;
        let ready = self.vcs[vc as usize].ready;
        self.counts[channel as usize].waiting += self.now - ready.max(self.counting_since);
        self.connect(packet, vc, to);
        true
    }

    /// The channel with the most free VCs, then the most credits, then the first in turn; `NONE` if
    /// no port of the group has a free VC.
    fn choose_port(&mut self, switch: u32, first_port: u32, group: usize) -> u32 {
        let ports = &self.groups[group];
        let begin = self.switches[switch as usize].choice as usize % ports.len();
        let (late, early) = ports.split_at(begin);
        let (mut best, mut best_key, mut best_port) = (NONE, (0, 0), 0);
        for &port in early.iter().chain(late) {
            let channel = self.network.port_out[(first_port + u32::from(port)) as usize];
            if channel == NONE {
                continue;
            }
            let free = self.free[channel as usize].count_ones();
            if free == 0 || free < best_key.0 {
                continue;
            }
            let (_, credits) = self.best_vc(channel);
            if (free, credits) > best_key {
                (best, best_key, best_port) = (channel, (free, credits), port);
                if free == self.network.vcs && credits > u64::from(self.network.depth) {
                    break;
                }
            }
        }
        if best != NONE {
            let place = ports.iter().position(|&port| port == best_port).expect("chosen from them");
            self.switches[switch as usize].choice = (place as u32 + 1) % ports.len() as u32;
        }
        best
    }

    /// The free VC of a channel with the most credits, and one more than their number.
    fn best_vc(&self, channel: u32) -> (u32, u64) {
        let mut free = self.free[channel as usize];
        let (mut best, mut most) = (NONE, 0);
        while free != 0 && most <= u64::from(self.network.depth) {
            let vc = channel * self.network.vcs + free.trailing_zeros();
            free &= free - 1;
            let credits = self.credits(vc) + 1;
            if credits > most {
                (best, most) = (vc, credits);
            }
        }
        (best, most)
    }

    /// Credits in hand for sending into a VC.
    pub(super) fn credits(&self, vc: u32) -> u64 {
        let Vc { sink, latency, .. } = self.vcs[vc as usize];
        if sink {
            return u64::from(self.network.depth);
        }
        // Grants that have crossed the wire by now: those that happened before now - latency + 1.
        let visible = (self.now + 1).saturating_sub(u64::from(latency));
        self.lines.before(grants(vc), visible) - self.lines.before(sends(vc), self.now)
    }

    /// Starts queued packets of hosts on free injection VCs.
    pub(super) fn start_packets(&mut self) {
        let mut todo = std::mem::take(&mut self.host_todo);
        for host in todo.drain(..) {
            let channel = self.network.host_out[host as usize];
            while self.free[channel as usize] != 0
                && let Some(&(packet, queued)) = self.queues[host as usize].front()
                && queued <= self.now
            {
                self.queues[host as usize].pop_front();
                let worm = self.new_worm(packet, queued);
                let (to, _) = self.best_vc(channel);
                self.connect(worm, NONE, to);
            }
        }
        self.host_todo = todo;
    }

    /// Gives output VC `to` to a packet whose flits come from `from`.
    fn connect(&mut self, packet: u32, from: u32, to: u32) {
        let flits = self.worms[packet as usize].packet.flits;
        let vc = &mut self.vcs[to as usize];
        (vc.packet, vc.feeder, vc.remaining) = (packet, from, flits);
        (vc.head_waits, vc.arrives) = (true, NEVER);
        self.free[vc.channel as usize] &= !(1 << (to - vc.channel * self.network.vcs));
        if from != NONE {
            self.vcs[from as usize].next = to;
        }
        self.activate(to);
    }

    /// The tail of the packet in output VC `vc` has left.
    pub(super) fn release(&mut self, vc: u32, observer: &mut impl Observer) {
        let Vc { packet, feeder, channel, cost, latency, sink, .. } = self.vcs[vc as usize];
        let number = vc - channel * self.network.vcs;
        self.vcs[vc as usize].packet = NONE;
        let left = self.now - u64::from(cost);
        let id = self.worms[packet as usize].packet.id;
        observer.tail(id, channel, number, left);
        self.free[channel as usize] |= 1 << number;
        match self.network.origins[channel as usize] {
            Origin::Switch(switch) => self.arbitrate_soon(switch),
            Origin::Host(host) => self.host_todo.push(host),
            Origin::Nic => {}
        }
        if sink {
            self.wheel.push(left + u64::from(latency), Event::Delivered(packet));
        }
        if feeder != NONE {
            self.next_in_buffer(feeder);
        }
    }

    /// The front packet of a buffer is gone; the one behind it moves up.
    fn next_in_buffer(&mut self, vc: u32) {
        let (first, last) = {
            let vc = &mut self.vcs[vc as usize];
            (vc.front, vc.next) = (NONE, NONE);
            vc.behind
        };
        if first != NONE {
            let Behind { packet, next, head_arrives } = self.behind[first as usize];
            self.spare_behind.push(first);
            self.vcs[vc as usize].behind = if first == last { (NONE, NONE) } else { (next, last) };
            self.to_front(vc, packet, head_arrives.max(self.now));
        }
    }

    /// A header comes in at the end of a VC's buffer at tick `at`.
    pub(super) fn enter(&mut self, vc: u32, packet: u32, at: Tick) {
        if self.vcs[vc as usize].front == NONE {
            return self.to_front(vc, packet, at);
        }
        let entry = Behind { packet, next: NONE, head_arrives: at };
        let id = match self.spare_behind.pop() {
            Some(id) => {
                self.behind[id as usize] = entry;
                id
            }
            None => {
                self.behind.push(entry);
                self.behind.len() as u32 - 1
            }
        };
        let (first, last) = self.vcs[vc as usize].behind;
        if first == NONE {
            self.vcs[vc as usize].behind = (id, id);
        } else {
            self.behind[last as usize].next = id;
            self.vcs[vc as usize].behind = (first, id);
        }
    }

    fn to_front(&mut self, vc: u32, packet: u32, at: Tick) {
        let delay = match self.network.targets[self.vcs[vc as usize].channel as usize] {
            Target::Switch(_) => self.network.routing,
            Target::Nic(_) | Target::Memory => 0,
        };
        let ready = at + u64::from(delay);
        let state = &mut self.vcs[vc as usize];
        (state.front, state.ready) = (packet, ready);
        // A tail and the next header may change places within one tick, and routing may be instant.
        if ready <= self.now {
            self.header_routed(vc);
        } else {
            self.wheel.push(ready, Event::Header(vc));
        }
    }
}
