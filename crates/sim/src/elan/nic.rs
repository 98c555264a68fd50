//! One Elan: command processor, DMA engine, inputter, events.
//!
//! The four threads of the microcode share one processor ([`Nic::microcode`]), which does one thing
//! after the other. Data pass through the NIC by one path, those that go out and those that come in
//! alike.

use super::mmu::{Access, Memory, Mmu, Process, Stretch, Violation};
use super::pci::{Pci, Way};
use super::routes::{Hosts, RouteTables};
use super::unit::{Unit, passing};
use super::{Capability, ElanSpec, PciSpec};
use crate::network::{Chore, Part};
use crate::slab::Slab;
use crosstie_units::Time;
use std::collections::VecDeque;

/// What a process writes to the command port: bytes of the memory of one process go to that of
/// another. The process that writes it is one of both: of a put the source, of a get the
/// destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// The process that has written it.
    pub by: Process,
    /// The process whose memory is read.
    pub from: Process,
    /// The process whose memory is written, or the first of several.
    pub to: Process,
    /// The last of them.
    pub last: Process,
    /// What is read.
    pub source: Stretch,
    /// Where it goes.
    pub destination: u32,
}

/// What a DMA is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A process puts something into the memory of another.
    Put,
    /// A process reads the memory of another: its NIC asks that of the other for it.
    Get,
    /// Something goes from port to port.
    Port(Part),
}

impl Descriptor {
    /// The process that packets of it are from, and those that they go to: those that ask for a get
    /// go the other way.
    fn ends(&self, asks: bool) -> (Process, (Process, Process)) {
        match asks {
            true => (self.to, (self.from, self.from)),
            false => (self.from, (self.to, self.last)),
        }
    }
}

impl Kind {
    /// Returns true if the thread of the NIC writes the descriptor, into the queue of the DMA
    /// engine.
    fn is_of_thread(self) -> bool {
        matches!(self, Kind::Port(Part::Answer | Part::Data))
    }

    /// Returns true if an event tells a process that it is done.
    fn tells(self, end: End) -> bool {
        match (self, end) {
            (Kind::Put | Kind::Port(Part::Data), _)
            | (Kind::Get, End::Destination)
            | (Kind::Port(Part::Message), End::Source) => true,
            (Kind::Get, End::Source)
            | (Kind::Port(Part::Message), End::Destination)
            | (Kind::Port(Part::Envelope | Part::Answer), _) => false,
        }
    }

    /// Where its data are at one end, if those of processes are there.
    pub fn memory(self, end: End, own: Memory) -> Memory {
        match (self, end) {
            (Kind::Put | Kind::Get | Kind::Port(Part::Data), _)
            | (Kind::Port(Part::Message), End::Source) => own,
            (Kind::Port(Part::Message), End::Destination)
            | (Kind::Port(Part::Envelope | Part::Answer), _) => Memory::Elan,
        }
    }
}

/// A put that is not done at both ends, or a get.
#[derive(Debug, Clone, Copy)]
pub(super) struct Put {
    pub descriptor: Descriptor,
    pub kind: Kind,
    /// Where the bytes come from, and go.
    memories: (Memory, Memory),
    /// Bytes that the DMA engine has not taken up.
    unread: u32,
    /// Packets on their way, and whether there are more to come.
    unacknowledged: u32,
    is_read: bool,
    /// Bytes that are not in the memory of the receiver, and packets that have not come in.
    unwritten: u32,
    /// True once its first packet has come in.
    is_arriving: bool,
    /// True once its last packet has been taken.
    has_last: bool,
    /// Why a packet of it was refused.
    violation: Option<Violation>,
    /// Where its packets go, once the DMA engine has taken it up.
    hosts: Option<Hosts>,
}

impl Put {
    pub fn new(descriptor: Descriptor, kind: Kind, memories: (Memory, Memory)) -> Put {
        let bytes = descriptor.source.bytes;
        Put {
            descriptor,
            kind,
            memories,
            unread: bytes,
            unacknowledged: 0,
            is_read: false,
            unwritten: bytes,
            is_arriving: false,
            has_last: false,
            violation: None,
            hosts: None,
        }
    }
}

