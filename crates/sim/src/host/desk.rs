//! Who waits for the processors and NICs of one host.

use super::NEVER;
use crosstie_units::Time;
use crosstie_work::{Rank, Request, Step, Turn};
use std::collections::VecDeque;

/// What a task needs beside a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    /// Nothing.
    Nothing,
    /// The sending side of the NIC of a rail.
    Out(u16),
    /// The sending side of any NIC: whose, the policy decides.
    AnyOut,
    /// The receiving side of the NIC of a rail.
    In(u16),
    /// Nothing, for a message that has come in by itself.
    Inbound,
}

/// The place of a task in the order of all tasks: the moment at which what freed it began. Of those
/// that one moment frees, a message goes first, and then operations rank by rank: sends, receives,
/// computations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    moment: u64,
    who: Who,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Message,
    /// Of one kind, what waited for a start goes before what waited for an end.
    Operation {
        rank: Rank,
        kind: u8,
        turn: Turn,
        request: Request,
    },
}

impl Place {
    /// Of a message whose send began at a moment.
    pub fn message(moment: u64) -> Place {
        Place { moment, who: Who::Message }
    }

    /// Of an operation.
    pub fn operation(rank: Rank, request: Request, step: Step, turn: Turn) -> Place {
        let kind = match step {
            Step::Send { .. } => 0,
            Step::Receive { .. } => 1,
            Step::Compute { .. } | Step::Get { .. } => 2,
        };
        Place { moment: turn.moment(), who: Who::Operation { rank, kind, turn, request } }
    }
}

/// The processors and NICs of a host, and the tasks that wait for them.
///
/// Of the operations that can start, the one with the first place goes first.
#[derive(Debug)]
pub(super) struct Desk<T> {
    rails: u32,
    /// When each processor is free, and each side of the NICs; those that are not listed are.
    cpus: Vec<Time>,
    /// The moment at which each processor began what it is busy with.
    begun: Vec<u64>,
    out: Vec<Time>,
    into: Vec<Time>,
    /// Messages on their way out of any NIC.
    going: u32,
    /// Tasks that need the same, in the order of their places.
    lines: Vec<Line<T>>,
    /// What was told of the next task.
    told: Option<(Time, Place)>,
    /// When somebody is to look next; [`Time::ZERO`] if nobody is.
    look: Time,
}

#[derive(Debug)]
struct Line<T> {
    cpu: u16,
    resource: Resource,
    tasks: VecDeque<(Place, T)>,
}

fn get<V: Copy + Default>(values: &[V], place: u16) -> V {
    values.get(usize::from(place)).copied().unwrap_or_default()
}

fn set<V: Copy + Default>(values: &mut Vec<V>, place: u16, value: V) {
    let place = usize::from(place);
    if values.len() <= place {
        values.resize(place + 1, V::default());
    }
    values[place] = value;
}

impl<T: Copy> Desk<T> {
    /// Nobody waits. There are so many rails.
    pub fn new(rails: u32) -> Desk<T> {
        Desk {
            rails,
            cpus: Vec::new(),
            begun: Vec::new(),
            out: Vec::new(),
            into: Vec::new(),
            going: 0,
            lines: Vec::new(),
            told: None,
            look: Time::ZERO,
        }
    }

    /// A task comes and waits.
    pub fn queue(&mut self, place: Place, cpu: u16, resource: Resource, task: T) {
        let same = |line: &&mut Line<T>| (line.cpu, line.resource) == (cpu, resource);
        match self.lines.iter_mut().find(same) {
            Some(line) => {
                let behind = line.tasks.iter().rev().take_while(|(other, _)| *other > place);
                let at = line.tasks.len() - behind.count();
                line.tasks.insert(at, (place, task));
            }
            None => {
                let tasks = VecDeque::from([(place, task)]);
                self.lines.push(Line { cpu, resource, tasks });
            }
        }
    }

    /// When both that a line needs are free.
    fn at(&self, line: &Line<T>) -> Time {
        let other = match line.resource {
            Resource::Nothing | Resource::Inbound => Time::ZERO,
            Resource::Out(rail) => get(&self.out, rail),
            Resource::AnyOut if self.going < self.rails => Time::ZERO,
            Resource::AnyOut => NEVER,
            Resource::In(rail) => get(&self.into, rail),
        };
        get(&self.cpus, line.cpu).max(other)
    }

    /// The line of the task that starts next, when it can, and its place.
    fn head(&self, now: Time) -> Option<(Time, Place, usize)> {
        let head = |(number, line): (usize, &Line<T>)| {
            Some((self.at(line).max(now), line.tasks.front()?.0, number))
        };
        let heads = self.lines.iter().enumerate().filter_map(head);
        heads.filter(|&(at, ..)| at != NEVER).min()
    }

    /// When the next task can start, and its place.
    pub fn first(&self, now: Time) -> Option<(Time, Place)> {
        self.head(now).map(|(at, place, _)| (at, place))
    }

