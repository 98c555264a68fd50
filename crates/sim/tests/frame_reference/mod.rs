//! The rules of the frame network written down as they are stated, without any thought of speed: at
//! every instant everything is looked at.

use crosstie_fabric::{ChannelId, Fabric, Node, SwitchId};
use crosstie_sim::frame::{Capacity, Circuit, Forwarding, FrameSpec, HandOver, Memory, framing};
use crosstie_sim::network::{Condition, Pace};

/// What is known of a frame.
#[derive(Debug, Clone)]
pub struct Frame {
    pub id: u64,
    pub bytes: u32,
    pub handed_over: u64,
    /// The channels of its way.
    pub way: Vec<ChannelId>,
    /// When it started on each of them.
    pub started: Vec<u64>,
    /// When each switch noticed it, looked it up and decided on it, in which memories it has room.
    pub noticed: Vec<Option<u64>>,
    pub decided: Vec<Option<u64>>,
    pub rooms: Vec<Vec<Room>>,
    /// When it was handed over to the stage of its next channel, by the switches before.
    pub staged: Vec<Option<u64>>,
    pub dropped: Option<u64>,
}

/// A memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    Switch(SwitchId),
    Input(ChannelId),
    Output(ChannelId),
}

/// The number of a stage, behind those of all inputs.
const STAGE: u32 = u32::MAX;

/// One copy of a fabric.
pub struct Reference<'a> {
    spec: FrameSpec<'a>,
    port: u32,
    pub frames: Vec<Frame>,
    /// The input that each channel has served last: at the beginning the very first channel of all
    /// copies, wherever that is.
    served: Vec<Option<u32>>,
    pub refused: Vec<(u64, Room)>,
}

impl<'a> Reference<'a> {
    pub fn new(spec: FrameSpec<'a>, port: u32) -> Reference<'a> {
        let served = vec![(port == 0).then_some(0); spec.fabric.channels().len()];
        Reference { spec, port, frames: Vec::new(), served, refused: Vec::new() }
    }

    fn fabric(&self) -> &'a Fabric {
        self.spec.fabric
    }

    /// The place of a channel's line.
    fn line(&self, channel: ChannelId) -> usize {
        let first = self.port as usize * self.fabric().links().len();
        (first + channel.link().0 as usize) % self.spec.lines.len()
    }

    /// What has happened to a channel, in order.
    fn changes(&self, channel: ChannelId) -> Vec<(u64, Condition)> {
        let ends = self.fabric().channel(channel);
        let concerns = |hosts: &Option<Vec<u32>>| {
            let is_among = |node: Node, hosts: &[u32]| matches!(node, Node::Host(host) if hosts.contains(&host.0));
            hosts.as_ref().is_none_or(|hosts| {
                is_among(ends.from.node, hosts) || is_among(ends.to.node, hosts)
            })
        };
        let ours = self.spec.changes.iter().filter(|c| c.port == self.port && concerns(&c.hosts));
        let mut all: Vec<_> = ours.map(|change| (change.at.ps(), change.to)).collect();
        all.sort_by_key(|&(at, _)| at);
        all
    }

    /// The pace of a channel before any change.
    fn own_pace(&self, channel: ChannelId) -> Pace {
        let Node::Host(host) = self.fabric().channel(channel).from.node else {
            return self.spec.lines[self.line(channel)].pace;
        };
        let place = self.port as usize * self.fabric().hosts().len() + host.0 as usize;
        let own = self.spec.clocks.get(place).copied();
        own.unwrap_or(self.spec.lines[self.line(channel)].pace)
    }

    fn pace(&self, channel: ChannelId, now: u64) -> Pace {
        let own = self.own_pace(channel);
        let changes = self.changes(channel).into_iter().filter(|&(at, _)| at <= now);
        changes.fold(own, |pace, (_, to)| match to {
            Condition::Pace(other) => other,
            Condition::OwnPace => own,
            Condition::Down | Condition::Up => pace,
        })
    }

