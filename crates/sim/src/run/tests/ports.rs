//! Tagged ports: ranks whose NICs match their messages.

use super::*;
use crate::elan::mmu::Memory;
use crate::elan::tests::{config, elan3};
use crate::elan::{ElanSpec, WithElans};
use crate::host::{Episode, MessagingSpec};
use crate::network::Pace;
use crosstie_collective::{Builder, Op, OpId, Rank, Schedule, Step, Tag};
use crosstie_protocol::message::MessageSpec;
use crosstie_work::Player;
use proptest::prelude::*;
use std::sync::Arc;

const LIMIT: Time = Time::from_ns(1_000_000_000);
/// What fits into a packet with its envelope is sent without asking.
const EAGER: u64 = 288;
const ENVELOPE: u32 = 32;
const MAIN: Memory = Memory::Main;

fn us(us: u64) -> Time {
    Time::from_ns(1000 * us)
}

fn seconds(time: Time) -> f64 {
    time.seconds() * 1e6
}

/// Ranks with ports, and no processors.
struct Ports {
    elan: ElanSpec,
    rails: u32,
    pes: u32,
    policy: PolicyKind,
    synchronous: bool,
}

impl Default for Ports {
    fn default() -> Ports {
        let policy = PolicyKind::RoundRobin {};
        Ports { elan: elan3(MAIN, MAIN), rails: 1, pes: 1, policy, synchronous: false }
    }
}

impl Ports {
    fn matching(time: Time) -> Ports {
        let elan = ElanSpec { matching: time, ..elan3(MAIN, MAIN) };
        Ports { elan, ..Ports::default() }
    }

    fn synchronous() -> Ports {
        Ports { synchronous: true, ..Ports::default() }
    }

