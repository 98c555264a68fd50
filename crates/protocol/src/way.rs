//! The ways of a node: which of them live, and what waits for one that does.

use std::collections::VecDeque;
use std::ops::Range;

use crosstie_units::{Rate, Time};

use crate::node_map::NodeMap;
use crate::{NodeId, Outgoing, Patience, PeId, RailId, RailSet, StripeId};

/// One rail to one peer.
#[derive(Debug, Clone, Default)]
struct Way {
    /// Packets transmitted and not acknowledged, without ghosts.
    under_way: u32,
    /// Control packets that are not acknowledged: of a way that lives all are under way, of one
    /// that is dead so many are ghosts. Those that came later are waited for again when it
    /// lives.
    controls: u32,
    ghost_controls: u32,
    /// The last acknowledgement, or when something was under way again, whichever was later.
    since: Time,
    /// Bytes of the packets under way, and when each of these packets can have left its rail. Kept
    /// where the rate of the link is known.
    bytes: u64,
    leaving: VecDeque<Time>,
    /// Packets that were under way when it died. It lives if there are none.
    ghosts: u32,
    /// True if one of its ends has no NIC on the rail: then it is dead whatever is answered.
    absent: bool,
    /// The packet by which a round trip is measured, and when it was transmitted.
    timed: Option<(StripeId, u32, Time)>,
    measured: Option<Time>,
    /// When it came back, if it was dead or its rail down.
    back: Option<Time>,
    /// What the channel below has found out: it can tell a long way from one that was dead for a
    /// while.
    told: Option<Time>,
}

impl Way {
    /// How long a round trip takes, as far as that is known.
    fn round_trip(&self) -> Option<Time> {
        self.told.or(self.measured)
    }

    /// When the way is dead, if nothing is acknowledged before.
    fn end(&self, patience: &Patience) -> Time {
        let left = self.leaving.front().map_or(self.since, |&left| left.max(self.since));
        left + patience.silence(self.round_trip())
    }

    /// A packet is acknowledged: it may be the one by which a round trip is measured.
    fn measure(&mut self, now: Time, &Sent { stripe, number, .. }: &Sent) {
        if let Some((timed, which, at)) = self.timed
            && (timed, which) == (stripe, number)
        {
            let (found, late) = ((now - at).ps(), self.ghosts > 0);
            let before = self.measured.map_or(found, Time::ps);
            // Who was too impatient learns how long it takes at once.
            let mean = if late { found.max(before) } else { before - before / 4 + found / 4 };
            self.measured = Some(Time::from_ps(mean));
            self.timed = None;
        }
    }
}

/// A packet that was given to a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub to: NodeId,
    pub rail: RailId,
    pub stripe: StripeId,
    /// Its number within the stripe.
    pub number: u32,
    /// Bytes of the message in it.
    pub bytes: u64,
}

/// Bytes of a message that were given to a way that died, and go again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Orphan {
    /// The message, as the outbox numbers it.
    pub message: u32,
    pub bytes: Range<u64>,
    /// Whether the message has not left before these have.
    pub leaves: bool,
}

/// What is kept of a peer.
#[derive(Debug, Default)]
struct Peer {
    ways: Vec<Way>,
    /// Rails with NICs at both ends and without ghosts, and when one of them last came back.
    living: RailSet,
    returned: Option<Time>,
    /// Since when there is no way to it, or it last answered on one that is dead.
    cut_off: Option<Time>,
    /// What waits for a way.
    held: VecDeque<(PeId, Outgoing)>,
    orphans: Vec<Orphan>,
    /// Whether it has been given up.
    gone: bool,
    /// True if it has given this node up.
    left: bool,
}

impl Peer {
    /// A way lives again, or its rail is up again.
    fn comes_back(&mut self, now: Time, rail: RailId) {
        if let Some(way) = self.ways.get_mut(rail.0 as usize) {
            (way.back, self.returned) = (Some(now), Some(now));
        }
    }
}

/// Whether a peer can be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// There is a way.
    Open,
    /// There is none at present.
    CutOff,
    /// It has been given up.
    Gone,
}