    fn is_down(&self, channel: ChannelId, now: u64) -> bool {
        let changes = self.changes(channel).into_iter().filter(|&(at, _)| at <= now);
        changes.fold(false, |is_down, (_, to)| match to {
            Condition::Pace(_) | Condition::OwnPace => is_down,
            Condition::Down => true,
            Condition::Up => false,
        })
    }

    /// Whether a link has gone down under a frame.
    fn is_spoiled(&self, frame: &Frame, now: u64) -> bool {
        frame.started.iter().enumerate().any(|(hop, &started)| {
            let there = self.left(frame, hop).unwrap() + self.wire(frame.way[hop]);
            let downs = self.changes(frame.way[hop]).into_iter();
            let mut downs = downs.filter(|&(at, to)| to == Condition::Down && at <= now);
            downs.any(|(at, _)| started < at && at < there)
        })
    }

    /// What bytes take of a frame that starts now.
    fn tau(&self, channel: ChannelId, bytes: u32, now: u64) -> u64 {
        self.pace(channel, now).time_for(bytes).ps()
    }

    fn wire(&self, channel: ChannelId) -> u64 {
        self.spec.lines[self.line(channel)].wire.ps()
    }

    /// When the last bit of a frame has left a channel's beginning, and is at its end.
    pub fn left(&self, frame: &Frame, hop: usize) -> Option<u64> {
        let started = *frame.started.get(hop)?;
        let left = started + self.tau(frame.way[hop], framing::whole(frame.bytes), started);
        // It goes on no faster than it comes.
        let tail = |before: usize| Some(self.left(frame, before)? + self.wire(frame.way[before]));
        Some(hop.checked_sub(1).and_then(tail).map_or(left, |tail| tail.max(left)))
    }

    /// When the next frame may start behind one.
    fn free(&self, frame: &Frame, hop: usize) -> Option<u64> {
        let (started, channel) = (*frame.started.get(hop)?, frame.way[hop]);
        let [whole, occupied] = [framing::whole, framing::occupied]
            .map(|bytes| self.tau(channel, bytes(frame.bytes), started));
        Some(self.left(frame, hop)? + occupied - whole)
    }

    fn ends(&self, frame: &Frame) -> Option<u64> {
        let last = frame.way.len() - 1;
        Some(self.left(frame, last)? + self.wire(frame.way[last]))
    }

    pub fn arrived(&self, frame: &Frame) -> Option<u64> {
        self.ends(frame).filter(|&at| !self.is_spoiled(frame, at))
    }

    /// When it shows that a frame is lost.
    pub fn dropped(&self, frame: &Frame) -> Option<u64> {
        frame.dropped.or_else(|| self.ends(frame).filter(|&at| self.is_spoiled(frame, at)))
    }

    /// Whether a channel is free.
    fn is_free(&self, channel: ChannelId, now: u64) -> bool {
        self.frames.iter().all(|frame| {
            let hop = frame.way.iter().position(|&other| other == channel);
            hop.and_then(|hop| self.free(frame, hop)).is_none_or(|free| free <= now)
        })
    }

    fn switch_after(&self, channel: ChannelId) -> Option<SwitchId> {
        match self.fabric().channel(channel).to.node {
            Node::Switch(switch) => Some(switch),
            Node::Host(_) => None,
        }
    }

    /// When the switch behind a channel notices a frame.
    fn notice(&self, frame: &Frame, hop: usize) -> Option<u64> {
        let started = *frame.started.get(hop)?;
        let (channel, next) = (frame.way[hop], frame.way[hop + 1]);
        let switch = &self.spec.switches[self.switch_after(channel)?.0 as usize];
        let faster = is_faster(self.pace(next, started), self.pace(channel, started));
        let seen = match switch.forwarding {
            Forwarding::CutThrough if !faster => {
                started + self.tau(channel, framing::HEAD, started)
            }
            _ => self.left(frame, hop)?,
        };
        Some(seen + self.wire(channel))
    }

