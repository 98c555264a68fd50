//! Follows every route of a routing through the fabric.
//!
//! A leg that leaves its switches no choice is one row of channels and is followed at once. One
//! with groups is a whole bundle of them, of which legs to the same destination share most: these
//! are gathered destination by destination and followed together, each shared part once. There is
//! one state per (channel, tags that remain). A state gathers the traffic of every leg that passes
//! through it; states are taken in order of the number of tags that remain, most first, so that a
//! state is complete when its turn comes.

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, Port, SwitchId};

use crate::{Route, RouteFault, Routing, Tag, fault::Fault};

/// Told of everything the walk sees.
pub trait Visitor {
    /// A route, before it is followed.
    fn route(&mut self, from: HostId, to: HostId, route: &Route);

    /// Routes hold a channel; `traffic` is their number, shared evenly where a switch may choose.
    fn hold(&mut self, channel: ChannelId, traffic: f64);

    /// A packet that holds one channel may ask for another.
    fn depend(&mut self, held: ChannelId, asked: ChannelId);
}

/// Follows the routes between all pairs of different hosts.
pub fn walk(
    fabric: &Fabric,
    routing: &dyn Routing,
    visitor: &mut impl Visitor,
) -> Result<(), RouteFault> {
    let mut walk = Walk {
        fabric,
        routing,
        tails: Tails::new(fabric.hosts().len()),
        states: Vec::new(),
        by_length: Vec::new(),
        on_channel: vec![Vec::new(); fabric.channels().len()],
        next: Vec::new(),
    };
    let mut route = Route::default();
    for to in fabric.hosts() {
        for from in fabric.hosts().filter(|&from| from != to) {
            routing.route(from, to, &mut route);
            visitor.route(from, to, &route);
            walk.begin(from, to, &route, visitor)?;
        }
        walk.follow(to, visitor)?;
    }
    Ok(())
}

struct Walk<'a> {
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
    tails: Tails,
    states: Vec<State>,
    /// States by the number of tags that remain.
    by_length: Vec<Vec<u32>>,
    /// The states of each channel.
    on_channel: Vec<Vec<u32>>,
    /// The channels a tag allows, reused.
    next: Vec<ChannelId>,
}

/// Packets on one channel with the same tags left.
#[derive(Clone, Copy)]
struct State {
    channel: ChannelId,
    tail: u32,
    traffic: f64,
    /// One of the sources, to name in a fault.
    source: HostId,
}