    /// Plays a schedule on the 4-ary 2-tree.
    fn play(&self, schedule: Schedule) -> Played {
        let fabric = tree(4, 2).unwrap();
        let routing = TreeAdaptive::new(&fabric).unwrap();
        let config = config(None);
        let network = Box::new(wormhole(&fabric, &routing, self.rails, &config));
        let blueprint = &WithElans { network, elan: self.elan };
        let nodes = &NodesSpec {
            pes: self.pes,
            policy: self.policy,
            window: None,
            puts: true,
            ..plain_nodes(self.rails, WHOLE)
        };
        let mut protocol = MessageSpec::new(EAGER);
        (protocol.strict, protocol.fins, protocol.synchronous) = (false, false, self.synchronous);
        let memory = Pace { time: Time::from_ns(1), bytes: 1 };
        let (envelope, latency, ports) = (ENVELOPE, Time::ZERO, true);
        let messaging = Some(MessagingSpec { protocol, envelope, memory, latency, ports });
        let (overhead, limit, records) = (None, LIMIT, true);
        let play = Play { blueprint, nodes, messaging, overhead, limit, records };
        let mut player = Player::new(Arc::new(schedule), 1);
        let played = play.run(&mut player, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(played.failure, None);
        played
    }

    /// The messages of a schedule in the order in which they were received.
    fn messages(&self, schedule: Builder) -> Vec<Episode> {
        let mut episodes = self.play(schedule.finish().unwrap()).episodes;
        episodes.retain(|episode| episode.message.is_some());
        episodes.sort_by_key(|episode| episode.end);
        episodes
    }
}

fn bytes(episode: &Episode) -> u32 {
    episode.message.unwrap().1
}

/// A receive that may leave sender and tag open.
fn receive(builder: &mut Builder, rank: Rank, from: Option<u32>, tag: Option<u32>) -> OpId {
    let step = Step::Receive { from: from.map(Rank), tag: tag.map(Tag), bytes: u32::MAX };
    builder.add(rank, Op { step, cpu: 0, nic: None })
}

/// One message from rank 1 to rank 0, whose receive is posted when that has computed.
fn one(ports: &Ports, bytes: u32, computes: Time) -> Episode {
    let mut builder = Builder::new(2);
    builder.send(Rank(1), Rank(0), Tag(0), bytes);
    let late = builder.compute(Rank(0), computes);
    let posted = receive(&mut builder, Rank(0), Some(1), Some(0));
    builder.after(Rank(0), posted, late);
    ports.messages(builder)[0]
}

#[test]
fn the_thread_of_a_nic_matches_one_message_after_the_other() {
    let matched = |to: &dyn Fn(u32) -> u32| {
        let mut builder = Builder::new(8);
        for from in 4..8 {
            builder.send(Rank(from), Rank(to(from)), Tag(from), 8);
            receive(&mut builder, Rank(to(from)), Some(from), Some(from));
        }
        Ports::matching(us(10)).messages(builder)
    };
    // At one rank, whose receives are matched first, and at four.
    let one = matched(&|_| 0);
    let four = matched(&|from| from - 4);
    let last = |episodes: &[Episode]| seconds(episodes[3].end);
    assert!((80.0..90.0).contains(&last(&one)), "{one:?}");
    assert!((20.0..30.0).contains(&last(&four)), "{four:?}");
    for pair in one.windows(2) {
        let apart = seconds(pair[1].end) - seconds(pair[0].end);
        assert!((apart - 10.0).abs() < 0.5, "{one:?}");
    }
}

/// Nothing but the matching itself: with none, and all else as it is.
#[test]
fn a_match_is_on_the_way_of_a_message_once() {
    let takes = |time| seconds(one(&Ports::matching(time), 8, Time::ZERO).end);
    // The receive is there first, and has been looked for.
    let (none, some) = (takes(Time::ZERO), takes(Time::from_ns(900)));
    assert!((some - none - 0.9).abs() < 0.01, "{none} {some}");
}

/// A rank asks for a tag, for a sender, for both and for neither.
#[test]
fn messages_are_selected_by_sender_and_tag_or_either_or_neither() {
    for (ports, size) in
        [(Ports::default(), 10), (Ports::default(), 1000), (Ports::synchronous(), 10)]
    {
        let mut builder = Builder::new(4);
        // Each rank sends two, told apart by their lengths.
        for from in 1..4u32 {
            let mut before = None;
            for tag in [7, 8] {
                let sent = builder.send(Rank(from), Rank(0), Tag(tag), size + 10 * from + tag);
                if let Some(before) = before {
                    builder.after(Rank(from), sent, before);
                }
                // The next one waits for nothing but time, as a send may wait for its receive.
                before = Some(builder.compute(Rank(from), us(u64::from(from) * 20)));
            }
        }
        // All have come when the first receive is posted.
        let mut before = builder.compute(Rank(0), us(500));
        for (from, tag) in
            [(None, Some(8)), (Some(2), None), (Some(3), Some(8)), (None, None), (None, None)]
        {
            let posted = receive(&mut builder, Rank(0), from, tag);
            builder.after(Rank(0), posted, before);
            before = posted;
        }
        let last = receive(&mut builder, Rank(0), Some(2), None);
        builder.after(Rank(0), last, before);
        let found: Vec<u32> =
            ports.messages(builder).iter().map(|episode| bytes(episode) - size).collect();
        // The oldest of tag 8 is that of rank 1; of rank 2 the first; then what was named; then the
        // oldest two of all that are left, and the last one.
        assert_eq!(found, [18, 27, 38, 17, 37, 28], "{size}");
    }
}

/// Each receive takes the message that was sent in its place, as the answers to them tell: a short
/// one may be there before the long one that was sent before it, and does not take its receive.
#[test]
fn a_short_message_does_not_take_the_receive_of_a_long_one_that_looks_alike() {
    let mut builder = Builder::new(2);
    for (size, answer) in [(100_000, 1), (8, 2), (50_000, 3), (0, 4)] {
        builder.send(Rank(1), Rank(0), Tag(3), size);
        let received = builder.receive(Rank(0), Rank(1), Tag(3), size);
        let answered = builder.send(Rank(0), Rank(1), Tag(9), answer);
        builder.after(Rank(0), answered, received);
        receive(&mut builder, Rank(1), Some(0), Some(9));
    }
    let episodes = Ports::default().messages(builder);
    let answered = |answer| {
        let is_answer = |episode: &&Episode| episode.rank == Rank(0) && bytes(episode) == answer;
        seconds(episodes.iter().find(is_answer).unwrap().begin)
    };
    // 200 MB/s between main memories; both long ones are under way at once.
    assert!(answered(1) > 500.0 && answered(3) > 250.0, "{episodes:?}");
    assert!(answered(2) < 20.0 && answered(4) < 20.0, "{episodes:?}");
}

/// Its bytes stay in the memory of the sender, which hears of nothing, until the receive is posted.
#[test]
fn a_synchronous_message_moves_only_when_its_receive_is_posted() {
    for size in [0, 8, 288, 100_000] {
        let early = one(&Ports::synchronous(), size, Time::ZERO);
        let late = one(&Ports::synchronous(), size, us(1000));
        assert!(late.left >= us(1000), "{size}: its sender knew at {}", late.left);
        // Post and match, the answer and the message are left; only the RTS is over.
        let behind = seconds(late.end) - 1000.0;
        assert!(behind > seconds(early.end) - 3.0, "{size}: {behind}, {early:?}");
        assert!(behind < seconds(early.end) + 2.0, "{size}: {behind}, {early:?}");
    }
    let longer = one(&Ports::synchronous(), 200_000, us(1000));
    let shorter = one(&Ports::synchronous(), 100_000, us(1000));
    // All bytes pass the bus that reads when the receive has been posted.
    assert!((seconds(longer.end) - seconds(shorter.end) - 500.0).abs() < 5.0, "{longer:?}");
}

/// Written out step by step: the command, the match, the block through the NIC and over the bus,
/// and the event that tells the rank.
#[test]
fn an_unexpected_message_waits_at_the_destination_and_is_moved_when_it_is_asked_for() {
    let step = 0.2;
    let matching = 1.0;
    let crossing = 64.0 / 275.0 + 0.25;
    let tells = step + step + crossing + step;
    for size in [1, 8, 32, 64] {
        let late = one(&Ports::default(), size, us(1000));
        assert!(late.left < us(10), "its sender is done: {late:?}");
        let expected = 1000.0 + 2.0 * step + matching + 64.0 / 540.0 + crossing + tells;
        assert!((seconds(late.end) - expected).abs() < 0.01, "{size}: {late:?}, {expected}");
    }
    let empty = seconds(one(&Ports::default(), 0, us(1000)).end);
    assert!((empty - (1000.0 + 2.0 * step + matching + tells)).abs() < 0.01, "{empty}");
    // A long one is not kept there: it has to come, once it is asked for.
    let long = one(&Ports::default(), 100_000, us(1000));
    assert!(long.left > us(1500) && long.end > us(1500), "{long:?}");
}

/// Into memory of the NIC nothing has to cross a bus.
#[test]
fn messages_go_where_ports_have_their_memory() {
    let takes = |source, destination, size| {
        let elan = elan3(source, destination);
        seconds(one(&Ports { elan, ..Ports::default() }, size, Time::ZERO).end)
    };
    let elan = Memory::Elan;
    for (size, crossing) in [(8, 64.0 / 275.0 + 0.25), (32, 64.0 / 275.0 + 0.25)] {
        let less = takes(MAIN, MAIN, size) - takes(MAIN, elan, size);
        assert!((less - crossing).abs() < 0.01, "{less}");
        let read = takes(MAIN, elan, size) - takes(elan, elan, size);
        assert!((read - 64.0 / 200.0 - 0.5).abs() < 0.01, "{read}");
    }
    for (source, destination, rate) in
        [(MAIN, MAIN, 200.0), (MAIN, elan, 200.0), (elan, MAIN, 275.0), (elan, elan, 338.6)]
    {
        let found = f64::from(1 << 20) / takes(source, destination, 1 << 20);
        assert!((found / rate - 1.0).abs() < 0.01, "{found}, expected {rate}");
    }
}

/// Every rank sends messages of all kinds to every other, and asks for them in another order.
fn all_kinds(ranks: u32, sizes: &[u32], wildcards: bool) -> Schedule {
    let mut builder = Builder::new(ranks);
    for from in 0..ranks {
        for step in 1..ranks {
            for (tag, &bytes) in (0..).zip(sizes) {
                builder.send(Rank(from), Rank((from + step) % ranks), Tag(tag), bytes);
            }
        }
    }
    for to in 0..ranks {
        for step in (1..ranks).rev() {
            for tag in (0..sizes.len() as u32).rev() {
                let from = (!wildcards).then_some((to + step) % ranks);
                receive(&mut builder, Rank(to), from, Some(tag));
            }
        }
    }
    builder.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever ports, rails and processes there are: every message is received, once.
    #[test]
    fn every_message_is_received(
        sizes in prop::collection::vec(prop_oneof![0..2u32, 60..70u32, 280..300u32, 0..5000u32], 1..5),
        (pes, rails) in (1..3u32, 1..3u32),
        (synchronous, wildcards, to_elan) in any::<(bool, bool, bool)>(),
        matching in 0..3000u64,
        policy in prop::sample::select(vec![
            PolicyKind::RoundRobin {}, PolicyKind::EvenStriping { threshold: Bytes::new(1000) },
        ]),
    ) {
        let memory = if to_elan { Memory::Elan } else { MAIN };
        let elan = ElanSpec { matching: Time::from_ns(matching), ..elan3(MAIN, memory) };
        let ranks = 4;
        let ports = Ports { elan, rails, pes, policy, synchronous };
        let played = ports.play(all_kinds(ranks, &sizes, wildcards));
        prop_assert_eq!(played.finished.len(), ranks as usize);
        let expected = sizes.len() as u64 * u64::from(ranks * (ranks - 1));
        prop_assert_eq!(played.episodes.len() as u64, expected);
        for episode in &played.episodes {
            prop_assert!(episode.begin <= episode.left && episode.begin < episode.end);
        }
    }
}
