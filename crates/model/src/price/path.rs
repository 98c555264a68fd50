//! The critical path: back from what was done last, each time to what it waited for.

use super::log::{Cause, Log, Message, NONE, Part};
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
        let place = place as usize;
        let (op, record) = (&schedule.all()[place], log.ops[place]);
        let rank = owner(schedule, place);
        let done = when == When::Done;
        // The message was late, and not the operation that asked for it or sent it.
        if done && record.by != NONE && record.end > record.ready {
            flight(&mut path, log, record.by);
            next = written(&mut path, log, record.by);
            continue;
        }
        match op.step {
            Step::Receive { .. } => {}
            Step::Send { .. } => {
                let message = &log.messages[record.message as usize];
                if done {
                    path.back(rank, What::Send, message.began);
                }
                next = begun(&mut path, log, record.message);
                continue;
            }
            Step::Compute { .. } => {
                if done {
                    path.back(rank, What::Compute, record.start);
                }
                waited(&mut path, rank, record.free == record.start, record.ready);
            }
            Step::Get { .. } | Step::Cast { .. } => unreachable!("nothing with these is priced"),
        }
        next = record.cause;
    }
    path.stretches.reverse();
    path.stretches
}

/// From when something was begun to when it could have been. All of the waiting counts for what was
/// free last.
fn waited(path: &mut Path, rank: Rank, for_host: bool, ready: Time) {
    path.back(rank, if for_host { What::AwaitHost } else { What::AwaitGap }, ready);
}

/// From when a message was begun to what it was sent for: what an operation waited for last.
fn begun(path: &mut Path, log: &Log, number: u32) -> Option<(u32, When)> {
    let mut number = number;
    loop {
        let mut message = &log.messages[number as usize];
        while message.released != NONE {
            // Nothing could be sent before an acknowledgement was back, or a packet received.
            let other = &log.messages[message.released as usize];
            path.back(other.to, What::Wire, other.end);
            flight(path, log, message.released);
            number = message.released;
            message = other;
            first_written(path, log, number);
        }
        waited(path, message.from, message.free == message.began, message.ready);
        match message.cause {
            Cause::Operation(place) => return log.ops[place as usize].cause,
            Cause::HandedOver(other) => number = other,
            Cause::Received(other) => {
                flight(path, log, other);
                first_written(path, log, other);
                number = other;
            }
        }
    }
}

/// From the hand-over of a message to what it was sent for.
fn written(path: &mut Path, log: &Log, number: u32) -> Option<(u32, When)> {
    first_written(path, log, number);
    begun(path, log, number)
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

/// The part of a message that is there last.
fn latest(log: &Log, number: u32) -> Part {
    let parts = log.parts_of(number);
    *parts.iter().max_by_key(|part| part.last).expect("a message takes a rail")
}

/// From the hand-over of the first packet to the start of its send.
fn first_written(path: &mut Path, log: &Log, number: u32) {
    let (message, part) = (&log.messages[number as usize], latest(log, number));
    // It is written before the NIC takes it.
    path.back(message.from, What::AwaitGap, part.written);
    path.back(message.from, What::Send, message.began);
}

/// From the end of a reception to the hand-over of the first packet.
fn flight(path: &mut Path, log: &Log, number: u32) {
    let Message { from, to, start, arrived, .. } = log.messages[number as usize];
    let Part { cut, begin, last, alone, handed, queued, first, .. } = latest(log, number);
    // As if it had been handed over when the uplinks let it pass.
    let passed = handed + queued;
    let late = start > arrived;
    if !late && arrived > begin {
        // The processor waited for the last packet.
        path.back(to, What::Receive, last);
        if last == alone {
            let less =
                |time: Time, other: Time| Time::from_ps(time.ps().saturating_sub(other.ps()));
            let every = cut.full.departure();
            let own = passed + cut.spread(every, every);
            let wired = if own + cut.last.latency == last {
                own
            } else {
                // It came right behind the packet before.
                path.back(to, What::Gap, less(last, cut.last.receive_gap));
                less(path.at, cut.full.latency)
            };
            path.back(from, What::Wire, wired.max(passed));
            let slow = cut.full.send > cut.full.send_gap;
            path.back(from, if slow { What::Send } else { What::Gap }, passed);
            path.back(from, What::AwaitUplink, handed);
            return;
        }
    } else {
        path.back(to, What::Receive, start);
        path.back(to, What::AwaitHost, arrived);
    }
    path.back(to, What::Gap, begin);
    path.back(to, What::AwaitGap, first);
    path.back(from, What::Wire, passed);
    path.back(from, What::AwaitUplink, handed);
}
