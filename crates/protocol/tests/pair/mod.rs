//! Two nodes and lines between them, with a reliable channel on each: what a policy makes of what
//! channels find out.
//!
//! A line takes its time for every datagram, whichever node it is from, and each node has a line of
//! its own on a rail. Hosts answer at once.

use std::collections::BTreeMap;

use crosstie_protocol::channel::{self, Endpoint, Frame, SelectiveSpec};
use crosstie_protocol::*;
use crosstie_units::Time;

/// What a datagram carries of a packet, and the bytes of a frame that are not its load.
const PAYLOAD: u64 = 1448;
const OVERHEAD: u64 = 66;

/// How many times as long as a datagram packets may become.
const MOST: u32 = 40;

/// Bytes of a message that only asks or grants, and the most of one that is neither asked for nor
/// cut.
const SHORT: u64 = 40;
pub const EAGER: u64 = 16 << 10;

/// A rail, in either direction: Mbit/s, and how long a datagram is on its way besides its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub mbit: u64,
    pub latency: Time,
}

impl Line {
    pub fn new(mbit: u64) -> Line {
        Line { mbit, latency: Time::from_ns(8_000) }
    }

    /// How long it takes for a packet of so many bytes.
    fn takes(&self, bytes: u64) -> Time {
        let datagrams = bytes.div_ceil(PAYLOAD).max(1);
        Time::from_ps((bytes + datagrams * OVERHEAD) * 8_000_000 / self.mbit)
    }

    /// When a message of so many bytes is there if it takes this line alone.
    pub fn alone(&self, bytes: u64) -> Time {
        self.takes(bytes) + self.latency
    }
}

/// When the last byte of a message is there at best, if it is cut into two at any datagram, or not
/// at all.
pub fn best_cut(lines: [Line; 2], bytes: u64) -> Time {
    let cuts = (0..if bytes > EAGER { bytes } else { 1 }).step_by(PAYLOAD as usize).chain([bytes]);
    let there = |line: Line, bytes| if bytes == 0 { Time::ZERO } else { line.alone(bytes) };
    let cuts = cuts.map(|cut| there(lines[0], cut).max(there(lines[1], bytes - cut)));
    cuts.min().expect("there is one")
}

struct End {
    node: Node,
    channels: Vec<Endpoint<Packet>>,
    /// When its line on each rail is free.
    free: Vec<Time>,
}

pub struct Pair {
    lines: Vec<Line>,
    ends: [End; 2],
    agenda: BTreeMap<(Time, u64), (usize, usize, Frame<Packet>)>,
    entries: u64,
    sent: u64,
    now: Time,
    delivered: BTreeMap<u64, Time>,
}

impl Pair {
    pub fn new(kind: PolicyKind, lines: &[Line]) -> Pair {
        let rails = lines.len() as u32;
        let policies = kind.policies(2, rails).unwrap();
        let end = |id| {
            let spec = NodeSpec {
                packing: Packing { payload: Some(PAYLOAD as u32), overhead: 0 },
                ahead: Some(Ahead { time: SelectiveSpec::LIVE.ahead, most: MOST }),
                repeats: true,
                ..NodeSpec::new(NodeId(id), rails)
            };
            End {
                node: Node::new(spec, policies.node(&spec).unwrap()).unwrap(),
                channels: lines
                    .iter()
                    .map(|_| Endpoint::new(SelectiveSpec::LIVE).unwrap())
                    .collect(),
                free: vec![Time::ZERO; lines.len()],
            }
        };
        Pair {
            lines: lines.to_vec(),
            ends: [end(0), end(1)],
            agenda: BTreeMap::new(),
            entries: 0,
            sent: 0,
            now: Time::ZERO,
            delivered: BTreeMap::new(),
        }
    }

    /// A rail has another rate from now on.
    pub fn change(&mut self, rail: usize, mbit: u64) {
        self.lines[rail].mbit = mbit;
    }