    /// When a frame leaves the memories before a channel, by it or because it is lost there.
    fn gone(&self, frame: &Frame, hop: usize) -> Option<u64> {
        let staged = self.read_to_stage(frame, hop);
        staged.or(self.left(frame, hop)).or(frame.dropped)
    }

    /// When a frame has been read into the stage of a channel, if it has.
    fn read_to_stage(&self, frame: &Frame, hop: usize) -> Option<u64> {
        let staged = frame.staged.get(hop.checked_sub(1)?).copied().flatten()?;
        let by = frame.way[hop - 1];
        let read = staged + self.tau(by, framing::whole(frame.bytes), staged);
        Some(read.max(staged + self.circuit_time(frame, by, by)))
    }

    /// The circuit of the port that a channel comes to, if it has one.
    fn circuit(&self, input: ChannelId) -> Option<Circuit> {
        let Node::Switch(_) = self.fabric().channel(input).from.node else { return None };
        match self.spec.switches[self.switch_after(input)?.0 as usize].memory {
            Memory::Input { circuit, .. } => circuit,
            Memory::Output { .. } | Memory::Shared { .. } => None,
        }
    }

    /// What a frame that passes by a channel takes of the circuit of the port that an input comes
    /// to; 0 if there is none.
    fn circuit_time(&self, frame: &Frame, input: ChannelId, channel: ChannelId) -> u64 {
        let occupied = framing::occupied(frame.bytes);
        self.circuit(input).map_or(0, |circuit| {
            let pace = if channel == input { circuit.inward } else { circuit.outward };
            pace.time_for(occupied).ps()
        })
    }

    /// When frames started to pass the circuit of the port that an input comes to, when they had
    /// passed, and whether they came from the other switch.
    fn passages(&self, input: ChannelId) -> Vec<(u64, u64, bool)> {
        let mut all = Vec::new();
        for frame in &self.frames {
            for (hop, &channel) in frame.way.iter().enumerate() {
                let from = if channel == input {
                    frame.staged.get(hop).copied().flatten().or(frame.started.get(hop + 1).copied())
                } else if channel == input.reverse() {
                    frame.started.get(hop).copied()
                } else {
                    None
                };
                let passes = |from| from + self.circuit_time(frame, input, channel);
                all.extend(from.map(|from| (from, passes(from), channel == input)));
            }
        }
        all.sort_unstable();
        all
    }

    /// Returns true if the port that an input comes to has no circuit, or one that is free.
    fn is_circuit_free(&self, input: ChannelId, now: u64) -> bool {
        self.circuit(input).is_none()
            || self.passages(input).iter().all(|&(_, until, _)| until <= now)
    }

    /// Returns true if the first frame of an input may pass the circuit of its port.
    fn may_come_in(&self, input: ChannelId, now: u64) -> bool {
        if self.circuit(input).is_none() {
            return true;
        }
        self.is_circuit_free(input, now)
            && !(self.had_last_turn(input) && self.could_start(input.reverse(), now))
    }

    /// Returns true if the last frame that passed the circuit of a port came in.
    fn had_last_turn(&self, input: ChannelId) -> bool {
        self.circuit(input).is_some()
            && self.passages(input).last().is_some_and(|&(.., is_inward)| is_inward)
    }

    /// Returns true if a frame could start on a channel out of a switch, of an input that has not
    /// had the last turn.
    fn could_start(&self, out: ChannelId, now: u64) -> bool {
        let Node::Switch(switch) = self.fabric().channel(out).from.node else { return false };
        !self.is_down(out, now)
            && self.is_free(out, now)
            && self.waiting(out).iter().any(|&(decided, by, index)| {
                self.is_staged(index)
                    || self.stage(by, out) == 0
                        && self.is_offered(switch, (decided, by), now)
                        && self.is_circuit_free(by, now)
                        && !self.had_last_turn(by)
            })
    }

