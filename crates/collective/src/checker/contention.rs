//! How many messages meet.

use super::order::{self, Event};
use crate::{Need, Rank, Schedule, Step, When};

/// The most messages of a step that one rank, or one switch, has to do with.
///
/// The step of a message is one more than that of the latest message for which its send must wait,
/// sent or received by the same rank. Where sends take turns packet by packet
/// ([`Injection`](crate::Injection)), those of a rank that may go together follow each other, a
/// step for each: a packet of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contention {
    /// The step, counted from 1.
    pub step: u32,
    /// The most messages to one rank.
    pub into: u32,
    /// The most messages of one rank.
    pub out_of: u32,
    /// The most messages from the ranks of one switch to those of others.
    pub up: u32,
    /// The most messages to the ranks of one switch from those of others.
    pub down: u32,
}

/// A message and its step.
struct Sent {
    step: u32,
    from: u32,
    to: u32,
}

/// All steps, with so many ranks at each switch.
pub(super) fn steps(
    schedule: &Schedule,
    peers: &[u32],
    events: &[Event],
    per_switch: u32,
) -> Vec<Contention> {
    let mut sent = phases(schedule, peers, events);
    if schedule.injection().interleaved {
        take_turns(&mut sent);
    }
    let switch = |rank: u32| rank / per_switch;
    let most_of = |key: &dyn Fn(&Sent) -> Option<u32>| {
        most(sent.iter().map(|sent| (sent.step, key(sent))).collect())
    };
    let into = most_of(&|sent| Some(sent.to));
    let out_of = most_of(&|sent| Some(sent.from));
    let crosses = |sent: &&Sent| switch(sent.from) != switch(sent.to);
    let up = most_of(&|sent| Some(sent).filter(crosses).map(|sent| switch(sent.from)));
    let down = most_of(&|sent| Some(sent).filter(crosses).map(|sent| switch(sent.to)));
    // All count the same messages, step by step.
    let row = |place: usize| Contention {
        step: place as u32 + 1,
        into: into[place],
        out_of: out_of[place],
        up: up[place],
        down: down[place],
    };
    (0..into.len()).map(row).collect()
}

/// All messages with the steps that dependencies give them, those of a rank in their order.
fn phases(schedule: &Schedule, peers: &[u32], events: &[Event]) -> Vec<Sent> {
    let owners = order::owners(schedule);
    let count = schedule.all().len();
    // The step of the latest message before an operation starts, and before it is done.
    let (mut started, mut done) = (vec![0u32; count], vec![0u32; count]);
    for event in events {
        let place = event.place();
        if event.is_start() {
            let first = schedule.places(Rank(owners[place])).start;
            let before = |need: &Need| {
                let other = first + need.op.0 as usize;
                if need.when == When::Done { done[other] } else { started[other] }
            };
            started[place] = schedule.needs(place).iter().map(before).max().unwrap_or(0);
            continue;
        }
        done[place] = match schedule.all()[place].step {
            Step::Send { .. } => started[place] + 1,
            Step::Receive { .. } => {
                let sent = started[peers[place] as usize] + 1;
                sent.max(started[place])
            }
            Step::Compute { .. } | Step::Get { .. } => started[place],
        };
    }
    let sends = (0..count).filter_map(|place| match schedule.all()[place].step {
        Step::Send { to, .. } => {
            Some(Sent { step: started[place] + 1, from: owners[place], to: to.0 })
        }
        Step::Receive { .. } | Step::Compute { .. } | Step::Get { .. } => None,
    });
    sends.collect()
}

/// Lets the messages of a rank that have the same step follow each other.
fn take_turns(sent: &mut [Sent]) {
    sent.sort_by_key(|sent| (sent.step, sent.from));
    let mut ahead = 0;
    for phase in sent.chunk_by_mut(|one, other| one.step == other.step) {
        let mut widest = 0;
        for of_rank in phase.chunk_by_mut(|one, other| one.from == other.from) {
            for (turn, sent) in (1..).zip(of_rank) {
                sent.step = ahead + turn;
                widest = widest.max(turn);
            }
        }
        ahead += widest;
    }
}

/// For each step the most messages that have the same key.
fn most(mut messages: Vec<(u32, Option<u32>)>) -> Vec<u32> {
    messages.sort_unstable();
    let mut most: Vec<u32> = Vec::new();
    for alike in messages.chunk_by(|one, other| one == other) {
        let (step, key) = alike[0];
        // No step is left out: a message that goes in a step waits for one of the step before.
        most.resize(step as usize, 0);
        if key.is_some() {
            let last = most.last_mut().expect("steps are counted from 1");
            *last = (*last).max(alike.len() as u32);
        }
    }
    most
}
