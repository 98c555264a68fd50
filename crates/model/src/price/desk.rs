//! Who waits for the processors and NICs of one rank.

use crosstie_units::Time;
use std::collections::VecDeque;

/// What a processor does. Operations are told by their places, messages by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Compute(usize),
    Send(u32),
    Receive(u32),
}

/// What a task needs beside a processor. What a rank does by itself goes before receptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing.
    Nothing,
    /// The sending side of a NIC, after the processor has been busy so long.
    Nic(Out, Time),
    /// Nothing, for a reception.
    Inbound,
}

/// The sending side of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Out {
    /// Of this port.
    Port(u16),
    /// Of any port: a limited number of messages of a rank may be on their way out.
    Any,
}

impl Beside {
    fn nic(self) -> Option<Out> {
        if let Beside::Nic(nic, _) = self { Some(nic) } else { None }
    }

    fn inbound(self) -> bool {
        self == Beside::Inbound
    }
}

/// The processors and NICs of a rank, and the tasks that wait for them. Of those who can start,
/// receptions go last, and otherwise the one goes first who came first.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// When each processor is free, and the sending side of each NIC; those that are not listed
    /// are.
    cpus: Vec<Time>,
    out: Vec<Time>,
    /// When messages have left the node, of as many as may be on their way out those that leave
    /// last.
    leave: Vec<Time>,
    /// When each port has sent the stripes that it was given.
    work: Vec<Time>,
    /// When something came in at each port last, and packets that are not acknowledged since.
    heard: Vec<(Option<Time>, u64)>,
    /// When a short message can be handed to each NIC that is let pass those of long ones.
    short: Vec<Time>,
    /// When the receiving side of each NIC delivered its last packet, if it has.
    into: Vec<Option<Time>>,
    /// How many sends are under way.
    going: u32,
    /// How many packets are outstanding: eta, which may be negative; and how many may be.
    outstanding: i64,
    room: i64,
    /// When packets were let go last without which nothing could have been sent, and the message
    /// that did it.
    released: Option<(Time, u32)>,
    lines: Vec<Line>,
    /// When somebody looks next, if that is to come.
    look: Time,
}

/// Tasks that need the same.
#[derive(Debug)]
struct Line {
    cpu: u16,
    /// The NIC, if they send.
    nic: Option<Out>,
    /// Whether they receive.
    inbound: bool,
    tasks: VecDeque<Waiting>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// When it came, and the place of its operation, or of a message's send: of those who came
    /// together, the one goes first that the schedule has first.
    came: (Time, usize),
    task: Task,
    /// How long the processor is busy with it before it needs the NIC.
    lead: Time,
}

fn at<T: Copy + Default>(list: &[T], place: u16) -> T {
    list.get(usize::from(place)).copied().unwrap_or_default()
}

fn set<T: Clone + Default>(list: &mut Vec<T>, place: u16, value: T) {
    let place = usize::from(place);
    if list.len() <= place {
        list.resize(place + 1, T::default());
    }
    list[place] = value;
}

fn less(time: Time, other: Time) -> Time {
    Time::from_ps(time.ps().saturating_sub(other.ps()))
}

impl Desk {
    /// Nothing waits; `leaving` messages may be on their way out, and `room` packets may be
    /// outstanding.
    pub fn new(leaving: usize, room: i64) -> Desk {
        Desk { room, leave: vec![Time::ZERO; leaving], ..Desk::default() }
    }

    /// `packets` more packets are outstanding.
    pub fn hold(&mut self, packets: u64) {
        self.outstanding += packets as i64;
    }

    /// `packets` packets are outstanding no more.
    pub fn let_go(&mut self, packets: u64, by: (Time, u32)) {
        if self.outstanding >= self.room {
            self.released = Some(by);
        }
        self.outstanding -= packets as i64;
    }

    /// The message whose feedback made room now, if there was none before.
    pub fn released(&self, now: Time) -> Option<u32> {
        self.released.filter(|&(at, _)| at == now).map(|(_, message)| message)
    }

    /// A task comes.
    pub fn queue(&mut self, came: (Time, usize), cpu: u16, beside: Beside, task: Task) {
        let lead = if let Beside::Nic(_, lead) = beside { lead } else { Time::ZERO };
        let (nic, inbound) = (beside.nic(), beside.inbound());
        let waiting = Waiting { came, task, lead };
        let same = |line: &&mut Line| (line.cpu, line.nic, line.inbound) == (cpu, nic, inbound);
        match self.lines.iter_mut().find(same) {
            Some(line) => {
                let before = line.tasks.iter().rev().take_while(|other| other.came > came).count();
                line.tasks.insert(line.tasks.len() - before, waiting);
            }
            None => self.lines.push(Line { cpu, nic, inbound, tasks: [waiting].into() }),
        }
    }

    /// When the sending side of a NIC is free.
    fn lets(&self, nic: Out) -> Time {
        match nic {
            Out::Port(port) => at(&self.out, port),
            Out::Any => self.leave.iter().copied().min().unwrap_or_default(),
        }
    }

    /// When the NIC lets the first of a line start.
    fn nic_lets(&self, line: &Line, first: &Waiting) -> Time {
        line.nic.map_or(Time::ZERO, |nic| less(self.lets(nic), first.lead))
    }