    /// Returns true if an input offers a frame that was decided at a time.
    fn is_offered(&self, switch: SwitchId, (decided, by): (u64, ChannelId), now: u64) -> bool {
        let Memory::Input { hand_over, .. } = self.spec.switches[switch.0 as usize].memory else {
            return false;
        };
        let one_at_a_time = hand_over == HandOver::LastBit;
        self.is_first(switch, decided, by) && !(one_at_a_time && self.is_taken(by, now))
    }

    /// How many frames the stage of a channel keeps of those that come by another.
    fn stage(&self, by: ChannelId, out: ChannelId) -> usize {
        let Some(switch) = self.switch_after(by) else { return 0 };
        match self.spec.switches[switch.0 as usize].memory {
            Memory::Input { stage, .. } if is_faster(self.own_pace(by), self.own_pace(out)) => {
                stage as usize
            }
            _ => 0,
        }
    }

    /// What is in a memory.
    fn used(&self, room: Room, capacity: Capacity, now: u64) -> u64 {
        let mut used = 0;
        for frame in &self.frames {
            for (hop, rooms) in frame.rooms.iter().enumerate() {
                let gone = self.gone(frame, hop + 1).is_some_and(|left| left <= now);
                if rooms.contains(&room) && !gone {
                    used += share(capacity, frame.bytes);
                }
            }
        }
        used
    }

    fn fits(&self, room: Room, capacity: Capacity, bytes: u32, now: u64) -> bool {
        let total = match capacity {
            Capacity::Frames(frames) => u64::from(frames),
            Capacity::Bytes(bytes) => bytes,
        };
        self.used(room, capacity, now) + share(capacity, bytes) <= total
    }

    /// The memories in which a frame finds room, or the one that refuses it.
    fn admit(&self, frame: &Frame, hop: usize, now: u64) -> Result<Vec<Room>, Room> {
        let (by, out, bytes) = (frame.way[hop], frame.way[hop + 1], frame.bytes);
        let fabric = self.fabric();
        let switch = self.switch_after(by).unwrap();
        let from_switch = matches!(fabric.channel(by).from.node, Node::Switch(_));
        let to_switch = matches!(fabric.channel(out).to.node, Node::Switch(_));
        let fits = |room, capacity| self.fits(room, capacity, bytes, now);
        let one = |room, capacity| if fits(room, capacity) { Ok(vec![room]) } else { Err(room) };
        match self.spec.switches[switch.0 as usize].memory {
            Memory::Input { host, uplink, .. } => {
                one(Room::Input(by), if from_switch { uplink } else { host })
            }
            Memory::Output { host, uplink } => {
                one(Room::Output(out), if to_switch { uplink } else { host })
            }
            Memory::Shared { all, cap, uplink } => {
                if cap.is_some_and(|cap| !fits(Room::Output(out), cap)) {
                    return Err(Room::Output(out));
                }
                let mut rooms = match uplink.filter(|_| from_switch) {
                    _ if fits(Room::Switch(switch), all) => vec![Room::Switch(switch)],
                    Some(uplink) => one(Room::Input(by), uplink)?,
                    None => return Err(Room::Switch(switch)),
                };
                rooms.extend(cap.map(|_| Room::Output(out)));
                Ok(rooms)
            }
        }
    }

    /// Everything that happens at an instant.
    fn instant(&mut self, now: u64) {
        // Hosts: in the order of handing over.
        for index in 0..self.frames.len() {
            let frame = &self.frames[index];
            if frame.handed_over <= now && frame.started.is_empty() && frame.dropped.is_none() {
                let first = frame.way[0];
                let waits = |other: &Frame| other.started.is_empty() && other.dropped.is_none();
                let ahead =
                    self.frames[..index].iter().any(|other| other.way[0] == first && waits(other));
                if self.is_down(first, now) {
                    self.frames[index].dropped = Some(now);
                } else if !ahead && self.is_free(first, now) {
                    self.frames[index].started.push(now);
                }
            }
        }
        self.look_up(now);
        self.decide(now);
        loop {
            while self.move_to_stage(now) {}
            if !self.pick(now) {
                break;
            }
        }
    }

