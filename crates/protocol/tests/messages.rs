//! Ranks that exchange messages over rails of any delay: each message once, whole, and in order.

use std::collections::{BTreeMap, VecDeque};

use crosstie_protocol::message::*;
use crosstie_protocol::{Machine, RailId, RailSet, RankId};
use crosstie_units::{Seed, Stream, Time};
use proptest::prelude::*;

/// What is on its way.
#[derive(Debug, Clone)]
enum Event {
    Envelope { from: u32, to: u32, post: Option<PostId>, envelope: Envelope, bytes: u64 },
    Landed { rank: u32, post: PostId },
}

/// Ranks, and a post that takes its time. What takes one rail between two ranks stays in order;
/// between rails nothing does.
struct Office {
    ranks: Vec<Messenger>,
    rails: u32,
    draws: Stream,
    now: u64,
    agenda: BTreeMap<(u64, u64), Event>,
    entries: u64,
    /// When each rail between two ranks is free.
    order: BTreeMap<(u32, u32, u32), u64>,
    sent: Vec<RequestId>,
    /// Receives that are done: the sender, the tag and the length.
    received: BTreeMap<RequestId, (RankId, Tag, u64)>,
    failed: Vec<RequestId>,
    /// Envelopes posted, by kind.
    posted: BTreeMap<&'static str, u64>,
    kept: u64,
    /// How often of ten times messages are sent and received inline, where that can be, and how
    /// often they were.
    inline: (u64, [u64; 2]),
}

const CONTEXT: Context = Context { class: Class::Application, id: 0 };
const CLASS: Class = Class::Application;

impl Office {
    fn new(spec: MessageSpec, ranks: u32, rails: u32, seed: u64) -> Office {
        Office {
            ranks: (0..ranks).map(|rank| Messenger::new(spec, RankId(rank))).collect(),
            rails,
            draws: Seed(seed).stream("delays", 0),
            now: 0,
            agenda: BTreeMap::new(),
            entries: 0,
            order: BTreeMap::new(),
            sent: Vec::new(),
            received: BTreeMap::new(),
            failed: Vec::new(),
            posted: BTreeMap::new(),
            kept: 0,
            inline: (0, [0; 2]),
        }
    }