    /// The lines in which somebody waits whose processor is free, and who may send if that is what
    /// it wants.
    fn fit(&self, now: Time, most: u32) -> impl Iterator<Item = (usize, &Waiting)> {
        let fit = move |line: &Line| {
            let may_send = self.going < most && self.outstanding < self.room;
            at(&self.cpus, line.cpu) <= now && (line.nic.is_none() || may_send)
        };
        let lines = self.lines.iter().enumerate().filter(move |(_, line)| fit(line));
        lines.filter_map(|(place, line)| Some((place, line.tasks.front()?)))
    }

    /// Takes the task that can start now and came first, if at most so many sends may be under way.
    /// Also when its processor became free.
    pub fn next(&mut self, now: Time, most: u32) -> Option<(Task, Time)> {
        let ready = self
            .fit(now, most)
            .filter(|(place, first)| self.nic_lets(&self.lines[*place], first) <= now);
        let order = |&(place, first): &(usize, &Waiting)| (self.lines[place].inbound, first.came);
        let (place, _) = ready.min_by_key(order)?;
        let line = &mut self.lines[place];
        let task = line.tasks.pop_front()?.task;
        self.going += u32::from(line.nic.is_some());
        Some((task, at(&self.cpus, line.cpu)))
    }

    /// When a NIC lets somebody start for whom everything else is free, if nobody looks by then.
    pub fn wake(&mut self, now: Time, most: u32) -> Option<Time> {
        let lets =
            self.fit(now, most).map(|(place, first)| self.nic_lets(&self.lines[place], first));
        let earliest = lets.filter(|&lets| lets > now).min()?;
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

    /// The sending side of a port is.
    pub fn take(&mut self, port: u16, until: Time) {
        set(&mut self.out, port, until);
    }

    /// When the sending side of a port is free.
    pub fn sends(&self, port: u16) -> Time {
        at(&self.out, port)
    }

    /// When the next short message can go, behind those before it.
    pub fn sends_short(&self, port: u16) -> Time {
        at(&self.short, port)
    }

    /// A short message passes long ones.
    pub fn take_short(&mut self, port: u16, until: Time) {
        set(&mut self.short, port, until);
    }

    /// A message that takes any NIC has left at a time.
    pub fn leaves(&mut self, at: Time) {
        if let Some(first) = self.leave.iter_mut().min() {
            *first = at;
        }
    }

    /// A port sends a stripe until a time.
    pub fn work(&mut self, port: u16, until: Time) {
        set(&mut self.work, port, until);
    }

    /// When a port has sent all stripes that it was given; acknowledgements are none.
    pub fn idle(&self, port: u16) -> Time {
        at(&self.work, port)
    }

    /// When something came in at a port last, and how many packets are not acknowledged since.
    pub fn heard(&self, port: u16) -> (Option<Time>, u64) {
        at(&self.heard, port)
    }

    /// Something has come in at a port.
    pub fn hear(&mut self, port: u16, now: Time, owed: u64) {
        set(&mut self.heard, port, (Some(now), owed));
    }

    /// When the receiving side of a port has delivered all that is known to come.
    pub fn quiet(&self, port: u16) -> Time {
        at(&self.into, port).unwrap_or_default()
    }

    /// A send is done.
    pub fn sent(&mut self) {
        self.going -= 1;
    }

    /// When a NIC can deliver the first packet of a message that is there now, `gap` behind the one
    /// before.
    pub fn delivers(&self, port: u16, now: Time, gap: Time) -> Time {
        at(&self.into, port).map_or(now, |last| now.max(last + gap))
    }

    /// A NIC delivers its last packet at a time.
    pub fn delivered(&mut self, port: u16, last: Time) {
        set(&mut self.into, port, Some(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_came_first_goes_first_among_those_who_can() {
        let ns = Time::from_ns;
        let mut desk = Desk::new(1, i64::MAX);
        desk.queue((ns(0), 0), 0, Beside::Inbound, Task::Receive(0));
        desk.queue((ns(0), 1), 0, Beside::Nic(Out::Port(0), ns(1)), Task::Send(1));
        desk.queue((ns(0), 2), 0, Beside::Nic(Out::Port(0), ns(1)), Task::Send(2));
        desk.queue((ns(0), 3), 0, Beside::Nothing, Task::Compute(3));
        assert_eq!(desk.next(ns(0), 9), Some((Task::Send(1), ns(0))));
        desk.occupy(0, ns(2));
        desk.take(0, ns(30));
        assert_eq!((desk.next(ns(0), 9), desk.wake(ns(0), 9)), (None, None), "the processor");
        assert_eq!(desk.next(ns(2), 9), Some((Task::Compute(3), ns(2))), "the NIC is busy");
        assert_eq!(desk.next(ns(2), 9), Some((Task::Receive(0), ns(2))), "nobody else can");
        assert_eq!((desk.wake(ns(2), 9), desk.wake(ns(2), 9)), (Some(ns(29)), None));
        assert_eq!(desk.next(ns(29), 1), None, "one send is under way");
        desk.sent();
        assert_eq!(desk.next(ns(29), 1), Some((Task::Send(2), ns(2))));
    }

    #[test]
    fn a_nic_delivers_one_message_behind_the_other() {
        let ns = Time::from_ns;
        let mut desk = Desk::default();
        assert_eq!(desk.delivers(1, ns(5), ns(3)), ns(5), "nothing came before");
        desk.delivered(1, ns(9));
        assert_eq!(
            (desk.delivers(1, ns(10), ns(3)), desk.delivers(1, ns(20), ns(3))),
            (ns(12), ns(20))
        );
    }
}
