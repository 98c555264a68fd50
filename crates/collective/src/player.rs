//! Playing a schedule: which operation of which rank begins when.
//!
//! The player is a machine without IO. A driver tells it when a rank [begins](Player::begin) and
//! when an operation has [started](Player::started) or is [done](Player::done), and takes
//! [actions](Player::poll_action) until there are none.

use crate::{Op, OpId, Rank, Schedule, When};
use crosstie_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// The moment at which something began that an operation waited for, as the driver counts moments.
///
/// Operations that compete for a processor start in the order of their turns. A driver that starts
/// operations as soon as it hears of them needs no turns: it always passes the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn(u64);

impl Turn {
    /// After every other.
    pub const LAST: Turn = Turn(u64::MAX);

    /// The turn of what waits for something to start that started at this moment.
    pub fn started(moment: u64) -> Turn {
        Turn(2 * moment)
    }

    /// The turn of what waits for something to be done that began at this moment.
    pub fn done(moment: u64) -> Turn {
        Turn(2 * moment + 1)
    }

    /// The moment.
    pub fn moment(self) -> u64 {
        self.0 / 2
    }

    /// Returns true if it is of what waits for something to be done.
    pub fn is_done(self) -> bool {
        self.0 % 2 == 1
    }
}

/// What a rank that plays a schedule wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Begin an operation.
    Begin {
        /// The rank.
        rank: Rank,
        /// The operation, by its place among those of the rank.
        id: OpId,
        /// What to do.
        op: Op,
        /// True if the driver has to call [`Player::started`] for it.
        watched: bool,
        /// The latest turn of all that it waited for.
        turn: Turn,
    },
    /// Write down how long an iteration has taken.
    Iteration {
        /// The rank that timed it.
        rank: Rank,
        /// How long.
        took: Time,
    },
    /// The rank has done all it had to do.
    Finish {
        /// The rank.
        rank: Rank,
    },
}

/// Plays a schedule, once or several times. Every rank begins as soon as it is told to, and an
/// iteration when it has done all of the one before; every rank times its iterations. What the
/// player does for a rank depends on nothing but what that rank was told, so each process of a real
/// cluster can have a player of its own.
#[derive(Debug)]
pub struct Player {
    schedule: Arc<Schedule>,
    iterations: u64,
    /// How many needs of each operation are not met, by its place.
    unmet: Vec<u32>,
    /// The latest turn of those that are met, by its place.
    turns: Vec<Turn>,
    ranks: Vec<Progress>,
    actions: VecDeque<Action>,
}

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
        Player { schedule, iterations, unmet, turns, ranks, actions: VecDeque::new() }
    }

    /// The schedule that is played.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// A rank begins; told once, before anything else of it.
    pub fn begin(&mut self, now: Time, rank: Rank) {
        self.iterate(now, rank, Turn::default());
        self.advance(now, rank, Turn::default());
    }

    /// An operation has started, of those that are watched. `turn` is that of what waited for it.
    pub fn started(&mut self, rank: Rank, id: OpId, turn: Turn) {
        self.happened(rank, id, When::Started, turn);
    }

    /// An operation is done. `turn` is that of what waited for it.
    pub fn done(&mut self, now: Time, rank: Rank, id: OpId, turn: Turn) {
        let step = self.schedule.ops(rank)[id.0 as usize].step;
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
        self.happened(rank, id, When::Done, turn);
        self.advance(now, rank, turn);
    }

    /// The next thing to be done; asked for after every input until there is nothing.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// A rank begins an iteration; what waits for nothing begins at once.
    fn iterate(&mut self, now: Time, rank: Rank, turn: Turn) {
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
        let turn = self.turns[place];
        self.actions.push_back(Action::Begin { rank, id: op, op: what, watched, turn });
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
            self.iterate(now, rank, turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Need, Step, Tag};

    /// What the player begins and writes down, in words.
    fn taken(player: &mut Player) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(action) = player.poll_action() {
            words.push(match action {
                Action::Begin { rank, id, .. } => format!("{}.{}", rank.0, id.0),
                Action::Iteration { rank, took } => format!("{} took {took}", rank.0),
                Action::Finish { rank } => format!("{} is done", rank.0),
            });
        }
        words
    }

    /// The same when rank 0 begins, and when an operation of it is done.
    fn begun(player: &mut Player) -> Vec<String> {
        player.begin(Time::ZERO, Rank(0));
        taken(player)
    }

    fn done(player: &mut Player, now: u64, op: u32) -> Vec<String> {
        player.done(Time::from_ns(now), Rank(0), OpId(op), Turn::default());
        taken(player)
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
        assert_eq!(begun(&mut player), ["0.0", "0.1"]);
        assert!(done(&mut player, 5, 1).is_empty());
        assert_eq!(done(&mut player, 6, 0), ["0.2"]);
        player.started(rank, third, Turn::default());
        assert_eq!(taken(&mut player), ["0.3"]);
        assert!(done(&mut player, 8, 3).is_empty());
        assert_eq!(done(&mut player, 9, 2), ["0 took 9 ns", "0.0", "0.1"]);
        // A rank with nothing to do is done at once, as often as it is asked to be.
        player.begin(Time::from_ns(9), Rank(1));
        assert_eq!(taken(&mut player), ["1 took 0 ps", "1 took 0 ps", "1 is done"]);
    }

    #[test]
    fn operations_have_the_latest_turn_of_what_they_waited_for() {
        let mut builder = Builder::new(1);
        let rank = Rank(0);
        let ops: Vec<OpId> = (0..3).map(|_| builder.compute(rank, Time::ZERO)).collect();
        builder.after(rank, ops[2], ops[0]);
        builder.after(rank, ops[2], ops[1]);
        let mut player = Player::new(Arc::new(builder.finish().unwrap()), 1);
        begun(&mut player);
        // The second began later than the first, and was done sooner.
        for (op, moment) in [(ops[1], 7), (ops[0], 3)] {
            player.done(Time::ZERO, rank, op, Turn::done(moment));
        }
        let begun = player.poll_action();
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
        assert_eq!(begun(&mut player), ["0.0", "0.1"]);
        assert_eq!(done(&mut player, 1, 1), ["0.2"]);
        assert_eq!(done(&mut player, 2, 0), ["0.3"]);
        assert!(done(&mut player, 3, 2).is_empty());
        assert_eq!(done(&mut player, 4, 3), ["0 took 4 ns", "0 is done"]);
    }
}
