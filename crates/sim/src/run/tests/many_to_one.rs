//! Many to one through a switch with finite memory: who loses, and what go-back-N makes of it [tam,
//! 4].

use super::*;
use crate::frame::{Capacity, Forwarding, FrameSpec, HandOver, Line, Memory, SwitchSpec};
use crate::network::Pace;
use crate::node::StationSpec;
use crosstie_collective::{Builder, Rank, Tag};
use crosstie_protocol::channel::GoBackNSpec;
use crosstie_units::Cost;
use crosstie_work::Player;
use std::sync::Arc;

const PAYLOAD: u32 = 1492;
const BYTE: Time = Time::from_ns(80);
/// Between two full frames on Fast Ethernet.
const SLOT: Time = Time::from_ns((1500 + 38) * 80);

/// Table 5.2 of the thesis: what a node of 450 MHz takes for a packet.
const NODE: StationSpec = StationSpec {
    send: Cost::fixed(Time::from_ns(12_500)),
    send_gap: Cost::fixed(Time::ZERO),
    outward: Cost::fixed(Time::ZERO),
    inward: Cost::fixed(Time::ZERO),
    receive_gap: Cost::fixed(Time::ZERO),
    receive: Cost::fixed(Time::from_ns(20_000)),
    pickup: Cost::fixed(Time::from_ns(7_000)),
    interrupts: true,
    ring: None,
    receive_ring: None,
    pool: None,
    jitter: Time::ZERO,
};

