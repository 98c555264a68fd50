//! Who waits for the processors and NICs of one host.

use super::NEVER;
use crosstie_units::Time;
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

impl Resource {
    /// Whether a processor does this also while it waits for a long message of its own to be asked for. Two
    /// ranks that send each other one would wait for ever if it did not.
    fn is_reception(self) -> bool {
        matches!(self, Resource::In(_) | Resource::Inbound)
    }
}

/// The processors and NICs of a host, and the tasks that wait for them.
///
/// Of those who can start, the one goes first who came first.
#[derive(Debug)]
pub(super) struct Desk<T> {
    rails: u32,
    /// When each processor is free, and each side of the NICs; those that are not listed are.
    cpus: Vec<Time>,
    /// Until when each processor takes up nothing but receptions.
    held: Vec<Time>,
    out: Vec<Time>,
    into: Vec<Time>,
    /// Messages on their way out of any NIC.
    going: u32,
    /// Tasks that need the same, in the order in which they came.
    lines: Vec<Line<T>>,
    /// Tasks that have come.
    came: u64,
    /// When somebody is to look next; [`Time::ZERO`] if nobody is.
    look: Time,
}

#[derive(Debug)]
struct Line<T> {
    cpu: u16,
    resource: Resource,
    tasks: VecDeque<(u64, T)>,
}

fn free(times: &[Time], place: u16) -> Time {
    times.get(usize::from(place)).copied().unwrap_or(Time::ZERO)
}

fn set(times: &mut Vec<Time>, place: u16, at: Time) {
    let place = usize::from(place);
    if times.len() <= place {
        times.resize(place + 1, Time::ZERO);
    }
    times[place] = at;
}

impl<T: Copy> Desk<T> {
    /// Nobody waits. There are so many rails.
    pub fn new(rails: u32) -> Desk<T> {
        Desk {
            rails,
            cpus: Vec::new(),
            held: Vec::new(),
            out: Vec::new(),
            into: Vec::new(),
            going: 0,
            lines: Vec::new(),
            came: 0,
            look: Time::ZERO,
        }
    }

    /// A task comes and waits.
    pub fn queue(&mut self, cpu: u16, resource: Resource, task: T) {
        self.came += 1;
        let same = |line: &&mut Line<T>| (line.cpu, line.resource) == (cpu, resource);
        match self.lines.iter_mut().find(same) {
            Some(line) => line.tasks.push_back((self.came, task)),
            None => {
                let tasks = VecDeque::from([(self.came, task)]);
                self.lines.push(Line { cpu, resource, tasks });
            }
        }
    }

    /// When both that a line needs are free.
    fn at(&self, line: &Line<T>) -> Time {
        let other = match line.resource {
            Resource::Nothing | Resource::Inbound => Time::ZERO,
            Resource::Out(rail) => free(&self.out, rail),
            Resource::AnyOut if self.going < self.rails => Time::ZERO,
            Resource::AnyOut => NEVER,
            Resource::In(rail) => free(&self.into, rail),
        };
        let held = match line.resource.is_reception() {
            true => Time::ZERO,
            false => free(&self.held, line.cpu),
        };
        free(&self.cpus, line.cpu).max(other).max(held)
    }

    /// Takes the task that can start now and came first.
    pub fn next(&mut self, now: Time) -> Option<(u16, Resource, T)> {
        let ready = |place: &usize| self.at(&self.lines[*place]) <= now;
        let head = |place: &usize| self.lines[*place].tasks.front().map(|&(came, _)| came);
        let waiting = (0..self.lines.len()).filter(|place| head(place).is_some());
        let first = waiting.filter(ready).min_by_key(head)?;
        let line = &mut self.lines[first];
        let (_, task) = line.tasks.pop_front().expect("somebody waits");
        Some((line.cpu, line.resource, task))
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

    /// A processor is busy until a time.
    pub fn occupy(&mut self, cpu: u16, until: Time) {
        set(&mut self.cpus, cpu, until);
    }

    /// A processor takes up nothing but receptions until a time.
    pub fn hold(&mut self, cpu: u16, until: Time) {
        set(&mut self.held, cpu, until);
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
    fn who_came_first_goes_first_among_those_who_can() {
        let ns = Time::from_ns;
        let mut desk = Desk::new(1);
        desk.queue(0, Resource::Out(0), 'a');
        desk.queue(0, Resource::Out(0), 'b');
        desk.queue(0, Resource::Nothing, 'c');
        desk.queue(1, Resource::Nothing, 'd');
        assert_eq!(desk.next(ns(0)), Some((0, Resource::Out(0), 'a')));
        desk.occupy(0, ns(10));
        desk.take(Resource::Out(0), ns(30));
        assert_eq!(desk.next(ns(0)), Some((1, Resource::Nothing, 'd')), "on another processor");
        assert_eq!((desk.next(ns(0)), desk.wake(ns(0))), (None, Some(ns(10))));
        assert_eq!(desk.wake(ns(0)), None, "somebody looks then");
        assert_eq!(desk.next(ns(10)), Some((0, Resource::Nothing, 'c')), "the NIC is busy");
        desk.occupy(0, ns(50));
        assert_eq!((desk.next(ns(10)), desk.wake(ns(10))), (None, Some(ns(50))));
        desk.queue(0, Resource::Nothing, 'e');
        assert_eq!(desk.next(ns(50)), Some((0, Resource::Out(0), 'b')), "it came before");
    }
}