    fn tell(&mut self, rank: u32, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let machine = &mut self.ranks[rank as usize];
            machine.handle(Time::ZERO, input);
            let actions: Vec<Action> =
                std::iter::from_fn(|| machine.poll_action(Time::ZERO)).collect();
            for action in actions {
                inputs.extend(self.act(rank, action));
            }
            self.kept = self.kept.max(self.ranks[rank as usize].kept());
        }
    }

    fn act(&mut self, rank: u32, action: Action) -> Option<Input> {
        match action {
            Action::Post { post, to, envelope, bytes, rail, whole, .. } => {
                let kind = match envelope.body {
                    Body::Eager { .. } => "EAGER",
                    Body::Rts { .. } => "RTS",
                    Body::Cts { .. } => "CTS",
                    Body::Matched { .. } => "MATCHED",
                    Body::Refused { .. } => "REFUSED",
                    Body::Data { .. } => "DATA",
                    Body::Fin { .. } => "FIN",
                    Body::Credit { .. } => "CREDIT",
                    Body::Probe | Body::Left { .. } => panic!("nobody asked"),
                };
                *self.posted.entry(kind).or_default() += 1;
                assert_eq!(whole, kind != "DATA", "only data is cut");
                let mut rails = RailSet::EMPTY;
                if whole {
                    let drawn = RailId(self.draws.below(u64::from(self.rails)) as u32);
                    rails.insert(rail.unwrap_or(drawn));
                } else {
                    let count = 1 + self.draws.below(u64::from(self.rails)) as u32;
                    rails = RailSet::all(count);
                }
                let event =
                    Event::Envelope { from: rank, to: to.0, post: Some(post), envelope, bytes };
                self.carry(rails, event);
                Some(Input::HandedOver { post, rails })
            }
            Action::Sent { request } => {
                assert!(!self.sent.contains(&request), "once");
                self.sent.push(request);
                None
            }
            Action::Received { request, from, tag, bytes, .. } => {
                assert_eq!(self.received.insert(request, (from, tag, bytes)), None, "once");
                None
            }
            Action::Failed { request, .. } => {
                self.failed.push(request);
                None
            }
            Action::Left { peer, .. } => panic!("{peer:?} stays"),
            Action::Place { .. } => None,
        }
    }

    /// An envelope is there when its last piece is.
    fn carry(&mut self, rails: RailSet, event: Event) {
        let Event::Envelope { from, to, .. } = event else { panic!("{event:?}") };
        let mut there = 0;
        for rail in rails.iter() {
            let free = self.order.entry((from, to, rail.0)).or_default();
            let delay = 1 + self.draws.below(100);
            *free = (*free).max(self.now + delay);
            there = there.max(*free);
        }
        self.enter(there, event);
    }

    fn is_inline(&mut self) -> bool {
        self.draws.below(10) < self.inline.0
    }

    /// Sends a message inline, if that can be.
    fn send_inline(&mut self, rank: u32, to: RankId, tag: Tag, bytes: u64) -> bool {
        let Context { class, id: context } = CONTEXT;
        let machine = &mut self.ranks[rank as usize];
        let Some(number) = machine.send_inline(Time::ZERO, class, to, bytes) else { return false };
        assert_eq!(machine.poll_action(Time::ZERO), None, "that is all");
        let body = Body::Eager { context, tag, bytes, send: None };
        let envelope = Envelope { class, number: Some(number), body };
        let event = Event::Envelope { from: rank, to: to.0, post: None, envelope, bytes };
        self.carry(RailSet::all(1), event);
        self.inline.1[0] += 1;
        true
    }

    /// The same for a message that has come.
    fn receive_inline(&mut self, rank: u32, from: RankId, envelope: Envelope) -> bool {
        let Body::Eager { tag, bytes, .. } = envelope.body else { return false };
        let machine = &mut self.ranks[rank as usize];
        let Some(request) = machine.receive_inline(Time::ZERO, from, &envelope, bytes) else {
            return false;
        };
        assert_eq!(machine.poll_action(Time::ZERO), None, "that is all");
        assert_eq!(self.received.insert(request, (from, tag, bytes)), None, "once");
        self.inline.1[1] += 1;
        true
    }

    fn enter(&mut self, at: u64, event: Event) {
        self.agenda.insert((at, self.entries), event);
        self.entries += 1;
    }

    fn step(&mut self) -> bool {
        let Some(((at, _), event)) = self.agenda.pop_first() else { return false };
        self.now = at;
        match event {
            Event::Envelope { from, to, post, envelope, bytes } => {
                let back = at + 1 + self.draws.below(20);
                if let Some(post) = post {
                    self.enter(back, Event::Landed { rank: from, post });
                }
                let from = RankId(from);
                if !self.is_inline() || !self.receive_inline(to, from, envelope) {
                    self.tell(to, Input::Arrived { from, envelope, bytes });
                }
            }
            Event::Landed { rank, post } => self.tell(rank, Input::Landed { post }),
        }
        true
    }

    fn send(&mut self, rank: u32, to: u32, tag: u32, bytes: u64, request: u64) {
        let (request, to, tag) = (RequestId(request), RankId(to), Tag(tag));
        if self.is_inline() && self.send_inline(rank, to, tag, bytes) {
            self.sent.push(request);
        } else {
            let (context, synchronous) = (CONTEXT, false);
            self.tell(rank, Input::Send { request, context, to, tag, bytes, synchronous });
        }
    }

    fn receive(&mut self, rank: u32, from: Option<u32>, tag: Option<u32>, request: u64) {
        let (request, from, tag) = (RequestId(request), from.map(RankId), tag.map(Tag));
        let (context, room) = (CONTEXT, u64::MAX);
        self.tell(rank, Input::Receive { request, context, from, tag, room });
    }

    fn is_idle(&self) -> bool {
        self.ranks.iter().all(|rank| rank.is_idle() && rank.strays() == 0)
    }
}

