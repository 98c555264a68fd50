//! Many senders and one root, in slots of one packet each: the plainest switch that can overflow.
//! With it the channel must show what its thesis found of input- and output-buffered switches
//! [tam, 4].

use std::collections::VecDeque;

use crosstie_protocol::Machine;
use crosstie_protocol::channel::*;
use crosstie_units::{Seed, Time};

/// Slots from a packet's arrival at the root until its answer is at the sender.
const RETURN: u64 = 3;

/// Where packets wait for the port of the root, B_L of them at most; others are lost.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Buffer {
    /// At the ports through which they come, which are served in turn.
    Input,
    /// At the port of the root.
    Output,
}

#[derive(Debug, Clone, Copy)]
struct Gather {
    buffer: Buffer,
    /// B_L.
    room: usize,
    /// P.
    senders: usize,
    /// W_FC.
    window: u32,
    /// TO in slots.
    timeout: u64,
    simple: bool,
    /// Packets of each sender.
    packets: u32,
}

#[derive(Debug)]
struct Outcome {
    /// The time it takes at best, by the time that it took.
    efficiency: f64,
    lost: u64,
    sent: Tally,
    received: Tally,
    histories: Vec<History>,
}

/// The time of a slot.
fn at(slot: u64) -> Time {
    Time::from_ns(slot)
}

impl Gather {
    fn run(self) -> Outcome {
        let spec = GoBackNSpec {
            window: self.window,
            timeout: at(self.timeout),
            every: 1,
            after: Time::ZERO,
            simple: self.simple,
        };
        let ends = || -> Vec<Endpoint<u32>> {
            (0..self.senders).map(|_| Endpoint::new(spec).unwrap()).collect()
        };
        let (mut sources, mut sinks) = (ends(), ends());
        let mut nics: Vec<VecDeque<Frame<u32>>> = vec![VecDeque::new(); self.senders];
        let mut ports: Vec<VecDeque<(usize, Frame<u32>)>> = vec![VecDeque::new(); self.senders];
        let mut answers: VecDeque<(u64, usize, Frame<u32>)> = VecDeque::new();
        for source in &mut sources {
            (0..self.packets).for_each(|packet| {
                source.handle(at(0), Input::Send { item: packet, bytes: 1, rides: true })
            });
        }
        let (mut slot, mut lost, mut turn) = (0, 0, 0);
        let mut expected = vec![0; self.senders];
        let mut draws = Seed(4).stream("order", 0);
        while sources.iter().any(|source| !source.is_idle()) {
            while answers.front().is_some_and(|&(due, ..)| due <= slot) {
                let (_, sender, frame) = answers.pop_front().unwrap();
                sources[sender].handle(at(slot), Input::Frame(frame));
            }
            // From anyone on, else those that always come first would never lose.
            let first = draws.below(self.senders as u64) as usize;
            for sender in (0..self.senders).map(|step| (first + step) % self.senders) {
                let source = &mut sources[sender];
                if source.poll_timeout().is_some_and(|time| time <= at(slot)) {
                    source.handle_timeout(at(slot));
                }
                while let Some(action) = source.poll_action(at(slot)) {
                    match action {
                        Action::Transmit(frame) => nics[sender].push_back(frame),
                        Action::Deliver(_) => panic!("the root sends no data"),
                        Action::Acknowledged(_) => {}
                    }
                }
                let port = if self.buffer == Buffer::Input { sender } else { 0 };
                match nics[sender].pop_front() {
                    Some(frame) if ports[port].len() < self.room => {
                        ports[port].push_back((sender, frame));
                    }
                    Some(_) => lost += 1,
                    None => {}
                }
            }
            let next = (0..self.senders).map(|step| (turn + step) % self.senders);
            if let Some(port) = { next }.find(|&port| !ports[port].is_empty()) {
                turn = port + 1;
                let (sender, frame) = ports[port].pop_front().unwrap();
                sinks[sender].handle(at(slot), Input::Frame(frame));
                while let Some(action) = sinks[sender].poll_action(at(slot)) {
                    match action {
                        Action::Transmit(frame) => {
                            answers.push_back((slot + RETURN, sender, frame))
                        }
                        Action::Deliver(packet) => {
                            assert_eq!(packet, expected[sender], "in order and once");
                            expected[sender] += 1;
                        }
                        Action::Acknowledged(_) => panic!("the root sends no data"),
                    }
                }
            }
            slot += 1;
        }
        assert!(expected.iter().all(|&expected| expected == self.packets));
        let total = |ends: &[Endpoint<u32>]| {
            let mut total = Tally::default();
            ends.iter().for_each(|end| total += end.tally());
            total
        };
        Outcome {
            efficiency: self.senders as f64 * f64::from(self.packets) / slot as f64,
            lost,
            sent: total(&sources),
            received: total(&sinks),
            histories: sources.iter().map(|source| source.history().clone()).collect(),
        }
    }
}

const INPUT: Gather = Gather {
    buffer: Buffer::Input,
    room: 43,
    senders: 15,
    window: 43,
    timeout: 1935,
    simple: false,
    packets: 10_000,
};

const OUTPUT: Gather =
    Gather { buffer: Buffer::Output, room: 95, senders: 5, window: 19, timeout: 400, ..INPUT };