/// A packet of a put, or one that asks for a get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    pub put: u32,
    /// True if it asks for a get: it carries the descriptor, from the destination to the source.
    pub asks: bool,
    pub offset: u32,
    pub bytes: u32,
    pub is_last: bool,
    /// True if its acknowledge says that it is in memory, and not only that the inputter has it:
    /// that of the last one, and of those that come behind it because they were garbled, or were on
    /// the other virtual channel. So all of a put is in memory when all packets are acknowledged.
    pub confirms: bool,
}

/// What comes next in a NIC, at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A command has come to the command port.
    Commanded(u32),
    /// The command processor has checked and read a descriptor.
    Queued(u32),
    /// The DMA engine can read the next packet.
    Reads,
    /// The DMA engine has found no route for a put.
    Rejected(u32, Violation),
    /// The DMA engine reads a packet.
    Fetches(Packet),
    /// A packet has been read from main memory.
    Read(Packet),
    /// A packet can go onto the link.
    Ready(Packet),
    /// The inputter has taken a packet, whose number is its arrival's.
    Taken(u64, Packet),
    /// A packet has passed through the NIC.
    Passed(u64, Packet),
    /// Something has crossed the bus.
    Crossed(Way),
    /// A packet is no longer in the inputter.
    Freed,
    /// A packet is in memory.
    Written(u64, Packet),
    /// An event is set.
    Set(Cause),
    /// The block of that event goes onto the bus.
    Copies(Cause),
    /// The process has noticed.
    Noticed(Cause),
    /// A receive has come to the command port.
    Received(u64),
    /// The command processor has checked it.
    Accepted(u64),
    /// The thread processor has looked for what fits.
    Matched(u64),
    /// Bytes that the NIC has kept have passed through it.
    Unkept(u64, u32),
    /// They are where the process wants them.
    Delivered(u64),
}

/// Of what an event tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// One end of a put is done.
    Put(u32, End),
    /// A message has been delivered, by the number of the chore.
    Chore(u64),
}

/// The ends of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Source,
    Destination,
}

/// What a NIC is told.
#[derive(Debug, Clone, Copy)]
pub(super) enum Input {
    /// A process has written a descriptor to the command port.
    Post(u32),
    /// The data of the packet on the link have left.
    Left,
    /// A packet has come in, by a number of the network.
    Arrived(u64, Packet),
    /// The acknowledge of a packet is back.
    Acknowledged(Packet),
    /// A packet was garbled on its way, and goes again.
    Garbled(Packet),
    /// A packet was refused, since what it wants is not granted.
    Refused(Packet, Violation),
    /// There is something for the thread processor to do.
    Chore(u64, Chore),
    /// The time of a step has come.
    Step(Step),
}

/// What a NIC wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// To be told of a step at a time.
    Later(Time, Step),
    /// A packet goes onto the link, to some hosts.
    Transmit(Packet, Hosts),
    /// A packet is acknowledged, or refused.
    Acknowledge(u64, Result<(), Violation>),
    /// The first packet of a put comes in.
    Arriving(u32),
    /// The process at one end of a put knows that it is done, or the NIC if that is all.
    Done(u32, End),
    /// A chore is done.
    Did(u64),
    /// A put ends in an error event at its source.
    Violated(u32, Violation),
}

/// A put in the queue of the DMA engine.
#[derive(Debug, Clone, Copy)]
struct Queued {
    put: u32,
    /// True if it is a get that is to be asked for.
    asks: bool,
    /// Packets that it may still send before others have their turn.
    left: u32,
}

/// What crosses the bus.
#[derive(Debug, Clone, Copy)]
enum Crossing {
    /// A packet that the DMA engine reads.
    Read(Packet),
    /// A packet that the inputter writes.
    Write(u64, Packet),
    /// A part of a message that the NIC has kept; true if it is the last one.
    Deliver(u64, u32, bool),
    /// The block of an event.
    Copy(Cause),
}

