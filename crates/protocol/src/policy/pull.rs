//! Pull: rails take the next piece of a long message as they finish, so that no rail waits for
//! another.
//!
//! What is ahead of each rail is bounded by the time that a packet is on its way: a rail that slows
//! down keeps little. And a piece is never longer than lets all rails finish together, as far as
//! they have shown how fast they are. Nothing has to be told or learned before.

use std::collections::VecDeque;

use super::fastest::Fastest;
use super::multiplex::named;
use super::{Feedback, Policy};
use crate::level::finish;
use crate::{Dispatch, Gauge, NodeId, NodeSpec, OpenId, PeId, RailId, Stripe};

/// Long messages are handed over piece by piece; those of one packet take the rail on which they
/// are expected to be there first.
#[derive(Debug)]
pub struct Pull {
    /// The bytes of a packet that has not grown: pieces are made of whole ones.
    packet: u64,
    /// True if messages take turns packet by packet.
    interleaved: bool,
    /// Messages of which pieces are still to be handed over. The oldest comes first; where they
    /// take turns, the one whose turn it is.
    open: VecDeque<OpenId>,
    short: Fastest,
    /// Room for the rails that may take a piece.
    candidates: Vec<Candidate>,
}

/// Where packets have no limit, pieces are made of so many bytes.
const UNCUT: u64 = 8192;

/// Packets that are given to a rail of which nothing is known: its pace shows in the second. Where
/// several are acknowledged together, it does not, and it is given twice as many as it has been
/// given so far.
const FIRST: u64 = 2;

/// Beside one packet, a rail has as much under way as it carries in so many times that a packet is
/// on its way. Who had only as much as it takes to keep the rail busy would take a rail for slow
/// that it has kept waiting, and keep it waiting longer.
const AHEAD: f64 = 2.0;

/// And that is at least so many pieces, if it is as many packets.
const PIECES: f64 = 8.0;

/// A round trip of this many picoseconds is long.
const LONG: f64 = 8e9;

/// The least that a byte takes, in picoseconds: even packets that are acknowledged at once took
/// some time.
const LEAST: f64 = 0.001;

/// What is known of a rail that may take a piece.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    rail: RailId,
    /// Picoseconds for a byte, and until a byte handed over now would be there.
    pace: f64,
    free: f64,
    /// The bytes of a packet, and how many of these may be handed over in one piece.
    packet: u64,
    packets: u64,
}

impl Pull {
    /// The policy of one node.
    pub fn new(spec: &NodeSpec) -> Pull {
        let packet = spec.packing.payload.map_or(UNCUT, u64::from);
        let (interleaved, open, candidates) =
            (spec.injection.interleaved, VecDeque::new(), Vec::new());
        Pull { packet, interleaved, open, short: Fastest::new(spec), candidates }
    }

    /// Lets rails take a packet of each message in turn. One that no rail can take yet holds up
    /// those behind it.
    fn serve_in_turn(&mut self, dispatch: &mut Dispatch) {
        while let Some(&open) = self.open.front() {
            let Some((rail, bytes)) = self.next(open, dispatch) else { return };
            self.open.pop_front();
            if !dispatch.extend(open, rail, bytes.min(self.packet)) {
                self.open.push_back(open);
            }
        }
    }

    /// Lets rails take pieces, of the oldest message first.
    fn serve(&mut self, dispatch: &mut Dispatch) {
        if self.interleaved {
            return self.serve_in_turn(dispatch);
        }
        let mut place = 0;
        while let Some(&open) = self.open.get(place) {
            match self.next(open, dispatch) {
                Some((rail, bytes)) => {
                    if dispatch.extend(open, rail, bytes) {
                        self.open.remove(place);
                    }
                }
                None => place += 1,
            }
        }
    }

    /// The bytes of a packet on a way.
    fn packet_on(&self, to: NodeId, rail: RailId, dispatch: &Dispatch) -> u64 {
        dispatch.payload(to, rail).map_or(self.packet, u64::from)
    }

