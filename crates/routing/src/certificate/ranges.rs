//! The proof that packets to ranges of hosts cannot deadlock, or the cycle along which they can.
//!
//! A packet that is forked waits at several switches at once, and what it holds in one branch it
//! holds as long as another branch waits. No order of channels allows that. What is put in order
//! here are *turns*: a packet that came by one channel and holds another.
//!
//! Every virtual channel of a channel has one packet at its front, and only that holds outputs. So
//! if a packet waits, at the end of channel d, for a virtual channel of channel z, and all of those
//! are taken, at least one is taken by a packet that came by a channel other than d: the packets
//! that came by d are fewer, since one of them waits itself. It is enough to wait for that one.
//!
//! A fork takes its outputs all at once. While it waits, none of them is given to headers that
//! stand in line behind it; so a packet that waits for one output may have to wait for all outputs
//! of a fork that asks for it too.
//!
//! If turns can be put in order such that every packet that holds a turn only waits for later ones,
//! no circle of packets can wait for each other.

use super::Dependencies;
use crate::fault::Fault;
use crate::walk::walk;
use crate::{HostRange, Onward, RouteFault, Routing, Spread, Tag};
use crosstie_fabric::{ChannelId, Fabric, HostId, Node, Port, SwitchId};
use std::collections::{BTreeMap, BTreeSet};

/// What a packet holds: one channel, having come by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    /// The channel by which it came; `None` at its source.
    pub came_by: Option<ChannelId>,
    /// The channel that it holds.
    pub holds: ChannelId,
}

/// How a fork gets its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// All at once. Headers behind it in line get none of them before it.
    AtOnce,
    /// Each when it is free, holding those that it has got.
    OneByOne,
}

/// The answer to "can packets to these ranges deadlock, with each other or with others?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeCertificate {
    /// They cannot.
    DeadlockFree {
        /// All turns, such that packets that hold one only wait for later ones.
        order: Vec<Turn>,
    },
    /// They can, as far as is known.
    Cycle {
        /// Turns whose packets wait for the next, and the last for the first.
        cycle: Vec<Turn>,
    },
}

impl RangeCertificate {
    /// Returns true if they are proved free of deadlock.
    pub fn is_deadlock_free(&self) -> bool {
        matches!(self, RangeCertificate::DeadlockFree { .. })
    }
}

/// Follows the routes between all pairs of hosts and the ways from all hosts to some ranges, and
/// sorts the turns.
pub fn certify_ranges(
    fabric: &Fabric,
    routing: &dyn Routing,
    ranges: impl IntoIterator<Item = HostRange>,
    taking: Taking,
) -> Result<RangeCertificate, RouteFault> {
    let mut single = Dependencies::new(fabric);
    walk(fabric, routing, &mut single)?;
    let mut graph = Graph::new(fabric, taking);
    for held in fabric.channels().filter(|held| single.used[held.0 as usize]) {
        graph.begin(held);
        for asked in single.asked_from(held) {
            graph.step(held, asked);
        }
    }
    let mut spread = Spread::default();
    for range in ranges {
        for from in fabric.hosts() {
            let fault = |fault| RouteFault { from, to: range.first, fault };
            if !routing.spread(from, range, &mut spread) {
                return Err(fault(Fault::NoSpread { last: range.last }));
            }
            graph.spread(routing, from, range, &spread).map_err(fault)?;
        }
    }
    Ok(graph.certificate())
}

/// A thing that waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Turn(Turn),
    /// A packet on its way to one host, or up to its first fork: it has this channel and all that
    /// comes next.
    Onward(ChannelId),
    /// A header at the end of the first channel waits for the second.
    Waits(ChannelId, ChannelId),
    /// A packet of a spread asks at this fork and at those below it.
    Below(u32, u32),
    /// A packet of a spread asks in other branches than that to this fork.
    Beside(u32, u32),
    /// A packet of a spread that came by a channel asks at its first fork and below.
    First(u32, ChannelId),
}

