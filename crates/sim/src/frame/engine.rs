//! The frame network at work.

use super::changing::Changing;
use super::circuit::{Circuits, Port, Way};
use super::input::Inputs;
use super::memory::{Memories, NONE, Rooms};
use super::path::{AHEAD, Beginning, Beginnings, Paths};
use super::spec::{Forwarding, FrameSpec, HandOver, Line, Memory, SwitchSpec};
use crate::agenda::{Agenda, Entry};
use crate::network::{
    BufferPlace, BufferTally, ChannelTally, Condition, Ends, Event, Fate, Grain, Interest, Network,
    Packet, Passage,
};
use crate::slab::Slab;
use crosstie_fabric::{ChannelId, Fabric, HostId, Node};
use crosstie_units::Time;

/// What happens, in the order in which it does at one instant. Each is entered with the channel
/// that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Step {
    /// Links change.
    Change,
    /// The last bit of a frame leaves its host.
    Leave,
    /// The first bit of a frame is at its host.
    Begin,
    /// The last bit of a frame is at its host.
    Arrive,
    /// A switch notices a frame.
    Notice,
    /// A switch decides on a frame.
    Decide,
    /// The circuit of a port has passed a frame.
    Free,
    /// An input that has handed over a frame offers the next one.
    Offer,
    /// The stage of an output takes frames, as long as it has room.
    Stage,
    /// An output takes a frame, if it is free and one waits.
    Pick,
}

const STEPS: [Step; 10] = [
    Step::Change,
    Step::Leave,
    Step::Begin,
    Step::Arrive,
    Step::Notice,
    Step::Decide,
    Step::Free,
    Step::Offer,
    Step::Stage,
    Step::Pick,
];

/// The end of the clock.
const NEVER: Time = Time::from_ps(u64::MAX);

/// A frame under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub id: u64,
    /// When its first bit left its host.
    began: Time,
    /// When it could have started on the channel that it is to take next.
    ready: Time,
    /// The memories in which it has room.
    stores: [u32; 2],
    /// Channels of its way, those from the last multiple of [`AHEAD`] on.
    ahead: [u32; AHEAD],
    bytes: u32,
    from: u32,
    to: u32,
    rail: u16,
    /// Where it is on its way, and where that ends.
    pub hop: u8,
    last: u8,
    /// Whether it begins and ends in memories.
    told: bool,
    /// True if its leaving is to be told.
    departs: bool,
    /// Whether its leaving is still to be told, and whether it has been dropped meanwhile.
    leaving: bool,
    dropped: bool,
    /// Whether a link went down under it.
    spoiled: bool,
}

impl Flight {
    /// The channel that it is on, or is to take.
    #[inline]
    fn channel(&self) -> u32 {
        self.ahead[usize::from(self.hop) % AHEAD]
    }
}

/// How a channel is doing: all that a frame needs of it, in one line of a cache.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Channel {
    /// When the next frame may start.
    free: Time,
    wire: Time,
    /// What frames of some length take, those of the last one sent.
    length: u32,
    /// The forwarding engine that notices what comes by it, by its place; `NONE` at a host.
    engine: u32,
    whole: Time,
    occupied: Time,
    frames: u64,
    busy: Time,
    waiting: Time,
}

/// The forwarding engine of a switch.
#[derive(Debug, Clone)]
struct Forwarder {
    cut_through: bool,
    lookup: Time,
    latency: Time,
    free: Time,
}

/// Where the frames of a rail go.
#[derive(Debug, Clone, Copy)]
struct Plane {
    /// The first channel of its copy of the fabric.
    first: u32,
    /// Which of the rails there it is.
    lane: u32,
}