    /// The same, unless it is what was told last and has not been taken.
    pub fn news(&mut self, now: Time) -> Option<(Time, Place)> {
        let first = self.first(now);
        let is_new = first != self.told;
        self.told = first;
        first.filter(|_| is_new)
    }

    /// Takes the next task, if it can start now.
    pub fn next(&mut self, now: Time) -> Option<(u16, Resource, T)> {
        let (_, _, number) = self.head(now).filter(|&(at, ..)| at <= now)?;
        self.told = None;
        let line = &mut self.lines[number];
        let (_, task) = line.tasks.pop_front().expect("somebody waits");
        Some((line.cpu, line.resource, task))
    }

    /// When a receive is posted: when its processor is done with what it had begun by the moment
    /// that freed the receive, or at once if that end is not known. What the processor has
    /// begun since does not delay it.
    pub fn posts(&self, cpu: u16, moment: u64, now: Time) -> Time {
        match get(&self.cpus, cpu) {
            free if free != NEVER && get(&self.begun, cpu) <= moment => free.max(now),
            _ => now,
        }
    }

    /// When somebody who still waits can start at the earliest, if nobody is to look by then.
    pub fn wake(&mut self, now: Time) -> Option<Time> {
        let waiting = self.lines.iter().filter(|line| !line.tasks.is_empty());
        let earliest = waiting.map(|line| self.at(line)).min().filter(|&at| at != NEVER)?;
        if self.look > now && self.look <= earliest {
            return None;
        }
        self.look = earliest;
        Some(earliest)
    }

    /// A processor is busy until a time with what it began at a moment.
    pub fn occupy(&mut self, cpu: u16, moment: u64, until: Time) {
        set(&mut self.cpus, cpu, until);
        set(&mut self.begun, cpu, moment);
    }

    /// A processor is busy until another time with what it has begun.
    pub fn extend(&mut self, cpu: u16, until: Time) {
        set(&mut self.cpus, cpu, until);
    }

    /// A side of a NIC is busy until a time.
    pub fn take(&mut self, resource: Resource, until: Time) {
        match resource {
            Resource::Out(rail) => set(&mut self.out, rail, until),
            Resource::In(rail) => set(&mut self.into, rail, until),
            Resource::Nothing | Resource::AnyOut | Resource::Inbound => {}
        }
    }

    /// A message is on its way out until it has left.
    pub fn go_out(&mut self, resource: Resource) {
        match resource {
            Resource::AnyOut => self.going += 1,
            named => self.take(named, NEVER),
        }
    }

    /// A message has left, by the rail that it named or any.
    pub fn left(&mut self, rail: Option<u16>, now: Time) {
        match rail {
            Some(rail) => set(&mut self.out, rail, now),
            None => self.going -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_goes_first_among_those_who_can() {
        let ns = Time::from_ns;
        let mut desk = Desk::new(1);
        desk.queue(Place::message(2), 0, Resource::Out(0), 'b');
        desk.queue(Place::message(1), 0, Resource::Out(0), 'a');
        desk.queue(Place::message(3), 0, Resource::Nothing, 'c');
        desk.queue(Place::message(4), 1, Resource::Nothing, 'd');
        assert_eq!(desk.next(ns(0)), Some((0, Resource::Out(0), 'a')));
        desk.occupy(0, 1, ns(10));
        desk.take(Resource::Out(0), ns(30));
        assert_eq!(desk.next(ns(0)), Some((1, Resource::Nothing, 'd')), "on another processor");
        assert_eq!((desk.next(ns(0)), desk.wake(ns(0))), (None, Some(ns(10))));
        assert_eq!(desk.wake(ns(0)), None, "somebody looks then");
        assert_eq!(desk.next(ns(10)), Some((0, Resource::Nothing, 'c')), "the NIC is busy");
        desk.occupy(0, 3, ns(50));
        assert_eq!((desk.next(ns(10)), desk.wake(ns(10))), (None, Some(ns(50))));
        desk.queue(Place::message(5), 0, Resource::Nothing, 'e');
        assert_eq!(desk.next(ns(50)), Some((0, Resource::Out(0), 'b')), "its place is before");
    }

    #[test]
    fn one_moment_frees_a_message_then_sends_receives_and_computations() {
        let send = Step::Send { to: Rank(0), tag: crosstie_work::Tag(0), bytes: 1 };
        let compute = Step::Compute { time: Time::ZERO };
        let place =
            |rank, request, step, turn| Place::operation(Rank(rank), Request(request), step, turn);
        let places = [
            Place::message(3),
            place(0, 5, send, Turn::done(3)),
            place(0, 4, compute, Turn::started(3)),
            place(0, 2, compute, Turn::done(3)),
            place(1, 1, send, Turn::started(3)),
            Place::message(4),
        ];
        assert!(places.is_sorted(), "{places:?}");
    }
}
