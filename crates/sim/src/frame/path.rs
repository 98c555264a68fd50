//! The ways of frames, found once.

use crate::pairs::Pairs;
use crosstie_fabric::{Fabric, HostId, Node};
use crosstie_routing::{Route, Routing, Tag};

/// The channels from host to host, as far as they have been asked for.
pub(super) struct Paths<'a> {
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
    /// Where each way begins in `channels`, of those that have been asked for.
    begins: Pairs,
    /// Ways one after the other, each behind its length; the first place is not used.
    channels: Vec<u32>,
    route: Route,
}

impl<'a> Paths<'a> {
    pub fn new(fabric: &'a Fabric, routing: &'a dyn Routing) -> Paths<'a> {
        let hosts = fabric.hosts().len() as u32;
        let (begins, route) = (Pairs::new(hosts, hosts), Route::default());
        Paths { fabric, routing, begins, channels: vec![0], route }
    }

    /// Where the way between two hosts begins among [`Paths::channel`]s, and how many channels it has.
    #[inline]
    pub fn find(&mut self, from: u32, to: u32) -> (u32, u32) {
        let known = self.begins.get(from, to);
        let begins = if known == 0 { self.follow(from, to) } else { known };
        (begins, self.channels[begins as usize - 1])
    }

    /// Follows the route between two hosts and writes its channels down.
    #[inline(never)]
    fn follow(&mut self, from: u32, to: u32) -> u32 {
        let (from, to) = (HostId(from), HostId(to));
        self.routing.route(from, to, &mut self.route);
        assert!(self.route.legs().count() == 1, "frames do not stop on their way");
        self.channels.push(1 + self.route.tags().len() as u32);
        let begins = self.channels.len() as u32;
        let mut channel = self.fabric.host_out(from);
        self.channels.push(channel.0);
        for &tag in self.route.tags() {
            let Node::Switch(switch) = self.fabric.channel(channel).to.node else {
                unreachable!("a tag is for a switch");
            };
            let out = |port| self.fabric.switch_out(switch, port);
            let next = match tag {
                Tag::Port(port) => out(port),
                Tag::Group(group) => {
                    let ports = &self.routing.groups()[usize::from(group.0)];
                    let linked: Vec<_> = ports.iter().filter_map(|&port| out(port)).collect();
                    let drawn = mix(from.0, to.0) as usize;
                    linked.get(drawn.checked_rem(linked.len()).unwrap_or(0)).copied()
                }
            };
            channel = next.expect("a route leads along links");
            self.channels.push(channel.0);
        }
        self.begins.set(from.0, to.0, begins);
        begins
    }

    #[inline]
    pub fn channel(&self, place: u32) -> u32 {
        self.channels[place as usize]
    }
}

/// A number drawn from two hosts: the finaliser of SplitMix64.
fn mix(from: u32, to: u32) -> u32 {
    let mut z = (u64::from(from) << 32 | u64::from(to)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}
