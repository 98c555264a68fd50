//! Two ranks, and everything that can happen to them.
//!
//! The first bytes choose the policy, the channel, the rails and what is eager; then each byte is
//! something that happens. When there are no more, rails carry everything again. Then, unless a
//! rank has died:
//!
//! - every message is received, once, in order, whole and unchanged, and nothing was written beside
//!   it;
//! - nobody has given the other up: there was a rail at all times.
//!
//! If a rank has died, the other is told for every request within the time that it was given.

use std::collections::VecDeque;

use crosstie_protocol::channel::{ChannelSpec, GoBackNSpec, SelectiveSpec};
use crosstie_protocol::message::Tag;
use crosstie_protocol::{Patience, PolicyKind, Profile};
use crosstie_units::Time;

use super::Decisions;
use super::air::{self, Air, Condition, Harm, Shared};
use super::parsers::seal;
use crate::bare::{Bare, BareRequest, BareSpec};
use crate::key::{Course, Key};

pub(super) const SECRET: [u8; 16] = [9; 16];

/// After how long a rank is given up.
const GIVE_UP: Time = ms(4_000);

/// Messages, happenings, and datagrams that come to harm, at most: time-outs double, and nobody is
/// to be given up for what is not for ever.
const MOST_MESSAGES: usize = 48;
const MOST_HAPPENINGS: usize = 600;
const MOST_HARMS: usize = 200;

pub(super) const fn ms(ms: u64) -> Time {
    Time::from_ns(1_000_000 * ms)
}

/// A rank of two.
pub(super) fn rank(
    decisions: (PolicyKind, ChannelSpec, u64),
    rank: u16,
    air: &Shared,
    rails: usize,
) -> Bare {
    let (policy, channel, eager) = decisions;
    let policies = policy.policies(2, rails as u32).expect("it fits");
    Bare::new(spec(rank, channel, eager), &policies, Air::wings(air, rank)).expect("it fits")
}

/// What a rank of two is made of.
pub(super) fn spec(rank: u16, channel: ChannelSpec, eager: u64) -> BareSpec {
    BareSpec {
        rank,
        size: 2,
        secret: SECRET,
        profile: Profile {
            channel: Some(channel),
            patience: Some(Patience { least: ms(10), ..Patience::default() }),
            ..Profile::live().with_eager(eager)
        }
        .giving_up(GIVE_UP),
    }
}

/// A policy that fits, a channel, and what is eager.
pub(super) fn choose(
    decisions: &mut Decisions<'_>,
    rails: usize,
) -> (PolicyKind, ChannelSpec, u64) {
    let all: Vec<PolicyKind> = PolicyKind::live().collect();
    let policy = all[decisions.one_of(all.len())];
    let policy = match policy.fits(2, rails as u32) {
        Ok(()) => policy,
        Err(_) => PolicyKind::recommended(),
    };
    let after = Time::from_ns(100_000);
    let channel = match decisions.one_of(2) {
        0 => SelectiveSpec { least: ms(5), ahead: ms(1), after, ..SelectiveSpec::LIVE }.into(),
        _ => GoBackNSpec { window: 16, timeout: ms(5), every: 2, after, simple: false }.into(),
    };
    let eager = [0, 1000, 8192][decisions.one_of(3)];
    (policy, channel, eager)
}

/// A message that is under way.
struct Sent {
    from: usize,
    tag: Tag,
    bytes: Vec<u8>,
    send: BareRequest,
    receive: Option<BareRequest>,
}

/// Whose request is open, and what it is to receive: from whom, with which tag, which bytes.
type Open = (usize, BareRequest, Option<(usize, Tag, Vec<u8>)>);

struct World {
    air: Shared,
    ranks: [Option<Bare>; 2],
    sent: VecDeque<Sent>,
    count: usize,
    harms: usize,
}

