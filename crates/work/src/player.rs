//! Any schedule as work.

use crate::application::{Action, Application, Input, Request, Turn};
use crosstie_collective::{self as collective, Counting, OpId, Rank, Schedule, When};
use crosstie_protocol::{GlobalWindow, Injection, Machine};
use crosstie_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Plays a schedule, once or several times. Every rank begins as soon as it is told to, and an
/// iteration when it has done all of the one before; what an iteration took is written down by
/// every rank.
pub struct Player {
    schedule: Arc<Schedule>,
    iterations: u64,
    /// How many needs of each operation are not met, by its place.
    unmet: Vec<u32>,
    /// The latest turn of those that are met, by its place.
    turns: Vec<Turn>,
    ranks: Vec<Progress>,
    actions: VecDeque<Action>,
    names: Option<Names>,
}

/// How the packets of a node follow each other while its rank plays a schedule.
pub fn injection(schedule: &Schedule) -> Injection {
    let collective::Injection { interleaved, window } = schedule.injection();
    let window = window.map(|window| GlobalWindow {
        packets: window.packets,
        by_received: window.counts == Counting::Received,
    });
    Injection { interleaved, window }
}

/// What whoever wrote a schedule calls its operations.
type Names = Box<dyn Fn(Rank, OpId) -> String>;

/// How far a rank is.
#[derive(Debug, Clone, Default)]
struct Progress {
    /// Iterations done.
    done: u64,
    began: Time,
    /// Operations of this iteration that are not done.
    left: u32,
    /// Sends that are under way.
    sending: u32,
    /// Sends that could begin but for the bound on what is outstanding.
    held: VecDeque<OpId>,
}

impl Player {
    /// Nothing has begun yet.
    pub fn new(schedule: Arc<Schedule>, iterations: u64) -> Player {
        let ranks = vec![Progress::default(); schedule.ranks() as usize];
        let unmet = vec![0; schedule.all().len()];
        let turns = vec![Turn::default(); unmet.len()];
        let actions = VecDeque::new();
        Player { schedule, iterations, unmet, turns, ranks, actions, names: None }
    }

    /// The same with names for its operations, for whoever reads why one is never done.
    pub fn named(self, names: Names) -> Player {
        Player { names: Some(names), ..self }
    }

    /// A rank begins an iteration; what waits for nothing begins at once.
    fn begin(&mut self, now: Time, rank: Rank, turn: Turn) {
        let schedule = Arc::clone(&self.schedule);
        let places = schedule.places(rank);
        let progress = &mut self.ranks[rank.0 as usize];
        progress.began = now;
        progress.left = places.len() as u32;
        for place in places.clone() {
            self.unmet[place] = schedule.needs(place).len() as u32;
            self.turns[place] = turn;
        }
        for (op, place) in (0..).map(OpId).zip(places.clone()) {
            if schedule.needs(place).is_empty() {
                self.start(rank, op);
            }
        }
    }

    /// An operation waits for nothing any more.
    fn start(&mut self, rank: Rank, op: OpId) {
        let place = self.schedule.places(rank).start + op.0 as usize;
        let progress = &mut self.ranks[rank.0 as usize];
        let what = self.schedule.all()[place];
        if what.step.sends().is_some() {
            if self.schedule.outstanding().is_some_and(|most| progress.sending >= most) {
                progress.held.push_back(op);
                return;
            }
            progress.sending += 1;
        }
        let watched = self.schedule.dependents(place).iter().any(|need| need.when == When::Started);
        let (request, turn) = (Request(op.0), self.turns[place]);
        self.actions.push_back(Action::Begin { rank, request, op: what, watched, turn });
    }

    /// Something that others may wait for has happened to an operation.
    fn happened(&mut self, rank: Rank, op: OpId, when: When, turn: Turn) {
        let schedule = Arc::clone(&self.schedule);
        let first = schedule.places(rank).start;
        for need in schedule.dependents(first + op.0 as usize) {
            if need.when == when {
                let place = first + need.op.0 as usize;
                self.turns[place] = self.turns[place].max(turn);
                let unmet = &mut self.unmet[place];
                *unmet = unmet.checked_sub(1).expect("a need is met once");
                if *unmet == 0 {
                    self.start(rank, need.op);
                }
            }
        }
    }

    fn done(&mut self, now: Time, rank: Rank, op: OpId, turn: Turn) {
        let step = self.schedule.ops(rank)[op.0 as usize].step;
        let progress = &mut self.ranks[rank.0 as usize];
        progress.left = progress.left.checked_sub(1).expect("an operation is done once");
        if step.sends().is_some() {
            progress.sending -= 1;
            if let Some(held) = progress.held.pop_front() {
                let place = self.schedule.places(rank).start + held.0 as usize;
                self.turns[place] = self.turns[place].max(turn);
                self.start(rank, held);
            }
        }
        self.happened(rank, op, When::Done, turn);
        self.advance(now, rank, turn);
    }

    /// Goes on to the next iteration if a rank has done all of this one, and again if there is
    /// nothing in it.
    fn advance(&mut self, now: Time, rank: Rank, turn: Turn) {
        while self.ranks[rank.0 as usize].left == 0 {
            let progress = &mut self.ranks[rank.0 as usize];
            progress.done += 1;
            let took = now - progress.began;
            self.actions.push_back(Action::Iteration { rank, took });
            if progress.done == self.iterations {
                self.actions.push_back(Action::Finish { rank });
                return;
            }
            self.begin(now, rank, turn);
        }
    }
}