#[test]
fn short_messages_are_pushed_and_long_ones_asked_for() {
    let mut office = Office::new(MessageSpec::new(1000), 2, 1, 1);
    office.send(0, 1, 7, 1000, 1);
    assert_eq!(office.sent, [RequestId(1)], "its bytes are on their way");
    office.send(0, 1, 7, 1001, 2);
    while office.step() {}
    assert_eq!((office.sent.len(), office.received.len()), (1, 0), "nobody has asked");
    office.receive(1, Some(0), Some(7), 11);
    office.receive(1, None, None, 12);
    while office.step() {}
    assert_eq!(office.received[&RequestId(11)], (RankId(0), Tag(7), 1000));
    assert_eq!(office.received[&RequestId(12)], (RankId(0), Tag(7), 1001));
    assert_eq!(office.sent, [RequestId(1), RequestId(2)]);
    assert!(office.is_idle());
    let kinds = ["EAGER", "RTS", "CTS", "DATA", "FIN"].map(|kind| office.posted[kind]);
    assert_eq!(kinds, [1; 5]);
}

#[test]
fn where_nothing_is_in_the_way_messages_go_and_come_inline() {
    let mut office = Office::new(MessageSpec::new(1000), 2, 1, 1);
    office.inline.0 = 10;
    for round in 0..1000 {
        office.receive(1, Some(0), Some(7), 10_000 + round);
        office.send(0, 1, 7, 8, round);
        while office.step() {}
    }
    assert_eq!((office.sent.len(), office.received.len()), (1000, 1000));
    assert!(office.is_idle());
    // Not the first, before which they had not heard of each other, and not where credit is given
    // back.
    let [sends, receives] = office.inline.1;
    assert_eq!((sends, receives, office.posted["CREDIT"]), (999, 997, 2));
}

#[test]
fn a_missing_fin_keeps_a_message_from_being_received() {
    let mut rank = Messenger::new(MessageSpec::new(10), RankId(1));
    let (from, room) = (RankId(0), 100);
    let mut handle = |input| {
        rank.handle(Time::ZERO, input);
        std::iter::from_fn(|| rank.poll_action(Time::ZERO)).collect::<Vec<_>>()
    };
    let (request, context) = (RequestId(5), CONTEXT);
    handle(Input::Receive { request, context, from: Some(from), tag: None, room });
    let arrived = |number, body, bytes| {
        let envelope = Envelope { class: CLASS, number, body };
        Input::Arrived { from, envelope, bytes }
    };
    let body = Body::Rts { context: 0, tag: Tag(3), bytes: 50, send: 0 };
    let actions = handle(arrived(Some(0), body, 0));
    let [Action::Place { receive, .. }, Action::Post { .. }] = actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(handle(arrived(Some(2), Body::Fin { receive, of: 2 }, 0)), [], "out of order");
    assert_eq!(handle(arrived(None, Body::Data { receive }, 50)), []);
    let done = handle(arrived(Some(1), Body::Fin { receive, of: 2 }, 0));
    let (request, tag, bytes, envelope) = (RequestId(5), Tag(3), 50, None);
    assert_eq!(done, [Action::Received { request, from, tag, bytes, envelope }]);
}

/// Sends and receives of one context never meet those of another, whatever is left open.
#[test]
fn contexts_keep_messages_apart() {
    let mut rank = Messenger::new(MessageSpec::new(1000), RankId(1));
    let from = RankId(0);
    let contexts =
        [(0, 7), (0, 8), (1, 7)].map(|(class, id)| Context { class: Class::ALL[class], id });
    let mut numbers = [0; 3];
    for (length, context) in (1..).zip(contexts) {
        let number = &mut numbers[context.class as usize];
        let body = Body::Eager { context: context.id, tag: Tag(5), bytes: length, send: None };
        let envelope = Envelope { class: context.class, number: Some(*number), body };
        rank.handle(Time::ZERO, Input::Arrived { from, envelope, bytes: length });
        *number += 1;
    }
    for (length, context) in (1..).zip(contexts) {
        assert_eq!(rank.probe(context, None, None), Some((from, Tag(5), length)));
    }
    let other = Context { class: Class::Remote, id: 7 };
    assert_eq!(rank.probe(other, None, None), None);
    for (request, length, context) in [(1, 3, contexts[2]), (2, 1, contexts[0])] {
        let (request, from, tag, room) = (RequestId(request), None, None, 9);
        rank.handle(Time::ZERO, Input::Receive { request, context, from, tag, room });
        let Some(Action::Received { bytes, .. }) = rank.poll_action(Time::ZERO) else {
            panic!("{rank:?}")
        };
        assert_eq!(bytes, length);
    }
    assert_eq!(rank.unexpected().collect::<Vec<_>>(), [(contexts[1], from, Tag(5), 2)]);
}