    /// Forwarding engines take what they have noticed, one after the other.
    fn look_up(&mut self, now: u64) {
        let mut noticed: Vec<(ChannelId, usize, usize)> = Vec::new();
        for (index, frame) in self.frames.iter().enumerate() {
            for hop in 0..frame.way.len() - 1 {
                let is_due = frame.dropped.is_none() && frame.noticed[hop].is_none();
                if is_due && self.notice(frame, hop) == Some(now) {
                    noticed.push((frame.way[hop], index, hop));
                }
            }
        }
        noticed.sort_unstable();
        for (channel, index, hop) in noticed {
            let switch = self.switch_after(channel).unwrap();
            let spec = self.spec.switches[switch.0 as usize];
            // What is not whole is not looked up.
            if spec.lookup.ps() > 0 && self.is_spoiled(&self.frames[index], now) {
                self.frames[index].dropped = Some(now);
                continue;
            }
            // The last one taken is the last to be looked up.
            let mut busy = 0;
            for frame in &self.frames {
                for (other, done) in frame.noticed.iter().enumerate() {
                    if self.switch_after(frame.way[other]) == Some(switch) {
                        busy = busy.max(done.unwrap_or(0));
                    }
                }
            }
            let done = if spec.lookup.ps() == 0 { now } else { now.max(busy) + spec.lookup.ps() };
            self.frames[index].noticed[hop] = Some(done);
        }
    }

    /// Frames that are due find room or not, in the order of the channels by which they came.
    fn decide(&mut self, now: u64) {
        let mut due: Vec<(ChannelId, usize, usize)> = Vec::new();
        for (index, frame) in self.frames.iter().enumerate() {
            for hop in 0..frame.way.len() - 1 {
                let switch = self.switch_after(frame.way[hop]).unwrap();
                let latency = self.spec.switches[switch.0 as usize].latency.ps();
                let at = frame.noticed[hop].map(|done| done + latency);
                if at == Some(now) && frame.decided[hop].is_none() {
                    due.push((frame.way[hop], index, hop));
                }
            }
        }
        due.sort_unstable();
        for (_, index, hop) in due {
            if self.is_spoiled(&self.frames[index], now) {
                self.frames[index].dropped = Some(now);
                self.frames[index].decided[hop] = Some(now);
                continue;
            }
            let admitted = self.admit(&self.frames[index], hop, now);
            let frame = &mut self.frames[index];
            frame.decided[hop] = Some(now);
            match admitted {
                Ok(rooms) => frame.rooms.push(rooms),
                Err(room) => {
                    frame.dropped = Some(now);
                    self.refused.push((now, room));
                }
            }
        }
    }

    /// The frames that wait in a switch for a channel: when decided, by which channel, and which.
    fn waiting(&self, out: ChannelId) -> Vec<(u64, ChannelId, usize)> {
        let mut waiting = Vec::new();
        for (index, frame) in self.frames.iter().enumerate() {
            let hop = frame.started.len();
            if frame.dropped.is_none()
                && hop > 0
                && frame.way.get(hop) == Some(&out)
                && let Some(decided) = frame.decided[hop - 1]
            {
                waiting.push((decided, frame.way[hop - 1], index));
            }
        }
        waiting.sort_unstable();
        waiting
    }

    /// When the last bit of a frame has been read from the input by which it came, once it has
    /// started.
    fn read(&self, frame: &Frame, hop: usize) -> Option<u64> {
        if let Some(read) = self.read_to_stage(frame, hop) {
            return Some(read);
        }
        let started = *frame.started.get(hop)?;
        let by = [frame.way[hop - 1], frame.way[hop]];
        let read = by.map(|link| started + self.tau(link, framing::whole(frame.bytes), started));
        let passed = started + self.circuit_time(frame, by[0], by[0]);
        Some(read[0].min(read[1]).max(passed))
    }