/// One Elan.
#[derive(Debug)]
pub(super) struct Nic {
    spec: ElanSpec,
    microcode: Unit,
    thread: Unit,
    path: Unit,
    pci: Pci<Crossing>,
    pub mmu: Mmu,
    routes: RouteTables,
    /// Puts that the DMA engine has to do, those in turn first.
    queue: VecDeque<Queued>,
    /// True while a packet is being read.
    reads: bool,
    /// Packets read or being read that have not gone onto the link.
    ahead: u32,
    ready: VecDeque<Packet>,
    /// True while the data of a packet are on the link.
    sends: bool,
    circuits: u32,
    /// Packets that have come in and wait for a place in the inputter.
    waiting: VecDeque<(u64, Packet)>,
    taken: u32,
}

impl Nic {
    /// A NIC at rest, of processes that may do so much together.
    pub fn new(spec: ElanSpec, Capability { grants, routes }: Capability) -> Nic {
        Nic {
            spec,
            microcode: Unit::default(),
            thread: Unit::default(),
            path: Unit::default(),
            pci: Pci::new(&spec.pci),
            mmu: Mmu::new(spec.tlb, grants),
            routes: RouteTables::new(routes),
            queue: VecDeque::new(),
            reads: false,
            ahead: 0,
            ready: VecDeque::new(),
            sends: false,
            circuits: 0,
            waiting: VecDeque::new(),
            taken: 0,
        }
    }

    /// Takes note of something, and says what is to be done.
    pub fn handle(&mut self, now: Time, input: Input, puts: &mut Slab<Put>, out: &mut Vec<Action>) {
        match input {
            Input::Post(put) if puts.get(put).kind.is_of_thread() => {
                self.queue(now, put, puts, out);
            }
            Input::Post(put) => {
                out.push(Action::Later(now + self.spec.post, Step::Commanded(put)));
            }
            Input::Left => {
                self.sends = false;
                self.ahead -= 1;
                self.send(puts, out);
                self.read(now, puts, out);
            }
            Input::Arrived(id, packet) => {
                self.waiting.push_back((id, packet));
                self.take(now, puts, out);
            }
            Input::Acknowledged(packet) => {
                self.circuits -= 1;
                if !packet.asks {
                    self.acknowledged(now, packet.put, puts, out);
                }
                self.send(puts, out);
            }
            Input::Garbled(packet) => {
                // The NIC keeps data until they are acknowledged.
                self.circuits -= 1;
                self.ahead += 1;
                self.ready.push_front(packet);
                self.send(puts, out);
            }
            Input::Refused(packet, violation) => {
                self.circuits -= 1;
                if packet.asks {
                    out.push(Action::Violated(packet.put, violation));
                } else {
                    puts.get_mut(packet.put).violation = Some(violation);
                    // What has not been taken up stays where it is.
                    self.queue.retain(|queued| queued.put != packet.put);
                    self.acknowledged(now, packet.put, puts, out);
                }
                self.send(puts, out);
            }
            Input::Chore(id, chore) => self.charge(now, id, chore, out),
            Input::Step(step) => self.step(now, step, puts, out),
        }
    }