/// Everybody sends so many packets to the last rank, through one switch.
fn many_to_one(
    senders: u32,
    packets: u32,
    memory: Memory,
    channel: GoBackNSpec,
    station: Option<StationSpec>,
) -> Played {
    let fabric = crosstie_fabric::single(senders + 1).unwrap();
    let routing = Shortest::new(&fabric);
    let line = Line { pace: Pace { time: BYTE, bytes: 1 }, wire: Time::ZERO };
    let lines = vec![line; fabric.links().len()];
    let latency = Time::from_ns(5_000);
    let switches = [SwitchSpec {
        forwarding: Forwarding::StoreAndForward,
        lookup: Time::ZERO,
        latency,
        memory,
    }];
    let blueprint = FrameSpec {
        fabric: &fabric,
        routing: &routing,
        rails: 1,
        ports: &[],
        lines: &lines,
        clocks: &[],
        switches: &switches,
        cycle: BYTE,
        changes: &[],
    };
    let nodes = NodesSpec {
        channel: Some(channel.into()),
        station,
        ..plain_nodes(1, Packing { payload: Some(PAYLOAD), overhead: 8 })
    };
    let mut builder = Builder::new(senders + 1);
    let (root, tag, bytes) = (Rank(senders), Tag(0), packets * PAYLOAD);
    for sender in 0..senders {
        builder.send(Rank(sender), root, tag, bytes);
        builder.receive(root, Rank(sender), tag, bytes);
    }
    let schedule = builder.finish().unwrap();
    let limit = Time::from_ns(100_000_000_000_000);
    let play = Play {
        blueprint: &blueprint,
        nodes: &nodes,
        messaging: None,
        overhead: None,
        limit,
        records: false,
    };
    let mut player = Player::new(Arc::new(schedule), 1);
    play.run(&mut player, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn channel(window: u32, slots: u64) -> GoBackNSpec {
    GoBackNSpec { window, timeout: SLOT * slots, every: 1, after: SLOT, simple: false }
}

fn efficiency(senders: u32, packets: u32, played: &Played) -> f64 {
    assert_eq!(played.failure, None);
    let best = (SLOT * u64::from(senders) * u64::from(packets)).ps() as f64;
    best / played.time.ps() as f64
}

fn input(frames: u32) -> Memory {
    let room = Capacity::Frames(frames);
    Memory::Input {
        host: room,
        uplink: room,
        hand_over: HandOver::default(),
        stage: 0,
        circuit: None,
    }
}

fn output(frames: u32) -> Memory {
    Memory::Output { host: Capacity::Frames(frames), uplink: Capacity::Frames(frames) }
}

/// As real hosts are: no two take equally long.
const JITTERY: StationSpec = StationSpec { jitter: Time::from_ns(5_000), ..NODE };

#[test]
fn nothing_is_lost_as_long_as_windows_fit() {
    let stations = [None, Some(NODE), Some(JITTERY)];
    for (memory, senders, fits, too_wide) in [
        (input(43), 15, 43, 44),
        (input(43), 2, 43, 45),
        (output(95), 5, 19, 20),
        (output(95), 19, 5, 6),
    ] {
        for station in stations {
            let lost = |window| {
                let played = many_to_one(senders, 400, memory, channel(window, 4000), station);
                assert_eq!(played.failure, None);
                played.delivery.lost
            };
            assert_eq!(lost(fits), 0, "{memory:?}, {senders} senders, {station:?}");
            assert!(lost(too_wide) > 0, "{memory:?}, {senders} senders, {station:?}");
        }
    }
}

/// Eq. 4.2, exact.
fn predicted(frames: u32, senders: u32, window: u32) -> f64 {
    let (frames, senders, window) = (f64::from(frames), f64::from(senders), f64::from(window));
    let x = (window - 1.0) / senders;
    let run = (frames - x) / (1.0 - 1.0 / senders);
    (run + 1.0) / (run + 2.0 + x + frames)
}

#[test]
fn memory_at_inputs_gives_what_the_formula_says() {
    for (senders, windows) in
        [(7, [50, 60, 80, 100]), (15, [44, 50, 60, 100]), (23, [50, 60, 80, 100])]
    {
        for window in windows {
            let timeout = 3 * 43 * u64::from(senders);
            let found: Vec<f64> = [timeout, 2 * timeout]
                .map(|slots| {
                    let played = many_to_one(
                        senders,
                        2000,
                        input(43),
                        channel(window, slots),
                        Some(JITTERY),
                    );
                    efficiency(senders, 2000, &played)
                })
                .to_vec();
            let expected = predicted(43, senders, window);
            let case =
                format!("{senders} senders, window {window}: {found:?}, expected {expected}");
            assert!(found.iter().all(|found| (found - expected).abs() < 0.02), "{case}");
            assert!(found.iter().all(|&found| found < 0.5), "{case}");
            assert!((found[0] - found[1]).abs() < 0.01, "the time-out does not matter: {case}");
        }
    }
}

#[test]
fn memory_at_outputs_suffers_from_windows_and_senders_and_gains_from_patience() {
    let found = |senders, window, slots, simple| {
        let channel = GoBackNSpec { simple, ..channel(window, slots) };
        let played = many_to_one(senders, 3000, output(95), channel, Some(JITTERY));
        (efficiency(senders, 3000, &played), played)
    };
    let ours = |senders, window, slots| found(senders, window, slots, false).0;
    let few = ours(7, 18, 400);
    assert!(few > ours(7, 36, 400) + 0.05 && few > ours(15, 18, 400) + 0.05);
    // A time-out below twice the memory makes senders repeat what is only waiting.
    let patience = [50, 100, 400, 1600].map(|slots| ours(15, 12, slots));
    assert!(patience.is_sorted() && patience[0] < 0.5 * patience[3], "{patience:?}");
    // Simple go-back-N waits for its time-out whenever something is lost.
    let (simple, played) = found(7, 18, 400, true);
    assert!(simple < 0.8 * few, "{simple} and {few}");
    let tally = played.delivery.channels.unwrap();
    assert_eq!((tally.nacks, tally.fast, tally.refused), (0, 0, 0));
    // What was delivered is what was sent, once.
    let (_, played) = found(7, 36, 400, false);
    let tally = played.delivery.channels.unwrap();
    assert_eq!((tally.first, tally.delivered), (21_000, 21_000));
    assert!(tally.nacks > 0 && tally.fast > 0 && tally.timeout > 0 && played.delivery.lost > 0);
    assert_eq!(
        played.buffers.iter().map(|buffer| buffer.dropped).sum::<u64>(),
        played.delivery.lost
    );
    assert_eq!(played.delivery.histories.len(), 7);
}
