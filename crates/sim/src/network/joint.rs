//! Several networks under one clock.

use super::{Event, Grain, Network, Packet};
use crosstie_units::Time;

/// Several networks side by side, of any kinds and rates: the first has the first rails, and so on.
///
/// They take turns in order of time, so that whoever hears of something on one rail can act on
/// another before anything later happens there. All of them must be built with the same
/// [`Interest`](super::Interest), and with [`Attention::AtOnce`](super::Attention::AtOnce) or
/// [`Attention::Late`](super::Attention::Late).
pub struct Joint<'a> {
    /// Each network, and its first rail.
    networks: Vec<(u32, Box<dyn Network + 'a>)>,
    now: Time,
    grain: Grain,
}

impl<'a> Joint<'a> {
    /// Joins networks with so many rails each.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(networks: Vec<(u32, Box<dyn Network + 'a>)>) -> Joint<'a> {
        let grain = Grain::picoseconds(networks.first().expect("a network").1.grain().cycle());
        let mut first = 0;
        let networks = networks
            .into_iter()
            .map(|(rails, network)| {
                first += rails;
                (first - rails, network)
            })
            .collect();
        Joint { networks, now: Time::ZERO, grain }
    }

    /// Which network has a rail.
    fn home(&self, rail: u32) -> usize {
        self.networks.partition_point(|&(first, _)| first <= rail) - 1
    }
}

impl Network for Joint<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&self) -> Option<Time> {
        self.networks.iter().filter_map(|(_, network)| network.next()).min()
    }

    fn inject(&mut self, packet: Packet) {
        let (now, home) = (self.now, self.home(packet.rail));
        let (first, network) = &mut self.networks[home];
        // It may have stayed behind because nothing happened there.
        let mut told = Vec::new();
        network.run_until(now, &mut told);
        assert!(told.is_empty(), "what comes next on a network comes no sooner than it said");
        network.inject(Packet { rail: packet.rail - *first, ..packet });
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let before = told.len();
        loop {
            let due = |(place, (_, network)): (usize, &(u32, Box<dyn Network + '_>))| {
                network.next().map(|next| (next, place))
            };
            let mut order: Vec<_> = self.networks.iter().enumerate().filter_map(due).collect();
            order.sort_unstable();
            let Some(&(next, place)) = order.first().filter(|&&(next, _)| next < until) else {
                self.now = self.now.max(until);
                return;
            };
            // Not past the moment at which another may have something to tell.
            let others = order.get(1).map_or(until, |&(next, _)| next.min(until));
            let limit = others.max(Time::from_ps(next.ps() + 1));
            self.networks[place].1.run_until(limit, told);
            if told.len() > before {
                let latest = told[before..].iter().map(|event| event.at).max();
                self.now = self.now.max(latest.unwrap_or(self.now));
                return;
            }
        }
    }

    fn grain(&self) -> Grain {
        self.grain
    }
}
