//! The critical path: back from what was done last, each time to what it waited for.

use super::engine::{Log, Message, NONE};
use super::{Stretch, What};
use crosstie_collective::{Rank, Schedule, Step, When};
use crosstie_units::Time;

/// A path in the making, from its end.
struct Path {
    stretches: Vec<Stretch>,
    /// Where its beginning is by now.
    at: Time,
}

impl Path {
    /// So far back this was done.
    fn back(&mut self, rank: Rank, what: What, from: Time) {
        if from < self.at {
            self.stretches.push(Stretch { rank, what, from, to: self.at });
            self.at = from;
        }
    }
}

pub(super) fn critical(schedule: &Schedule, log: &Log) -> Vec<Stretch> {
    let Some(last) = (0..log.ops.len()).rev().max_by_key(|&place| log.ops[place].end) else {
        return Vec::new();
    };
    let mut path = Path { stretches: Vec::new(), at: log.ops[last].end };
    let mut next = Some((last as u32, When::Done));
    while let Some((place, when)) = next {
        let mut place = place as usize;
        let (op, record) = (&schedule.all()[place], log.ops[place]);
        let mut rank = owner(schedule, place);
        match (op.step, when) {
            // The message was late, and not who asked for it.
            (Step::Receive { .. }, When::Done) if record.end > record.ready => {
                let number = log.message[place];
                debug_assert_ne!(number, NONE, "a receive that is done has its message");
                let message = &log.messages[number as usize];
                flight(&mut path, message);
                place = message.send as usize;
                rank = message.from;
                written(&mut path, message, log.ops[place].start);
            }
            (Step::Receive { .. }, _) | (_, When::Started) => {}
            (Step::Send { .. }, When::Done) => path.back(rank, What::Send, record.start),
            (Step::Get { .. }, When::Done) => unreachable!("nothing with gets is priced"),
            (Step::Compute { .. }, When::Done) => path.back(rank, What::Compute, record.start),
        }
        let mut record = log.ops[place];
        while record.released != NONE {
            // Nothing could be sent before an acknowledgement was back, or a packet received.
            let message = &log.messages[record.released as usize];
            path.back(message.to, What::Wire, message.end);
            flight(&mut path, message);
            (place, rank) = (message.send as usize, message.from);
            record = log.ops[place];
            written(&mut path, message, record.start);
        }
        // All of the waiting counts for what was free last.
        let host = record.free == record.start;
        path.back(rank, if host { What::AwaitHost } else { What::AwaitGap }, record.ready);
        next = record.cause;
    }
    path.stretches.reverse();
    path.stretches
}

fn owner(schedule: &Schedule, place: usize) -> Rank {
    let (mut low, mut high) = (0, schedule.ranks());
    while low < high {
        let middle = low + (high - low) / 2;
        if schedule.places(Rank(middle)).end <= place {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Rank(low)
}

/// From the hand-over of the first packet to the start of its send.
fn written(path: &mut Path, message: &Message, start: Time) {
    // It is written before the NIC takes it.
    path.back(message.from, What::AwaitGap, start + message.cut.first().send);
    path.back(message.from, What::Send, start);
}

/// From the end of a reception to the hand-over of the first packet.
fn flight(path: &mut Path, message: &Message) {
    let Message { from, to, cut, .. } = *message;
    // As if it had been handed over when the uplinks let it pass.
    let passed = message.handed + message.queued;
    let late = message.start > message.ready;
    if !late && message.ready > message.begin {
        // The processor waited for the last packet.
        path.back(to, What::Receive, message.last);
        if message.last == message.alone {
            let less =
                |time: Time, other: Time| Time::from_ps(time.ps().saturating_sub(other.ps()));
            let every = cut.full.departure();
            let own = passed + cut.spread(every, every);
            let wired = if own + cut.last.latency == message.last {
                own
            } else {
                // It came right behind the packet before.
                path.back(to, What::Gap, less(message.last, cut.last.receive_gap));
                less(path.at, cut.full.latency)
            };
            path.back(from, What::Wire, wired.max(passed));
            let slow = cut.full.send > cut.full.send_gap;
            path.back(from, if slow { What::Send } else { What::Gap }, passed);
            path.back(from, What::AwaitUplink, message.handed);
            return;
        }
    } else {
        path.back(to, What::Receive, message.start);
        path.back(to, What::AwaitHost, message.ready);
    }
    path.back(to, What::Gap, message.begin);
    path.back(to, What::AwaitGap, message.first);
    path.back(from, What::Wire, passed);
    path.back(from, What::AwaitUplink, message.handed);
}
