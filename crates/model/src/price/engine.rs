//! The evaluation, in the order of time: one look at the agenda for each thing that happens to a
//! message.

use super::PriceError;
use super::crossing::{Uplinks, Wait, Way};
use super::desk::{Beside, Desk, Task};
use super::feedback;
use super::inbox::Inbox;
use crate::{Cut, Parameters};
use crosstie_collective::{Counting, Need, OpId, Rank, Schedule, Step, When, Window};
use crosstie_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What happened, for those who look back. Operations and messages are told by their places and the
/// places of their sends.
pub(super) struct Log {
    pub ops: Vec<Record>,
    pub messages: Vec<Message>,
    /// The number of the message that a send sends or a receive takes; [`NONE`] of others.
    pub message: Vec<u32>,
    /// What waited at uplinks.
    pub waits: Vec<Wait>,
}

/// No such message.
pub(super) const NONE: u32 = u32::MAX;

/// What happened to an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// What it waited for last; `None` if for nothing.
    pub cause: Option<(u32, When)>,
    /// When it could start, and did, and was done.
    pub ready: Time,
    pub start: Time,
    pub end: Time,
    /// When the processor became free on which it started.
    pub free: Time,
    /// The message whose feedback let it start, if it waited for the global window last;
    /// [`NONE`] otherwise.
    pub released: u32,
    pub done: bool,
}

/// What happened to a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    /// The place of its send.
    pub send: u32,
    pub from: Rank,
    pub to: Rank,
    pub cut: Cut,
    /// When its first packet was handed to the NIC, and was at the receiver.
    pub handed: Time,
    pub first: Time,
    /// How long it was held up at uplinks.
    pub queued: Time,
    /// When its last packet would be there if nobody were in the way.
    pub alone: Time,
    /// When its first and its last packet were delivered.
    pub begin: Time,
    pub last: Time,
    /// When its reception could start, and did, and was done.
    pub ready: Time,
    pub start: Time,
    pub end: Time,
}

impl Log {
    /// When each rank was done.
    pub fn finish(&self, schedule: &Schedule) -> Vec<Time> {
        let last = |rank| self.ops[schedule.places(Rank(rank))].iter().map(|op| op.end).max();
        (0..schedule.ranks()).map(|rank| last(rank).unwrap_or(Time::ZERO)).collect()
    }
}

/// Something that comes at a known time. Of those that come together, what ends comes before what
/// begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A send or a computation is done.
    Done(u32),
    /// A message has been received.
    Received(u32),
    /// The acknowledgement of a message is there.
    Acknowledged(u32),
    /// The first packet of a message is at an uplink.
    Crosses(u32, Way),
    /// The first packet of a message is at its receiver.
    Reached(u32),
    /// A reception could start.
    Ready(u32),
    /// A NIC lets somebody start.
    Wake(u32),
}

impl Event {
    fn order(self) -> u8 {
        match self {
            Event::Done(_) | Event::Received(_) | Event::Acknowledged(_) => 0,
            Event::Reached(_) | Event::Ready(_) | Event::Crosses(..) => 1,
            Event::Wake(_) => 2,
        }
    }
}

struct Engine<'a> {
    schedule: &'a Schedule,
    parameters: &'a Parameters,
    nodes: u32,
    /// How many sends of a rank may be under way.
    most: u32,
    /// True if messages are packets that take turns.
    takes_turns: bool,
    /// How many packets of a rank may be outstanding.
    window: Option<Window>,
    uplinks: Option<Uplinks>,
    /// The rank of each operation.
    rank: Vec<u32>,
    /// How much each operation still waits for.
    missing: Vec<u32>,
    log: Log,
    desks: Vec<Desk>,
    inboxes: Vec<Inbox>,
    agenda: BinaryHeap<Reverse<(Time, u8, u64, Event)>>,
    /// Events so far.
    count: u64,
    now: Time,
    /// Operations that could start and are yet to be asked what they need.
    ready: VecDeque<usize>,
    /// Ranks at whose desk something has changed.
    changed: VecDeque<u32>,
}