/// Copies of one fabric as a frame network, one for each port of a host.
pub struct Frames<'a> {
    fabric: &'a Fabric,
    paths: Paths<'a>,
    beginnings: Beginnings,
    /// Channels of one copy.
    stride: u32,
    /// By rail.
    planes: Vec<Plane>,
    channels: Vec<Channel>,
    /// What each channel is.
    lines: Vec<Line>,
    /// The time that [`Step::Pick`] is entered for, of each channel; [`NEVER`] if it is not.
    wakes: Vec<Time>,
    engines: Vec<Forwarder>,
    memories: Memories,
    inputs: Inputs,
    circuits: Circuits,
    /// Links that change, where some do.
    changing: Option<Box<Changing<'a>>>,
    flights: Slab<Flight>,
    /// What happens when; the frame by its place.
    agenda: Agenda<u32>,
    interest: Interest,
    now: Time,
    grain: Grain,
}

impl<'a> Frames<'a> {
    /// A network at rest.
    ///
    /// # Panics
    /// If lines or switches are missing.
    pub fn new(spec: &FrameSpec<'a>, interest: Interest) -> Frames<'a> {
        let FrameSpec { fabric, routing, rails, switches, cycle, changes, .. } = *spec;
        let stride = fabric.channels().len() as u32;
        let plane = |rail| Plane { first: spec.port(rail) * stride, lane: spec.lane(rail) };
        let all = (spec.copies() * stride) as usize;
        let mut frames = Frames {
            fabric,
            paths: Paths::new(fabric, routing),
            beginnings: Beginnings::new(rails, fabric.hosts().len() as u32),
            stride,
            planes: (0..rails).map(plane).collect(),
            channels: Vec::with_capacity(all),
            lines: Vec::with_capacity(all),
            wakes: vec![NEVER; all],
            engines: Vec::new(),
            memories: Memories::default(),
            inputs: Inputs::new(all),
            circuits: Circuits::default(),
            changing: None,
            flights: Slab::default(),
            agenda: Agenda::default(),
            interest,
            now: Time::ZERO,
            grain: Grain::picoseconds(cycle),
        };
        for port in 0..spec.copies() {
            for channel in fabric.channels() {
                frames.add_channel(spec, port, channel);
            }
            for &SwitchSpec { forwarding, lookup, latency, .. } in switches {
                let cut_through = forwarding == Forwarding::CutThrough;
                let free = Time::ZERO;
                frames.engines.push(Forwarder { cut_through, lookup, latency, free });
            }
            frames.add_memories(spec, port);
        }
        let has_stage =
            |switch: &SwitchSpec| matches!(switch.memory, Memory::Input { stage: 1.., .. });
        if switches.iter().any(has_stage) {
            frames.inputs.add_stages();
        }
        if !changes.is_empty() {
            frames.changing = Some(Box::new(Changing::new(changes, frames.lines.clone())));
            frames.memories.expect_disorder();
            for (number, change) in (0..).zip(changes) {
                frames.enter(change.at, Step::Change, 0, number);
            }
        }
        frames
    }

    fn add_channel(&mut self, spec: &FrameSpec<'_>, port: u32, channel: ChannelId) {
        let engine = match spec.fabric.channel(channel).to.node {
            Node::Switch(switch) => port * spec.switches.len() as u32 + switch.0,
            Node::Host(_) => NONE,
        };
        let line = spec.line(port, channel);
        self.lines.push(line);
        self.channels.push(Channel {
            free: Time::ZERO,
            wire: line.wire,
            length: NONE,
            engine,
            whole: Time::ZERO,
            occupied: Time::ZERO,
            frames: 0,
            busy: Time::ZERO,
            waiting: Time::ZERO,
        });
    }

    /// The memories of one copy.
    fn add_memories(&mut self, spec: &FrameSpec<'_>, port: u32) {
        let memories = &mut self.memories;
        let fabric = spec.fabric;
        let (first_switch, first_channel) = (port * spec.switches.len() as u32, port * self.stride);
        let shared: Vec<Option<u32>> = fabric
            .switches()
            .map(|switch| match spec.switch(switch).memory {
                Memory::Shared { all, .. } => {
                    Some(memories.add(BufferPlace::Switch(first_switch + switch.0), all))
                }
                Memory::Input { .. } | Memory::Output { .. } => None,
            })
            .collect();
        let is_switch = |node| matches!(node, Node::Switch(_));
        for channel in fabric.channels() {
            let (from, to) = (fabric.channel(channel).from.node, fabric.channel(channel).to.node);
            let number = first_channel + channel.0;
            let (input, output) = (BufferPlace::Input(number), BufferPlace::Output(number));
            let rooms = match to {
                Node::Host(_) => Rooms::None,
                Node::Switch(switch) => match spec.switch(switch).memory {
                    Memory::Output { .. } => Rooms::Output,
                    Memory::Input { host, uplink, hand_over, stage, circuit } => {
                        let room = if is_switch(from) { uplink } else { host };
                        if let Some(circuit) = circuit.filter(|_| is_switch(from)) {
                            let back = first_channel + channel.reverse().0;
                            self.circuits.add(circuit, (number, back), self.wakes.len());
                        }
                        Rooms::Input { store: memories.add(input, room), hand_over, stage }
                    }
                    Memory::Shared { uplink, .. } => Rooms::Shared {
                        all: shared[switch.0 as usize].expect("it was made above"),
                        beside: uplink
                            .filter(|_| is_switch(from))
                            .map(|room| memories.add(input, room)),
                    },
                },
            };
            memories.rooms.push(rooms);
            let out = match from {
                Node::Host(_) => None,
                Node::Switch(switch) => match spec.switch(switch).memory {
                    Memory::Output { host, uplink } => {
                        Some(if is_switch(to) { uplink } else { host })
                    }
                    Memory::Shared { cap, .. } => cap,
                    Memory::Input { .. } => None,
                },
            };
            let out = out.map_or(NONE, |room| memories.add(output, room));
            memories.out.push(out);
        }
    }

    #[inline]
    fn enter(&mut self, at: Time, step: Step, channel: u32, what: u32) {
        self.agenda.enter(at, (step as u64) << 32 | u64::from(channel), what);
    }

    /// Lets a frame know the channels of its way from where it is, and where that ends.
    #[inline]
    fn look_ahead(&mut self, place: u32) {
        let Flight { from, to, rail, hop, ahead, last, .. } = self.flights.get_mut(place);
        let (Plane { first, lane }, hop) = (self.planes[usize::from(*rail)], usize::from(*hop));
        *last = self.paths.follow(*from, *to, lane, |number, channel| {
            if (hop..hop + AHEAD).contains(&number) {
                ahead[number - hop] = channel + first;
            }
        });
    }

    /// A frame is to know the beginning of its way, which nobody has kept.
    #[inline(never)]
    fn begin(&mut self, place: u32) {
        self.look_ahead(place);
        let Flight { from, to, rail, ahead: channels, last: switches, .. } =
            *self.flights.get(place);
        if let Some(known) = self.beginnings.get(rail, from, to) {
            *known = Some(Beginning { channels, switches });
        }
    }

    /// The channel that a frame takes behind the present one.
    fn behind(&mut self, flight: &Flight) -> u32 {
        let next = usize::from(flight.hop) + 1;
        if !next.is_multiple_of(AHEAD) {
            return flight.ahead[next % AHEAD];
        }
        let mut found = NONE;
        let Plane { first, lane } = self.planes[usize::from(flight.rail)];
        self.paths.follow(flight.from, flight.to, lane, |number, channel| {
            if number == next {
                found = channel + first;
            }
        });
        found
    }

    /// A frame starts on the channel that it is to take, as soon as that is free.
    #[inline]
    fn start(&mut self, place: u32) {
        let flight = self.flights.get_mut(place);
        let number = flight.channel();
        let channel = &mut self.channels[number as usize];
        let at = self.now.max(channel.free);
        if channel.length != flight.bytes {
            let line = &self.lines[number as usize];
            channel.length = flight.bytes;
            channel.whole = line.whole(flight.bytes);
            channel.occupied = line.occupied(flight.bytes);
        }
        let Channel { wire, engine, whole, mut occupied, .. } = *channel;
        let mut left = at + whole;
        if let Some(changing) = &mut self.changing {
            left = changing.start((at, left, wire), number, place, flight);
            occupied = occupied + (left - (at + whole));
        }
        let there = left + wire;
        channel.free = at + occupied;
        channel.frames += 1;
        channel.busy = channel.busy + occupied;
        channel.waiting = channel.waiting + (at - flight.ready);
        let is_told = flight.told;
        if flight.hop == 0 {
            (flight.began, flight.leaving) = (at, flight.departs);
            if flight.departs {
                self.enter(left, Step::Leave, number, place);
            }
        } else {
            self.memories.leaves(flight.stores, left, flight.bytes);
        }
        if engine == NONE {
            if self.interest.arriving && is_told {
                self.enter(at + wire, Step::Begin, number, place);
            }
            self.enter(there, Step::Arrive, number, place);
            return;
        }
        let Forwarder { cut_through, lookup, latency, .. } = self.engines[engine as usize];
        let noticed = if cut_through { self.noticed(at, there, place) } else { there };
        if lookup == Time::ZERO {
            self.enter(noticed + latency, Step::Decide, number, place);
        } else {
            self.enter(noticed, Step::Notice, number, place);
        }
    }

    /// When a switch that cuts through notices a frame that starts on its way there at one time,
    /// and is there at another.
    fn noticed(&mut self, at: Time, there: Time, place: u32) -> Time {
        let flight = *self.flights.get(place);
        let next = self.behind(&flight);
        let line = &self.lines[flight.channel() as usize];
        let is_faster = self.lines[next as usize].is_faster(line);
        if is_faster { there } else { at + line.head() + line.wire }
    }

    /// A frame waits for the channel that it is to take behind those before it.
    #[inline]
    fn queue(&mut self, place: u32) {
        if let Some(changing) = &mut self.changing {
            let channel = self.flights.get(place).channel();
            changing.waiting[channel as usize].push_back(place);
            return self.wake(channel);
        }
        self.start(place);
    }

    fn step(&mut self, step: Step, channel: u32, place: u32, told: &mut Vec<Event>) {
        let at = self.now;
        let mut tell = |id, fate| told.push(Event { at, id, fate });
        match step {
            Step::Change => self.change(place),
            Step::Leave => {
                let flight = self.flights.get_mut(place);
                flight.leaving = false;
                let Flight { id, dropped, .. } = *flight;
                tell(id, Fate::Left);
                if dropped {
                    tell(id, Fate::Dropped);
                    self.flights.take(place);
                }
            }
            Step::Begin if self.flights.get(place).spoiled => {}
            Step::Begin => tell(self.flights.get(place).id, Fate::Arriving),
            Step::Arrive | Step::Notice | Step::Decide if self.flights.get(place).spoiled => {
                self.drop_frame(place, told);
            }
            Step::Arrive => {
                let Flight { id, began, last, .. } = self.flights.take(place);
                tell(id, Fate::Arrived(Passage { began, switches: u32::from(last) }));
            }
            Step::Notice => {
                let engine = self.channels[channel as usize].engine;
                let engine = &mut self.engines[engine as usize];
                engine.free = self.now.max(engine.free) + engine.lookup;
                let decided = engine.free + engine.latency;
                self.enter(decided, Step::Decide, channel, place);
            }
            Step::Decide => {
                if !self.decide(channel, place) {
                    self.drop_frame(place, told);
                }
            }
            Step::Free => self.retry_both(channel),
            Step::Offer => self.offer(channel),
            Step::Stage => self.fill_stage(channel),
            Step::Pick => self.pick(channel, told),
        }
    }

    /// A frame is lost. A switch that knows the header only may drop what has not left its host
    /// yet; that is told first.
    fn drop_frame(&mut self, place: u32, told: &mut Vec<Event>) {
        let flight = self.flights.get_mut(place);
        flight.dropped = true;
        let Flight { id, leaving, .. } = *flight;
        if !leaving {
            told.push(Event { at: self.now, id, fate: Fate::Dropped });
            self.flights.take(place);
        }
    }

    /// A switch decides on a frame that has come by a channel; false if it has no room for it.
    #[inline]
    fn decide(&mut self, by: u32, place: u32) -> bool {
        let flight = self.flights.get_mut(place);
        flight.hop += 1;
        flight.ready = self.now;
        if usize::from(flight.hop).is_multiple_of(AHEAD) {
            self.look_ahead(place);
        }
        let flight = self.flights.get_mut(place);
        let out = flight.channel();
        let Some(stores) = self.memories.admit(self.now, by, out, flight.bytes) else {
            return false;
        };
        flight.stores = stores;
        match self.memories.rooms[by as usize] {
            Rooms::Input { .. } => {
                if self.inputs.join(by, place) {
                    self.offer(by);
                }
            }
            Rooms::Output | Rooms::Shared { .. } | Rooms::None => self.queue(place),
        }
        true
    }

    /// An input offers its first frame, if it has one, as soon as it may.
    fn offer(&mut self, input: u32) {
        let Some(frame) = self.inputs.first(input) else { return };
        let at = self.inputs.offers(input);
        if at > self.now {
            return self.enter(at, Step::Offer, input, 0);
        }
        let output = self.flights.get(frame).channel();
        if self.stage(input, output) > 0 {
            self.inputs.want_stage(input, output);
            return self.enter(self.now, Step::Stage, output, 0);
        }
        self.inputs.want(input, output);
        self.wake(output);
    }

    /// How many frames of an input an output keeps beside.
    fn stage(&self, input: u32, output: u32) -> u32 {
        match self.memories.rooms[input as usize] {
            Rooms::Input { stage, .. } if stage > 0 => {
                let lines = self.changing.as_ref().map_or(&self.lines, |changing| &changing.own);
                let is_faster = lines[input as usize].is_faster(&lines[output as usize]);
                if is_faster { stage } else { 0 }
            }
            _ => 0,
        }
    }

    /// Inputs hand frames over to the stage of an output, as long as that has room, each at the
    /// speed of its own link.
    fn fill_stage(&mut self, output: u32) {
        while let Some((input, room)) = self.next_to_stage(output)
            && self.inputs.staged(output) < room
        {
            let frame = self.inputs.leave_for_stage(input, output);
            let flight = self.flights.get_mut(frame);
            let (stores, bytes) = (flight.stores, flight.bytes);
            flight.stores = [NONE; 2];
            let passed = self.pass(Way::In, input, bytes);
            let read = passed.max(self.now + self.lines[input as usize].whole(bytes));
            self.memories.leaves(stores, read, bytes);
            let stage = self.inputs.stage(output);
            if self.inputs.join(stage, frame) {
                self.inputs.want(stage, output);
                self.wake(output);
            }
            self.hand_over(input, input, bytes, passed);
        }
    }

    /// The input that hands its frame over to the stage of an output next, and how many frames fit
    /// there.
    fn next_to_stage(&self, output: u32) -> Option<(u32, u32)> {
        let may_pass = |&input: &u32| self.may_come_in(input);
        let input = self.inputs.wanting_stage(output).iter().copied().find(may_pass)?;
        Some((input, self.stage(input, output)))
    }

    /// A frame passes the circuit of a channel, if that has one. Returns when it has.
    fn pass(&mut self, way: Way, channel: u32, bytes: u32) -> Time {
        let Some(passed) = self.circuits.pass(way, channel, self.now, bytes) else {
            return self.now;
        };
        if let Some(&Port { output, .. }) = self.circuits.port(way, channel) {
            self.enter(passed, Step::Free, output, 0);
        }
        passed
    }

    /// Returns true if the first frame of an input may pass the circuit of its port: that is free,
    /// and no frame that could leave by it has its turn.
    fn may_come_in(&self, input: u32) -> bool {
        self.circuits.is_free(Way::In, input, self.now)
            && !self.circuits.rival(input).is_some_and(|output| self.could_start(output))
    }

    /// Returns true if a frame could start on an output with a circuit at this instant. One whose
    /// own input has had the last turn of its circuit does not count: two might wait for each
    /// other.
    fn could_start(&self, output: u32) -> bool {
        let may_pass = |&input: &u32| {
            self.circuits.is_free(Way::In, input, self.now) && self.circuits.rival(input).is_none()
        };
        !self.is_down(output)
            && self.channels[output as usize].free <= self.now
            && self.inputs.wanting(output).iter().any(may_pass)
    }

    /// The circuit of a port has passed a frame: its output and its input try again.
    fn retry_both(&mut self, output: u32) {
        if self.inputs.is_wanted(output) {
            self.wake(output);
        }
        self.retry(output);
    }

    /// The input of the port of an output tries again to pass their circuit, if they have one.
    fn retry(&mut self, output: u32) {
        if let Some(&Port { input, .. }) = self.circuits.port(Way::Out, output)
            && self.circuits.is_free(Way::In, input, self.now)
            && let Some(frame) = self.inputs.first(input)
        {
            let wanted = self.flights.get(frame).channel();
            if self.stage(input, wanted) > 0 {
                self.enter(self.now, Step::Stage, wanted, 0);
            } else if self.inputs.is_wanted(wanted) {
                self.wake(wanted);
            }
        }
    }

    /// An input has handed a frame over to an output, and offers its next one when it may.
    fn hand_over(&mut self, input: u32, output: u32, bytes: u32, passed: Time) {
        if let Rooms::Input { hand_over: HandOver::LastBit, .. } =
            self.memories.rooms[input as usize]
        {
            let whole = |channel: u32| self.lines[channel as usize].whole(bytes);
            let read = self.now + whole(input).min(whole(output));
            self.inputs.take(input, read.max(passed));
        }
        self.offer(input);
    }

    /// Sees to it that an output takes a frame as soon as it is free, or loses it if it is down.
    fn wake(&mut self, output: u32) {
        let free = self.channels[output as usize].free;
        let at = if self.is_down(output) { self.now } else { free.max(self.now) };
        if std::mem::replace(&mut self.wakes[output as usize], at) != at {
            self.enter(at, Step::Pick, output, 0);
        }
    }

    fn is_down(&self, channel: u32) -> bool {
        self.changing.as_ref().is_some_and(|changing| changing.is_down[channel as usize])
    }

    /// An output takes the next frame, or loses it if it is down.
    fn pick(&mut self, output: u32, told: &mut Vec<Event>) {
        self.wakes[output as usize] = NEVER;
        let is_down = self.is_down(output);
        if !is_down && self.channels[output as usize].free > self.now {
            // It may have been down when a frame came to wait.
            return self.wake_if_wanted(output);
        }
        let Some((frame, input)) = self.next_frame(output, is_down) else {
            // The input of its port may have waited for it.
            return self.retry(output);
        };
        let bytes = self.flights.get(frame).bytes;
        match is_down {
            true => self.lose_waiting(frame, told),
            false => self.start(frame),
        }
        match input {
            Some(stage) if self.inputs.is_stage(stage) => {
                if self.inputs.staged(output) > 0 {
                    self.inputs.want(stage, output);
                }
                if !self.inputs.wanting_stage(output).is_empty() {
                    self.enter(self.now, Step::Stage, output, 0);
                }
            }
            Some(input) if is_down => self.offer(input),
            Some(input) => {
                let passed = self.pass(Way::In, input, bytes);
                self.hand_over(input, output, bytes, passed);
            }
            None => {}
        }
        if !is_down {
            self.pass(Way::Out, output, bytes);
        }
        self.wake_if_wanted(output);
    }

    fn wake_if_wanted(&mut self, output: u32) {
        let is_waiting = |changing: &Changing<'_>| !changing.waiting[output as usize].is_empty();
        if self.inputs.is_wanted(output) || self.changing.as_deref().is_some_and(is_waiting) {
            self.wake(output);
        }
    }

    /// The next frame of those that wait for an output, and the input whose queue it leaves.
    fn next_frame(&mut self, output: u32, is_down: bool) -> Option<(u32, Option<u32>)> {
        if let Some(changing) = &mut self.changing
            && let Some(frame) = changing.waiting[output as usize].pop_front()
        {
            return Some((frame, None));
        }
        if !is_down && !self.circuits.is_free(Way::Out, output, self.now) {
            return None;
        }
        let may_pass = |input: u32| is_down || self.may_come_in(input);
        let input = self.inputs.turn(output, may_pass)?;
        Some((self.inputs.hand_over(input, output), Some(input)))
    }

    /// A frame that waits for a link that is down is lost, and its room is free.
    fn lose_waiting(&mut self, place: u32, told: &mut Vec<Event>) {
        let Flight { id, hop, stores, bytes, departs, .. } = *self.flights.get(place);
        if hop > 0 {
            self.memories.leaves(stores, self.now, bytes);
        } else if departs {
            told.push(Event { at: self.now, id, fate: Fate::Left });
        }
        self.drop_frame(place, told);
    }

    /// Links change.
    fn change(&mut self, number: u32) {
        let changing = self.changing.as_ref().expect("links change");
        let change = &changing.changes[number as usize];
        let first = change.port * self.stride;
        let both = |&host: &u32| {
            let out = self.fabric.host_out(HostId(host));
            [out, out.reverse()]
        };
        let channels: Vec<ChannelId> = match &change.hosts {
            None => self.fabric.channels().collect(),
            Some(hosts) => hosts.iter().flat_map(both).collect(),
        };
        let to = change.to;
        for channel in channels.into_iter().map(|channel| channel.0 + first) {
            self.change_channel(channel, to);
        }
    }

    fn change_channel(&mut self, channel: u32, to: Condition) {
        let changing = self.changing.as_mut().expect("links change");
        let place = channel as usize;
        match to {
            Condition::Pace(pace) => self.lines[place].pace = pace,
            Condition::OwnPace => self.lines[place].pace = changing.own[place].pace,
            Condition::Up => changing.is_down[place] = false,
            Condition::Down => {
                changing.is_down[place] = true;
                for (frame, id) in changing.crossing(self.now, channel) {
                    let flight = self.flights.get_mut(frame);
                    flight.spoiled |= flight.id == id;
                }
                self.wake(channel);
            }
        }
        // What frames take is worked out anew.
        self.channels[place].length = NONE;
    }
}

impl Network for Frames<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&self) -> Option<Time> {
        self.agenda.next()
    }

    fn inject(&mut self, packet: Packet) {
        let Packet { rail, from, to, bytes, id, departs, ends, .. } = packet;
        let (told, rail) = (ends == Ends::Memories, rail as u16);
        let known = self.beginnings.get(rail, from, to).and_then(|known| *known);
        let Beginning { channels: ahead, switches: last } =
            known.unwrap_or(Beginning { channels: [NONE; AHEAD], switches: 0 });
        let place = self.flights.put(Flight {
            id,
            began: self.now,
            ready: self.now,
            stores: [NONE; 2],
            ahead,
            bytes,
            from,
            to,
            rail,
            hop: 0,
            last,
            told,
            departs: departs && told && self.interest.departures,
            leaving: false,
            dropped: false,
            spoiled: false,
        });
        if known.is_none() {
            self.begin(place);
        }
        self.queue(place);
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let before = told.len();
        while let Some(at) = self.agenda.next()
            && at < until
        {
            if at > self.now && self.interest.stops(told.len() > before) {
                return;
            }
            let Some(Entry { order, what, .. }) = self.agenda.take() else { return };
            self.now = at;
            self.step(STEPS[(order >> 32) as usize], order as u32, what, told);
        }
        self.now = self.interest.stands(told.len() > before, self.now, until);
    }

    fn departs_in_order(&self) -> bool {
        true
    }

    fn grain(&self) -> Grain {
        self.grain
    }

    fn channels(&mut self) -> Vec<ChannelTally> {
        let tally = |channel: &Channel| ChannelTally {
            flits: channel.frames,
            busy: channel.busy.ps(),
            blocked: 0,
            waiting: channel.waiting.ps(),
        };
        self.channels.iter().map(tally).collect()
    }

    fn buffers(&mut self) -> Vec<BufferTally> {
        let now = self.now;
        self.memories.stores.iter_mut().map(|store| store.tally(now)).collect()
    }
}
