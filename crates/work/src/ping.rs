//! Ping: a message there and one back, again and again.

use crate::application::{Action, Application, Input, Request};
use crosstie_collective::{Rank, Tag};
use crosstie_protocol::Machine;
use crosstie_units::Time;
use std::collections::VecDeque;

/// What is sent to and fro.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PingSpec {
    /// Who begins, and times the iterations.
    pub from: Rank,
    /// Who answers.
    pub to: Rank,
    /// The length of every message.
    pub bytes: u32,
    /// How often.
    pub iterations: u64,
}

const TAG: Tag = Tag(0);
const SENT: Request = Request(0);
const RECEIVED: Request = Request(1);

/// Two ranks that send a message to and fro. An iteration is a round trip.
#[derive(Debug)]
pub struct Ping {
    spec: PingSpec,
    /// Round trips that the first rank has completed, and answers that the second has sent.
    trips: u64,
    answers: u64,
    began: Time,
    actions: VecDeque<Action>,
}

impl Ping {
    /// Nothing has been sent yet.
    pub fn new(spec: PingSpec) -> Ping {
        Ping { spec, trips: 0, answers: 0, began: Time::ZERO, actions: VecDeque::new() }
    }

    fn send(&mut self, rank: Rank, to: Rank) {
        let bytes = self.spec.bytes;
        self.actions.push_back(Action::send(rank, SENT, to, TAG, bytes));
        self.actions.push_back(Action::receive(rank, RECEIVED, to, TAG, bytes));
    }
}

impl Machine for Ping {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        let PingSpec { from, to, iterations, bytes } = self.spec;
        match input {
            Input::Begin { rank } if rank == from => {
                self.began = now;
                self.send(from, to);
            }
            Input::Begin { rank } if rank == to => {
                self.actions.push_back(Action::receive(rank, RECEIVED, from, TAG, bytes));
            }
            Input::Done { rank, request: RECEIVED, .. } if rank == from => {
                let took = now - self.began;
                self.actions.push_back(Action::Iteration { rank, took });
                self.trips += 1;
                if self.trips < iterations {
                    self.began = now;
                    self.send(from, to);
                } else {
                    self.actions.push_back(Action::Finish { rank });
                }
            }
            Input::Done { rank, request: RECEIVED, .. } => {
                self.answers += 1;
                if self.answers < iterations {
                    self.send(rank, from);
                } else {
                    self.actions.push_back(Action::send(rank, SENT, from, TAG, bytes));
                }
            }
            Input::Done { rank, .. } if rank == to && self.answers == iterations => {
                self.actions.push_back(Action::Finish { rank });
            }
            Input::Begin { .. } | Input::Done { .. } | Input::Started { .. } => {}
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

impl Application for Ping {
    fn ranks(&self) -> Vec<Rank> {
        vec![self.spec.from, self.spec.to]
    }

    fn timekeepers(&self) -> Vec<Rank> {
        vec![self.spec.from]
    }

    fn bytes_per_iteration(&self) -> u64 {
        2 * u64::from(self.spec.bytes)
    }
}