/// All ways of a node. A way is known when something has gone to its peer, or come from it.
#[derive(Debug)]
pub(crate) struct Ways {
    patience: Patience,
    rails: u32,
    peers: NodeMap<Peer>,
    /// The rates of the links by rail, where they are known, and the bytes under way on each to
    /// all peers.
    rates: Vec<Rate>,
    bytes: Vec<u64>,
    /// No later than the first way is silent for too long, or the first peer to be given up.
    alarm: Option<Time>,
}

impl Ways {
    pub fn new(patience: Patience, rails: u32) -> Ways {
        let (rates, bytes) = (Vec::new(), vec![0; rails as usize]);
        Ways { patience, rails, peers: NodeMap::default(), rates, bytes, alarm: None }
    }

    /// The links of the rails are so fast.
    pub fn know_rates(&mut self, rates: &[Rate]) {
        self.rates = rates.to_vec();
    }

    /// When all that is under way on a rail can have left it, if its rate is known.
    fn leaves(&self, now: Time, rail: RailId) -> Option<Time> {
        let rate = u128::from(self.rates.get(rail.0 as usize)?.bytes_per_second().max(1));
        let ps = u128::from(self.bytes[rail.0 as usize]) * 1_000_000_000_000 / rate;
        Some(now + Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX)))
    }

    /// Peers that are known and have not been given up.
    pub fn peers(&self) -> Vec<NodeId> {
        self.peers.iter().filter(|(_, peer)| !peer.gone).map(|(id, _)| id).collect()
    }

    /// How long ways and peers may be silent.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// The rails whose way to a peer has not died.
    pub fn living(&self, to: NodeId) -> RailSet {
        self.peers.get(to).map_or(RailSet::all(self.rails), |peer| peer.living)
    }

    /// Those that have not come back only lately: who dies twice may die a third time.
    #[inline]
    pub fn steady(&self, now: Time, to: NodeId) -> RailSet {
        let Some(peer) = self.peers.get(to) else { return RailSet::all(self.rails) };
        if peer.returned.is_none_or(|at| self.patience.is_steady(at, now)) {
            return peer.living;
        }
        let is_steady = |rail: &RailId| {
            let back = peer.ways[rail.0 as usize].back;
            back.is_none_or(|at| self.patience.is_steady(at, now))
        };
        peer.living.iter().filter(is_steady).collect()
    }

    /// When something is to be looked after.
    pub fn alarm(&self) -> Option<Time> {
        self.alarm
    }

    fn peer(&mut self, id: NodeId) -> &mut Peer {
        let rails = self.rails;
        self.peers.get_or_insert_with(id, || Peer {
            ways: vec![Way::default(); rails as usize],
            living: RailSet::all(rails),
            ..Peer::default()
        })
    }

    fn way(&mut self, to: NodeId, rail: RailId) -> &mut Way {
        &mut self.peer(to).ways[rail.0 as usize]
    }

    fn wake_by(&mut self, at: Time) {
        self.alarm = Some(self.alarm.map_or(at, |alarm| alarm.min(at)));
    }

    /// A channel has found out how long round trips take.
    pub fn shown(&mut self, to: NodeId, rail: RailId, round_trip: Time) {
        self.way(to, rail).told = Some(round_trip);
    }

    /// A packet is transmitted.
    pub fn transmitted(&mut self, now: Time, sent: &Sent) {
        self.bytes[sent.rail.0 as usize] += sent.bytes;
        let left = self.leaves(now, sent.rail);
        let way = self.way(sent.to, sent.rail);
        way.bytes += sent.bytes;
        way.leaving.extend(left);
        way.timed = way.timed.or(Some((sent.stripe, sent.number, now)));
        self.under_way(now, sent.to, sent.rail);
    }

    /// One more packet is under way.
    fn under_way(&mut self, now: Time, to: NodeId, rail: RailId) {
        let patience = self.patience;
        let way = self.way(to, rail);
        way.under_way += 1;
        if way.under_way == 1 {
            way.since = now;
            let end = way.end(&patience);
            self.wake_by(end);
        }
    }

    /// A control packet is transmitted, on a dead way too: somebody may wait for an answer.
    pub fn control_transmitted(&mut self, now: Time, to: NodeId, rail: RailId) {
        if self.is_gone(to) {
            return;
        }
        let way = self.way(to, rail);
        way.controls += 1;
        if way.ghosts == 0 {
            self.under_way(now, to, rail);
        }
    }

    /// A control packet is acknowledged; true if it was the last ghost of its way. `None` if there
    /// is none.
    pub fn control_acknowledged(&mut self, now: Time, to: NodeId, rail: RailId) -> Option<bool> {
        if self.is_gone(to) {
            return Some(false);
        }
        let way = self.way(to, rail);
        way.controls = way.controls.checked_sub(1)?;
        if way.ghost_controls > 0 {
            way.ghost_controls -= 1;
            return Some(self.one_ghost_less(now, to, rail));
        }
        if way.ghosts == 0 {
            way.under_way -= 1;
            way.since = now;
        }
        Some(false)
    }

    /// A packet that was not given up is acknowledged.
    pub fn acknowledged(&mut self, now: Time, sent: &Sent) {
        self.bytes[sent.rail.0 as usize] -= sent.bytes;
        let way = self.way(sent.to, sent.rail);
        way.under_way -= 1;
        way.bytes -= sent.bytes;
        way.leaving.pop_front();
        way.since = now;
        way.measure(now, sent);
    }

    /// Something new has come on a way that lives. Its sender needs acknowledgements that go the
    /// other way, and those of this node may have to wait behind what the sender sends.
    pub fn heard(&mut self, now: Time, from: NodeId, rail: RailId) {
        if let Some(way) = self.peer(from).ways.get_mut(rail.0 as usize) {
            way.since = now;
        }
    }

    /// A ghost is acknowledged; true if it was the last of its way.
    pub fn answered(&mut self, now: Time, sent: &Sent) -> bool {
        self.way(sent.to, sent.rail).measure(now, sent);
        self.one_ghost_less(now, sent.to, sent.rail)
    }

    /// A ghost is answered; true if it was the last of its way.
    fn one_ghost_less(&mut self, now: Time, to: NodeId, rail: RailId) -> bool {
        let patience = self.patience;
        let peer = self.peer(to);
        let way = &mut peer.ways[rail.0 as usize];
        way.ghosts -= 1;
        // It is there, however late.
        peer.cut_off = peer.cut_off.map(|_| now);
        if way.ghosts > 0 {
            return false;
        }
        (way.under_way, way.since) = (way.controls, now);
        let end = (way.controls > 0).then(|| way.end(&patience));
        if way.absent {
            return false;
        }
        peer.living.insert(rail);
        peer.comes_back(now, rail);
        if let Some(end) = end {
            self.wake_by(end);
        }
        true
    }

    /// What was under way on a way is so no more; so many packets of it, and all control packets,
    /// may yet be answered.
    pub fn buried(&mut self, to: NodeId, rail: RailId, ghosts: u32) {
        let peer = self.peer(to);
        let way = &mut peer.ways[rail.0 as usize];
        way.under_way = 0;
        let bytes = std::mem::take(&mut way.bytes);
        way.leaving.clear();
        // Of a way that was dead before they are counted.
        if way.ghosts == 0 {
            way.ghost_controls = way.controls;
            way.ghosts = way.controls;
        }
        way.ghosts += ghosts;
        if way.ghosts > 0 {
            peer.living.remove(rail);
        }
        self.bytes[rail.0 as usize] -= bytes;
    }

    /// Both ends of a way have a NIC from now on, or one has none. Returns true if it lives, or
    /// dies, by that.
    pub fn set_there(&mut self, to: NodeId, rail: RailId, there: bool) -> bool {
        let peer = self.peer(to);
        if peer.gone {
            return false;
        }
        let way = &mut peer.ways[rail.0 as usize];
        way.absent = !there;
        let changes = way.ghosts == 0 && peer.living.contains(rail) != there;
        match changes && there {
            true => peer.living.insert(rail),
            false if changes => peer.living.remove(rail),
            false => {}
        }
        changes
    }

    /// Looks whether a peer can be sent to on rails that are up.
    pub fn reach(&mut self, now: Time, to: NodeId, up: RailSet) -> Reach {
        let give_up = self.patience.give_up;
        let peer = self.peer(to);
        if peer.gone {
            return Reach::Gone;
        }
        if !peer.living.and(up).is_empty() {
            peer.cut_off = None;
            return Reach::Open;
        }
        if peer.cut_off.is_none() {
            peer.cut_off = Some(now);
            self.wake_by(now + give_up);
        }
        Reach::CutOff
    }

    /// Whether a peer has been given up. Who was not known is from now on.
    pub fn is_gone(&mut self, id: NodeId) -> bool {
        self.peer(id).gone
    }

    /// A message waits for a way.
    pub fn hold(&mut self, pe: PeId, outgoing: Outgoing) {
        self.peer(outgoing.to).held.push_back((pe, outgoing));
    }

    /// Bytes that go again wait for a way.
    pub fn hold_orphan(&mut self, to: NodeId, orphan: Orphan) {
        self.peer(to).orphans.push(orphan);
    }

    /// What has waited for a way.
    pub fn release(&mut self, to: NodeId) -> (Vec<Orphan>, VecDeque<(PeId, Outgoing)>) {
        let peer = self.peer(to);
        (std::mem::take(&mut peer.orphans), std::mem::take(&mut peer.held))
    }

    /// A rail has come up: there is hope for those without a way.
    pub fn came_up(&mut self, now: Time, rail: RailId) {
        for (_, peer) in self.peers.iter_mut() {
            peer.cut_off = peer.cut_off.map(|_| now);
            peer.comes_back(now, rail);
        }
    }

    /// The alarm has come: ways that have been silent for too long.
    pub fn silent(&mut self, now: Time) -> Vec<(NodeId, RailId)> {
        let mut silent = Vec::new();
        for (id, peer) in self.peers.iter() {
            for (rail, way) in (0..).map(RailId).zip(&peer.ways) {
                if way.under_way > 0 && way.end(&self.patience) <= now {
                    silent.push((id, rail));
                }
            }
        }
        silent
    }

    /// Gives up peers to which there has been no way for too long, and sets the alarm anew.
    pub fn give_up(&mut self, now: Time) -> Vec<NodeId> {
        let Patience { give_up, .. } = self.patience;
        let (mut given_up, mut alarm) = (Vec::new(), None::<Time>);
        for (id, peer) in self.peers.iter_mut() {
            if peer.left || peer.cut_off.is_some_and(|since| since + give_up <= now) {
                for (all, way) in self.bytes.iter_mut().zip(&peer.ways) {
                    *all -= way.bytes;
                }
                *peer = Peer { gone: true, ..Peer::default() };
                given_up.push(id);
            }
            let ends = peer.ways.iter().filter(|way| way.under_way > 0);
            let ends = ends.map(|way| way.end(&self.patience));
            let first = ends.chain(peer.cut_off.map(|since| since + give_up)).min();
            alarm = alarm.into_iter().chain(first).min();
        }
        self.alarm = alarm;
        given_up
    }

    /// A peer has given this node up, and is to be given up.
    pub fn bid_farewell(&mut self, id: NodeId) {
        let peer = self.peer(id);
        peer.left = !peer.gone;
    }

    /// Packets that may yet be answered on a way that has died.
    pub fn ghosts(&self, to: NodeId, rail: RailId) -> u32 {
        let way = self.peers.get(to).and_then(|peer| peer.ways.get(rail.0 as usize));
        way.map_or(0, |way| way.ghosts)
    }

    /// Messages, and pieces of messages, that wait for a way.
    pub fn waiting(&self) -> usize {
        self.peers.iter().map(|(_, peer)| peer.held.len() + peer.orphans.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO: NodeId = NodeId(1);
    const RAIL: RailId = RailId(0);

    fn at(us: u64) -> Time {
        Time::from_ns(1000 * us)
    }

    fn ways(round_trips: u32) -> Ways {
        let patience =
            Patience { round_trips, least: at(100), give_up: at(1000), ..Patience::default() };
        Ways::new(patience, 2)
    }

    fn sent(rail: RailId, stripe: u32, number: u32) -> Sent {
        Sent { to: TO, rail, stripe: StripeId(stripe), number, bytes: 1000 }
    }

    #[test]
    fn a_way_is_silent_since_its_last_answer() {
        let mut ways = ways(4);
        ways.transmitted(at(0), &sent(RAIL, 0, 0));
        ways.transmitted(at(1), &sent(RAIL, 0, 1));
        assert_eq!(ways.alarm(), Some(at(100)));
        ways.acknowledged(at(50), &sent(RAIL, 0, 0));
        assert_eq!(ways.silent(at(100)), [], "a round trip takes 50 us");
        assert_eq!(ways.give_up(at(100)), []);
        assert_eq!(ways.alarm(), Some(at(250)), "four of these since the last answer");
        assert_eq!(ways.silent(at(249)), []);
        assert_eq!(ways.silent(at(250)), [(TO, RAIL)]);
        ways.acknowledged(at(251), &sent(RAIL, 0, 1));
        assert_eq!(ways.silent(at(9999)), [], "nothing is under way");
        ways.give_up(at(9999));
        assert_eq!(ways.alarm(), None);
        ways.transmitted(at(10_000), &sent(RAIL, 0, 2));
        assert_eq!(ways.alarm(), Some(at(10_200)), "since there is something again");
    }

    #[test]
    fn a_packet_that_is_still_transmitted_is_not_late() {
        let mut ways = ways(4);
        // 100 us for a packet.
        ways.know_rates(&[Rate::from_bytes_per_second(10_000_000); 2]);
        let other = Sent { to: NodeId(2), ..sent(RAIL, 7, 0) };
        (0..3).for_each(|number| ways.transmitted(at(0), &Sent { number, ..other }));
        ways.transmitted(at(0), &sent(RAIL, 0, 0));
        ways.transmitted(at(0), &sent(RAIL, 0, 1));
        assert_eq!(
            ways.silent(at(199)),
            [],
            "the first packet takes 100 us, and 100 are the least"
        );
        assert_eq!(ways.silent(at(200)), [(NodeId(2), RAIL)]);
        (0..3).for_each(|n| ways.acknowledged(at(200), &Sent { number: n, ..other }));
        assert_eq!(ways.silent(at(499)), [], "three of another peer go before");
        assert_eq!(ways.silent(at(500)), [(TO, RAIL)]);
        // What is buried keeps nobody waiting.
        ways.buried(TO, RAIL, 2);
        ways.transmitted(at(1000), &Sent { number: 3, ..other });
        let alone = at(1000) + at(100) + at(4 * 200);
        assert_eq!(ways.silent(Time::from_ps(alone.ps() - 1)), [], "a round trip takes 200 us");
        assert_eq!(ways.silent(alone), [(NodeId(2), RAIL)]);
    }

    #[test]
    fn a_way_that_was_never_measured_and_an_acknowledgement_that_is_held_have_time() {
        let (unmeasured, held) = (at(700), at(30));
        let patience = Patience { unmeasured, held, ..ways(4).patience() };
        let mut ways = Ways::new(patience, 2);
        ways.transmitted(at(0), &sent(RAIL, 0, 0));
        assert_eq!((ways.silent(at(729)), ways.silent(at(730))), (vec![], vec![(TO, RAIL)]));
        ways.acknowledged(at(729), &sent(RAIL, 0, 0));
        for (number, round_trip) in [(1u32, 729u64), (2, 547), (3, 410)] {
            let now = at(10_000 * u64::from(number));
            ways.transmitted(now, &sent(RAIL, 0, number));
            assert_eq!(ways.silent(now + at(4 * round_trip + 29)), [], "{number}");
            ways.acknowledged(now + at(1), &sent(RAIL, 0, number));
        }
    }

    #[test]
    fn a_way_on_which_something_comes_is_not_silent() {
        let mut ways = ways(4);
        ways.transmitted(at(0), &sent(RAIL, 0, 0));
        ways.heard(at(90), TO, RAIL);
        ways.heard(at(95), TO, RailId(1));
        assert_eq!((ways.silent(at(189)), ways.silent(at(190))), (vec![], vec![(TO, RAIL)]));
    }

    #[test]
    fn ghosts_keep_a_way_dead_until_the_last_is_answered() {
        let mut ways = ways(4);
        (0..2).for_each(|number| ways.transmitted(at(0), &sent(RAIL, 0, number)));
        ways.buried(TO, RAIL, 2);
        assert_eq!(ways.living(TO).iter().collect::<Vec<_>>(), [RailId(1)]);
        assert!(!ways.answered(at(300), &sent(RAIL, 0, 0)));
        assert!(ways.answered(at(310), &sent(RAIL, 0, 1)));
        assert_eq!(ways.living(TO).len(), 2);
        ways.transmitted(at(400), &sent(RAIL, 0, 0));
        assert_eq!(ways.silent(at(1599)), [], "it is known to take 300 us");
        assert_eq!(ways.silent(at(1600)), [(TO, RAIL)]);
    }

    #[test]
    fn a_way_without_a_nic_is_dead_until_there_is_one() {
        let mut ways = ways(4);
        let living = |ways: &Ways| ways.living(TO).iter().collect::<Vec<_>>();
        assert!(ways.set_there(TO, RAIL, false) && !ways.set_there(TO, RAIL, false));
        assert_eq!((living(&ways), ways.alarm()), (vec![RailId(1)], None), "nothing is waited for");
        assert!(ways.set_there(TO, RAIL, true) && !ways.set_there(TO, RAIL, true));
        assert_eq!(living(&ways), [RAIL, RailId(1)]);
        // What was under way when the NIC went away may yet be answered, by way of a new one.
        ways.transmitted(at(0), &sent(RAIL, 0, 0));
        assert!(ways.set_there(TO, RAIL, false));
        ways.buried(TO, RAIL, 1);
        assert!(!ways.set_there(TO, RAIL, true));
        assert_eq!(living(&ways), [RailId(1)]);
        assert!(ways.answered(at(50), &sent(RAIL, 0, 0)));
        assert_eq!(living(&ways), [RAIL, RailId(1)]);
    }

    #[test]
    fn control_packets_are_waited_for_like_others() {
        let mut ways = ways(4);
        ways.control_transmitted(at(0), TO, RAIL);
        ways.transmitted(at(10), &sent(RAIL, 0, 0));
        assert_eq!(ways.silent(at(99)), []);
        assert_eq!(ways.silent(at(100)), [(TO, RAIL)], "since the first of them");
        ways.acknowledged(at(100), &sent(RAIL, 0, 0));
        assert_eq!(ways.control_acknowledged(at(120), TO, RAIL), Some(false));
        assert_eq!(
            (ways.silent(at(9999)), ways.control_acknowledged(at(130), TO, RAIL)),
            (vec![], None)
        );
        // Those that are under way when it dies are ghosts; those that come later are not.
        ways.control_transmitted(at(200), TO, RAIL);
        ways.buried(TO, RAIL, 0);
        ways.control_transmitted(at(500), TO, RAIL);
        assert_eq!((ways.ghosts(TO, RAIL), ways.living(TO).contains(RAIL)), (1, false));
        assert_eq!(ways.silent(at(9999)), [], "a dead way dies once");
        assert_eq!(ways.control_acknowledged(at(600), TO, RAIL), Some(true));
        assert!(ways.living(TO).contains(RAIL));
        assert_eq!(ways.silent(at(799)), [], "since it lives");
        assert_eq!(ways.silent(at(1000)), [(TO, RAIL)], "the other one is waited for as well");
        assert_eq!(ways.control_acknowledged(at(1001), TO, RAIL), Some(false));
        assert_eq!(ways.silent(at(9999)), []);
    }

    #[test]
    fn a_peer_without_a_way_is_given_up_unless_it_answers() {
        let (mut ways, up) = (ways(4), RailSet::all(1));
        ways.transmitted(at(0), &sent(RAIL, 0, 0));
        ways.transmitted(at(0), &sent(RAIL, 0, 1));
        assert_eq!(ways.reach(at(0), TO, up), Reach::Open);
        ways.buried(TO, RAIL, 2);
        assert_eq!(ways.reach(at(200), TO, up), Reach::CutOff);
        assert!(!ways.answered(at(700), &sent(RAIL, 0, 0)));
        assert_eq!((ways.give_up(at(1200)), ways.alarm()), (vec![], Some(at(1700))));
        assert_eq!(ways.give_up(at(1700)), [TO]);
        assert_eq!(ways.reach(at(1700), TO, up), Reach::Gone);
        assert_eq!((ways.give_up(at(9999)), ways.alarm()), (vec![], None), "once");
    }
}
