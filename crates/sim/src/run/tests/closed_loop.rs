//! Ping and stream against their closed forms, on every kind of network.

use super::*;
use crate::host::Overhead;
use crate::ideal::IdealSpec;
use crate::network::{Interest, Joint, Network, Pace};
use crosstie_fabric::{HostId, distances_from};
use crosstie_protocol::{Machine, StripingRatio};
use crosstie_work::{ANSWER, Application, Ping, PingSpec, Rank, Stream, StreamSpec};

const LIMIT: Time = Time::from_ns(1_000_000_000);

fn play(blueprint: &dyn Blueprint, nodes: &NodesSpec, mut application: impl Application) -> Played {
    let play =
        Play { blueprint, nodes, messaging: None, overhead: None, limit: LIMIT, records: false };
    let played = play.run(&mut application, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(played.failure, None);
    played
}

fn ping(from: u32, to: u32, bytes: u32) -> Ping {
    Ping::new(PingSpec { from: Rank(from), to: Rank(to), bytes, iterations: 3 })
}

fn stream(bytes: u32, window: u32, both_ways: bool) -> Stream {
    let (from, to) = (Rank(0), Rank(1));
    Stream::new(StreamSpec {
        from,
        to,
        bytes,
        window,
        both_ways,
        pairs: 1,
        crossed: false,
        iterations: 3,
    })
}

/// What every iteration took; they are all the same.
fn each(played: &Played) -> Time {
    assert_eq!(played.iterations.len(), 3);
    assert!(played.iterations.iter().all(|&took| took == played.iterations[0]), "{played:?}");
    played.iterations[0]
}

/// A flit of 2 bytes in 5 ns, and a latency and a gap that nothing divides.
fn ideal(rails: u32) -> IdealSpec {
    IdealSpec {
        hosts: 4,
        rails,
        pace: Pace { time: CYCLE, bytes: 2 },
        latency: Time::from_ps(15_001),
        gap: Time::from_ps(703),
        cycle: CYCLE,
    }
}

#[test]
fn a_ping_on_an_idle_tree_takes_what_the_formula_says() {
    // docs/simulator.md, latency without load: T = (h + 1) L + h R + F - 1 cycles, with L = 1 + w.
    let fabric = tree(4, 3).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = full_duplex();
    let blueprint = wormhole(&fabric, &routing, 1, &config);
    let nodes = plain_nodes(1, WHOLE);
    let expected = |switches: u32, bytes: u32| {
        let (h, flits) = (u64::from(switches), u64::from(bytes.div_ceil(2)));
        CYCLE * (2 * ((h + 1) * (1 + 3) + h * 6 + flits - 1))
    };
    for from in 0..64 {
        let channels = distances_from(&fabric, HostId(from));
        for to in (0..64).filter(|&to| to != from) {
            let played = play(&blueprint, &nodes, ping(from, to, 64));
            assert_eq!(each(&played), expected(channels[to as usize] - 1, 64), "{from} to {to}");
        }
        for bytes in [1, 1000, 4096] {
            let to = 63 - from;
            let played = play(&blueprint, &nodes, ping(from, to, bytes));
            assert_eq!(each(&played), expected(channels[to as usize] - 1, bytes), "{bytes} bytes");
        }
    }
}

#[test]
fn a_ping_on_the_ideal_network_takes_what_the_formula_says() {
    for (bytes, payload) in [(1, None), (64, None), (1001, None), (1000, Some(320))] {
        let packing = Packing { payload, overhead: 8 };
        let spec = ideal(1);
        let played = play(&spec, &plain_nodes(1, packing), ping(0, 1, bytes));
        let (full, last) = packing.cut(u64::from(bytes));
        let wire = |carried: u64| spec.pace.time_for(packing.wire_bytes(carried) as u32 - 1);
        let before = (wire(u64::from(payload.unwrap_or(0))) + spec.gap) * full;
        assert_eq!(each(&played), (before + spec.latency + wire(last)) * 2, "{bytes} bytes");
        assert_eq!(played.bytes_per_iteration, 2 * u64::from(bytes));
        let ends: Vec<Time> = played.finished.values().copied().collect();
        // The one that answers is done when its last answer has left.
        assert_eq!(ends, [each(&played) * 3, each(&played) * 3 - spec.latency]);
    }
}

#[test]
fn a_stream_on_the_ideal_network_takes_what_the_formula_says() {
    let spec = ideal(1);
    let nodes = plain_nodes(1, WHOLE);
    let answer = spec.pace.time_for(ANSWER - 1);
    for (bytes, window) in [(1, 1), (64, 16), (4096, 64)] {
        let data = (spec.pace.time_for(bytes - 1) + spec.gap) * u64::from(window) - spec.gap;
        let played = play(&spec, &nodes, stream(bytes, window, false));
        assert_eq!(each(&played), data + spec.latency + spec.latency + answer);
        // Both ways the answer leaves when what has come in is complete, which is when the wire out
        // has rested after the last message that went out.
        let played = play(&spec, &nodes, stream(bytes, window, true));
        let leaves = (data + spec.latency).max(data + spec.gap);
        assert_eq!(each(&played), leaves + spec.latency + answer);
        assert_eq!(played.bytes_per_iteration, 2 * u64::from(window) * u64::from(bytes));
    }
}

#[test]
fn rails_share_a_stream() {
    let window = 16;
    let took =
        |rails| each(&play(&ideal(rails), &plain_nodes(rails, WHOLE), stream(4096, window, false)));
    let ratio = took(1).ps() as f64 / took(4).ps() as f64;
    assert!((3.9..4.0).contains(&ratio), "{ratio}");
}

/// But for policies that reserve: who is told sooner may ask sooner, be refused and ask once more,
/// and so be done later.
#[test]
fn no_network_is_faster_than_the_ideal_one() {
    let fabric = tree(2, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    for bus in [Bus::Full, Bus::Shared { read: 1, write: 1 }] {
        let config = Config { bus, ..full_duplex() };
        for policy in [
            PolicyKind::RoundRobin {},
            PolicyKind::Basic {},
            PolicyKind::LocalDynamic { striping: StripingRatio::ALL },
        ] {
            for (bytes, payload) in [(1, None), (100, Some(32)), (5000, None), (5000, Some(320))] {
                let packing = Packing { payload, overhead: 4 };
                let nodes = NodesSpec { policy, ..plain_nodes(2, packing) };
                // One wire instead of at least two and a switch between.
                let best = IdealSpec { latency: CYCLE * 3, gap: Time::ZERO, ..ideal(2) };
                let real = wormhole(&fabric, &routing, 2, &config);
                for both_ways in [false, true] {
                    let best = play(&best, &nodes, stream(bytes, 8, both_ways));
                    let real = play(&real, &nodes, stream(bytes, 8, both_ways));
                    for (best, real) in best.iterations.iter().zip(&real.iterations) {
                        assert!(
                            best <= real,
                            "{policy:?}, {bytes} bytes, {both_ways}: {best} and {real}"
                        );
                    }
                }
                let best = play(&best, &nodes, ping(0, 3, bytes));
                let real = play(&real, &nodes, ping(0, 3, bytes));
                assert!(best.time <= real.time, "{policy:?}, {bytes} bytes");
            }
        }
    }
}

/// A wormhole network on the first rail, and on the second an ideal one of another rate.
struct Mixed<'a> {
    wormhole: WormholeSpec<'a>,
    ideal: IdealSpec,
}

impl Blueprint for Mixed<'_> {
    fn hosts(&self) -> u32 {
        self.wormhole.hosts()
    }
    fn rails(&self) -> u32 {
        2
    }
    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        Box::new(Joint::new(vec![
            (1, self.wormhole.build(interest)),
            (1, self.ideal.build(interest)),
        ]))
    }
    fn pace(&self) -> Pace {
        self.wormhole.pace()
    }
}