/// Evaluates a schedule in which every message goes to somebody, and may be a packet that takes a
/// turn.
pub(super) fn run(
    schedule: &Schedule,
    parameters: &Parameters,
    nodes: u32,
    takes_turns: bool,
) -> Result<Log, PriceError> {
    let ranks = schedule.ranks();
    let owned = |rank| std::iter::repeat_n(rank, schedule.places(Rank(rank)).len());
    let count = schedule.all().len();
    let (zero, start) = (Time::ZERO, None);
    let record = Record {
        cause: start,
        ready: zero,
        start: zero,
        end: zero,
        free: zero,
        released: NONE,
        done: false,
    };
    let window = schedule.injection().window;
    let room = window.map_or(i64::MAX, |window| window.packets.into());
    let mut engine = Engine {
        schedule,
        parameters,
        nodes,
        most: schedule.outstanding().unwrap_or(u32::MAX),
        takes_turns,
        window,
        uplinks: Uplinks::of(parameters, nodes, ranks),
        rank: (0..ranks).flat_map(owned).collect(),
        missing: (0..count).map(|place| schedule.needs(place).len() as u32).collect(),
        log: Log {
            ops: vec![record; count],
            messages: Vec::new(),
            message: vec![NONE; count],
            waits: Vec::new(),
        },
        desks: (0..ranks).map(|_| Desk::new(room)).collect(),
        inboxes: (0..ranks).map(|_| Inbox::default()).collect(),
        agenda: BinaryHeap::new(),
        count: 0,
        now: zero,
        ready: VecDeque::new(),
        changed: VecDeque::new(),
    };
    engine.ready.extend((0..count).filter(|&place| engine.missing[place] == 0));
    engine.serve();
    while let Some(&Reverse((time, ..))) = engine.agenda.peek() {
        engine.now = time;
        while let Some(&Reverse((next, .., event))) = engine.agenda.peek()
            && next == time
        {
            engine.agenda.pop();
            engine.happens(event);
        }
        engine.serve();
    }
    engine.log.waits = engine.uplinks.take().map_or(Vec::new(), |uplinks| uplinks.waits);
    match engine.log.ops.iter().position(|op| !op.done) {
        None => Ok(engine.log),
        Some(_) => Err(engine.unmatched()),
    }
}

