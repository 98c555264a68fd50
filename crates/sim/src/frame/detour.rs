//! Other ways than that of the routing.

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, Search, SwitchId};
use std::collections::BTreeMap;

/// Finds shortest ways beside the one of a routing that leaves no choice.
pub(super) struct Detours<'a> {
    fabric: &'a Fabric,
    search: Search,
    /// How far all switches are from those that frames go to.
    distances: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Detours<'a> {
    pub fn new(fabric: &'a Fabric) -> Detours<'a> {
        Detours { fabric, search: Search::new(fabric), distances: BTreeMap::new() }
    }

    /// Follows a shortest way between two hosts, and calls `visit` with the number of each channel
    /// and the channel; the number of switches on the way.
    ///
    /// Of the links that lead on from a switch, it takes the one so many places (`lane`) behind the
    /// routing's `own`, as long as it is on the way of the routing; elsewhere the one so many
    /// places behind that of the number `drawn`.
    pub fn follow(
        &mut self,
        (from, to): (HostId, HostId),
        (lane, drawn): (u32, u32),
        own: &[ChannelId],
        mut visit: impl FnMut(usize, u32),
    ) -> u8 {
        let mut channel = self.fabric.host_out(from);
        visit(0, channel.0);
        let mut number = 0;
        let Some(goal) = self.fabric.switch_of(to) else { return 0 };
        let search = &mut self.search;
        let distances = self.distances.entry(goal.0).or_insert_with(|| search.from(goal).to_vec());
        let mut on_own_way = true;
        while let Node::Switch(switch) = self.fabric.channel(channel).to.node {
            channel = match switch == goal {
                true => self.fabric.host_in(to),
                false => {
                    let ahead = ahead(self.fabric, distances, switch);
                    let own = own.get(number + 1).filter(|_| on_own_way);
                    let place = own.and_then(|own| ahead.iter().position(|next| next == own));
                    let place = place.unwrap_or(drawn as usize) + lane as usize;
                    let next = ahead[place % ahead.len()];
                    on_own_way = own == Some(&next);
                    next
                }
            };
            number += 1;
            visit(number, channel.0);
        }
        number as u8
    }
}

/// The links that lead from a switch to those one step nearer.
fn ahead(fabric: &Fabric, distances: &[u32], switch: SwitchId) -> Vec<ChannelId> {
    let is_nearer = |channel: &ChannelId| match fabric.channel(*channel).to.node {
        Node::Switch(next) => distances[next.0 as usize] < distances[switch.0 as usize],
        Node::Host(_) => false,
    };
    fabric.out_channels(switch).filter(is_nearer).collect()
}