/// A class without credit asks; the others have theirs.
#[test]
fn what_nobody_asks_for_in_one_class_takes_no_credit_of_another() {
    let spec = MessageSpec { credit: 4096, ..MessageSpec::new(1000) };
    let mut rank = Messenger::new(spec, RankId(0));
    let mut send = |class, number| {
        let (request, context) = (RequestId(number), Context { class, id: 0 });
        let (to, tag, bytes, synchronous) = (RankId(1), Tag(0), 1000, false);
        let input = Input::Send { request, context, to, tag, bytes, synchronous };
        rank.handle(Time::ZERO, input);
        let first = rank.poll_action(Time::ZERO);
        while rank.poll_action(Time::ZERO).is_some() {}
        match first {
            Some(Action::Post { envelope, .. }) => matches!(envelope.body, Body::Eager { .. }),
            other => panic!("{other:?}"),
        }
    };
    let eager = (0..6).map(|number| send(Class::Application, number)).collect::<Vec<_>>();
    assert_eq!(eager, [true, true, true, false, false, false]);
    assert!(send(Class::Collective, 6) && send(Class::Remote, 7));
}

/// Each of a few messages, with and without bytes, short and long, is sent when it is matched.
#[test]
fn a_synchronous_send_is_done_when_its_message_is_matched() {
    for bytes in [0, 8, 1000, 1001] {
        let mut office = Office::new(MessageSpec::new(1000), 2, 2, bytes);
        let (request, context, to, tag) = (RequestId(1), CONTEXT, RankId(1), Tag(3));
        let synchronous = true;
        office.tell(0, Input::Send { request, context, to, tag, bytes, synchronous });
        while office.step() {}
        assert_eq!(office.sent, [], "nobody has asked for {bytes} bytes");
        assert_eq!(office.posted.contains_key("EAGER"), bytes <= 1000);
        office.receive(1, Some(0), Some(3), 9);
        while office.step() {}
        assert_eq!((office.sent.len(), office.received.len()), (1, 1), "{bytes} bytes");
        assert!(office.is_idle());
    }
}

#[test]
fn a_claimed_message_is_for_nobody_else() {
    let mut office = Office::new(MessageSpec::new(100), 2, 1, 5);
    for (request, bytes) in [(1, 50), (2, 5000), (3, 60)] {
        office.send(0, 1, 4, bytes, request);
        while office.step() {}
    }
    let claim = |office: &mut Office| office.ranks[1].claim(CONTEXT, None, Some(Tag(4)));
    let (short, from, tag, bytes) = claim(&mut office).unwrap();
    assert_eq!((from, tag, bytes), (RankId(0), Tag(4), 50));
    let (long, .., bytes) = claim(&mut office).unwrap();
    assert_eq!(bytes, 5000);
    office.receive(1, None, None, 10);
    assert_eq!(office.received[&RequestId(10)].2, 60, "the only one that is left");
    assert_eq!(claim(&mut office), None);
    for (request, claim, bytes) in [(11, long, 5000), (12, short, 50)] {
        let (request, room) = (RequestId(request), 9999);
        office.tell(1, Input::ReceiveClaimed { request, claim, room });
        while office.step() {}
        assert_eq!(office.received[&request].2, bytes);
    }
    assert!(office.is_idle());
    // A long one of a rank that is gone fails, a short one is there.
    office.send(0, 1, 4, 50, 20);
    office.send(0, 1, 4, 5000, 21);
    while office.step() {}
    let claims = [claim(&mut office), claim(&mut office)].map(|claim| claim.unwrap().0);
    office.tell(1, Input::Unreachable { peer: RankId(0) });
    for (request, claim) in [30, 31].into_iter().zip(claims) {
        let (request, room) = (RequestId(request), 9999);
        office.tell(1, Input::ReceiveClaimed { request, claim, room });
    }
    assert_eq!(office.received[&RequestId(30)].2, 50);
    assert_eq!(office.failed, [RequestId(31)]);
}