impl Engine<'_> {
    fn plan(&mut self, at: Time, event: Event) {
        self.count += 1;
        // Messages that reach a rank together come in the order of their sends in the schedule.
        let turn = match event {
            Event::Reached(number) | Event::Crosses(number, _) => {
                self.log.messages[number as usize].send.into()
            }
            _ => self.count,
        };
        self.agenda.push(Reverse((at, event.order(), turn, event)));
    }

    /// Something has changed at the desk of a rank.
    fn look_at(&mut self, rank: u32) {
        if self.changed.back() != Some(&rank) {
            self.changed.push_back(rank);
        }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Wake(rank) => self.look_at(rank),
            Event::Ready(message) => self.receivable(message),
            Event::Reached(message) => self.reached(message),
            Event::Crosses(message, way) => self.crosses(message, way),
            Event::Acknowledged(number) => {
                let Message { from, .. } = self.log.messages[number as usize];
                self.feedback(from, number);
            }
            Event::Done(place) => {
                let rank = self.rank[place as usize];
                if let Step::Send { .. } = self.schedule.all()[place as usize].step {
                    self.desks[rank as usize].sent();
                }
                self.look_at(rank);
                self.done(place as usize);
            }
            Event::Received(number) => {
                let Message { send, from, to, .. } = self.log.messages[number as usize];
                self.look_at(to.0);
                match self.window.map(|window| window.counts) {
                    Some(Counting::Received) => self.feedback(to, number),
                    Some(Counting::Unacknowledged) => {
                        let back = feedback::acknowledgement(self.parameters, self.nodes);
                        self.plan(self.now + back, Event::Acknowledged(number));
                    }
                    None => {}
                }
                let Step::Send { tag, .. } = self.schedule.all()[send as usize].step else {
                    return;
                };
                let taken = self.inboxes[to.0 as usize].arrive(from, tag, number as usize);
                if let Some(receive) = taken {
                    self.log.message[receive] = number;
                    self.done(receive);
                }
            }
        }
    }

    /// Packets of a rank are outstanding no more, or as good as that.
    fn feedback(&mut self, rank: Rank, number: u32) {
        let packets = self.log.messages[number as usize].cut.packets;
        self.desks[rank.0 as usize].let_go(packets, (self.now, number));
        self.look_at(rank.0);
    }

    /// An operation is done.
    fn done(&mut self, place: usize) {
        let record = &mut self.log.ops[place];
        (record.end, record.done) = (self.now, true);
        self.tell(place, When::Done);
    }

    /// Those who wait for this of an operation need wait no longer.
    fn tell(&mut self, place: usize, when: When) {
        let first = self.schedule.places(Rank(self.rank[place])).start;
        for &Need { op: OpId(op), when: _ } in
            self.schedule.dependents(place).iter().filter(|need| need.when == when)
        {
            let dependent = first + op as usize;
            self.missing[dependent] -= 1;
            if self.missing[dependent] == 0 {
                self.log.ops[dependent].cause = Some((place as u32, when));
                self.ready.push_back(dependent);
            }
        }
    }

    /// Lets everybody start who can.
    fn serve(&mut self) {
        loop {
            while let Some(place) = self.ready.pop_front() {
                self.come(place);
            }
            let Some(rank) = self.changed.pop_front() else { return };
            let desk = rank as usize;
            while let Some((task, free)) = self.desks[desk].next(self.now, self.most) {
                self.start(task, free);
            }
            if let Some(at) = self.desks[desk].wake(self.now, self.most) {
                self.plan(at, Event::Wake(rank));
            }
        }
    }

    /// An operation waits for nothing any more but processors, NICs and messages.
    fn come(&mut self, place: usize) {
        let (rank, op) = (self.rank[place], self.schedule.all()[place]);
        self.log.ops[place].ready = self.now;
        let desk = &mut self.desks[rank as usize];
        match op.step {
            Step::Get { .. } => unreachable!("nothing with gets is priced"),
            Step::Compute { .. } => {
                desk.queue((self.now, place), op.cpu, Beside::Nothing, Task::Compute(place));
                self.look_at(rank);
            }
            Step::Send { bytes, .. } => {
                let first = Cut::new(self.parameters, bytes.into(), self.nodes).first();
                // One that takes a turn is written while the NIC is busy with the one before.
                let ahead = if self.takes_turns { first.departure() } else { Time::ZERO };
                let lead = first.send + ahead;
                let nic = Beside::Nic(op.nic.unwrap_or(0), lead);
                desk.queue((self.now, place), op.cpu, nic, Task::Send(place));
                self.look_at(rank);
            }
            Step::Receive { from, tag, .. } => {
                self.log.ops[place].start = self.now;
                self.tell(place, When::Started);
                if let Some(number) = self.inboxes[rank as usize].post(from, tag, place) {
                    self.log.message[place] = number as u32;
                    self.done(place);
                }
            }
        }
    }

    /// A task starts, on a processor that has been free since then.
    fn start(&mut self, task: Task, free: Time) {
        let now = self.now;
        let begin = |record: &mut Record| (record.start, record.free) = (now, free);
        match task {
            Task::Compute(place) => {
                let op = self.schedule.all()[place];
                let Step::Compute { time } = op.step else { return };
                begin(&mut self.log.ops[place]);
                self.desks[self.rank[place] as usize].occupy(op.cpu, now + time);
                self.plan(now + time, Event::Done(place as u32));
                self.tell(place, When::Started);
            }
            Task::Send(place) => {
                begin(&mut self.log.ops[place]);
                let released = self.desks[self.rank[place] as usize].released(now);
                if let Some(number) = released
                    && self.log.ops[place].ready < now
                {
                    self.log.ops[place].released = number;
                }
                self.send(place);
                self.tell(place, When::Started);
            }
            Task::Receive(number) => {
                let message = &mut self.log.messages[number];
                message.start = now;
                let end = now + message.cut.sum(|packet| packet.receive);
                message.end = end;
                let (to, cpu) = (message.to, self.schedule.all()[message.send as usize].cpu);
                self.desks[to.0 as usize].occupy(cpu, end);
                self.plan(end, Event::Received(number as u32));
            }
        }
    }

    fn send(&mut self, place: usize) {
        let (now, op) = (self.now, self.schedule.all()[place]);
        let Step::Send { to, bytes, .. } = op.step else { return };
        let from = Rank(self.rank[place]);
        let cut = Cut::new(self.parameters, bytes.into(), self.nodes);
        let busy = now + cut.sum(|packet| packet.send);
        let desk = &mut self.desks[from.0 as usize];
        let handed = (now + cut.first().send).max(desk.sends(op.nic.unwrap_or(0)));
        desk.occupy(op.cpu, busy);
        let every = cut.full.departure();
        desk.take(op.nic.unwrap_or(0), handed + cut.spread(every, every) + cut.last.send_gap);
        desk.hold(cut.packets);
        let (first, alone) = (handed + cut.first().latency, handed + cut.arrival());
        let number = self.log.messages.len() as u32;
        self.log.message[place] = number;
        let zero = Time::ZERO;
        self.log.messages.push(Message {
            send: place as u32,
            from,
            to,
            cut,
            handed,
            first,
            queued: zero,
            alone,
            begin: zero,
            last: zero,
            ready: zero,
            start: zero,
            end: zero,
        });
        self.plan(busy, Event::Done(place as u32));
        match &self.uplinks {
            Some(uplinks) if uplinks.are_between(from, to) => {
                self.plan(handed, Event::Crosses(number, Way::Out));
            }
            _ => self.plan(first, Event::Reached(number)),
        }
    }

    /// An uplink takes a message in its turn. What it takes for a message alone is in L.
    fn crosses(&mut self, number: u32, way: Way) {
        let message = &mut self.log.messages[number as usize];
        let Some(uplinks) = &mut self.uplinks else { return };
        let Step::Send { bytes, .. } = self.schedule.all()[message.send as usize].step else {
            return;
        };
        let ends = (message.from, message.to);
        let late = uplinks.pass(way, self.now, ends, (&message.cut, bytes));
        message.queued = message.queued + late;
        message.first = message.first + late;
        message.alone = message.alone + late;
        let first = message.first;
        match way {
            Way::Out => self.plan(self.now + late, Event::Crosses(number, Way::In)),
            Way::In => self.plan(first, Event::Reached(number)),
        }
    }

    /// The receiving NIC takes a message in its turn; all packets of it are delivered before the
    /// next one's.
    fn reached(&mut self, number: u32) {
        let message = &mut self.log.messages[number as usize];
        let nic = self.schedule.all()[message.send as usize].nic.unwrap_or(0);
        let (desk, cut) = (&mut self.desks[message.to.0 as usize], &message.cut);
        message.begin = desk.delivers(nic, self.now, cut.first().receive_gap);
        message.last = cut.delivered(message.handed + message.queued, message.begin);
        desk.delivered(nic, message.last);
        // Late enough not to wait for packets, and no later.
        let end = cut.received(message.handed + message.queued, message.begin);
        message.ready = end - cut.sum(|packet| packet.receive);
        let ready = message.ready;
        if ready == self.now {
            self.receivable(number);
        } else {
            self.plan(ready, Event::Ready(number));
        }
    }

    /// A message waits for the processor that receives it.
    fn receivable(&mut self, number: u32) {
        let Message { send, to, .. } = self.log.messages[number as usize];
        let cpu = self.schedule.all()[send as usize].cpu;
        let (came, task) = ((self.now, send as usize), Task::Receive(number as usize));
        self.desks[to.0 as usize].queue(came, cpu, Beside::Inbound, task);
        self.look_at(to.0);
    }

    /// The first receive that waits for ever. Whatever else is not done waits for one.
    fn unmatched(&self) -> PriceError {
        let waits = |place: &usize| !self.log.ops[*place].done && self.missing[*place] == 0;
        let place = (0..self.missing.len()).find(waits).expect("nothing waits in a circle");
        let rank = Rank(self.rank[place]);
        let op = OpId((place - self.schedule.places(rank).start) as u32);
        let (from, tag) = match self.schedule.all()[place].step {
            Step::Receive { from, tag, .. } => (from, tag.map(|tag| tag.0)),
            Step::Send { .. } | Step::Compute { .. } | Step::Get { .. } => (None, None),
        };
        PriceError::Unmatched { rank, op, from, tag }
    }
}
