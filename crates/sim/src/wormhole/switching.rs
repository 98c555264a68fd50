//! Release and allocation: how headers get output virtual channels.

use super::cast::FORKED;
use super::engine::{
    Behind, Engine, Event, GROUP, Observer, Packet, STOP, Vc, Worm, grants, sends,
};
use super::flow::Ahead;
use super::timeline::Run;
use super::wiring::{NONE, Origin, Target};
use super::{NEVER, Tick};
use crate::network::Ends;

/// The arbitration state of one switch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Switch {
    /// How many headers wait for an output.
    pub waiting: u32,
    /// The input that comes first among headers of the same tick.
    turn: u32,
    /// The place in a group at which the next adaptive choice begins to look.
    choice: u32,
    in_todo: bool,
}

impl Switch {
    /// The place in a group at which the next adaptive choice begins to look.
    pub fn choice(&self) -> usize {
        self.choice as usize
    }
}

impl Engine<'_> {
    /// The header at the front of a buffer has been routed: it asks from now on.
    pub(super) fn header_routed(&mut self, vc: u32) {
        match self.network.targets[self.vcs[vc].channel as usize] {
            Target::Switch(switch) => {
                self.line_up(switch, vc);
                self.arbitrate_soon(switch);
            }
            Target::SendingNic(host) => {
                self.line_up(self.network.nic(host), vc);
                self.arbitrate_soon(self.network.nic(host));
            }
            Target::Host(host) => {
                self.line_up(self.network.nic(host), vc);
                self.host_todo.push(host);
            }
            Target::ReceivingNic(host) => self.take_in(host, vc),
            Target::End => unreachable!("an end takes flits without looking at headers"),
        }
    }

    /// A header is at the front of a receiving buffer. The way on has a VC for each VC of the link;
    /// it is free whenever a new packet is at the front.
    #[inline(never)]
    fn take_in(&mut self, host: u32, vc: u32) {
        let packet = self.vcs[vc].front;
        let channel = match self.worms[packet as usize].packet.ends {
            Ends::Memories => self.network.host_write[host as usize],
            Ends::Nics => self.network.host_intake[host as usize],
        };
        self.connect(packet, vc, channel * self.network.vcs + vc % self.network.vcs);
    }

    /// Where the line of waiting headers of a switch begins; it has room for every input.
    pub(super) fn line_of(&self, switch: u32) -> usize {
        (self.network.first_port[switch as usize] * self.network.vcs) as usize
    }

    /// Puts a header at the end of its switch's line; of those that come in one tick, the first
    /// from `turn` on stands first.
    fn line_up(&mut self, switch: u32, vc: u32) {
        let line = self.line_of(switch);
        let inputs = self.line_of(switch + 1) - line;
        let Switch { waiting, turn, .. } = &mut self.switches[switch as usize];
        let rank = |vc: u32| {
            let Vc { channel, bit, .. } = self.vcs[vc];
            let input = self.network.in_port[channel as usize] * self.network.vcs + u32::from(bit);
            (input as usize + inputs - *turn as usize) % inputs
        };
        let mut place = line + *waiting as usize;
        *waiting += 1;
        while place > line {
            let before = self.line[place - 1];
            if self.vcs[before].ready < self.now || rank(before) < rank(vc) {
                break;
            }
            self.line[place] = before;
            place -= 1;
        }
        self.line[place] = vc;
    }

    pub(super) fn arbitrate_soon(&mut self, switch: u32) {
        let Switch { waiting, in_todo, .. } = &mut self.switches[switch as usize];
        if *waiting > 0 && !*in_todo {
            *in_todo = true;
            self.switch_todo.push(switch);
        }
    }

    /// Serves the waiting headers of all switches in which something has changed.
    pub(super) fn allocate(&mut self) {
        let mut todo = std::mem::take(&mut self.switch_todo);
        if self.casting.is_some() {
            for switch in todo.drain(..) {
                self.switches[switch as usize].in_todo = false;
                self.serve_casts(switch);
            }
        }
        match self.age {
            None => {
                for switch in todo.drain(..) {
                    self.switches[switch as usize].in_todo = false;
                    self.serve(switch);
                }
            }
            Some(age) => {
                for switch in todo.drain(..) {
                    self.switches[switch as usize].in_todo = false;
                    self.serve_by_priority(switch, age);
                }
            }
        }
        self.switch_todo = todo;
    }

    /// Goes once along the line of a switch; who gets no output stays in line.
    // One of the two callers serves every header of the network.
    #[inline(always)]
    fn serve(&mut self, switch: u32) {
        let line = self.line_of(switch);
        let mut stay = line;
        for place in line..line + self.switches[switch as usize].waiting as usize {
            let vc = self.line[place];
            if !self.serve_header(switch, vc) {
                self.line[stay] = vc;
                stay += 1;
            }
        }
        self.switches[switch as usize].waiting = (stay - line) as u32;
    }

    /// Gives the header at the front of a buffer an output VC, if it can have one.
    #[inline(always)]
    pub(super) fn serve_header(&mut self, switch: u32, vc: u32) -> bool {
        let first_port = self.network.first_port[switch as usize];
        let Vc { front: packet, channel, bit, ready, .. } = self.vcs[vc];
        let hop = self.worms[packet as usize].hop as usize;
        let is_nic = switch >= self.network.switches;
        let tag = if is_nic { 0 } else { self.tags[packet as usize * self.tags_per_worm + hop] };
        let stops = tag & STOP != 0;
        let tag = tag & !STOP;
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
        if self.network.in_transit.is_some() {
            self.address(to, stops);
        }
        if !is_nic {
            self.worms[packet as usize].hop += 1;
            if self.network.consumes_headers {
                self.worms[packet as usize].headers -= 1;
                self.leave(vc, Run { start: self.now, stride: 0, count: 1 });
            }
        }
        self.take_turn(switch, channel, bit, ready);
        self.connect(packet, vc, to);
        true
    }

    /// A header that has waited since it was ready has its turn.
    #[inline(always)]
    pub(super) fn take_turn(&mut self, switch: u32, channel: u32, bit: u8, ready: Tick) {
        let input = self.network.in_port[channel as usize] * self.network.vcs + u32::from(bit);
        self.switches[switch as usize].turn = input + 1;
        self.counts[channel as usize].waiting += self.now - ready.max(self.counting_since);
    }

    /// Says whether the packet that is given a VC stops at its end, if that is a host; for a free
    /// VC, it does not.
    #[cold]
    pub(super) fn address(&mut self, to: u32, stops: bool) {
        match self.network.targets[self.vcs[to].channel as usize] {
            Target::Host(_) if stops => self.vcs[to].ahead = Ahead::StopAndGo,
            Target::Host(_) => self.vcs[to].ahead = Ahead::Memory,
            target => assert!(!stops, "a route stops at {target:?}, expected a host"),
        }
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
    #[inline(always)]
    pub(super) fn best_vc(&self, channel: u32) -> (u32, u64) {
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
    #[inline]
    pub(super) fn credits(&self, vc: u32) -> u64 {
        let Vc { ahead, latency, .. } = self.vcs[vc];
        if ahead != Ahead::Credits {
            return self.credits_or_none(vc);
        }
        // Grants that have crossed the wire by now: those that happened before now - latency + 1.
        let visible = (self.now + 1).saturating_sub(u64::from(latency));
        self.vcs.before(grants(vc), visible) - self.vcs.before(sends(vc), self.now)
    }

    /// Starts queued packets of hosts on free VCs: first those in transit, then those of the NIC,
    /// on the link.
    pub(super) fn start_packets(&mut self) {
        let mut todo = std::mem::take(&mut self.host_todo);
        for host in todo.drain(..) {
            if self.network.in_transit.is_some() {
                self.serve_pool(host);
            }
            let link = self.network.host_out[host as usize];
            let memory = self.network.memory_out[host as usize];
            if let Some(age) = self.age {
                self.start_by_priority(host, Ends::Nics, link, age);
                self.start_by_priority(host, Ends::Memories, memory, age);
                continue;
            }
            self.start_from(host, Ends::Nics, link);
            self.start_from(host, Ends::Memories, memory);
        }
        self.host_todo = todo;
    }

    /// Starts packets that wait in the in-transit buffers of a host.
    #[cold]
    fn serve_pool(&mut self, host: u32) {
        let nic = self.network.nic(host);
        match self.age {
            None => self.serve(nic),
            Some(age) => self.serve_by_priority(nic, age),
        }
    }

    fn start_from(&mut self, host: u32, ends: Ends, channel: u32) {
        while self.free[channel as usize] != 0
            && let Some(&(packet, queued)) = self.queues[ends as usize][host as usize].front()
            && queued <= self.now
        {
            self.queues[ends as usize][host as usize].pop_front();
            self.start(packet, queued, channel);
        }
    }

    /// Gives a packet that leaves a queue a free VC.
    #[inline]
    pub(super) fn start(&mut self, packet: Packet, queued: Tick, channel: u32) {
        let worm = self.new_worm(packet, queued);
        let (to, _) = self.best_vc(channel);
        self.connect(worm, NONE, to);
    }

    /// Gives output VC `to` to a packet whose flits come from `from`.
    // For every hop of every packet: a call would show.
    #[inline(always)]
    pub(super) fn connect(&mut self, packet: u32, from: u32, to: u32) {
        let Worm { packet: Packet { flits, .. }, headers, .. } = self.worms[packet as usize];
        let vc = &mut self.vcs[to];
        (vc.packet, vc.feeder, vc.remaining) = (packet, from, flits + headers);
        (vc.head_waits, vc.arrives) = (true, NEVER);
        self.free[vc.channel as usize] &= !(1 << (to - vc.channel * self.network.vcs));
        if from != NONE {
            self.vcs[from].next = to;
        }
        if self.holding.is_some() {
            self.extend(to);
        }
        self.activate(to);
    }

    /// The tail of the packet in output VC `vc` has left.
    pub(super) fn release(&mut self, vc: u32, observer: &mut impl Observer) {
        if self.holding.is_some() && self.holds(vc, observer) {
            return;
        }
        let Vc { packet, feeder, channel, cost, latency, ahead, .. } = self.vcs[vc];
        let number = vc - channel * self.network.vcs;
        self.vcs[vc].packet = NONE;
        let left = self.now - u64::from(cost);
        observer.tail(&self.worms[packet as usize].packet, channel, number, left);
        self.free[channel as usize] |= 1 << number;
        match self.network.origins[channel as usize] {
            Origin::Switch(switch) => self.arbitrate_soon(switch),
            Origin::Memory(host) => self.host_todo.push(host),
            Origin::Nic(host) => {
                self.host_todo.push(host);
                self.arbitrate_soon(self.network.nic(host));
            }
            Origin::Nobody => {}
        }
        if ahead.is_end() {
            if self.holding.is_some() {
                self.spare_worms.push(packet);
            } else {
                self.arrive(packet, left + u64::from(latency), observer);
            }
        } else if ahead == Ahead::StopAndGo && self.network.in_transit.is_some() {
            self.address(vc, false);
        }
        if feeder != NONE {
            self.next_in_buffer(feeder);
        }
    }

    /// The last flit of a packet that is to be delivered reaches memory at tick `at`.
    #[inline]
    pub(super) fn arrive(&mut self, packet: u32, at: Tick, observer: &mut impl Observer) {
        // Over a bus, or without a wire, it is there in this very tick, whose events have been
        // taken already: it would be told after the second half.
        if at <= self.now && observer.may_halt() {
            self.deliver(packet, observer);
        } else {
            self.wheel.push(at, Event::Delivered(packet));
        }
    }

    /// The front packet of a buffer is gone; the one behind it moves up.
    pub(super) fn next_in_buffer(&mut self, vc: u32) {
        if self.vcs[vc].packet == FORKED {
            return self.branch_has_left(vc);
        }
        let (first, last) = {
            let vc = &mut self.vcs[vc];
            (vc.front, vc.next) = (NONE, NONE);
            vc.behind
        };
        if first != NONE {
            let Behind { packet, next, head_arrives } = self.behind[first as usize];
            self.spare_behind.push(first);
            self.vcs[vc].behind = if first == last { (NONE, NONE) } else { (next, last) };
            self.move_up(vc, packet, head_arrives);
        }
    }

    /// A header comes in at the end of a VC's buffer at tick `at`.
    pub(super) fn enter(&mut self, vc: u32, packet: u32, at: Tick) {
        if self.vcs[vc].front == NONE {
            return self.move_up(vc, packet, at);
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
        let (first, last) = self.vcs[vc].behind;
        if first == NONE {
            self.vcs[vc].behind = (id, id);
        } else {
            self.behind[last as usize].next = id;
            self.vcs[vc].behind = (first, id);
        }
    }

    fn move_up(&mut self, vc: u32, packet: u32, at: Tick) {
        let front = at.max(self.now);
        let ready = match self.network.targets[self.vcs[vc].channel as usize] {
            Target::Switch(_) => front + u64::from(self.network.routing),
            // The NIC looks at every packet as it comes, wherever it stands.
            Target::Host(_) => {
                let delay = self.network.in_transit.expect("with hosts that pass packets on");
                front.max(at + u64::from(delay))
            }
            Target::SendingNic(_) | Target::ReceivingNic(_) | Target::End => front,
        };
        let state = &mut self.vcs[vc];
        (state.front, state.ready) = (packet, ready);
        // A tail and the next header may change places within one tick, and routing may be instant.
        if ready <= self.now {
            self.header_routed(vc);
        } else {
            self.wheel.push(ready, Event::Header(vc));
        }
    }
}