#[test]
fn what_nobody_asks_for_is_bounded_and_nothing_is_lost() {
    let spec = MessageSpec { credit: 4096, ..MessageSpec::new(1000) };
    let mut office = Office::new(spec, 2, 2, 3);
    (0..500).for_each(|number| office.send(0, 1, 0, 900 - number, number));
    while office.step() {}
    assert!(office.kept <= 4096, "{}", office.kept);
    assert!(office.posted["RTS"] > 0, "who has no credit for the bytes asks");
    (0..500).for_each(|number| office.receive(1, None, None, 1000 + number));
    while office.step() {}
    assert!(office.is_idle());
    for number in 0..500 {
        assert_eq!(office.received[&RequestId(1000 + number)].2, 900 - number);
    }
}

/// However short it is: even nothing is asked for, and stays at the sender until it is.
#[test]
fn a_synchronous_message_waits_for_its_receive() {
    let spec = MessageSpec { synchronous: true, ..MessageSpec::new(1000) };
    let mut office = Office::new(spec, 2, 1, 3);
    for (number, bytes) in [(0, 0), (1, 8), (2, 5000)] {
        office.send(0, 1, 0, bytes, number);
    }
    while office.step() {}
    assert!(office.sent.is_empty() && office.received.is_empty() && office.kept == 0);
    assert!(!office.posted.contains_key("EAGER"), "{:?}", office.posted);
    for number in 0..3 {
        office.receive(1, Some(0), Some(0), 10 + number);
        while office.step() {}
        assert_eq!(
            (office.sent.len(), office.received.len() as u64),
            (number as usize + 1, number + 1)
        );
    }
    assert!(office.is_idle() && office.kept == 0);
}

#[test]
fn a_sender_without_credit_asks_for_each_message_and_keeps_none_waiting() {
    let spec = MessageSpec { credit: 4096, ..MessageSpec::new(1000) };
    let mut office = Office::new(spec, 2, 2, 3);
    (0..500).for_each(|number| office.send(0, 1, 0, 900, number));
    office.send(0, 1, 1, 8, 500);
    while office.step() {}
    // It came behind all others, and is asked for first.
    office.receive(1, Some(0), Some(1), 1000);
    while office.step() {}
    assert_eq!(office.received[&RequestId(1000)], (RankId(0), Tag(1), 8));
    (0..500).for_each(|number| office.receive(1, Some(0), Some(0), 2000 + number));
    while office.step() {}
    assert!(office.is_idle());
}

#[test]
fn what_is_cancelled_takes_nothing_and_says_what_becomes_of_it() {
    let mut office = Office::new(MessageSpec::new(100), 2, 1, 4);
    office.receive(1, Some(0), Some(0), 1);
    office.receive(1, None, None, 2);
    office.receive(1, None, None, 3);
    let cancelled = |office: &mut Office, rank: usize, requests: &[u64]| {
        office.ranks[rank].cancel(&requests.iter().map(|&request| RequestId(request)).collect())
    };
    let withdrawn = [1, 2].map(|request| (RequestId(request), Cancelled::Withdrawn));
    assert_eq!(cancelled(&mut office, 1, &[1, 2, 9]), withdrawn);
    office.send(0, 1, 0, 50, 4);
    while office.step() {}
    assert_eq!(office.received[&RequestId(3)], (RankId(0), Tag(0), 50), "the one that is left");
    // The other rank knows of it.
    office.send(0, 1, 0, 500, 5);
    assert_eq!(cancelled(&mut office, 0, &[5]), [(RequestId(5), Cancelled::GoesOn)]);
    while office.step() {}
    office.receive(1, Some(0), Some(0), 6);
    let (from, tag, bytes) = (RankId(0), Tag(0), 500);
    let taken = Cancelled::Taken { from, tag, bytes };
    assert_eq!(cancelled(&mut office, 1, &[6]), [(RequestId(6), taken)]);
    while office.step() {}
    assert!(office.is_idle());
}