struct Graph<'a> {
    fabric: &'a Fabric,
    taking: Taking,
    numbers: BTreeMap<Thing, u32>,
    things: Vec<Thing>,
    /// What each waits for.
    after: Vec<Vec<u32>>,
    /// The turns that lead into each channel.
    into: BTreeMap<ChannelId, BTreeSet<Turn>>,
    /// Channels that are asked for together.
    together: BTreeMap<ChannelId, BTreeSet<ChannelId>>,
    /// Spreads by range and first switch.
    spreads: BTreeMap<(HostRange, SwitchId), Vec<(Spread, u32)>>,
    count: u32,
}

impl<'a> Graph<'a> {
    fn new(fabric: &'a Fabric, taking: Taking) -> Graph<'a> {
        Graph {
            fabric,
            taking,
            numbers: BTreeMap::new(),
            things: Vec::new(),
            after: Vec::new(),
            into: BTreeMap::new(),
            together: BTreeMap::new(),
            spreads: BTreeMap::new(),
            count: 0,
        }
    }

    fn number(&mut self, thing: Thing) -> u32 {
        let next = self.things.len() as u32;
        let number = *self.numbers.entry(thing).or_insert(next);
        if number == next {
            self.things.push(thing);
            self.after.push(Vec::new());
        }
        number
    }

    fn edge(&mut self, from: Thing, to: Thing) {
        let (from, to) = (self.number(from), self.number(to));
        self.after[from as usize].push(to);
    }

    fn turn(&mut self, came_by: Option<ChannelId>, holds: ChannelId) -> Thing {
        let turn = Turn { came_by, holds };
        self.into.entry(holds).or_default().insert(turn);
        Thing::Turn(turn)
    }

    /// A packet takes its first channel.
    fn begin(&mut self, channel: ChannelId) {
        if let Node::Host(_) = self.fabric.channel(channel).from.node {
            let turn = self.turn(None, channel);
            self.edge(turn, Thing::Onward(channel));
        }
    }

    /// A packet that is not forked goes from one channel to the next.
    fn step(&mut self, held: ChannelId, asked: ChannelId) {
        let turn = self.turn(Some(held), asked);
        self.edge(turn, Thing::Onward(asked));
        self.edge(Thing::Onward(held), Thing::Waits(held, asked));
        self.edge(Thing::Onward(held), Thing::Onward(asked));
    }

    fn by_port(&self, switch: SwitchId, port: Port) -> Result<ChannelId, Fault> {
        self.fabric.switch_out(switch, port).ok_or(Fault::UnlinkedPort { switch, port })
    }

    /// A packet is spread.
    fn spread(
        &mut self,
        routing: &dyn Routing,
        from: HostId,
        range: HostRange,
        spread: &Spread,
    ) -> Result<(), Fault> {
        let mut heads = BTreeSet::from([self.fabric.host_out(from)]);
        self.begin(self.fabric.host_out(from));
        for &tag in spread.tags() {
            let mut next = BTreeSet::new();
            for held in heads {
                let switch = self.switch_after(held)?;
                let ports = match tag {
                    Tag::Port(port) => vec![port],
                    Tag::Group(group) => routing
                        .groups()
                        .get(usize::from(group.0))
                        .ok_or(Fault::NoSuchGroup { switch, group })?
                        .clone(),
                };
                for port in ports {
                    let asked = self.by_port(switch, port)?;
                    self.step(held, asked);
                    next.insert(asked);
                }
            }
            heads = next;
        }
        for came_by in heads {
            let switch = self.switch_after(came_by)?;
            let number = self.forks(range, switch, spread)?;
            self.edge(Thing::Onward(came_by), Thing::First(number, came_by));
            self.first(number, came_by, switch, spread)?;
        }
        Ok(())
    }

    fn switch_after(&self, channel: ChannelId) -> Result<SwitchId, Fault> {
        match self.fabric.channel(channel).to.node {
            Node::Switch(switch) => Ok(switch),
            Node::Host(reached) => Err(Fault::TooManyTags { reached }),
        }
    }

    /// The forks below the first one, if they are not there yet; the number of the spread.
    fn forks(&mut self, range: HostRange, root: SwitchId, spread: &Spread) -> Result<u32, Fault> {
        let known = self.spreads.entry((range, root)).or_default();
        let same = |other: &Spread| {
            (other.forks() == spread.forks())
                && (0..spread.forks()).all(|fork| other.branches(fork) == spread.branches(fork))
        };
        if let Some((_, number)) = known.iter().find(|(other, _)| same(other)) {
            return Ok(*number);
        }
        let number = self.count;
        known.push((spread.clone(), number));
        self.count += 1;
        let mut reached = BTreeSet::new();
        let mut todo = vec![(0, root, None)];
        while let Some((fork, switch, came_by)) = todo.pop() {
            let outputs = self.outputs(switch, spread, fork)?;
            if let Some(came_by) = came_by {
                self.fork(number, fork, came_by, &outputs);
            }
            for (channel, onward) in outputs {
                match (onward, self.fabric.channel(channel).to.node) {
                    (Onward::Host(host), Node::Host(found)) if host == found => {
                        reached.insert(host);
                    }
                    (Onward::Fork(next), Node::Switch(switch)) => {
                        todo.push((next, switch, Some(channel)));
                    }
                    (_, Node::Host(reached)) => return Err(Fault::WrongHost { reached }),
                    (_, Node::Switch(switch)) => return Err(Fault::TooFewTags { switch }),
                }
            }
        }
        match range.hosts().find(|host| !reached.contains(host)) {
            Some(host) => Err(Fault::Missed { host }),
            None if reached.len() as u32 > range.last.0 - range.first.0 + 1 => {
                let stranger = reached.into_iter().find(|&host| !range.contains(host));
                Err(Fault::WrongHost { reached: stranger.expect("one is too many") })
            }
            None => Ok(number),
        }
    }

    fn outputs(
        &self,
        switch: SwitchId,
        spread: &Spread,
        fork: u32,
    ) -> Result<Vec<(ChannelId, Onward)>, Fault> {
        let branches = spread.branches(fork).iter();
        branches.map(|branch| Ok((self.by_port(switch, branch.port)?, branch.onward))).collect()
    }

    /// A fork that a packet enters by a channel of the same spread.
    fn fork(
        &mut self,
        spread: u32,
        fork: u32,
        came_by: ChannelId,
        outputs: &[(ChannelId, Onward)],
    ) {
        for &(channel, onward) in outputs {
            self.edge(Thing::Below(spread, fork), Thing::Waits(came_by, channel));
            if let Onward::Fork(next) = onward {
                self.edge(Thing::Below(spread, fork), Thing::Below(spread, next));
            }
        }
        let above = Some(Thing::Beside(spread, fork));
        self.branches(spread, came_by, outputs, above);
    }

    /// The first fork, entered by a channel.
    fn first(
        &mut self,
        number: u32,
        came_by: ChannelId,
        switch: SwitchId,
        spread: &Spread,
    ) -> Result<(), Fault> {
        let outputs = self.outputs(switch, spread, 0)?;
        for &(channel, onward) in &outputs {
            self.edge(Thing::First(number, came_by), Thing::Waits(came_by, channel));
            if let Onward::Fork(next) = onward {
                self.edge(Thing::First(number, came_by), Thing::Below(number, next));
            }
        }
        self.branches(number, came_by, &outputs, None);
        Ok(())
    }

    /// What a packet waits for that holds a branch of a fork: below it, beside it, and beside the
    /// fork.
    fn branches(
        &mut self,
        spread: u32,
        came_by: ChannelId,
        outputs: &[(ChannelId, Onward)],
        above: Option<Thing>,
    ) {
        if self.taking == Taking::AtOnce && outputs.len() > 1 {
            self.ask_together(outputs);
        }
        for (place, &(channel, onward)) in outputs.iter().enumerate() {
            let turn = self.turn(Some(came_by), channel);
            // A branch to a host leads no further, and is known by its channel alone.
            let beside = match onward {
                Onward::Fork(next) => {
                    self.edge(turn, Thing::Below(spread, next));
                    Thing::Beside(spread, next)
                }
                Onward::Host(_) => turn,
            };
            if beside != turn {
                self.edge(turn, beside);
            }
            for (other, &(sibling, onward)) in outputs.iter().enumerate() {
                if other == place {
                    continue;
                }
                if let Onward::Fork(next) = onward {
                    self.edge(beside, Thing::Below(spread, next));
                }
                if self.taking == Taking::OneByOne {
                    self.edge(beside, Thing::Waits(came_by, sibling));
                }
            }
            if let Some(above) = above {
                self.edge(beside, above);
            }
        }
    }

    /// Outputs that one fork asks for are waited for together, as are those of forks that ask for
    /// one of them.
    fn ask_together(&mut self, outputs: &[(ChannelId, Onward)]) {
        let mut all: BTreeSet<ChannelId> = outputs.iter().map(|&(channel, _)| channel).collect();
        let whole = |all: &BTreeSet<ChannelId>, known: &BTreeSet<ChannelId>| known.is_superset(all);
        if self.together.get(&outputs[0].0).is_some_and(|known| whole(&all, known)) {
            return;
        }
        for (channel, _) in outputs {
            all.extend(self.together.get(channel).into_iter().flatten());
        }
        for &channel in &all {
            self.together.insert(channel, all.clone());
        }
    }

    /// Notes for each header that waits the turns that it waits for.
    fn wait(&mut self) {
        let waits = |thing: &Thing| match *thing {
            Thing::Waits(came_by, asked) => Some((came_by, asked)),
            _ => None,
        };
        for (came_by, asked) in self.things.iter().filter_map(waits).collect::<Vec<_>>() {
            let alone = BTreeSet::from([asked]);
            let together = self.together.get(&asked).unwrap_or(&alone);
            let turns = together.iter().flat_map(|channel| self.into.get(channel)).flatten();
            let others = turns.filter(|turn| turn.came_by != Some(came_by));
            for turn in others.copied().collect::<Vec<_>>() {
                self.edge(Thing::Waits(came_by, asked), Thing::Turn(turn));
            }
        }
    }

    fn certificate(mut self) -> RangeCertificate {
        self.wait();
        let mut before = vec![0u32; self.things.len()];
        for &after in self.after.iter().flatten() {
            before[after as usize] += 1;
        }
        let all = 0..self.things.len() as u32;
        let mut order: Vec<u32> =
            all.clone().filter(|&thing| before[thing as usize] == 0).collect();
        let mut head = 0;
        while let Some(&thing) = order.get(head) {
            head += 1;
            for &after in &self.after[thing as usize] {
                before[after as usize] -= 1;
                if before[after as usize] == 0 {
                    order.push(after);
                }
            }
        }
        let turns = |things: &[u32]| {
            let turn = |&thing: &u32| match self.things[thing as usize] {
                Thing::Turn(turn) => Some(turn),
                _ => None,
            };
            things.iter().filter_map(turn).collect()
        };
        match all.clone().find(|&thing| before[thing as usize] > 0) {
            None => RangeCertificate::DeadlockFree { order: turns(&order) },
            Some(_) => RangeCertificate::Cycle { cycle: turns(&self.shortest_cycle(&before)) },
        }
    }

    /// The shortest cycle through a turn that lies on one, among the things left out of the order.
    fn shortest_cycle(&self, before: &[u32]) -> Vec<u32> {
        let is_turn = |&thing: &u32| matches!(self.things[thing as usize], Thing::Turn(_));
        let left = (0..self.things.len() as u32).filter(|&thing| before[thing as usize] > 0);
        let cycles = left.filter(is_turn).filter_map(|turn| self.cycle(turn, before));
        cycles.take(64).min_by_key(Vec::len).expect("what is left out lies behind a cycle of turns")
    }

    fn cycle(&self, start: u32, before: &[u32]) -> Option<Vec<u32>> {
        let mut came_from = vec![None; self.things.len()];
        let mut queue = vec![start];
        let mut head = 0;
        loop {
            let thing = *queue.get(head)?;
            head += 1;
            for &after in self.after[thing as usize].iter().filter(|&&a| before[a as usize] > 0) {
                if after == start {
                    let back = std::iter::successors(Some(thing), |t| came_from[*t as usize]);
                    let mut cycle: Vec<_> = back.collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                if came_from[after as usize].is_none() {
                    came_from[after as usize] = Some(thing);
                    queue.push(after);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
