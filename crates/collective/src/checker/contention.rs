//! How many messages meet.

use super::order::{self, Event};
use crate::{Need, Rank, Schedule, Step, When};

/// The most messages of a step that one rank has to do with.
///
/// The step of a message is one more than that of the latest message for which its send must wait,
/// sent or received by the same rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contention {
    /// The step, counted from 1.
    pub step: u32,
    /// The most messages to one rank.
    pub into: u32,
    /// The most messages of one rank.
    pub out_of: u32,
}

/// All steps.
pub(super) fn steps(schedule: &Schedule, peers: &[u32], events: &[Event]) -> Vec<Contention> {
    let owners = order::owners(schedule);
    let count = schedule.all().len();
    // The step of the latest message before an operation starts, and before it is done.
    let (mut started, mut done) = (vec![0u32; count], vec![0u32; count]);
    let (mut into, mut out_of) = (Vec::new(), Vec::new());
    for event in events {
        let place = event.place();
        if event.is_start() {
            let first = schedule.places(Rank(owners[place])).start;
            let before = |need: &Need| {
                let other = first + need.op.0 as usize;
                if need.when == When::Done { done[other] } else { started[other] }
            };
            started[place] = schedule.needs(place).iter().map(before).max().unwrap_or(0);
            if let Step::Send { to, .. } = schedule.all()[place].step {
                let step = started[place] + 1;
                into.push((step, to.0));
                out_of.push((step, owners[place]));
            }
            continue;
        }
        done[place] = match schedule.all()[place].step {
            Step::Send { .. } => started[place] + 1,
            Step::Receive { .. } => {
                let sent = started[peers[place] as usize] + 1;
                sent.max(started[place])
            }
            Step::Compute { .. } => started[place],
        };
    }
    let (into, out_of) = (most(into), most(out_of));
    // Both count the same messages, step by step.
    let both = into.into_iter().zip(out_of).zip(1..);
    both.map(|((into, out_of), step)| Contention { step, into, out_of }).collect()
}

/// For each step the most messages of one rank.
fn most(mut messages: Vec<(u32, u32)>) -> Vec<u32> {
    messages.sort_unstable();
    let mut most: Vec<u32> = Vec::new();
    for alike in messages.chunk_by(|one, other| one == other) {
        // No step is left out: whoever sends in a step waits for a message of the step before.
        most.resize(alike[0].0 as usize, 0);
        let last = most.last_mut().expect("steps are counted from 1");
        *last = (*last).max(alike.len() as u32);
    }
    most
}