/// P and W_FC of Table 4.1.
const SETTINGS: [(usize, u32); 9] =
    [(7, 18), (7, 24), (7, 36), (11, 18), (11, 24), (11, 36), (15, 18), (15, 24), (15, 36)];

/// A fair port of an input-buffered switch [tam, Eq. 4.2].
fn predicted_for_input(Gather { room, senders, window, .. }: Gather) -> f64 {
    let (room, senders) = (room as f64, senders as f64);
    let found_room = f64::from(window - 1) / senders;
    let run = (room - found_room) / (1.0 - 1.0 / senders);
    (run + 1.0) / (run + 2.0 + found_room + room)
}

/// The three-event chain, with the probabilities of a history [tam, Eq. 4.9 and 4.10].
fn predicted_for_output(gather: Gather, histories: &[History]) -> f64 {
    let mean = |probability: fn(&History) -> Option<f64>| {
        let found: Vec<f64> = histories.iter().filter_map(probability).collect();
        found.iter().sum::<f64>() / found.len() as f64
    };
    let (c, failing, f) =
        (mean(History::interruption), mean(History::severity), mean(History::recovery));
    let sequence = 1.5 * c + (1.0 - c) / f64::from(gather.window);
    let idle = failing * c * gather.timeout as f64 / f;
    gather.senders as f64 / (sequence * gather.room as f64 + idle)
}

#[test]
fn an_input_buffered_port_loses_nothing_until_a_window_is_longer_than_its_buffer() {
    let Outcome { efficiency, lost, sent, received, .. } = INPUT.run();
    assert_eq!((lost, sent.retransmissions(), received.nacks), (0, 0, 0));
    assert!(efficiency > 0.999, "{efficiency}");
    assert_eq!(received.packs, 15 * 10_000, "a Pack for each packet");
}

#[test]
fn an_input_buffered_port_that_overflows_is_less_than_half_used() {
    // Measured with another simulator of the same rules.
    for (senders, window, expected) in
        [(15, 44, 0.479), (15, 60, 0.468), (15, 100, 0.445), (7, 100, 0.379)]
    {
        let gather = Gather { senders, window, ..INPUT };
        let found = gather.run();
        assert!((found.efficiency - expected).abs() < 0.001, "{gather:?} {found:?}");
        let predicted = predicted_for_input(gather);
        assert!((found.efficiency - predicted).abs() < 0.008, "{gather:?} {predicted} {found:?}");
        // Only of the last packets nobody misses the one that is lost.
        assert!(found.sent.timeout <= senders as u64 * u64::from(window), "{gather:?} {found:?}");
        for timeout in [1290, 8000] {
            let other = Gather { timeout, ..gather }.run();
            assert!((other.efficiency - found.efficiency).abs() < 0.01, "{gather:?} {other:?}");
        }
    }
}

#[test]
fn an_output_buffered_port_loses_nothing_until_all_windows_are_longer_than_its_buffer() {
    for (senders, window, loses) in [(5, 19, false), (5, 20, true), (19, 5, false), (17, 6, true)] {
        let found = Gather { senders, window, ..OUTPUT }.run();
        assert_eq!(found.lost > 0, loses, "{senders} {window} {found:?}");
        assert_eq!(found.efficiency < 0.99, loses, "{senders} {window} {found:?}");
    }
}

#[test]
fn on_an_output_buffered_port_nacks_and_stall_beat_the_simple_channel() {
    for (timeout, simple_share) in [(400, 0.24..0.29), (1600, 0.06..0.075)] {
        for (senders, window) in SETTINGS {
            let gather = Gather { senders, window, timeout, ..OUTPUT };
            let simple = Gather { simple: true, packets: 2_000, ..gather }.run();
            let full = gather.run();
            // About a buffer-full per time-out.
            assert!(simple_share.contains(&simple.efficiency), "{gather:?} {simple:?}");
            assert_eq!((simple.received.nacks, simple.sent.fast), (0, 0));
            assert!(full.efficiency > 1.25 * simple.efficiency, "{gather:?} {full:?}");
            assert!(full.efficiency > 0.3 && full.efficiency < 0.95, "{gather:?} {full:?}");
        }
    }
}

#[test]
fn a_longer_timeout_helps_an_output_buffered_port_and_a_wider_window_does_not() {
    let efficiency = |gather: Gather| gather.run().efficiency;
    let sweep = [50, 100, 200, 400, 800, 1600, 3200, 6400];
    let found = sweep.map(|timeout| {
        efficiency(Gather { senders: 15, window: 12, timeout, packets: 20_000, ..OUTPUT })
    });
    assert!(found.is_sorted() && found[0] < 0.2 && found[7] > 0.9, "{found:?}");
    for senders in [7, 11, 15] {
        let found = [18, 24, 36].map(|window| efficiency(Gather { senders, window, ..OUTPUT }));
        assert!(found[0] > found[1] && found[1] > found[2], "{senders} {found:?}");
    }
}

#[test]
fn the_chain_of_three_events_predicts_the_output_buffered_port() {
    let mut errors = Vec::new();
    for timeout in [400, 1600] {
        for (senders, window) in SETTINGS {
            let gather = Gather { senders, window, timeout, ..OUTPUT };
            let found = gather.run();
            let predicted = predicted_for_output(gather, &found.histories);
            errors.push((predicted - found.efficiency).abs() / found.efficiency);
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 0.2, "{mean} {errors:.3?}");
}