    /// The next piece of a message, and the rail that takes it.
    fn next(&mut self, open: OpenId, dispatch: &Dispatch) -> Option<(RailId, u64)> {
        let (to, rest) = dispatch.rest(open);
        let mut idle = true;
        self.candidates.clear();
        for rail in dispatch.up_to(to).iter() {
            let gauge = dispatch.gauge(to, rail);
            let packet = self.packet_on(to, rail, dispatch);
            idle &= gauge.under_way() == 0;
            match gauge.pace_now(dispatch.now(), packet) {
                Some(pace) => self.candidates.push(candidate(rail, pace, &gauge, packet, dispatch)),
                // It has to show itself first.
                None if gauge.under_way() < packet => {
                    let packets = FIRST.max(2 * u64::from(gauge.tried(packet)));
                    return Some((rail, rest.min(packets * packet)));
                }
                None => {}
            }
        }
        self.candidates.sort_by(|a, b| a.free.total_cmp(&b.free));
        let end = finish(self.candidates.iter().map(|rail| (rail.free, rail.pace)), rest as f64);
        let there = |rail: &&Candidate| rail.free + rest.min(self.packet) as f64 * rail.pace;
        let soonest = self.candidates.iter().min_by(|a, b| there(a).total_cmp(&there(b)))?;
        for rail in &self.candidates {
            // In packets as they were at first: the last of a piece may be a short one.
            let share = ((end - rail.free) / rail.pace / self.packet as f64) as u64;
            let room = rail.packets.saturating_mul(rail.packet);
            let bytes = share.saturating_mul(self.packet).min(room);
            if bytes > 0 {
                return Some((rail.rail, rest.min(bytes)));
            }
        }
        // Less than a packet for each is left. And where nothing is under way nobody would ask
        // again.
        (idle || soonest.packets > 0).then_some((soonest.rail, rest.min(self.packet)))
    }
}

fn candidate(
    rail: RailId,
    pace: f64,
    gauge: &Gauge,
    packet: u64,
    dispatch: &Dispatch,
) -> Candidate {
    let (pace, latency) = (pace.max(LEAST), gauge.latency());
    let (own, ahead) = (gauge.under_way() as f64, dispatch.under_way(rail) as f64);
    // A channel that has nothing waiting would not learn what its way can carry. On a long
    // path that takes a piece: more is handed over when one is there, and its window grows by
    // little more than that.
    let most = match gauge.window() {
        Some(window) if latency > LONG => (window + window / PIECES as u64 + packet) as f64,
        Some(window) => (window + 2 * packet) as f64,
        None => (AHEAD * latency + dispatch.ahead().ps() as f64) / pace + packet as f64,
    };
    let packets = |bytes: f64| (bytes / packet as f64).ceil() as u64;
    // Several pieces are under way at once: when one is there, the next can be handed over.
    let packets = packets((most - own).max(0.0)).min(packets(most / PIECES));
    Candidate { rail, pace, free: latency + ahead * pace, packet, packets }
}

impl Policy for Pull {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(&head) = dispatch.head(pe) {
            let up = dispatch.up_to(head.to);
            if up.is_empty() {
                return;
            }
            if !head.whole && head.bytes > self.packet {
                self.open.push_back(dispatch.open(pe));
                continue;
            }
            let steady = dispatch.steady_to(head.to);
            let rail = named(&head, up)
                .or_else(|| self.short.choose(dispatch, head.to, head.bytes, steady));
            let Some(rail) = rail else { return };
            dispatch.send(pe, [Stripe { rail, bytes: 0..head.bytes }], false);
        }
        self.serve(dispatch);
    }

    fn lives(&mut self, _to: NodeId, _rail: RailId, _lives: bool, dispatch: &mut Dispatch) {
        self.serve(dispatch);
    }

    fn forget(&mut self, peer: NodeId, dispatch: &Dispatch) {
        self.open.retain(|&open| dispatch.rest(open).0 != peer);
    }

    fn finished(&mut self, _feedback: &Feedback, dispatch: &mut Dispatch) {
        self.serve(dispatch);
    }

    fn needs_gauges(&self) -> bool {
        true
    }
}