impl Walk<'_> {
    /// Follows the legs of a route that leave no choice, and puts the others at their first
    /// channels.
    fn begin(
        &mut self,
        from: HostId,
        to: HostId,
        route: &Route,
        visitor: &mut impl Visitor,
    ) -> Result<(), RouteFault> {
        let mut start = from;
        for leg in route.legs() {
            let end = leg.stop.unwrap_or(to);
            if end.0 as usize >= self.fabric.hosts().len() {
                return Err(RouteFault { from, to, fault: Fault::NoSuchStop { host: end } });
            }
            let first = self.fabric.host_out(start);
            if leg.tags.iter().all(|tag| matches!(tag, Tag::Port(_))) {
                let followed = self.follow_ports(first, leg.tags, end, visitor);
                followed.map_err(|fault| RouteFault { from, to, fault })?;
            } else {
                let tail = self.tails.intern(leg.tags, end);
                self.add(first, tail, 1.0, from);
            }
            start = end;
        }
        Ok(())
    }

    /// Follows a leg that leaves no choice.
    fn follow_ports(
        &self,
        first: ChannelId,
        tags: &[Tag],
        end: HostId,
        visitor: &mut impl Visitor,
    ) -> Result<(), Fault> {
        let mut channel = first;
        visitor.hold(channel, 1.0);
        for &tag in tags {
            let Tag::Port(port) = tag else { unreachable!("the leg leaves a choice") };
            let next = match self.fabric.channel(channel).to.node {
                Node::Switch(switch) => self.by_port(switch, port)?,
                Node::Host(reached) => return Err(Fault::TooManyTags { reached }),
            };
            visitor.depend(channel, next);
            visitor.hold(next, 1.0);
            channel = next;
        }
        self.arrived(channel, end)
    }

    /// Whether a leg without tags left is where it should end.
    fn arrived(&self, channel: ChannelId, end: HostId) -> Result<(), Fault> {
        match self.fabric.channel(channel).to.node {
            Node::Host(reached) if reached == end => Ok(()),
            Node::Host(reached) => Err(Fault::WrongHost { reached }),
            Node::Switch(switch) => Err(Fault::TooFewTags { switch }),
        }
    }

    fn by_port(&self, switch: SwitchId, port: Port) -> Result<ChannelId, Fault> {
        self.fabric.switch_out(switch, port).ok_or(Fault::UnlinkedPort { switch, port })
    }

    /// Follows everything to its end and forgets it.
    fn follow(&mut self, to: HostId, visitor: &mut impl Visitor) -> Result<(), RouteFault> {
        for length in (0..self.by_length.len()).rev() {
            // Following a state adds only shorter ones.
            let states = std::mem::take(&mut self.by_length[length]);
            for &state in &states {
                let state = self.states[state as usize];
                visitor.hold(state.channel, state.traffic);
                self.advance(state, visitor).map_err(|fault| RouteFault {
                    from: state.source,
                    to,
                    fault,
                })?;
            }
            self.by_length[length] = states;
            self.by_length[length].clear();
        }
        for state in self.states.drain(..) {
            self.on_channel[state.channel.0 as usize].clear();
        }
        self.tails.clear();
        Ok(())
    }

    /// One switch, or the end.
    fn advance(&mut self, state: State, visitor: &mut impl Visitor) -> Result<(), Fault> {
        let node = self.fabric.channel(state.channel).to.node;
        match (self.tails.split(state.tail), node) {
            (Tail::End { host }, _) => self.arrived(state.channel, host),
            (Tail::More { .. }, Node::Host(reached)) => Err(Fault::TooManyTags { reached }),
            (Tail::More { tag, rest }, Node::Switch(switch)) => {
                let mut next = std::mem::take(&mut self.next);
                self.allowed(switch, tag, &mut next)?;
                let share = state.traffic / next.len() as f64;
                for &channel in &next {
                    visitor.depend(state.channel, channel);
                    self.add(channel, rest, share, state.source);
                }
                self.next = next;
                Ok(())
            }
        }
    }

    /// The channels a tag allows at a switch: at least one.
    fn allowed(&self, switch: SwitchId, tag: Tag, next: &mut Vec<ChannelId>) -> Result<(), Fault> {
        next.clear();
        match tag {
            Tag::Port(port) => next.push(self.by_port(switch, port)?),
            Tag::Group(group) => {
                let ports = self.routing.groups().get(usize::from(group.0));
                let ports = ports.ok_or(Fault::NoSuchGroup { switch, group })?;
                next.extend(ports.iter().filter_map(|&p| self.fabric.switch_out(switch, p)));
                if next.is_empty() {
                    return Err(Fault::UnlinkedGroup { switch, group });
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, channel: ChannelId, tail: u32, traffic: f64, source: HostId) {
        let here = &mut self.on_channel[channel.0 as usize];
        let known = here.iter().find(|&&state| self.states[state as usize].tail == tail);
        if let Some(&state) = known {
            self.states[state as usize].traffic += traffic;
            return;
        }
        let state = self.states.len() as u32;
        here.push(state);
        self.states.push(State { channel, tail, traffic, source });
        let length = self.tails.length(tail);
        if self.by_length.len() <= length {
            self.by_length.resize(length + 1, Vec::new());
        }
        self.by_length[length].push(state);
    }
}

/// What remains of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// No tag: the packet must be at this host.
    End { host: HostId },
    /// A tag, and another tail.
    More { tag: Tag, rest: u32 },
}

/// Tails, each kept once and numbered: a forest whose roots are the ends and whose branches are
/// tags put before what is there.
struct Tails {
    list: Vec<Branch>,
    /// The end at each host, or [`NO_TAIL`].
    ends: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Branch {
    tail: Tail,
    length: usize,
    /// The latest tail that has one tag more, and of those with one tag more than `rest` the one
    /// before this; [`NO_TAIL`] if there is none. They differ in their first tag, so there are
    /// hardly more than a switch has ports.
    longer: u32,
    sibling: u32,
}

const NO_TAIL: u32 = u32::MAX;

impl Tails {
    fn new(hosts: usize) -> Tails {
        Tails { list: Vec::new(), ends: vec![NO_TAIL; hosts] }
    }

    fn intern(&mut self, tags: &[Tag], end: HostId) -> u32 {
        let mut tail = self.ends[end.0 as usize];
        if tail == NO_TAIL {
            tail = self.add(Tail::End { host: end }, 0, NO_TAIL);
            self.ends[end.0 as usize] = tail;
        }
        for (length, &tag) in (1..).zip(tags.iter().rev()) {
            tail = self.longer(tail, tag, length);
        }
        tail
    }

    /// The tail with one more tag.
    fn longer(&mut self, rest: u32, tag: Tag, length: usize) -> u32 {
        let latest = self.list[rest as usize].longer;
        let wanted = Tail::More { tag, rest };
        let mut tail = latest;
        while tail != NO_TAIL {
            let branch = &self.list[tail as usize];
            if branch.tail == wanted {
                return tail;
            }
            tail = branch.sibling;
        }
        tail = self.add(wanted, length, latest);
        self.list[rest as usize].longer = tail;
        tail
    }

    fn add(&mut self, tail: Tail, length: usize, sibling: u32) -> u32 {
        self.list.push(Branch { tail, length, longer: NO_TAIL, sibling });
        self.list.len() as u32 - 1
    }

    fn split(&self, tail: u32) -> Tail {
        self.list[tail as usize].tail
    }

    fn length(&self, tail: u32) -> usize {
        self.list[tail as usize].length
    }

    fn clear(&mut self) {
        for branch in self.list.drain(..) {
            if let Tail::End { host } = branch.tail {
                self.ends[host.0 as usize] = NO_TAIL;
            }
        }
    }
}