    fn step(&mut self, now: Time, step: Step, puts: &mut Slab<Put>, out: &mut Vec<Action>) {
        match step {
            Step::Commanded(put) => {
                let (_, done) = self.microcode.serve(now, self.spec.command);
                out.push(Action::Later(done, Step::Queued(put)));
            }
            Step::Queued(put) => self.queue(now, put, puts, out),
            Step::Reads => {
                self.reads = false;
                self.read(now, puts, out);
            }
            Step::Rejected(put, violation) => {
                self.reads = false;
                out.push(Action::Violated(put, violation));
                self.read(now, puts, out);
            }
            Step::Fetches(packet) => self.fetch(now, packet, puts, out),
            Step::Read(packet) => {
                self.pass_out(now, packet, out);
            }
            Step::Ready(packet) => {
                self.ready.push_back(packet);
                self.send(puts, out);
            }
            Step::Taken(id, packet) => {
                let (_, end) = self.pass(now, packet.bytes);
                out.push(Action::Later(end, Step::Passed(id, packet)));
            }
            Step::Passed(_, packet) if packet.asks => {
                out.push(Action::Later(now, Step::Freed));
                self.enqueue(packet.put, false);
                self.read(now, puts, out);
            }
            Step::Passed(id, packet) => match puts.get(packet.put).memories.1 {
                Memory::Main if packet.bytes > 0 => {
                    self.pci.wait(Way::Write, Crossing::Write(id, packet));
                    self.cross(now, out);
                }
                Memory::Main | Memory::Elan => {
                    out.push(Action::Later(now, Step::Freed));
                    out.push(Action::Later(now, Step::Written(id, packet)));
                }
            },
            Step::Crossed(way) => {
                self.pci.crossed(way);
                self.cross(now, out);
            }
            Step::Freed => {
                self.taken -= 1;
                self.take(now, puts, out);
            }
            Step::Written(id, packet) => self.written(now, id, packet, puts, out),
            // The thread of the NIC needs no copy.
            Step::Set(Cause::Put(put, end)) if !puts.get(put).kind.tells(end) => {
                out.push(Action::Done(put, end));
            }
            Step::Set(cause) => {
                let (_, copied) = self.microcode.serve(now, self.spec.copy);
                out.push(Action::Later(copied, Step::Copies(cause)));
            }
            Step::Copies(cause) => {
                self.pci.wait(Way::Write, Crossing::Copy(cause));
                self.cross(now, out);
            }
            Step::Noticed(Cause::Put(put, end)) => out.push(Action::Done(put, end)),
            Step::Noticed(Cause::Chore(id)) => out.push(Action::Did(id)),
            Step::Received(id) => {
                let (_, done) = self.microcode.serve(now, self.spec.command);
                out.push(Action::Later(done, Step::Accepted(id)));
            }
            Step::Accepted(id) => self.look(now, id, out),
            Step::Matched(id) => out.push(Action::Did(id)),
            Step::Unkept(id, bytes) => match self.spec.destination {
                Memory::Main if bytes > 0 => self.deliver(now, id, bytes, out),
                Memory::Main | Memory::Elan => self.set(now, Cause::Chore(id), out),
            },
            Step::Delivered(id) => self.set(now, Cause::Chore(id), out),
        }
    }

    /// Something for the thread processor to do has come.
    fn charge(&mut self, now: Time, id: u64, chore: Chore, out: &mut Vec<Action>) {
        match chore {
            Chore::Receive => out.push(Action::Later(now + self.spec.post, Step::Received(id))),
            Chore::Match => self.look(now, id, out),
            Chore::Deliver { bytes } => {
                let (_, end) = self.pass(now, bytes);
                out.push(Action::Later(end, Step::Unkept(id, bytes)));
            }
        }
    }

    /// The thread processor looks for what fits, one thing after the other.
    fn look(&mut self, now: Time, id: u64, out: &mut Vec<Action>) {
        let (_, end) = self.thread.serve(now, self.spec.matching);
        out.push(Action::Later(end, Step::Matched(id)));
    }

    /// What the NIC has kept crosses the bus, in pieces as long as packets.
    fn deliver(&mut self, now: Time, id: u64, bytes: u32, out: &mut Vec<Action>) {
        let most = self.spec.format.payload();
        for begin in (0..bytes).step_by(most as usize) {
            let piece = most.min(bytes - begin);
            let is_last = begin + piece == bytes;
            self.pci.wait(Way::Write, Crossing::Deliver(id, piece, is_last));
        }
        self.cross(now, out);
    }

    /// The command processor has a descriptor: it checks that the process may read what it puts, or
    /// write where it gets.
    fn queue(&mut self, now: Time, put: u32, puts: &mut Slab<Put>, out: &mut Vec<Action>) {
        let Put { descriptor, kind, .. } = *puts.get(put);
        let is_get = kind == Kind::Get;
        let Descriptor { by, source, destination, .. } = descriptor;
        let checked = match is_get {
            false => self.mmu.check(by, by, source, Access::Read),
            true => {
                let whole = Stretch { start: destination, ..source };
                self.mmu.check(by, by, whole, Access::Write)
            }
        };
        match checked {
            Ok(_) => {
                self.enqueue(put, is_get);
                self.read(now, puts, out);
            }
            Err(violation) => out.push(Action::Violated(put, violation)),
        }
    }

    /// A put, or what asks for a get, waits for the DMA engine.
    fn enqueue(&mut self, put: u32, asks: bool) {
        self.queue.push_back(Queued { put, asks, left: self.spec.slice });
    }