    /// Returns true if an input is still handing over a frame.
    fn is_taken(&self, input: ChannelId, now: u64) -> bool {
        self.frames.iter().any(|frame| {
            let hop = frame.way.iter().position(|&channel| channel == input);
            hop.and_then(|hop| self.read(frame, hop + 1)).is_some_and(|read| read > now)
        })
    }

    /// Of each input the first frame only, whatever its output.
    fn is_first(&self, switch: SwitchId, decided: u64, by: ChannelId) -> bool {
        self.fabric().out_channels(switch).all(|other| {
            self.waiting(other).iter().all(|&(sooner, also, index)| {
                also != by || sooner >= decided || self.is_staged(index)
            })
        })
    }

    /// Whether a frame that waits is in the stage of its channel.
    fn is_staged(&self, index: usize) -> bool {
        let frame = &self.frames[index];
        frame.staged[frame.started.len() - 1].is_some()
    }

    /// A stage with room takes a frame; false if none can.
    fn move_to_stage(&mut self, now: u64) -> bool {
        for out in self.fabric().channels() {
            let Node::Switch(switch) = self.fabric().channel(out).from.node else { continue };
            let waiting = self.waiting(out);
            let inside = waiting.iter().filter(|&&(_, _, index)| self.is_staged(index)).count();
            let found = waiting
                .iter()
                .filter(|&&(_, by, index)| self.stage(by, out) > inside && !self.is_staged(index))
                .filter(|&&(decided, by, _)| self.is_offered(switch, (decided, by), now))
                .filter(|&&(_, by, _)| self.may_come_in(by, now))
                .min_by_key(|&&(_, by, _)| by);
            if let Some(&(_, _, index)) = found {
                let hop = self.frames[index].started.len();
                self.frames[index].staged[hop - 1] = Some(now);
                return true;
            }
        }
        false
    }

    /// The lowest channel that can take a frame takes one; false if none can.
    fn pick(&mut self, now: u64) -> bool {
        for out in self.fabric().channels() {
            let Node::Switch(switch) = self.fabric().channel(out).from.node else { continue };
            let is_down = self.is_down(out, now);
            if !is_down && !self.is_free(out, now) {
                continue;
            }
            let waiting = self.waiting(out);
            let taken = match self.spec.switches[switch.0 as usize].memory {
                Memory::Input { .. } => {
                    if !is_down && !self.is_circuit_free(out.reverse(), now) {
                        continue;
                    }
                    let heads = waiting.iter().copied().filter(|&(decided, by, index)| {
                        !self.is_staged(index)
                            && self.stage(by, out) == 0
                            && self.is_offered(switch, (decided, by), now)
                            && (is_down || self.may_come_in(by, now))
                    });
                    // By the number of the input; the stage comes behind all of them.
                    let mut heads: Vec<_> = heads.map(|head| (head.1.0, head)).collect();
                    let inside =
                        waiting.iter().copied().filter(|&(.., index)| self.is_staged(index));
                    let at = |index: usize| {
                        let frame = &self.frames[index];
                        frame.staged[frame.started.len() - 1]
                    };
                    let oldest = inside.min_by_key(|&(_, by, index)| (at(index), by));
                    heads.extend(oldest.map(|head| (STAGE, head)));
                    heads.sort_unstable();
                    let served = self.served[out.0 as usize];
                    let behind = heads.iter().find(|&&(number, _)| Some(number) > served);
                    behind
                        .or(heads.first())
                        .map(|&(number, (_, _, index))| (0, ChannelId(number), index))
                }
                Memory::Output { .. } | Memory::Shared { .. } => waiting.first().copied(),
            };
            if let Some((_, by, index)) = taken {
                self.served[out.0 as usize] = Some(by.0);
                match is_down {
                    true => self.frames[index].dropped = Some(now),
                    false => self.frames[index].started.push(now),
                }
                return true;
            }
        }
        false
    }