impl Machine for Player {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Begin { rank } => {
                self.begin(now, rank, Turn::default());
                self.advance(now, rank, Turn::default());
            }
            Input::Started { rank, request, turn } => {
                self.happened(rank, OpId(request.0), When::Started, turn);
            }
            Input::Done { rank, request, turn } => self.done(now, rank, OpId(request.0), turn),
        }
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        self.actions.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl Application for Player {
    fn ranks(&self) -> Vec<Rank> {
        (0..self.schedule.ranks()).map(Rank).collect()
    }

    fn timekeepers(&self) -> Vec<Rank> {
        self.ranks()
    }

    fn describe(&self, rank: Rank, request: Request) -> Option<String> {
        self.names.as_ref().map(|names| names(rank, OpId(request.0)))
    }

    fn bytes_per_iteration(&self) -> u64 {
        self.schedule.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_collective::Step;
    use crosstie_collective::{Builder, Need, Op, Tag};

    /// What the player begins and writes down, in words.
    fn taken(player: &mut Player, now: u64, input: Input) -> Vec<String> {
        player.handle(Time::from_ns(now), input);
        let mut words = Vec::new();
        while let Some(action) = player.poll_action(Time::from_ns(now)) {
            words.push(match action {
                Action::Begin { rank, request, .. } => format!("{}.{}", rank.0, request.0),
                Action::Iteration { rank, took } => format!("{} took {took}", rank.0),
                Action::Finish { rank } => format!("{} is done", rank.0),
                Action::Note { .. } => unreachable!("schedules measure nothing else"),
            });
        }
        words
    }

    fn done(request: u32) -> Input {
        Input::Done { rank: Rank(0), request: Request(request), turn: Turn::default() }
    }

    #[test]
    fn operations_begin_when_what_they_wait_for_has_come() {
        let mut builder = Builder::new(2);
        let rank = Rank(0);
        let first = builder.compute(rank, Time::from_ns(5));
        let second = builder.receive(rank, Rank(1), Tag(0), 8);
        let third = builder.send(rank, Rank(1), Tag(0), 8);
        builder.after(rank, third, first);
        builder.after(rank, third, second);
        let fourth = builder.compute(rank, Time::ZERO);
        builder.need(rank, fourth, Need { op: third, when: When::Started });
        let mut player = Player::new(Arc::new(builder.finish().unwrap()), 2);
        assert_eq!(taken(&mut player, 0, Input::Begin { rank }), ["0.0", "0.1"]);
        assert!(taken(&mut player, 5, done(1)).is_empty());
        assert_eq!(taken(&mut player, 6, done(0)), ["0.2"]);
        let turn = Turn::default();
        let started = Input::Started { rank, request: Request(2), turn };
        assert_eq!(taken(&mut player, 7, started), ["0.3"]);
        assert!(taken(&mut player, 8, done(3)).is_empty());
        assert_eq!(taken(&mut player, 9, done(2)), ["0 took 9 ns", "0.0", "0.1"]);
        // A rank with nothing to do is done at once, as often as it is asked to be.
        let idle = taken(&mut player, 9, Input::Begin { rank: Rank(1) });
        assert_eq!(idle, ["1 took 0 ps", "1 took 0 ps", "1 is done"]);
    }

    #[test]
    fn operations_have_the_latest_turn_of_what_they_waited_for() {
        let mut builder = Builder::new(1);
        let rank = Rank(0);
        let ops: Vec<OpId> = (0..3).map(|_| builder.compute(rank, Time::ZERO)).collect();
        builder.after(rank, ops[2], ops[0]);
        builder.after(rank, ops[2], ops[1]);
        let mut player = Player::new(Arc::new(builder.finish().unwrap()), 1);
        taken(&mut player, 0, Input::Begin { rank });
        // The second began later than the first, and was done sooner.
        for (request, moment) in [(1, 7), (0, 3)] {
            let (request, turn) = (Request(request), Turn::done(moment));
            player.handle(Time::ZERO, Input::Done { rank, request, turn });
        }
        let begun = player.poll_action(Time::ZERO);
        assert!(
            matches!(begun, Some(Action::Begin { turn, .. }) if turn == Turn::done(7)),
            "{begun:?}"
        );
    }

    #[test]
    fn no_more_sends_are_under_way_than_allowed() {
        let mut builder = Builder::new(2);
        builder.limit_outstanding(2);
        for tag in 0..4 {
            let step = Step::Send { to: Rank(1), tag: Tag(tag), bytes: 1 };
            builder.add(Rank(0), Op { step, cpu: 0, nic: None });
        }
        let mut player = Player::new(Arc::new(builder.finish().unwrap()), 1);
        assert_eq!(taken(&mut player, 0, Input::Begin { rank: Rank(0) }), ["0.0", "0.1"]);
        assert_eq!(taken(&mut player, 1, done(1)), ["0.2"]);
        assert_eq!(taken(&mut player, 2, done(0)), ["0.3"]);
        assert!(taken(&mut player, 3, done(2)).is_empty());
        assert_eq!(taken(&mut player, 4, done(3)), ["0 took 4 ns", "0 is done"]);
    }
}
