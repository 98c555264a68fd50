//! In-transit buffers: stops that take away dependencies instead of routes.
//!
//! A packet is taken out whole at a host on its way and put in again, so it holds nothing of the
//! way there while it waits for the way on. Stops can be put into any routes: wherever they break
//! an order, or wherever the dependencies of the routes themselves form a cycle.

use std::cmp::Reverse;

use crate::acyclic::Acyclic;
use crate::turns::{Turns, every};
use crate::{Order, RouteTable, RoutingError};

/// Puts a stop wherever a route turns from down to up: the fewest stops for these routes and this
/// order.
///
/// Fails if a route turns so at a switch without hosts.
pub fn split_by_order(routes: &RouteTable, order: &Order) -> Result<RouteTable, RoutingError> {
    routes.stopping_off(Turns::legal(routes.wiring(), order))
}

/// Puts stops where the routes could wait for each other in a circle.
///
/// The turns that the routes take are gone through, the busiest first. A turn that closes no cycle
/// with those before it is kept; at any other, every route that takes it stops. Turns at switches
/// without hosts come before all others, since there is nowhere to stop.
///
/// Fails if these alone form a cycle.
pub fn place_itbs(routes: &RouteTable) -> Result<RouteTable, RoutingError> {
    let wiring = routes.wiring();
    let mut acyclic = Acyclic::new(wiring);
    let mut uses = vec![0u64; acyclic.turns().numbers()];
    routes.turns(|a, b| uses[acyclic.turns().number(wiring, a, b)] += 1);
    let uses_of = |a, b| uses[acyclic.turns().number(wiring, a, b)];
    let mut taken: Vec<_> = every(wiring).filter(|&(a, b)| uses_of(a, b) > 0).collect();
    taken.sort_by_key(|&(a, b)| {
        let may_stop = !wiring.residents(wiring.hop(b).from).is_empty();
        (may_stop, Reverse(uses_of(a, b)), a, b)
    });
    for turn in taken {
        acyclic.insert(wiring, turn);
    }
    routes.stopping_off(acyclic.into_turns())
}