    /// Sends a message and waits until it is there: how long that takes.
    pub fn message(&mut self, from: usize, bytes: u64) -> Time {
        let (begin, number) = (self.now, self.sent);
        self.sent += 1;
        let (pe, message, to) = (PeId(0), MessageId(number), NodeId(1 - from as u32));
        let (rail, whole) = (None, bytes <= EAGER);
        let input = Input::Send { pe, message, to, bytes, rail, whole };
        self.ends[from].node.handle(self.now, input);
        self.serve(from);
        while !self.delivered.contains_key(&number) {
            self.step();
        }
        self.now - begin
    }

    /// A message there and back: what the two take on average, without asking and granting.
    pub fn ping(&mut self, bytes: u64) -> Time {
        let mut taken = Time::ZERO;
        for from in [0, 1] {
            if bytes > EAGER {
                self.message(from, SHORT);
                self.message(1 - from, SHORT);
            }
            taken = taken + self.message(from, bytes);
        }
        Time::from_ps(taken.ps() / 2)
    }

    fn step(&mut self) {
        let next = self.agenda.first_key_value().map(|(&(at, _), _)| at);
        let channels = self.ends.iter().enumerate().flat_map(|(end, this)| {
            this.channels.iter().enumerate().map(move |(rail, channel)| (end, rail, channel))
        });
        let alarms = channels.filter_map(|(end, rail, it)| Some((it.poll_timeout()?, end, rail)));
        match alarms.min() {
            Some((at, end, rail)) if next.is_none_or(|next| at < next) => {
                self.now = self.now.max(at);
                self.ends[end].channels[rail].handle_timeout(self.now);
                self.serve_channel(end, rail);
            }
            _ => {
                let ((at, _), (end, rail, frame)) = self.agenda.pop_first().expect("it arrives");
                self.now = at;
                self.ends[end].channels[rail].handle(at, channel::Input::Frame(frame));
                self.serve_channel(end, rail);
            }
        }
    }

    /// Does what a node wants.
    fn serve(&mut self, end: usize) {
        let mut touched = Vec::new();
        while let Some(action) = self.ends[end].node.poll_action(self.now) {
            match action {
                Action::Transmit(packet) => {
                    let rail = packet.parcel.stripe.rail.0 as usize;
                    let (bytes, rides) = (packet.len() as u32 + 24, packet.len() <= SHORT);
                    let send = channel::Input::Send { item: packet, bytes, rides };
                    self.ends[end].channels[rail].handle(self.now, send);
                    touched.push(rail);
                }
                Action::Deliver { message, .. } => {
                    assert_eq!(self.delivered.insert(message.0, self.now), None, "once");
                }
                other => panic!("{other:?}"),
            }
        }
        touched.dedup();
        touched.into_iter().for_each(|rail| self.serve_channel(end, rail));
    }

    /// Does what a channel wants, and tells its node what it has found out.
    fn serve_channel(&mut self, end: usize, rail: usize) {
        let (mut inputs, mut heard) = (Vec::new(), false);
        while let Some(action) = self.ends[end].channels[rail].poll_action(self.now) {
            match action {
                channel::Action::Transmit(frame) => self.carry(end, rail, frame),
                channel::Action::Deliver(packet) => inputs.push(Input::Arrived(packet)),
                channel::Action::Acknowledged(packet) => {
                    heard = true;
                    let (stripe, number) = (packet.parcel.id, packet.number);
                    inputs.push(Input::Acknowledged { stripe, number });
                }
            }
        }
        if heard {
            let path = self.ends[end].channels[rail].path().expect("it finds out something");
            let (to, rail) = (NodeId(1 - end as u32), RailId(rail as u32));
            inputs.extend(Input::shown(to, rail, &path));
        }
        for input in inputs {
            self.ends[end].node.handle(self.now, input);
            self.serve(end);
        }
    }

    /// Puts a frame on the line of a node.
    fn carry(&mut self, end: usize, rail: usize, frame: Frame<Packet>) {
        let line = self.lines[rail];
        let bytes = frame.item().map_or(0, Packet::len);
        let free = &mut self.ends[end].free[rail];
        *free = self.now.max(*free) + line.takes(bytes);
        self.agenda.insert((*free + line.latency, self.entries), (1 - end, rail, frame));
        self.entries += 1;
    }
}