    /// Reads the next packet, if there is one and room for it.
    fn read(&mut self, now: Time, puts: &mut Slab<Put>, out: &mut Vec<Action>) {
        if self.reads || self.ahead >= self.spec.ahead {
            return;
        }
        let Some(mut turn) = self.queue.pop_front() else { return };
        let put = puts.get_mut(turn.put);
        let Descriptor { from, source, .. } = put.descriptor;
        let offset = source.bytes - put.unread;
        if offset == 0 {
            let (by, partners) = put.descriptor.ends(turn.asks);
            match self.routes.fetch(by, partners) {
                Ok(hosts) => put.hosts = Some(hosts),
                Err(violation) => return self.reject(now, turn.put, violation, out),
            }
        }
        if turn.asks {
            return self.ask(now, turn.put, out);
        }
        let bytes = put.unread.min(self.spec.format.payload());
        put.unread -= bytes;
        put.unacknowledged += 1;
        put.is_read = put.unread == 0;
        let is_last = put.is_read;
        let (put_id, asks) = (turn.put, false);
        let packet = Packet { put: put_id, asks, offset, bytes, is_last, confirms: is_last };
        if !put.is_read {
            turn.left -= 1;
            match turn.left {
                0 => self.enqueue(turn.put, false),
                _ => self.queue.push_front(turn),
            }
        }
        self.reads = true;
        self.ahead += 1;
        let stretch = Stretch { start: source.start + offset, bytes };
        let translated = self.mmu.translate(from, stretch);
        let start = if offset == 0 { self.spec.start } else { Time::ZERO };
        match start + translated {
            Time::ZERO => self.fetch(now, packet, puts, out),
            time => {
                let (_, begin) = self.microcode.serve(now, time);
                out.push(Action::Later(begin, Step::Fetches(packet)));
            }
        }
    }

    /// The DMA engine has taken up what may not go to its destination.
    fn reject(&mut self, now: Time, put: u32, violation: Violation, out: &mut Vec<Action>) {
        self.reads = true;
        let (_, found) = self.microcode.serve(now, self.spec.start);
        out.push(Action::Later(found, Step::Rejected(put, violation)));
    }

    /// Makes the packet that asks for a get: a block, which has the descriptor in it. Descriptors
    /// lie in the memory of the NIC.
    fn ask(&mut self, now: Time, put: u32, out: &mut Vec<Action>) {
        let bytes = self.spec.format.block;
        let packet = Packet { put, asks: true, offset: 0, bytes, is_last: true, confirms: false };
        self.reads = true;
        self.ahead += 1;
        let (_, begin) = self.microcode.serve(now, self.spec.start);
        out.push(Action::Later(begin, Step::Fetches(packet)));
    }

    /// Fetches the data of a packet from memory.
    fn fetch(&mut self, now: Time, packet: Packet, puts: &Slab<Put>, out: &mut Vec<Action>) {
        match puts.get(packet.put).memories.0 {
            Memory::Main if packet.bytes > 0 && !packet.asks => {
                self.pci.wait(Way::Read, Crossing::Read(packet));
                self.cross(now, out);
            }
            Memory::Main | Memory::Elan => {
                let passed = self.pass_out(now, packet, out);
                out.push(Action::Later(passed, Step::Reads));
            }
        }
    }

    /// Something crosses the bus, if that is free.
    fn cross(&mut self, now: Time, out: &mut Vec<Action>) {
        let PciSpec { read, write, both, read_latency, write_latency } = self.spec.pci;
        while let Some(crossing) = self.pci.next() {
            let bytes = match crossing {
                Crossing::Read(packet) | Crossing::Write(_, packet) => {
                    self.spec.format.blocks(packet.bytes)
                }
                Crossing::Deliver(_, bytes, _) => self.spec.format.blocks(bytes),
                Crossing::Copy(_) => self.spec.copied,
            };
            let shared = both.map_or(Time::ZERO, |both| passing(both, bytes));
            let written = now + passing(write, bytes).max(shared);
            let mut later = |at, step| out.push(Action::Later(at, step));
            match crossing {
                Crossing::Read(packet) => {
                    let end = now + passing(read, bytes);
                    let free = both.map_or(end, |_| now + shared);
                    later(free, Step::Crossed(Way::Read));
                    later(end, Step::Reads);
                    later(end + read_latency, Step::Read(packet));
                }
                Crossing::Write(id, packet) => {
                    later(written, Step::Crossed(Way::Write));
                    later(written, Step::Freed);
                    later(written + write_latency, Step::Written(id, packet));
                }
                Crossing::Deliver(id, _, is_last) => {
                    later(written, Step::Crossed(Way::Write));
                    if is_last {
                        later(written + write_latency, Step::Delivered(id));
                    }
                }
                Crossing::Copy(cause) => {
                    later(written, Step::Crossed(Way::Write));
                    let noticed = written + write_latency + self.spec.notice;
                    later(noticed, Step::Noticed(cause));
                }
            }
        }
    }

