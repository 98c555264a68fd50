//! Who did what when, written down while a rank does it.

use crosstie_protocol::Machine;
use crosstie_units::Time;
use crosstie_work::{Action, Application, Input, Rank, Request, Step};
use serde::{Deserialize, Serialize};

/// An operation of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub what: What,
    /// When it began, in picoseconds from when the rank did.
    pub begin: u64,
    /// When it was done.
    pub end: u64,
}

/// What an operation was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// A message to a rank.
    Sent { to: u32, tag: u32, bytes: u32 },
    /// A message of a rank; nobody knows of whom if it was to be of any.
    Received { from: Option<u32>, tag: Option<u32> },
    /// No message at all.
    Computed,
}

/// An application whose operations, of one rank, are written down.
pub(super) struct Recorder<'a> {
    application: &'a mut dyn Application,
    rank: Rank,
    records: Vec<Record>,
    /// Those of them that are not done.
    open: Vec<(Request, usize)>,
}

impl<'a> Recorder<'a> {
    pub fn new(application: &'a mut dyn Application, rank: Rank) -> Recorder<'a> {
        Recorder { application, rank, records: Vec::new(), open: Vec::new() }
    }

    /// All that were done, in the order in which they began.
    pub fn finish(mut self) -> Vec<Record> {
        let mut open: Vec<usize> = self.open.iter().map(|(_, at)| *at).collect();
        open.sort_unstable();
        open.iter().rev().for_each(|&at| {
            self.records.remove(at);
        });
        self.records
    }
}

impl Machine for Recorder<'_> {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        if let Input::Done { rank, request, .. } = input
            && rank == self.rank
            && let Some(place) = self.open.iter().position(|(open, _)| *open == request)
        {
            let (_, at) = self.open.remove(place);
            self.records[at].end = now.ps();
        }
        self.application.handle(now, input);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.application.handle_timeout(now);
    }

    fn poll_action(&mut self, now: Time) -> Option<Action> {
        let action = self.application.poll_action(now);
        if let Some(Action::Begin { rank, request, op, .. }) = action
            && rank == self.rank
        {
            let what = match op.step {
                Step::Send { to, tag, bytes } => What::Sent { to: to.0, tag: tag.0, bytes },
                Step::Receive { from, tag, .. } => {
                    What::Received { from: from.map(|from| from.0), tag: tag.map(|tag| tag.0) }
                }
                Step::Compute { .. } | Step::Get { .. } => What::Computed,
            };
            self.open.push((request, self.records.len()));
            self.records.push(Record { what, begin: now.ps(), end: now.ps() });
        }
        action
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.application.poll_timeout()
    }
}

impl Application for Recorder<'_> {
    fn ranks(&self) -> Vec<Rank> {
        self.application.ranks()
    }

    fn timekeepers(&self) -> Vec<Rank> {
        self.application.timekeepers()
    }

    fn describe(&self, rank: Rank, request: Request) -> Option<String> {
        self.application.describe(rank, request)
    }

    fn bytes_per_iteration(&self) -> u64 {
        self.application.bytes_per_iteration()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_collective::{Builder, Tag};
    use crosstie_work::{Player, Turn};
    use std::sync::Arc;

    /// Rank 0 sends 100 bytes to rank 1, so many times.
    fn sender(times: u64) -> Player {
        let mut builder = Builder::new(2);
        builder.send(Rank(0), Rank(1), Tag(7), 100);
        builder.receive(Rank(1), Rank(0), Tag(7), 100);
        Player::new(Arc::new(builder.finish().unwrap()), times)
    }

    #[test]
    fn what_a_rank_does_is_written_down() {
        let mut player = sender(2);
        let mut recorder = Recorder::new(&mut player, Rank(0));
        let (mut now, mut under_way, mut finished) = (Time::ZERO, Vec::new(), false);
        recorder.handle(now, Input::Begin { rank: Rank(0) });
        while !finished {
            while let Some(action) = recorder.poll_action(now) {
                match action {
                    Action::Begin { request, .. } => under_way.push(request),
                    Action::Finish { .. } => finished = true,
                    _ => {}
                }
            }
            now = now + Time::from_ns(5);
            for request in std::mem::take(&mut under_way) {
                let turn = Turn::default();
                recorder.handle(now, Input::Done { rank: Rank(0), request, turn });
            }
        }
        let what = What::Sent { to: 1, tag: 7, bytes: 100 };
        let records = [(0, 5000), (5000, 10_000)].map(|(begin, end)| Record { what, begin, end });
        assert_eq!(recorder.finish(), records);
    }

    #[test]
    fn what_was_never_done_is_left_out() {
        let mut player = sender(1);
        let mut recorder = Recorder::new(&mut player, Rank(0));
        recorder.handle(Time::ZERO, Input::Begin { rank: Rank(0) });
        assert!(matches!(recorder.poll_action(Time::ZERO), Some(Action::Begin { .. })));
        assert_eq!(recorder.finish(), []);
    }
}
