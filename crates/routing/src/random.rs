//! Routes drawn at random among equally good ones: anew for each pair of hosts, or once for each
//! switch and destination.

use crosstie_fabric::{HostId, SwitchId};
use crosstie_units::{Seed, Stream};

use crate::moves::{Moves, Toward};
use crate::table::Draft;
use crate::wiring::HopId;
use crate::{RouteTable, RoutingError};

/// For each pair of hosts one of the cheapest ways, each with equal probability.
pub(crate) fn by_pair(draft: Draft, moves: &Moves, seed: Seed) -> Result<RouteTable, RoutingError> {
    let wiring = draft.wiring().clone();
    // Hosts of one switch share the search, and sources the stream of their destination.
    let mut shared: Option<(SwitchId, Toward)> = None;
    let mut drawn: Option<(HostId, Stream)> = None;
    draft.fill(|from, to, way| {
        let target = wiring.place(to).switch;
        let known = shared.take().filter(|(switch, _)| *switch == target);
        let (_, toward) = shared.insert(known.unwrap_or_else(|| (target, moves.toward(target))));
        let known = drawn.take().filter(|(host, _)| *host == to);
        let stream = || (to, seed.stream("ways", u64::from(to.0)));
        let (_, stream) = drawn.insert(known.unwrap_or_else(stream));
        toward.draw(moves, moves.start(wiring.place(from).switch), stream, way);
    })
}

/// For each destination one hop at every switch, so that forwarding tables can hold the routes.
///
/// A packet may reach a switch in any state, so the hop must be one that the strictest state allows
/// if any way leads on from there. Under an order this means: down wherever down alone leads to the
/// destination, else up. Such routes follow the rule, but some are longer than they must be.
pub(crate) fn by_destination(
    draft: Draft,
    moves: &Moves,
    seed: Seed,
) -> Result<RouteTable, RoutingError> {
    let wiring = draft.wiring().clone();
    let mut hops: Option<(HostId, Vec<Option<HopId>>)> = None;
    draft.fill(|from, to, way| {
        let known = hops.take().filter(|(host, _)| *host == to);
        let (_, hop_at) = hops.insert(known.unwrap_or_else(|| {
            let toward = moves.toward(wiring.place(to).switch);
            let mut stream = seed.stream("hops", u64::from(to.0));
            let hop_at = wiring.switches().map(|switch| {
                let strictest = moves.strictest(switch);
                let leads_on = toward.cost(strictest).is_some();
                let state = if leads_on { strictest } else { moves.start(switch) };
                toward.step(moves, state, &mut stream).map(|step| step.hop)
            });
            (to, hop_at.collect())
        }));
        let mut switch = wiring.place(from).switch;
        while let Some(hop) = hop_at[switch.0 as usize] {
            way.push(hop);
            switch = wiring.hop(hop).to;
        }
    })
}
