//! The evaluation, in the order of time: one look at the agenda for each thing that happens to a
//! part of a message.

mod passage;

use super::PriceError;
use super::crossing::{Uplinks, Way};
use super::desk::{Beside, Desk, Out, Task};
use super::feedback;
use super::letter::{Content, Letter};
use super::log::{Cause, Log, Message, NONE, Record};
use super::protocol::Protocol;
use crate::spread::{Nic, Spread};
use crate::{Cluster, Cut};
use crosstie_collective::{Counting, Need, Op, OpId, Rank, Schedule, Step, Tag, When, Window};
use crosstie_protocol::{Matching, Stripe};
use crosstie_units::{Cost, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Something that comes at a known time. Of those that come together, what ends comes before what
/// begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A computation is done.
    Computed(u32),
    /// A processor has written a message.
    Written(u32),
    /// A message has been received.
    Received(u32),
    /// The acknowledgement of a message is there, which makes room for others.
    Acknowledged(u32),
    /// The sender of a message knows that it is there.
    Landed(u32),
    /// The last packet of a part is there, and is acknowledged.
    Came(u32),
    /// The first packet of a part is at an uplink.
    Crosses(u32, Way),
    /// The first packet of a part is at its receiver.
    Reached(u32),
    /// A reception could start.
    Ready(u32),
    /// A NIC lets somebody start.
    Wake(u32),
}

impl Event {
    fn order(self) -> u8 {
        match self {
            Event::Computed(_)
            | Event::Written(_)
            | Event::Received(_)
            | Event::Acknowledged(_)
            | Event::Came(_)
            | Event::Landed(_) => 0,
            Event::Reached(_) | Event::Ready(_) | Event::Crosses(..) => 1,
            Event::Wake(_) => 2,
        }
    }
}

pub(super) struct Engine<'a> {
    pub schedule: &'a Schedule,
    pub cluster: &'a Cluster,
    nodes: u32,
    /// How many sends of a rank may be under way.
    most: u32,
    /// True if messages are packets that take turns.
    takes_turns: bool,
    /// True if no processor has anything to do with messages.
    spares: bool,
    /// How many packets of a rank may be outstanding.
    window: Option<Window>,
    /// Those of each port.
    uplinks: Vec<Uplinks>,
    /// The rank of each operation.
    rank: Vec<u32>,
    /// How much each operation still waits for.
    missing: Vec<u32>,
    pub log: Log,
    pub letters: Vec<Letter>,
    desks: Vec<Desk>,
    inboxes: Vec<Matching<Rank, Tag, usize, u32>>,
    /// The protocol between ranks, if there is one.
    pub protocol: &'a mut Option<Protocol>,
    spreads: &'a mut [Spread],
    agenda: BinaryHeap<Reverse<(Time, u8, u64, Event)>>,
    /// Events so far.
    count: u64,
    pub now: Time,
    /// Operations that could start and are yet to be asked what they need.
    ready: VecDeque<usize>,
    /// Ranks at whose desk something has changed.
    changed: VecDeque<u32>,
    /// Room for NICs and stripes.
    nics: Vec<Nic>,
    stripes: Vec<Stripe>,
}

/// What ranks keep from one iteration to the next.
pub(super) struct State {
    /// Whose turn it is.
    pub spreads: Vec<Spread>,
    /// Credit, where they have a protocol.
    protocol: Option<Protocol>,
}

impl State {
    /// Nothing has been sent yet.
    pub fn new(cluster: &Cluster, nodes: u32, ranks: u32) -> State {
        let protocol = cluster.messages.map(|messages| Protocol::new(messages, ranks));
        State { spreads: Spread::all(cluster, nodes, ranks), protocol }
    }
}

