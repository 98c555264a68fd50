//! Two nodes and wires between them, each with a rate of its own that may change: what a policy
//! makes of them.

use std::collections::BTreeMap;

use crosstie_protocol::*;
use crosstie_units::Time;

/// A wire: bytes per microsecond from given times on, and how long a packet is on its way besides.
/// While it carries nothing it is dead: whoever sends on it sends again until it returns.
#[derive(Debug, Clone)]
pub struct Wire {
    /// In microseconds, and bytes per microsecond; the first from the beginning.
    pub rates: Vec<(f64, f64)>,
    /// In microseconds, there; acknowledgements take as long.
    pub latency: f64,
}

impl Wire {
    pub fn new(rate: f64) -> Wire {
        Wire { rates: vec![(0.0, rate)], latency: 2.0 }
    }

    pub fn then(mut self, from: f64, rate: f64) -> Wire {
        self.rates.push((from, rate));
        self
    }

    /// When so many bytes have crossed that begin at a time.
    pub fn crossed(&self, begin: f64, bytes: f64) -> f64 {
        let (mut at, mut left) = (begin, bytes);
        for (place, &(_, rate)) in self.rates.iter().enumerate() {
            let until = self.rates.get(place + 1).map_or(f64::INFINITY, |next| next.0);
            if at >= until {
                continue;
            }
            let carried = if rate > 0.0 { (until - at) * rate } else { 0.0 };
            if rate > 0.0 && left <= carried {
                return at + left / rate;
            }
            (at, left) = (until, left - carried);
        }
        f64::INFINITY
    }

    /// Bytes that it carries between two times.
    pub fn carries(&self, begin: f64, end: f64) -> f64 {
        let mut sum = 0.0;
        for (place, &(from, rate)) in self.rates.iter().enumerate() {
            let until = self.rates.get(place + 1).map_or(f64::INFINITY, |next| next.0);
            sum += (end.min(until) - begin.max(from)).max(0.0) * rate;
        }
        sum
    }
}

/// When the last byte of a message would be there if all wires carried it all the time, from a time
/// on.
pub fn best(wires: &[Wire], begin: f64, bytes: f64) -> f64 {
    let latency = wires.iter().map(|wire| wire.latency).fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (begin, begin + 1e9);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        let carried: f64 = wires.iter().map(|wire| wire.carries(begin, middle)).sum();
        if carried < bytes { low = middle } else { high = middle }
    }
    high + latency
}

fn at(us: f64) -> Time {
    Time::from_ps((us * 1e6).round() as u64)
}

/// A sender, a receiver, and what is between them.
pub struct Link {
    wires: Vec<Wire>,
    free: Vec<f64>,
    sender: Node,
    receiver: Node,
    agenda: BTreeMap<(u64, u64), (bool, Input)>,
    entries: u64,
    sent: u64,
    pub now: f64,
    /// When each message was delivered.
    pub delivered: BTreeMap<u64, f64>,
    /// Bytes that took each wire.
    pub carried: Vec<u64>,
}

/// Packets of 2 KiB.
pub const PACKET: u32 = 2048;

impl Link {
    pub fn new(kind: PolicyKind, wires: Vec<Wire>, patience: Option<Patience>) -> Link {
        let packing = Packing { payload: Some(PACKET), overhead: 0 };
        let rails = wires.len() as u32;
        let spec = NodeSpec {
            packing,
            window: Some(1024),
            in_order: true,
            patience,
            ..NodeSpec::new(NodeId(0), rails)
        };
        let node = |id| {
            let spec = NodeSpec { id: NodeId(id), ..spec };
            Node::new(spec, kind.policies(2, rails).unwrap().node(&spec).unwrap()).unwrap()
        };
        Link {
            free: vec![0.0; wires.len()],
            carried: vec![0; wires.len()],
            wires,
            sender: node(0),
            receiver: node(1),
            agenda: BTreeMap::new(),
            entries: 0,
            sent: 0,
            now: 0.0,
            delivered: BTreeMap::new(),
        }
    }