#[test]
fn what_waits_for_a_rank_that_is_gone_fails() {
    let mut office = Office::new(MessageSpec::new(100), 3, 1, 4);
    office.send(0, 1, 0, 1000, 1);
    office.receive(0, Some(1), None, 2);
    office.receive(0, Some(1), Some(4), 3);
    office.receive(0, None, None, 4);
    office.tell(0, Input::Unreachable { peer: RankId(1) });
    office.failed.sort_unstable();
    assert_eq!(office.failed, [1, 2, 3].map(RequestId));
    office.send(0, 1, 0, 10, 5);
    office.receive(0, Some(1), None, 6);
    assert_eq!(office.failed[3..], [5, 6].map(RequestId));
    office.send(2, 0, 9, 10, 7);
    while office.step() {}
    assert_eq!(office.received[&RequestId(4)], (RankId(2), Tag(9), 10), "others are there");
}

#[test]
fn what_cannot_be_is_counted_and_ignored() {
    let mut rank = Messenger::new(MessageSpec::new(100), RankId(1));
    let bodies = [
        (Some(0), Body::Cts { send: 0, receive: 0 }, 0),
        (Some(1), Body::Fin { receive: 9, of: 1 }, 0),
        (Some(2), Body::Credit { bytes: 1 }, 0),
        (Some(3), Body::Eager { context: 0, tag: Tag(0), bytes: 101, send: None }, 101),
        (Some(4), Body::Eager { context: 0, tag: Tag(0), bytes: 10, send: None }, 9),
        (None, Body::Data { receive: 0 }, 0),
        (Some(5), Body::Data { receive: 0 }, 0),
        (None, Body::Rts { context: 0, tag: Tag(0), bytes: 1, send: 0 }, 0),
        (Some(4), Body::Credit { bytes: 0 }, 0),
        (Some(5 + (1 << 31)), Body::Credit { bytes: 0 }, 0),
    ];
    for (count, (number, body, bytes)) in (1..).zip(bodies) {
        let envelope = Envelope { class: CLASS, number, body };
        rank.handle(Time::ZERO, Input::Arrived { from: RankId(0), envelope, bytes });
        assert_eq!(rank.strays(), count, "{body:?}");
    }
    rank.handle(Time::ZERO, Input::Landed { post: PostId(3) });
    assert_eq!((rank.strays(), rank.poll_action(Time::ZERO)), (11, None));
    assert!(rank.is_idle());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Ranks send and ask in any order: every receive that names sender and tag has the message that was sent as
    /// the next one of these; those that leave something open have all others, in order as well.
    #[test]
    fn every_message_arrives_once_whole_and_in_order(
        ranks in 2..5u32, rails in 1..4u32, (strict, synchronous) in any::<(bool, bool)>(), first in prop_oneof![Just(0), Just(u32::MAX - 20)],
        credit in 4096..20_000u64, open: bool, inline in 0..=10u64, seed: u64,
        sends in prop::collection::vec((0..5u32, 0..5u32, 0..3u32, 0..3000u64), 1..150),
    ) {
        let spec = MessageSpec { credit, strict, synchronous, first, ..MessageSpec::new(1000) };
        let mut office = Office::new(spec, ranks, rails, seed);
        office.inline.0 = inline;
        let mut draws = Seed(seed).stream("turns", 0);
        // What is to be done: sends in order, and for each a receive at its receiver.
        let mut expected: BTreeMap<(u32, u32, u32), VecDeque<u64>> = BTreeMap::new();
        let mut todo: Vec<(bool, u32, u32, u32, u64, u64)> = Vec::new();
        for (number, (from, to, tag, bytes)) in (0..).zip(sends) {
            let (from, to) = (from % ranks, to % ranks);
            if from != to {
                expected.entry((to, from, tag)).or_default().push_back(bytes);
                todo.push((true, from, to, tag, bytes, number));
                todo.push((false, to, from, tag, 0, 10_000 + number));
            }
        }
        let messages = todo.len() / 2;
        let mut sends: VecDeque<_> = todo.iter().copied().filter(|task| task.0).collect();
        let mut receives: VecDeque<_> = todo.iter().copied().filter(|task| !task.0).collect();
        let mut asked: Vec<(u32, u32, u32, u64)> = Vec::new();
        while !sends.is_empty() || !receives.is_empty() {
            match draws.below(3) {
                0 => if let Some((_, from, to, tag, bytes, number)) = sends.pop_front() {
                    office.send(from, to, tag, bytes, number);
                },
                1 => if let Some((_, rank, from, tag, _, number)) = receives.pop_front() {
                    asked.push((rank, from, tag, number));
                    let named = |value| (!open).then_some(value);
                    office.receive(rank, named(from), named(tag), number);
                },
                _ => { office.step(); }
            }
        }
        while office.step() {}
        prop_assert!(office.is_idle(), "{:?}", office.ranks);
        prop_assert_eq!((office.sent.len(), office.received.len()), (messages, messages));
        prop_assert!(office.kept <= credit * u64::from(ranks));
        prop_assert!(!synchronous || office.kept == 0);
        for (rank, from, tag, number) in asked {
            let (sender, mark, bytes) = office.received[&RequestId(number)];
            if !open {
                prop_assert_eq!((sender.0, mark.0), (from, tag));
            }
            let line = expected.get_mut(&(rank, sender.0, mark.0)).expect("it was sent");
            // Receives that leave everything open take what is opened first, in the order in which they were posted.
            prop_assert_eq!(line.pop_front(), Some(bytes));
        }
        prop_assert!(expected.values().all(VecDeque::is_empty));
    }
}

