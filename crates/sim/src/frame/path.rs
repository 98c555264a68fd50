//! The ways of frames.

use super::detour::Detours;
use crosstie_fabric::{ChannelId, Fabric, HostId, Node};
use crosstie_routing::{Route, Routing, Tag};

/// Channels that a frame knows without looking: the whole way through two levels of switches.
pub(super) const AHEAD: usize = 4;

/// The first channels of a way, and the number of its switches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    pub channels: [u32; AHEAD],
    pub switches: u8,
}

/// How ways begin in a small network, by rail and hosts. In a large one there are too many.
#[derive(Debug)]
pub(super) struct Beginnings {
    hosts: usize,
    known: Vec<Option<Beginning>>,
}

/// The most beginnings that are kept: they fit in the nearest caches.
const MOST_KNOWN: usize = 4096;

impl Beginnings {
    pub fn new(rails: u32, hosts: u32) -> Beginnings {
        let (rails, hosts) = (rails as usize, hosts as usize);
        let all = rails.saturating_mul(hosts).saturating_mul(hosts);
        Beginnings { hosts, known: if all <= MOST_KNOWN { vec![None; all] } else { Vec::new() } }
    }

    /// The place for a beginning, if it is to be kept.
    #[inline]
    pub fn get(&mut self, rail: u16, from: u32, to: u32) -> Option<&mut Option<Beginning>> {
        let pair = (usize::from(rail) * self.hosts + from as usize) * self.hosts + to as usize;
        self.known.get_mut(pair)
    }
}

/// Follows routes. To make a route is cheaper than to fetch one from a memory that has all of them.
pub(super) struct Paths<'a> {
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
    route: Route,
    /// Ways beside those of the routing, where rails share a port.
    detours: Option<Box<Detours<'a>>>,
}

/// The most switches of a way.
const MOST: usize = 254;

impl<'a> Paths<'a> {
    pub fn new(fabric: &'a Fabric, routing: &'a dyn Routing) -> Paths<'a> {
        Paths { fabric, routing, route: Route::default(), detours: None }
    }

    /// Follows the route between two hosts, and calls `visit` with the number of each channel and
    /// the channel; the number of switches on the way. Rails that share a port go on different
    /// lanes, the first of them on 0.
    #[inline]
    pub fn follow(
        &mut self,
        from: u32,
        to: u32,
        lane: u32,
        mut visit: impl FnMut(usize, u32),
    ) -> u8 {
        self.routing.route(HostId(from), HostId(to), &mut self.route);
        debug_assert!(self.route.legs().count() == 1, "frames do not stop on their way");
        let tags = self.route.tags();
        assert!(tags.len() <= MOST, "a way of at most {MOST} switches, not {}", tags.len());
        if lane > 0 && !tags.iter().any(|tag| matches!(tag, Tag::Group(_))) {
            return self.follow_beside(from, to, lane, visit);
        }
        let mut channel = self.fabric.host_out(HostId(from));
        visit(0, channel.0);
        for (number, &tag) in (1..).zip(tags) {
            channel = self.behind(channel, tag, mix(from, to), lane);
            visit(number, channel.0);
        }
        tags.len() as u8
    }

    /// The same beside a route that leaves no choice.
    fn follow_beside(
        &mut self,
        from: u32,
        to: u32,
        lane: u32,
        visit: impl FnMut(usize, u32),
    ) -> u8 {
        let mut own = vec![self.fabric.host_out(HostId(from))];
        for &tag in self.route.tags() {
            own.push(self.behind(own[own.len() - 1], tag, 0, 0));
        }
        let fabric = self.fabric;
        let detours = self.detours.get_or_insert_with(|| Box::new(Detours::new(fabric)));
        detours.follow((HostId(from), HostId(to)), (lane, mix(from, to)), &own, visit)
    }

    /// The channel by which the switch behind another obeys a tag; of several, the one so many
    /// places behind that of the number drawn.
    #[inline]
    fn behind(&self, channel: ChannelId, tag: Tag, drawn: u32, lane: u32) -> ChannelId {
        let Node::Switch(switch) = self.fabric.channel(channel).to.node else {
            unreachable!("a tag is for a switch");
        };
        let out = |port| self.fabric.switch_out(switch, port);
        let next = match tag {
            Tag::Port(port) => out(port),
            Tag::Group(group) => {
                let ports = &self.routing.groups()[usize::from(group.0)];
                let drawn = (drawn as usize + lane as usize) % ports.len();
                // Where the drawn one is not linked, the next that is.
                ports[drawn..].iter().chain(&ports[..drawn]).find_map(|&port| out(port))
            }
        };
        next.expect("a route leads along links")
    }
}

/// A number drawn from two hosts: the finaliser of SplitMix64.
fn mix(from: u32, to: u32) -> u32 {
    let mut z = (u64::from(from) << 32 | u64::from(to)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}