/// Evaluates a schedule in which every message goes to one rank, and may be a packet that takes a
/// turn. Ranks go on from a state, and leave it behind as it is then.
pub(super) fn run(
    schedule: &Schedule,
    cluster: &Cluster,
    nodes: u32,
    takes_turns: bool,
    State { spreads, protocol }: &mut State,
) -> Result<Log, PriceError> {
    let ranks = schedule.ranks();
    let owned = |rank| std::iter::repeat_n(rank, schedule.places(Rank(rank)).len());
    let count = schedule.all().len();
    let window = schedule.injection().window;
    let room = window.map_or(i64::MAX, |window| window.packets.into());
    let rails = cluster.rails.len();
    let leaving = if cluster.waits_to_leave() { 1 } else { rails };
    let ports = cluster.rails.iter().map(|rail| rail.port).max().map_or(0, |last| last + 1);
    let of_port = |port| cluster.rails.iter().find(|rail| rail.port == port);
    let uplinks = (0..ports).filter_map(of_port).filter_map(|rail| Uplinks::of(rail, nodes, ranks));
    let mut engine = Engine {
        schedule,
        cluster,
        nodes,
        // The protocol between ranks counts their sends, and not what it sends for them.
        most: schedule.outstanding().unwrap_or(u32::MAX),
        takes_turns,
        spares: false,
        window,
        uplinks: uplinks.collect(),
        rank: (0..ranks).flat_map(owned).collect(),
        missing: (0..count).map(|place| schedule.needs(place).len() as u32).collect(),
        log: Log {
            ops: vec![Record::IDLE; count],
            messages: Vec::new(),
            parts: Vec::new(),
            waits: Vec::new(),
        },
        letters: Vec::new(),
        desks: (0..ranks).map(|_| Desk::new(leaving, room)).collect(),
        inboxes: (0..ranks).map(|_| Matching::default()).collect(),
        protocol,
        spreads,
        agenda: BinaryHeap::new(),
        count: 0,
        now: Time::ZERO,
        ready: VecDeque::new(),
        changed: VecDeque::new(),
        nics: Vec::with_capacity(rails),
        stripes: Vec::with_capacity(rails),
    };
    engine.spares = engine.spares_processors();
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
    engine.log.waits = engine.uplinks.drain(..).flat_map(|uplinks| uplinks.waits).collect();
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
            Event::Reached(part) | Event::Crosses(part, _) => {
                let message = self.log.parts[part as usize].message;
                self.letters[message as usize].order as u64
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
            Event::Reached(part) => self.reached(part),
            Event::Crosses(part, way) => self.crosses(part, way),
            Event::Acknowledged(number) => {
                let Message { from, .. } = self.log.messages[number as usize];
                self.feedback(from, number);
            }
            Event::Landed(number) => self.landed(number),
            Event::Came(part) => self.acknowledge(part),
            Event::Computed(place) => {
                let rank = self.rank[place as usize];
                self.look_at(rank);
                self.done(place as usize, NONE);
            }
            Event::Written(number) => self.written(number),
            Event::Received(number) => {
                let Message { to, .. } = self.log.messages[number as usize];
                self.look_at(to.0);
                match self.window.map(|window| window.counts) {
                    Some(Counting::Received) => self.feedback(to, number),
                    Some(Counting::Unacknowledged) => {
                        let back = feedback::acknowledgement(self.cluster.first(), self.nodes);
                        self.plan(self.now + back, Event::Acknowledged(number));
                    }
                    None => {}
                }
                self.received(number);
            }
        }
    }

    /// A processor has written a message.
    fn written(&mut self, number: u32) {
        let Message { from, .. } = self.log.messages[number as usize];
        self.look_at(from.0);
        let letter = &mut self.letters[number as usize];
        letter.written = true;
        if matches!(letter.content, Content::Envelope { .. }) && self.cluster.waits_to_leave() {
            self.desks[from.0 as usize].sent();
        }
        match letter.content {
            Content::Plain { send, .. } => {
                self.desks[from.0 as usize].sent();
                if self.is_eager(number) || self.letters[number as usize].receive.is_some() {
                    self.done(send as usize, NONE);
                }
            }
            Content::Envelope { send, .. } if letter.completes => self.done(send as usize, NONE),
            Content::Envelope { .. } => {}
        }
    }

    /// Returns true if the send of a message does not wait for its receive.
    fn is_eager(&self, number: u32) -> bool {
        let bytes = self.letters[number as usize].bytes;
        self.cluster.processors.is_none_or(|own| own.overhead.is_eager(bytes))
    }

    /// A message has been received, and looks for its receive, unless it has found it.
    fn received(&mut self, number: u32) {
        let Message { from, to, .. } = self.log.messages[number as usize];
        self.letters[number as usize].received = true;
        match self.letters[number as usize].content {
            Content::Plain { send, .. } => {
                if self.cluster.processors.is_none() {
                    let Step::Send { tag, .. } = self.schedule.all()[send as usize].step else {
                        return;
                    };
                    let taken = self.inboxes[to.0 as usize].arrive(from, tag, number);
                    self.letters[number as usize].receive = taken.map(|(receive, _)| receive);
                }
                if let Some(receive) = self.letters[number as usize].receive {
                    self.done(receive, number);
                }
            }
            Content::Envelope { envelope, payload, .. } => {
                self.opened(number, to, from, envelope, payload);
                let back = match self.cluster.acknowledgements {
                    None => Time::ZERO,
                    Some(_) => feedback::acknowledgement(self.cluster.first(), self.nodes),
                };
                self.plan(self.now + back, Event::Landed(number));
            }
        }
    }

    /// A message and its receive have found each other: now the send of a long one is done.
    fn meet(&mut self, number: u32, receive: usize) {
        let letter = &mut self.letters[number as usize];
        letter.receive = Some(receive);
        let (written, Content::Plain { send, .. }) = (letter.written, letter.content) else {
            return;
        };
        if written && !self.is_eager(number) {
            self.done(send as usize, number);
        }
    }

    /// Packets of a rank are outstanding no more, or as good as that.
    fn feedback(&mut self, rank: Rank, number: u32) {
        let packets = self.log.parts_of(number).iter().map(|part| part.cut.packets).sum();
        self.desks[rank.0 as usize].let_go(packets, (self.now, number));
        self.look_at(rank.0);
    }

    /// An operation is done, with the reception of a message or by itself.
    pub fn done(&mut self, place: usize, by: u32) {
        let record = &mut self.log.ops[place];
        (record.end, record.by, record.done) = (self.now, by, true);
        self.tell(place, When::Done);
    }

    /// An operation has started.
    fn begun(&mut self, place: usize) {
        if !std::mem::replace(&mut self.log.ops[place].begun, true) {
            self.tell(place, When::Started);
        }
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
            let most = if self.protocol.is_some() { u32::MAX } else { self.most };
            while let Some((task, free)) = self.desks[desk].next(self.now, most) {
                self.start(task, free);
            }
            if let Some(at) = self.desks[desk].wake(self.now, most) {
                self.plan(at, Event::Wake(rank));
            }
        }
    }

    /// An operation waits for nothing any more but processors, NICs and messages.
    fn come(&mut self, place: usize) {
        let (rank, op) = (self.rank[place], self.schedule.all()[place]);
        self.log.ops[place].ready = self.now;
        match op.step {
            Step::Get { .. } | Step::Cast { .. } => unreachable!("nothing with these is priced"),
            Step::Compute { .. } => {
                let came = (self.now, place);
                let desk = &mut self.desks[rank as usize];
                desk.queue(came, op.cpu, Beside::Nothing, Task::Compute(place));
                self.look_at(rank);
            }
            Step::Send { .. } if self.protocol.is_some() => self.ask_to_send(place, self.most),
            Step::Send { to, bytes, .. } => self.post_plain(place, Rank(rank), to, bytes, op),
            Step::Receive { from, tag, .. } => {
                self.log.ops[place].start = self.now;
                self.begun(place);
                if self.protocol.is_some() {
                    return self.ask_to_receive(place, from, tag);
                }
                if let Some((.., number)) = self.inboxes[rank as usize].post(from, tag, place) {
                    self.meet(number, place);
                    if self.letters[number as usize].received {
                        self.done(place, number);
                    }
                }
            }
        }
    }

    /// A message goes to its rails as it is.
    fn post_plain(&mut self, place: usize, from: Rank, to: Rank, bytes: u32, op: Op) {
        let content = Content::Plain { send: place as u32 };
        let letter = Letter { cpu: op.cpu, nic: op.nic, ..Letter::new(content, bytes, place) };
        let number = self.compose(Cause::Operation(place as u32), (from, to), letter);
        self.log.ops[place].message = number;
        let rail = self.cluster.rail(op.nic.unwrap_or(0));
        let first = Cut::new(&rail.parameters, bytes.into(), self.nodes).first();
        // One that takes a turn is written while the NIC is busy with the one before; a host of
        // LogGOPS begins to write when the message before has left.
        let lead = match self.cluster.processors {
            Some(_) => Time::ZERO,
            None if self.takes_turns => first.send + first.departure(),
            None => first.send,
        };
        let out = match op.nic {
            _ if self.cluster.waits_to_leave() => Out::Any,
            None if self.cluster.rails.len() > 1 => Out::Any,
            _ => Out::Port(rail.port),
        };
        let came = (self.now, place);
        let beside = Beside::Nic(out, lead);
        self.desks[from.0 as usize].queue(came, op.cpu, beside, Task::Send(number));
        self.look_at(from.0);
    }

    /// Notes a message that is to be sent; its number.
    pub fn compose(&mut self, cause: Cause, (from, to): (Rank, Rank), letter: Letter) -> u32 {
        let zero = Time::ZERO;
        self.log.messages.push(Message {
            cause,
            from,
            to,
            ready: self.now,
            began: zero,
            free: zero,
            released: NONE,
            first: 0,
            parts: 0,
            arrived: zero,
            start: zero,
            end: zero,
        });
        self.letters.push(letter);
        self.log.messages.len() as u32 - 1
    }

    /// Returns true if no processor has anything to do with messages.
    fn spares_processors(&self) -> bool {
        let takes_none = |rail: &crate::Rail| {
            let own = &rail.parameters;
            [own.send, own.receive, own.pickup].iter().all(|cost| *cost == Cost::default())
        };
        self.cluster.processors.is_none() && self.cluster.rails.iter().all(takes_none)
    }

    /// A message waits for its processor alone: its rails take it whenever it comes.
    pub fn post(&mut self, number: u32) {
        if self.spares && !self.cluster.waits_to_leave() {
            return self.start(Task::Send(number), self.now);
        }
        let Message { from, .. } = self.log.messages[number as usize];
        let Letter { cpu, order, .. } = self.letters[number as usize];
        let task = Task::Send(number);
        let beside = match self.cluster.waits_to_leave() {
            true => Beside::Nic(Out::Any, Time::ZERO),
            false => Beside::Nothing,
        };
        self.desks[from.0 as usize].queue((self.now, order), cpu, beside, task);
        self.look_at(from.0);
    }

    /// A task starts, on a processor that has been free since then.
    fn start(&mut self, task: Task, free: Time) {
        let now = self.now;
        match task {
            Task::Compute(place) => {
                let op = self.schedule.all()[place];
                let Step::Compute { time } = op.step else { return };
                let record = &mut self.log.ops[place];
                (record.start, record.free) = (now, free);
                self.desks[self.rank[place] as usize].occupy(op.cpu, now + time);
                self.plan(now + time, Event::Computed(place as u32));
                self.begun(place);
            }
            Task::Send(number) => {
                let message = &mut self.log.messages[number as usize];
                (message.began, message.free) = (now, free);
                let (from, waited) = (message.from.0 as usize, message.ready < now);
                if let Some(other) = self.desks[from].released(now).filter(|_| waited) {
                    self.log.messages[number as usize].released = other;
                }
                self.send(number);
            }
            Task::Receive(number) => {
                let end = self.reception(number);
                let message = &mut self.log.messages[number as usize];
                (message.start, message.end) = (now, end);
                let (from, to) = (message.from, message.to);
                let Letter { cpu, content, .. } = self.letters[number as usize];
                if !(self.spares && self.protocol.is_some()) {
                    self.desks[to.0 as usize].occupy(cpu, end);
                }
                self.plan(end, Event::Received(number));
                // A host of LogGOPS looks for the receive as it begins.
                if let Content::Plain { send } = content
                    && self.cluster.processors.is_some()
                    && let Step::Send { tag, .. } = self.schedule.all()[send as usize].step
                    && let Some((receive, _)) =
                        self.inboxes[to.0 as usize].arrive(from, tag, number)
                {
                    self.meet(number, receive);
                }
            }
        }
    }

    /// The first operation that waits for ever: a receive, or a send that no receive asks for.
    /// Whatever else is not done waits for one.
    fn unmatched(&self) -> PriceError {
        let waits = |place: &usize| !self.log.ops[*place].done && self.missing[*place] == 0;
        let receives =
            |place: &usize| matches!(self.schedule.all()[*place].step, Step::Receive { .. });
        let all = || (0..self.missing.len()).filter(waits);
        let place = all().find(receives).or_else(|| all().next());
        let place = place.expect("nothing waits in a circle");
        let rank = Rank(self.rank[place]);
        let op = OpId((place - self.schedule.places(rank).start) as u32);
        match self.schedule.all()[place].step {
            Step::Send { to, tag, .. } => PriceError::NoReceive { rank, op, to, tag: tag.0 },
            Step::Receive { from, tag, .. } => {
                PriceError::Unmatched { rank, op, from, tag: tag.map(|tag| tag.0) }
            }
            Step::Compute { .. } | Step::Get { .. } | Step::Cast { .. } => {
                PriceError::Unmatched { rank, op, from: None, tag: None }
            }
        }
    }

    /// The rank of an operation.
    pub fn rank_of(&self, place: usize) -> Rank {
        Rank(self.rank[place])
    }
}