    /// A packet passes through the NIC on its way out: when it has. It can go onto a link that is
    /// slower as soon as it begins to pass.
    fn pass_out(&mut self, now: Time, packet: Packet, out: &mut Vec<Action>) -> Time {
        let (begin, end) = self.pass(now, packet.bytes);
        let is_faster = self.spec.path.is_none_or(|path| path >= self.spec.link);
        out.push(Action::Later(if is_faster { begin } else { end }, Step::Ready(packet)));
        end
    }

    /// Data pass through the NIC.
    fn pass(&mut self, now: Time, bytes: u32) -> (Time, Time) {
        match self.spec.path {
            Some(path) => self.path.serve(now, passing(path, self.spec.format.blocks(bytes))),
            None => (now, now),
        }
    }

    /// Sends the next packet, if none is on the link and a circuit is free.
    fn send(&mut self, puts: &Slab<Put>, out: &mut Vec<Action>) {
        if self.sends || self.circuits >= self.spec.circuits {
            return;
        }
        if let Some(packet) = self.ready.pop_front() {
            self.sends = true;
            self.circuits += 1;
            let hosts = puts.get(packet.put).hosts.expect("what is sent has been taken up");
            out.push(Action::Transmit(packet, hosts));
        }
    }

    /// The inputter takes packets as long as it has room: each is checked before a byte moves.
    fn take(&mut self, now: Time, puts: &mut Slab<Put>, out: &mut Vec<Action>) {
        while self.taken < self.spec.buffers
            && let Some((id, packet)) = self.waiting.pop_front()
        {
            let put = puts.get_mut(packet.put);
            let Descriptor { by, from, to, source, destination, .. } = put.descriptor;
            let (process, stretch, access) = match packet.asks {
                true => (from, source, Access::Read),
                false => {
                    let start = destination.saturating_add(packet.offset);
                    (to, Stretch { start, bytes: packet.bytes }, Access::Write)
                }
            };
            let mut checked = self.mmu.check(process, by, stretch, access).map(|_| ());
            if packet.asks {
                // It is answered on a route of its own.
                let (holder, reader) = put.descriptor.ends(false);
                checked = checked.and_then(|()| self.routes.fetch(holder, reader).map(|_| ()));
            }
            if let Err(violation) = checked {
                out.push(Action::Acknowledge(id, Err(violation)));
                continue;
            }
            self.taken += 1;
            let (mut packet, mut time) = (packet, self.spec.input);
            if !packet.asks {
                if !std::mem::replace(&mut put.is_arriving, true) {
                    out.push(Action::Arriving(packet.put));
                }
                put.has_last |= packet.is_last;
                packet.confirms = put.has_last;
                time = time + self.mmu.translate(to, stretch);
            }
            if !packet.confirms {
                out.push(Action::Acknowledge(id, Ok(())));
            }
            let (_, taken) = self.microcode.serve(now, time);
            out.push(Action::Later(taken, Step::Taken(id, packet)));
        }
    }

    /// A packet is in memory. When all of a put is there, its event is set.
    fn written(
        &mut self,
        now: Time,
        id: u64,
        packet: Packet,
        puts: &mut Slab<Put>,
        out: &mut Vec<Action>,
    ) {
        let put = puts.get_mut(packet.put);
        put.unwritten -= packet.bytes;
        let is_whole = put.unwritten == 0 && put.has_last;
        if packet.confirms {
            out.push(Action::Acknowledge(id, Ok(())));
        }
        if is_whole {
            self.set(now, Cause::Put(packet.put, End::Destination), out);
        }
    }

