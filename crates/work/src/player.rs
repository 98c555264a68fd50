//! Any schedule as an application.

use crate::application::{Action, Application, Input, Request};
use crosstie_collective::player::{self, Action as Played};
use crosstie_collective::{self as collective, Counting, OpId, Rank, Schedule};
use crosstie_protocol::{GlobalWindow, Injection, Machine};
use crosstie_units::Time;
use std::sync::Arc;

/// The [player](player::Player) of a schedule as an application: an operation is the request of the
/// same number.
pub struct Player {
    machine: player::Player,
    names: Option<Names>,
}

/// What the author of a schedule calls its operations.
type Names = Box<dyn Fn(Rank, OpId) -> String>;

/// How the packets of a node follow each other while its rank plays a schedule.
pub fn injection(schedule: &Schedule) -> Injection {
    let collective::Injection { interleaved, window } = schedule.injection();
    let window = window.map(|window| GlobalWindow {
        packets: window.packets,
        by_received: window.counts == Counting::Received,
    });
    Injection { interleaved, window }
}

impl Player {
    /// Nothing has begun yet.
    pub fn new(schedule: Arc<Schedule>, iterations: u64) -> Player {
        Player { machine: player::Player::new(schedule, iterations), names: None }
    }

    /// The same with names for its operations, for whoever reads why one is never done.
    pub fn named(self, names: Names) -> Player {
        Player { names: Some(names), ..self }
    }
}

impl Machine for Player {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Begin { rank } => self.machine.begin(now, rank),
            Input::Started { rank, request, turn } => {
                self.machine.started(rank, OpId(request.0), turn);
            }
            Input::Done { rank, request, turn } => {
                self.machine.done(now, rank, OpId(request.0), turn);
            }
        }
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        Some(match self.machine.poll_action()? {
            Played::Begin { rank, id, op, watched, turn } => {
                Action::Begin { rank, request: Request(id.0), op, watched, turn }
            }
            Played::Iteration { rank, took } => Action::Iteration { rank, took },
            Played::Finish { rank } => Action::Finish { rank },
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl Application for Player {
    fn ranks(&self) -> Vec<Rank> {
        (0..self.machine.schedule().ranks()).map(Rank).collect()
    }

    fn timekeepers(&self) -> Vec<Rank> {
        self.ranks()
    }

    fn describe(&self, rank: Rank, request: Request) -> Option<String> {
        self.names.as_ref().map(|names| names(rank, OpId(request.0)))
    }

    fn bytes_per_iteration(&self) -> u64 {
        self.machine.schedule().bytes()
    }
}