#[test]
fn two_kinds_and_two_rates_live_under_one_clock() {
    let fabric = tree(2, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = full_duplex();
    let wormhole = wormhole(&fabric, &routing, 1, &config);
    // A byte in 1.7 ns: no multiple of anything on the other rail.
    let ideal = IdealSpec { pace: Pace { time: Time::from_ps(1700), bytes: 1 }, ..ideal(1) };
    let mixed = Mixed { wormhole, ideal };
    let nodes = plain_nodes(2, WHOLE);
    let alone = |blueprint: &dyn Blueprint, bytes| {
        each(&play(blueprint, &plain_nodes(1, WHOLE), ping(0, 3, bytes)))
    };
    for bytes in [1, 64, 1000] {
        // Each node takes its rails in turn: odd round trips go by the one, even ones by the other.
        let (slow, fast) = (alone(&wormhole, bytes), alone(&ideal, bytes));
        let played = play(&mixed, &nodes, ping(0, 3, bytes));
        let [first, second, third] = played.iterations[..] else { panic!("{played:?}") };
        // What begins between two ticks of the wormhole network waits for the next one.
        assert_eq!((first, second), (slow, fast), "{bytes} bytes");
        assert!(third >= slow && third < slow + CYCLE * 2, "{third} and {slow}");
    }
    // Both rails at once: neither waits for the other, and time never runs backwards.
    let played = play(&mixed, &nodes, stream(1000, 64, false));
    let half = |blueprint: &dyn Blueprint| {
        each(&play(blueprint, &plain_nodes(1, WHOLE), stream(1000, 32, false)))
    };
    let slowest = half(&wormhole).max(half(&ideal));
    let took = played.iterations[0];
    assert!(took <= slowest + CYCLE * 10 && took + CYCLE * 200 > slowest, "{took} and {slowest}");
}

#[test]
fn work_that_cannot_end_fails_in_words() {
    let spec = ideal(1);
    let nodes = plain_nodes(1, WHOLE);
    let limited = Play {
        blueprint: &spec,
        nodes: &nodes,
        messaging: None,
        overhead: None,
        limit: Time::from_ns(2000),
        records: false,
    };
    let mut long = Ping::new(PingSpec { from: Rank(0), to: Rank(1), bytes: 64, iterations: 1000 });
    let played = limited.run(&mut long, &mut |_| ControlFlow::Continue(())).unwrap();
    let failure = played.failure.unwrap();
    assert!(failure.starts_with("not done at the limit of 2 us, after "), "{failure}");
    assert!(played.finished.is_empty() && !played.iterations.is_empty());
    // The answering rank is left out, so the other waits for ever.
    let mut lonely = Lonely(ping(0, 1, 64));
    let limited = Play { limit: LIMIT, ..limited };
    let played = limited.run(&mut lonely, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        played.failure.unwrap(),
        "nothing can happen after 0 iterations: rank 0 waits for tag 0 from rank 1"
    );
}

/// An application of which only the first rank takes part.
struct Lonely(Ping);

impl Machine for Lonely {
    type Input = crosstie_work::Input;
    type Action = crosstie_work::Action;
    fn handle(&mut self, now: Time, input: Self::Input) {
        self.0.handle(now, input);
    }
    fn handle_timeout(&mut self, _now: Time) {}
    fn poll_action(&mut self, now: Time) -> Option<Self::Action> {
        self.0.poll_action(now)
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl Application for Lonely {
    fn ranks(&self) -> Vec<Rank> {
        vec![Rank(0)]
    }
    fn timekeepers(&self) -> Vec<Rank> {
        self.ranks()
    }
    fn bytes_per_iteration(&self) -> u64 {
        self.0.bytes_per_iteration()
    }
}

/// The caller is asked again and again if the run goes on, also while one long message is under
/// way.
#[test]
fn a_long_message_does_not_keep_anybody_from_breaking_off() {
    let fabric = tree(2, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = full_duplex();
    let blueprint = wormhole(&fabric, &routing, 1, &config);
    let nodes = plain_nodes(1, WHOLE);
    for overhead in [None, Some(Overhead { message: CYCLE, byte: Time::ZERO, eager: None })] {
        let play = Play {
            blueprint: &blueprint,
            nodes: &nodes,
            messaging: None,
            overhead,
            limit: LIMIT,
            records: false,
        };
        let (mut last, mut longest) = (Time::ZERO, Time::ZERO);
        let watch = &mut |now: Time| {
            longest = longest.max(now - last);
            last = now;
            ControlFlow::Continue(())
        };
        let played = play.run(&mut ping(0, 3, 1 << 20), watch).unwrap();
        assert!(played.time > CYCLE * 3_000_000 && last > CYCLE * 3_000_000, "{}", played.time);
        assert!(longest <= CYCLE * 20_000, "{longest}");
        let mut asked = 0;
        let give_up = &mut |_| {
            asked += 1;
            ControlFlow::Break(())
        };
        assert!(play.run(&mut ping(0, 3, 1 << 20), give_up).is_none());
        assert_eq!(asked, 1);
    }
}
