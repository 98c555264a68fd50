//! Schedules packet by packet: where packets of several messages take turns, or where packets of
//! several ranks take turns at an uplink.
//!
//! Each message becomes messages of a packet each, or of a few if there are very many. Those of
//! sends that take turns follow each other round by round; what waited for a message waits for the
//! last of its packets, and each of its packets waits for what it waited for.

use super::feedback;
use crate::{Cluster, Parameters};
use crosstie_collective::{Builder, Tag, Window};
use crosstie_collective::{Need, Op, OpId, Rank, Schedule, Step, When};
use std::collections::BTreeMap;

/// The most messages that a schedule is taken apart into.
const MOST: u64 = 1 << 17;

/// Windows are this many times longer than what takes a turn, or longer still.
const FINE: u32 = 8;

/// The most that it is taken apart into for the sake of a window.
const MOST_HELD: u64 = 1 << 20;

/// The same schedule with packets for messages, if it matters how packets follow each other, and if
/// receives say which message they take; and the parameters that go with it. Where it is too long
/// to hold back each packet, packets follow each other evenly, as often as the window lets them on
/// average.
pub(super) fn by_packets(
    schedule: &Schedule,
    cluster: &Cluster,
    nodes: u32,
) -> Option<(Schedule, Cluster)> {
    let is_plain = schedule.injection().is_plain();
    // Between switches, packets of a rendezvous stay together: they are asked for as a message.
    let waits_at_uplinks = cluster.first().uplink.is_some() && cluster.messages.is_none();
    if is_plain && !waits_at_uplinks || !is_named(schedule) {
        return None;
    }
    let parameters = cluster.first();
    let all = packets(schedule, parameters);
    let mut injection = schedule.injection();
    // Packets that take turns with those of other messages are not asked for one by one.
    let mut cluster = Cluster { messages: None, ..cluster.clone() };
    let mut length = all.div_ceil(MOST).max(1);
    if let Some(window) = injection.window {
        let fine = length.min(u64::from(window.packets / FINE).max(1));
        if all / fine <= MOST_HELD {
            length = fine;
        } else {
            // The window is that of all rails.
            let packets = (window.packets / cluster.rails.len() as u32).max(1);
            let own = Window { packets, ..window };
            cluster = cluster.map(|rail| feedback::paced(rail, nodes, own));
            injection.window = None;
        }
    }
    let length = length * parameters.packet.get().max(1);
    let mut builder = Builder::new(schedule.ranks());
    for rank in (0..schedule.ranks()).map(Rank) {
        take_apart(schedule, rank, length, &mut builder);
    }
    builder.inject(injection);
    let pieces = builder.finish().expect("packets wait for what their message waited for");
    Some((pieces.with_outstanding(schedule.outstanding()), cluster))
}

/// Returns true if every receive names a message of its own length.
fn is_named(schedule: &Schedule) -> bool {
    /// The lengths of the messages from one rank to another with a tag, as sent and as received.
    type Lengths = BTreeMap<(Rank, Rank, Tag), (Vec<u32>, Vec<u32>)>;
    let mut messages = Lengths::new();
    for rank in (0..schedule.ranks()).map(Rank) {
        for op in schedule.ops(rank) {
            match op.step {
                Step::Send { to, tag, bytes } => {
                    messages.entry((rank, to, tag)).or_default().0.push(bytes);
                }
                Step::Receive { from: Some(from), tag: Some(tag), bytes } => {
                    messages.entry((from, rank, tag)).or_default().1.push(bytes);
                }
                Step::Receive { .. } | Step::Get { .. } | Step::Cast { .. } => return false,
                Step::Compute { .. } => {}
            }
        }
    }
    messages.values().all(|(sent, received)| sent == received)
}

/// The packets of all messages.
fn packets(schedule: &Schedule, parameters: &Parameters) -> u64 {
    let packet = parameters.packet.get().max(1);
    let packets = |op: &Op| match op.step {
        Step::Send { bytes, .. } => u64::from(bytes).div_ceil(packet).max(1),
        Step::Receive { .. } | Step::Compute { .. } | Step::Get { .. } | Step::Cast { .. } => 0,
    };
    schedule.all().iter().map(packets).sum()
}

/// The lengths of the pieces of a message. Even nothing takes a packet.
fn pieces(bytes: u32, length: u64) -> impl Iterator<Item = u32> {
    let bytes = u64::from(bytes);
    let count = bytes.div_ceil(length).max(1);
    (0..count).map(move |number| (bytes - number * length).min(length) as u32)
}

/// Adds what a rank does, packet by packet.
fn take_apart(schedule: &Schedule, rank: Rank, length: u64, builder: &mut Builder) {
    let first = schedule.places(rank).start;
    let ops = schedule.ops(rank);
    // Of each piece: its turn, its operation, and itself.
    let mut turns: Vec<(usize, usize, Op)> = Vec::new();
    for (number, &op) in ops.iter().enumerate() {
        let is_send = matches!(op.step, Step::Send { .. });
        let takes_turns = is_send && schedule.injection().interleaved;
        match op.step {
            Step::Send { bytes, .. } | Step::Receive { bytes, .. } => {
                for (turn, bytes) in pieces(bytes, length).enumerate() {
                    let turn = if takes_turns { turn } else { 0 };
                    turns.push((turn, number, Op { step: with_length(op.step, bytes), ..op }));
                }
            }
            Step::Compute { .. } | Step::Get { .. } | Step::Cast { .. } => {
                turns.push((0, number, op))
            }
        }
    }
    // Stable: those of a message stay in order.
    turns.sort_by_key(|&(turn, number, _)| (turn, number));
    let mut parts: Vec<Vec<OpId>> = vec![Vec::new(); ops.len()];
    for (_, number, op) in turns {
        parts[number].push(builder.add(rank, op));
    }
    for (number, own) in parts.iter().enumerate() {
        for need in schedule.needs(first + number) {
            let other = &parts[need.op.0 as usize];
            let op = *if need.when == When::Done { other.last() } else { other.first() }
                .expect("every operation has a part");
            for &part in own {
                builder.need(rank, part, Need { op, when: need.when });
            }
        }
    }
}

fn with_length(step: Step, bytes: u32) -> Step {
    match step {
        Step::Send { to, tag, .. } => Step::Send { to, tag, bytes },
        Step::Receive { from, tag, .. } => Step::Receive { from, tag, bytes },
        whole @ (Step::Compute { .. } | Step::Get { .. } | Step::Cast { .. }) => whole,
    }
}