    /// The next instant at which anything can happen.
    fn next(&self, now: u64) -> Option<u64> {
        let mut times: Vec<u64> = self.spec.changes.iter().map(|change| change.at.ps()).collect();
        for frame in &self.frames {
            times.push(frame.handed_over);
            for hop in 0..frame.started.len() {
                let channel = frame.way[hop];
                times.extend(self.free(frame, hop));
                if hop > 0 {
                    times.extend(self.read(frame, hop));
                }
                times.extend(self.passages(channel).iter().map(|&(_, until, _)| until));
                times.extend(self.passages(channel.reverse()).iter().map(|&(_, until, _)| until));
                times.extend(self.read_to_stage(frame, hop + 1));
                if hop + 1 < frame.way.len() {
                    times.extend(self.notice(frame, hop));
                    let switch = self.switch_after(channel).unwrap();
                    let latency = self.spec.switches[switch.0 as usize].latency.ps();
                    times.extend(frame.noticed[hop].map(|done| done + latency));
                }
            }
        }
        times.into_iter().filter(|&time| time > now).min()
    }

    /// The most that was ever in a memory, and for how long there was no room for a frame of full
    /// size.
    pub fn occupancy(&self, room: Room, capacity: Capacity) -> (u64, u64) {
        let mut times = Vec::new();
        for frame in &self.frames {
            for (hop, _) in frame.rooms.iter().enumerate().filter(|(_, r)| r.contains(&room)) {
                times.push(frame.decided[hop].unwrap());
                times.extend(self.gone(frame, hop + 1));
            }
        }
        times.sort_unstable();
        times.dedup();
        // What is lost at an instant has its room until all have been decided on.
        let within = |now: u64, before_losses: bool| -> u64 {
            let frames = self.frames.iter().flat_map(|frame| {
                let hops = frame.rooms.iter().enumerate().filter(|(_, r)| r.contains(&room));
                hops.map(move |(hop, _)| (frame, hop))
            });
            frames
                .filter(|&(frame, hop)| frame.decided[hop].unwrap() <= now)
                .filter(|&(frame, hop)| {
                    let left = self.read_to_stage(frame, hop + 1).or(self.left(frame, hop + 1));
                    let is_lost =
                        frame.dropped.is_some_and(|at| at < now || !before_losses && at == now);
                    left.map_or(!is_lost, |left| left > now)
                })
                .map(|(frame, _)| share(capacity, frame.bytes))
                .sum()
        };
        let total = match capacity {
            Capacity::Frames(frames) => u64::from(frames),
            Capacity::Bytes(bytes) => bytes,
        };
        let full =
            times.windows(2).filter(|pair| within(pair[0], false) + share(capacity, 1500) > total);
        let full = full.map(|pair| pair[1] - pair[0]).sum();
        (times.iter().map(|&now| within(now, true)).max().unwrap_or(0), full)
    }

    /// Runs until nothing happens any more.
    pub fn run(&mut self) {
        let mut now = 0;
        self.instant(now);
        while let Some(next) = self.next(now) {
            now = next;
            self.instant(now);
        }
    }
}

fn share(capacity: Capacity, bytes: u32) -> u64 {
    match capacity {
        Capacity::Frames(_) => 1,
        Capacity::Bytes(_) => u64::from(framing::stored(bytes)),
    }
}

/// Returns true if bytes pass faster at one pace than at another, by more than clocks differ: 2 in
/// 1,000.
fn is_faster(pace: Pace, than: Pace) -> bool {
    let rate = |pace: Pace| pace.bytes as f64 / pace.time.ps() as f64;
    rate(pace) > 1.002 * rate(than) * (1.0 + 1e-12)
}
