//! Stream: as many messages as a window holds, back to back, then an answer.

use crate::application::{Action, Application, Input, Request};
use crosstie_collective::{Rank, Tag};
use crosstie_protocol::Machine;
use crosstie_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// What is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamSpec {
    /// The sender, which times the iterations.
    pub from: Rank,
    /// Who receives; both do, if the stream goes both ways.
    pub to: Rank,
    /// The length of a message.
    pub bytes: u32,
    /// Messages in an iteration.
    pub window: u32,
    /// Whether both ranks send and receive at once.
    pub both_ways: bool,
    /// How many pairs do: these two, the next rank after each, and so on.
    pub pairs: u32,
    /// Whether every second pair sends the other way.
    pub crossed: bool,
    /// How often.
    pub iterations: u64,
}

/// The length of an answer.
pub const ANSWER: u32 = 4;

const DATA: Tag = Tag(0);
const ANSWERS: Tag = Tag(1);

const SENT: Request = Request(0);
const RECEIVED: Request = Request(1);
const ANSWERED: Request = Request(2);

/// Pairs of two ranks. In an iteration one of them, or each, sends a window of messages back to
/// back and waits for the answer of the other, which it gives when all of them have arrived. A rank
/// that sends and receives begins the next iteration when it has both the answer and the other's
/// messages.
#[derive(Debug)]
pub struct Stream {
    spec: StreamSpec,
    ends: Vec<End>,
    places: BTreeMap<Rank, usize>,
    actions: VecDeque<Action>,
}

/// One of the two ranks of a pair.
#[derive(Debug)]
struct End {
    rank: Rank,
    peer: Rank,
    /// Whether it is the first to send, and keeps time.
    first: bool,
    sends: bool,
    receives: bool,
    /// Iterations done.
    done: u64,
    began: Time,
    /// Messages of this iteration that have not arrived yet.
    missing: u32,
    answered: bool,
    /// Messages sent that have not left yet.
    leaving: u32,
}

impl Stream {
    /// Nothing has been sent yet.
    pub fn new(spec: StreamSpec) -> Stream {
        let end = |rank, peer, first, sends, receives| End {
            rank,
            peer,
            first,
            sends,
            receives,
            done: 0,
            began: Time::ZERO,
            missing: 0,
            answered: false,
            leaving: 0,
        };
        let StreamSpec { from, to, both_ways, pairs, crossed, .. } = spec;
        let pair = |number: u32| {
            let (here, there) = (Rank(from.0 + number), Rank(to.0 + number));
            let turned = crossed && number % 2 == 1;
            let (from, to) = if turned { (there, here) } else { (here, there) };
            [end(from, to, true, true, both_ways), end(to, from, false, both_ways, true)]
        };
        let ends: Vec<End> = (0..pairs).flat_map(pair).collect();
        let places = ends.iter().enumerate().map(|(place, end)| (end.rank, place)).collect();
        Stream { spec, ends, places, actions: VecDeque::new() }
    }

    fn end(&self, rank: Rank) -> usize {
        self.places[&rank]
    }

    /// A rank begins an iteration.
    fn begin(&mut self, now: Time, place: usize) {
        let StreamSpec { bytes, window, .. } = self.spec;
        let end = &mut self.ends[place];
        let (rank, peer) = (end.rank, end.peer);
        end.began = now;
        end.missing = if end.receives { window } else { 0 };
        end.answered = !end.sends;
        for _ in 0..end.missing {
            self.actions.push_back(Action::receive(rank, RECEIVED, peer, DATA, bytes));
        }
        if end.sends {
            self.actions.push_back(Action::receive(rank, ANSWERED, peer, ANSWERS, ANSWER));
            for _ in 0..window {
                self.actions.push_back(Action::send(rank, SENT, peer, DATA, bytes));
            }
            end.leaving += window;
        }
    }

    /// Something a rank was waiting for has come.
    fn advance(&mut self, now: Time, place: usize) {
        let (spec, end) = (self.spec, &mut self.ends[place]);
        if end.missing > 0 || !end.answered {
            return;
        }
        if end.first {
            let took = now - end.began;
            self.actions.push_back(Action::Iteration { rank: end.rank, took });
        }
        end.done += 1;
        if end.done < spec.iterations {
            self.begin(now, place);
        } else {
            self.finish(place);
        }
    }

    /// A rank is done when it has nothing left to wait for and all it sent has left.
    fn finish(&mut self, place: usize) {
        let end = &self.ends[place];
        if end.done == self.spec.iterations && end.leaving == 0 {
            self.actions.push_back(Action::Finish { rank: end.rank });
        }
    }
}

impl Machine for Stream {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Begin { rank } => self.begin(now, self.end(rank)),
            Input::Done { rank, request: RECEIVED, .. } => {
                let place = self.end(rank);
                let end = &mut self.ends[place];
                end.missing -= 1;
                if end.missing == 0 {
                    end.leaving += 1;
                    let to = end.peer;
                    self.actions.push_back(Action::send(rank, SENT, to, ANSWERS, ANSWER));
                }
                self.advance(now, place);
            }
            Input::Done { rank, request: ANSWERED, .. } => {
                let place = self.end(rank);
                self.ends[place].answered = true;
                self.advance(now, place);
            }
            Input::Done { rank, .. } => {
                let place = self.end(rank);
                self.ends[place].leaving -= 1;
                self.finish(place);
            }
            Input::Started { .. } => {}
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

impl Application for Stream {
    fn ranks(&self) -> Vec<Rank> {
        self.ends.iter().map(|end| end.rank).collect()
    }

    fn timekeepers(&self) -> Vec<Rank> {
        self.ends.iter().filter(|end| end.first).map(|end| end.rank).collect()
    }

    fn bytes_per_iteration(&self) -> u64 {
        let ways = if self.spec.both_ways { 2 } else { 1 };
        ways * u64::from(self.spec.pairs) * u64::from(self.spec.window) * u64::from(self.spec.bytes)
    }
}