    fn enter(&mut self, us: f64, receiver: bool, input: Input) {
        if us.is_infinite() {
            return;
        }
        self.agenda.insert((at(us).ps(), self.entries), (receiver, input));
        self.entries += 1;
    }

    /// Sends a message now, and gives its number.
    pub fn send(&mut self, bytes: u64) -> u64 {
        let message = MessageId(self.sent);
        self.sent += 1;
        let (pe, to) = (PeId(0), NodeId(1));
        let input = Input::Send { pe, message, to, bytes, rail: None, whole: false };
        self.sender.handle(at(self.now), input);
        self.serve();
        message.0
    }

    /// How many messages are on their way.
    #[allow(dead_code, reason = "not everybody who has wires needs it")]
    pub fn sent_and_not_delivered(&self) -> u64 {
        self.sent - self.delivered.len() as u64
    }

    /// Lets the next thing happen, if that is before a time, which it is otherwise: false.
    #[allow(dead_code, reason = "not everybody who has wires needs it")]
    pub fn step_until(&mut self, us: f64) -> bool {
        match self.agenda.first_key_value() {
            Some((&(ps, _), _)) if ps < at(us).ps() => self.step(),
            _ => {
                self.now = us;
                false
            }
        }
    }

    /// Lets the next thing happen; false if nothing does.
    pub fn step(&mut self) -> bool {
        let next = self.agenda.first_key_value().map(|(&(ps, _), _)| ps);
        if let Some(alarm) = self.sender.poll_timeout().filter(|_| !self.sender.is_idle())
            && next.is_none_or(|next| alarm.ps() < next)
        {
            self.now = alarm.ps() as f64 / 1e6;
            self.sender.handle_timeout(alarm);
            self.serve();
            return true;
        }
        let Some(((ps, _), (to_receiver, input))) = self.agenda.pop_first() else { return false };
        self.now = ps as f64 / 1e6;
        if let Input::Arrived(packet) = &input {
            let (stripe, number) = (packet.parcel.id, packet.number);
            let wire = &self.wires[packet.parcel.stripe.rail.0 as usize];
            // Where it carries anything, an acknowledgement takes no time on it.
            let dead = wire.crossed(self.now, 1e-6) > self.now + 1.0;
            let begin = if dead { wire.crossed(self.now, 1e-6) } else { self.now };
            let back = begin + wire.latency;
            self.enter(back, false, Input::Acknowledged { stripe, number });
        }
        let node = if to_receiver { &mut self.receiver } else { &mut self.sender };
        node.handle(Time::from_ps(ps), input);
        self.serve();
        true
    }

    fn serve(&mut self) {
        while let Some(action) = self.sender.poll_action(at(self.now)) {
            let Action::Transmit(packet) = action else { panic!("{action:?}") };
            let rail = packet.parcel.stripe.rail.0 as usize;
            let begin = self.free[rail].max(self.now);
            let end = self.wires[rail].crossed(begin, packet.len() as f64);
            self.free[rail] = end;
            self.carried[rail] += packet.len();
            let there = end + self.wires[rail].latency;
            self.enter(there, true, Input::Arrived(packet));
        }
        while let Some(action) = self.receiver.poll_action(at(self.now)) {
            let Action::Deliver { message, .. } = action else { panic!("{action:?}") };
            assert_eq!(self.delivered.insert(message.0, self.now), None, "once");
        }
    }

    /// Sends a message when all before are there, and tells how long it takes.
    pub fn alone(&mut self, bytes: u64) -> f64 {
        while self.step() {}
        let begin = self.now;
        let message = self.send(bytes);
        while self.step() {}
        assert!(self.sender.is_idle() && self.receiver.is_idle());
        self.delivered[&message] - begin
    }
}