/// Runs two ranks as the bytes say.
pub fn pair(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let rails = 1 + decisions.one_of(3);
    let chosen = choose(&mut decisions, rails);
    let air = Air::new(rails);
    let ranks = [0, 1].map(|number| Some(rank(chosen, number, &air, rails)));
    let mut world = World { air, ranks, sent: VecDeque::new(), count: 0, harms: 0 };
    for _ in 0..MOST_HAPPENINGS {
        if decisions.is_empty() {
            break;
        }
        world.happens(&mut decisions);
    }
    let mut air = air::lock(&world.air);
    air.conditions.fill(Condition::Works);
    air.harms.iter_mut().for_each(VecDeque::clear);
    drop(air);
    world.receive_all();
    let dead = world.ranks.iter().position(Option::is_none);
    let patience = Time::from_ps(GIVE_UP.ps() * 4);
    world.conclude(dead, patience);
}

impl World {
    fn now(&self) -> Time {
        air::lock(&self.air).flights.now
    }

    /// Goes on to a time, or until nothing is left to do. Whether there was something at that time.
    fn run(&mut self, until: Time, mut done: impl FnMut(&mut World) -> bool) {
        loop {
            let deadlines = self.ranks.iter().flatten().filter_map(Bare::deadline);
            let mut air = air::lock(&self.air);
            let next = deadlines.chain(air.flights.next()).min().filter(|&at| at <= until);
            let Some(next) = next else {
                air.flights.now = air.flights.now.max(until);
                return;
            };
            air.flights.now = air.flights.now.max(next);
            let now = air.flights.now;
            drop(air);
            for rank in self.ranks.iter_mut().flatten() {
                rank.progress(now);
                let most = rank.most_kept();
                assert!(rank.kept() <= most, "{} bytes are kept, not {most}", rank.kept());
            }
            if done(self) {
                return;
            }
        }
    }

    fn happens(&mut self, decisions: &mut Decisions<'_>) {
        let rails = air::lock(&self.air).conditions.len();
        match decisions.byte() {
            0..80 => self.send(decisions),
            // Somebody receives what was sent before.
            80..112 => {
                let open = self.sent.iter().position(|sent| sent.receive.is_none());
                open.into_iter().for_each(|place| self.receive(place));
            }
            steps @ 112..144 => {
                let until = self.now() + Time::from_ns(20_000 * u64::from(steps - 111));
                self.run(until, |_| false);
            }
            steps @ 144..160 => {
                let until = self.now() + ms(7 * u64::from(steps - 143));
                self.run(until, |_| false);
            }
            160..208 => self.harm(decisions, rails),
            208..232 => {
                let (rail, how) = (decisions.one_of(rails), decisions.one_of(3));
                let mut air = air::lock(&self.air);
                air.conditions[rail] = [Condition::Silent, Condition::Down, Condition::Works][how];
                if !air.conditions.contains(&Condition::Works) {
                    air.conditions[rail] = Condition::Works;
                }
            }
            232..240 => {
                let (to, rail) = (decisions.one_of(2) as u16, decisions.one_of(rails) as u8);
                let bytes = decisions.bytes(40).to_vec();
                air::lock(&self.air).put(to, rail, bytes, Time::ZERO);
            }
            // Of a job with another secret.
            240..246 => {
                let (to, rail) = (decisions.one_of(2) as u16, decisions.one_of(rails) as u8);
                let other = seal(decisions.bytes(40), &Key::new([8; 16]), Course { to, rail });
                air::lock(&self.air).put(to, rail, other, Time::ZERO);
            }
            246..254 => {
                let (which, to) = (decisions.one_of(16), decisions.one_of(2) as u16);
                let rail = decisions.one_of(rails) as u8;
                air::lock(&self.air).replay(which, to, rail);
            }
            254.. => {
                // The other lives on.
                if decisions.byte() >= 200 && self.ranks.iter().all(Option::is_some) {
                    let dead = decisions.one_of(2);
                    self.ranks[dead] = None;
                    air::lock(&self.air).bury(dead as u16);
                }
            }
        }
    }