    /// A packet is acknowledged. When all of a put are, its event at the source is set.
    fn acknowledged(
        &mut self,
        now: Time,
        number: u32,
        puts: &mut Slab<Put>,
        out: &mut Vec<Action>,
    ) {
        let put = puts.get_mut(number);
        put.unacknowledged -= 1;
        match put.violation {
            _ if put.unacknowledged > 0 => {}
            Some(violation) => out.push(Action::Violated(number, violation)),
            None if put.is_read && put.kind.tells(End::Source) => {
                self.set(now, Cause::Put(number, End::Source), out);
            }
            // No process waits for that.
            None if put.is_read => out.push(Action::Done(number, End::Source)),
            None => {}
        }
    }

    fn set(&mut self, now: Time, cause: Cause, out: &mut Vec<Action>) {
        let (_, set) = self.microcode.serve(now, self.spec.event);
        out.push(Action::Later(set, Step::Set(cause)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::network::everything;
    use super::super::tests::elan3;
    use super::*;

    /// Lets one NIC put something into its own node; what it did when.
    fn steps(bytes: u32) -> Vec<(Time, Step)> {
        let main = Memory::Main;
        let mut nic = Nic::new(elan3(main, main), everything(0));
        let (mut puts, mut packets) = (Slab::default(), Slab::default());
        let source = Stretch { start: 0, bytes };
        let descriptor = Descriptor { by: 0, from: 0, to: 0, last: 0, source, destination: 0 };
        let put = puts.put(Put::new(descriptor, Kind::Put, (main, main)));
        let mut due = vec![(Time::ZERO, 0, Input::Post(put))];
        let (mut done, mut count, mut out) = (Vec::new(), 0, Vec::new());
        while let Some(next) = (0..due.len()).min_by_key(|&at| (due[at].0, due[at].1)) {
            let (now, _, input) = due.remove(next);
            if let Input::Step(step) = input {
                done.push((now, step));
            }
            nic.handle(now, input, &mut puts, &mut out);
            for action in out.drain(..) {
                let mut enter = |at, input| {
                    count += 1;
                    due.push((at, count, input));
                };
                match action {
                    Action::Later(at, step) => enter(at, Input::Step(step)),
                    Action::Transmit(packet, _) => {
                        let id = u64::from(packets.put(packet));
                        enter(now, Input::Left);
                        enter(now, Input::Arrived(id, packet));
                    }
                    Action::Acknowledge(id, Ok(())) => {
                        enter(now, Input::Acknowledged(packets.take(id as u32)));
                    }
                    Action::Arriving(_) | Action::Done(..) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        done
    }

    /// The block of an event is what a process sees of it. It comes into main memory by the bus,
    /// behind all bytes of the put, when the event has been set, and not before.
    #[test]
    fn main_memory_changes_only_after_the_event() {
        for bytes in [0, 1, 64, 320, 1000, 5000] {
            let steps = steps(bytes);
            let at = |is: &dyn Fn(&Step) -> bool| {
                let mut of_it = steps.iter().filter(|(_, step)| is(step)).map(|(at, _)| *at);
                let at = of_it.next().expect("it happens");
                assert_eq!(of_it.next(), None, "once");
                at
            };
            let spec = elan3(Memory::Main, Memory::Main);
            for end in [End::Source, End::Destination] {
                let cause = Cause::Put(0, end);
                let set = at(&|step| *step == Step::Set(cause));
                let copies = at(&|step| *step == Step::Copies(cause));
                let noticed = at(&|step| *step == Step::Noticed(cause));
                let written = steps
                    .iter()
                    .filter(|(_, step)| matches!(step, Step::Written(..)))
                    .map(|(at, _)| *at);
                let last = written.max().expect("even nothing is a packet");
                assert!(last + spec.event <= set && set + spec.copy <= copies, "{bytes} {end:?}");
                let crossing = passing(spec.pci.write, spec.copied) + spec.pci.write_latency;
                assert!(copies + crossing + spec.notice <= noticed, "{bytes} {end:?}");
            }
        }
    }
}