#[test]
fn nothing_is_kept_of_a_rank_that_is_gone_but_what_has_come_whole() {
    let mut office = Office::new(MessageSpec::new(100), 2, 1, 4);
    office.send(1, 0, 3, 50, 1);
    office.send(1, 0, 3, 1000, 2);
    office.send(1, 0, 3, 60, 3);
    while office.step() {}
    office.send(0, 1, 0, 10, 4);
    office.tell(0, Input::Unreachable { peer: RankId(1) });
    office.receive(0, Some(1), Some(3), 5);
    assert_eq!(office.received[&RequestId(5)], (RankId(1), Tag(3), 50));
    office.receive(0, Some(1), Some(3), 6);
    office.receive(0, Some(1), Some(3), 7);
    assert_eq!(office.failed, [6, 7].map(RequestId), "the third is not given for the second");
    assert!(office.ranks[0].is_idle(), "{:?}", office.ranks[0]);
    assert_eq!(office.ranks[0].kept(), 0);
}

#[test]
fn who_is_waited_for_is_probed() {
    let at = Time::from_ns;
    let spec = MessageSpec { probe: Some(at(100)), ..MessageSpec::new(10) };
    let mut rank = Messenger::new(spec, RankId(0));
    assert_eq!(rank.poll_timeout(), None);
    let (from, tag, room) = (Some(RankId(1)), None, 100);
    let (request, context) = (RequestId(5), CONTEXT);
    rank.handle(at(50), Input::Receive { request, context, from, tag, room });
    let probes = |rank: &mut Messenger, now| {
        assert_eq!(rank.poll_timeout(), Some(now));
        rank.handle_timeout(now);
        let actions: Vec<Action> = std::iter::from_fn(|| rank.poll_action(now)).collect();
        let probe = |action: &Action| match *action {
            Action::Post { post, to, envelope, .. } if envelope.body == Body::Probe => (post, to),
            _ => panic!("{action:?}"),
        };
        actions.iter().map(probe).collect::<Vec<_>>()
    };
    let first = probes(&mut rank, at(150));
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].1, RankId(1));
    assert_eq!(probes(&mut rank, at(250)), [], "one is under way");
    rank.handle(at(260), Input::Landed { post: first[0].0 });
    assert_eq!(probes(&mut rank, at(360)).len(), 1);
    rank.handle(at(400), Input::Unreachable { peer: RankId(1) });
    let failed = Action::Failed { request: RequestId(5), peer: RankId(1) };
    assert_eq!(rank.poll_action(at(400)), Some(failed));
    assert!(rank.is_idle());
}