    fn send(&mut self, decisions: &mut Decisions<'_>) {
        let (from, tag) = (decisions.one_of(2), Tag(decisions.one_of(3) as u32));
        let size = match decisions.byte() {
            small @ 0..128 => usize::from(small),
            packets @ 128..224 => usize::from(packets - 127) * 200,
            many => usize::from(many - 223) * 3001,
        };
        if self.count == MOST_MESSAGES {
            return;
        }
        let now = self.now();
        let Some(sender) = &mut self.ranks[from] else { return };
        self.count += 1;
        let first = self.count;
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 + first * 7) as u8).collect();
        let send = sender.send(now, 1 - from as u16, tag, &bytes);
        self.sent.push_back(Sent { from, tag, bytes, send, receive: None });
    }

    /// Receives a message, for which all before it with its tag have been received.
    fn receive(&mut self, place: usize) {
        let now = self.now();
        let Sent { from, tag, bytes, .. } = &self.sent[place];
        let (from, tag, room) = (*from, *tag, bytes.len());
        if let Some(receiver) = &mut self.ranks[1 - from] {
            let request = receiver.receive(now, Some(from as u16), Some(tag), room);
            self.sent[place].receive = Some(request);
        }
    }

    fn receive_all(&mut self) {
        let open = |sent: &&mut Sent| sent.receive.is_none();
        let open: Vec<usize> = (0..self.sent.len())
            .filter(|&place| self.sent.get_mut(place).as_ref().is_some_and(open))
            .collect();
        open.into_iter().for_each(|place| self.receive(place));
    }

    fn harm(&mut self, decisions: &mut Decisions<'_>, rails: usize) {
        let (rail, kind) = (decisions.one_of(rails), decisions.byte());
        let count = 1 + usize::from(kind >> 3) % 16;
        let harm = match kind % 8 {
            0..3 => Harm::Lost,
            3 => Harm::Repeated(decisions.byte()),
            4 => Harm::Late(decisions.byte()),
            5 => Harm::Flipped(decisions.short()),
            6 => Harm::Cut(decisions.short()),
            _ => Harm::Stretched(decisions.byte()),
        };
        let count = count.min(MOST_HARMS - self.harms);
        self.harms += count;
        air::lock(&self.air).harms[rail].extend(std::iter::repeat_n(harm, count));
    }

    /// Waits for the end of all requests.
    fn conclude(&mut self, dead: Option<usize>, patience: Time) {
        let until = self.now() + patience;
        let mut open: Vec<Open> = Vec::new();
        for Sent { from, tag, bytes, send, receive } in self.sent.drain(..) {
            open.push((from, send, None));
            open.extend(receive.map(|receive| (1 - from, receive, Some((from, tag, bytes)))));
        }
        open.retain(|&(rank, ..)| self.ranks[rank].is_some());
        let mut look = |world: &mut World| {
            open.retain(|(rank, request, message)| {
                let owner = world.ranks[*rank].as_mut().expect("it lives");
                let Some(outcome) = owner.outcome(*request) else { return true };
                match (outcome, message) {
                    (Ok(_), None) => {}
                    (Ok((from, tag, came)), Some((sender, sent_tag, bytes))) => {
                        assert_eq!((usize::from(from), tag), (*sender, *sent_tag));
                        assert!(came == *bytes, "a message has changed on its way");
                    }
                    (Err(other), _) => {
                        assert_eq!(
                            Some(usize::from(other)),
                            dead,
                            "somebody is given up who lives"
                        );
                    }
                }
                false
            });
            open.is_empty()
        };
        if !look(self) {
            self.run(until, &mut look);
        }
        let stuck: Vec<usize> = open.iter().map(|&(rank, ..)| rank).collect();
        assert!(stuck.is_empty(), "ranks wait for ever: {stuck:?} (dead: {dead:?})");
    }
}
