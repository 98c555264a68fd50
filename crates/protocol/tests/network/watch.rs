//! What must hold at all times and at the end, seen from outside of the nodes.

use std::collections::BTreeMap;

use crosstie_protocol::*;

/// What moves on the I/O bus of one NIC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bus {
    /// Stripes being sent.
    sending: u32,
    /// Stripes being received.
    receiving: u32,
    /// Stripes on their way to it, being sent or received.
    coming: u32,
}

/// What a policy promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// A NIC only sends or only receives.
    OneWay,
    /// A send never starts on a NIC that sends or receives.
    FreeSender,
    /// Where a stripe with a reservation is sent, sender and receiver do nothing else. Stripes
    /// without one are not counted.
    Exclusive,
    Nothing,
}

/// A stripe of which packets are under way.
#[derive(Debug)]
struct UnderWay {
    parcel: Parcel,
    /// Whether it falls under the promise.
    counts: bool,
    begun_to_arrive: bool,
    /// Packets that have not left, not arrived, and of which the sender does not know that they
    /// have.
    to_leave: u64,
    to_arrive: u64,
    to_acknowledge: u64,
}

/// Books on a network.
#[derive(Debug)]
pub struct Watch {
    promise: Promise,
    packing: Packing,
    buses: BTreeMap<(NodeId, RailId), Bus>,
    /// By sender.
    stripes: BTreeMap<(NodeId, StripeId), UnderWay>,
    /// Messages not delivered yet: receiver and length.
    expected: BTreeMap<(NodeId, MessageId), (NodeId, u64)>,
    /// Messages of which not all bytes have left.
    incomplete: BTreeMap<(NodeId, MessageId), PeId>,
    directions: BTreeMap<(NodeId, RailId), bool>,
    /// Control packets by kind.
    pub packets: BTreeMap<&'static str, u64>,
    /// Stripes sent with a reservation, and without.
    pub reserved: u64,
    pub unreserved: u64,
    /// Messages that have left by sender and PE.
    pub completed: BTreeMap<(NodeId, PeId), u64>,
    pub timeouts: u64,
    /// What was sent, in words such as "0>1 rail 2 RTS".
    pub log: Vec<String>,
}

impl Watch {
    pub fn new(kind: PolicyKind, spec: &NodeSpec) -> Watch {
        let promise = match kind {
            PolicyKind::Static {} => Promise::OneWay,
            // A stripe that waits for room in the window starts when it may.
            PolicyKind::LocalDynamic { .. } if spec.window.is_some() => Promise::Nothing,
            PolicyKind::LocalDynamic { .. } => Promise::FreeSender,
            PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. } => Promise::Exclusive,
            PolicyKind::RoundRobin {} | PolicyKind::Basic {} => Promise::Nothing,
            other => {
                assert_eq!(other.pacing(), Pacing::InOrder, "what does it promise?");
                Promise::Nothing
            }
        };
        Watch {
            promise,
            packing: spec.packing,
            stripes: BTreeMap::new(),
            buses: BTreeMap::new(),
            expected: BTreeMap::new(),
            incomplete: BTreeMap::new(),
            directions: BTreeMap::new(),
            packets: BTreeMap::new(),
            reserved: 0,
            unreserved: 0,
            completed: BTreeMap::new(),
            timeouts: 0,
            log: Vec::new(),
        }
    }

    /// How many control packets of a kind were sent.
    pub fn count(&self, kind: &str) -> u64 {
        self.packets.get(kind).copied().unwrap_or(0)
    }

    /// Something is about to be told to a node.
    pub fn before(&mut self, node: NodeId, input: &Input) {
        match input {
            Input::Send { pe, message, to, bytes, rail: _, whole: _ } => {
                self.expected.insert((node, *message), (*to, *bytes));
                self.incomplete.insert((node, *message), *pe);
            }
            Input::Left { stripe } => {
                let under_way = self.under_way(node, *stripe);
                under_way.to_leave -= 1;
                if under_way.to_leave == 0 {
                    let (rail, counts) = (under_way.parcel.stripe.rail, under_way.counts);
                    self.bus(node, rail).sending -= u32::from(counts);
                }
            }
            Input::Arriving { rail, from, stripe } => {
                let under_way = self.under_way(*from, *stripe);
                if !std::mem::replace(&mut under_way.begun_to_arrive, true) {
                    self.bus(node, *rail).receiving += 1;
                }
            }
            Input::Arrived(packet) => {
                let under_way = self.under_way(packet.parcel.from, packet.parcel.id);
                under_way.to_arrive -= 1;
                if under_way.to_arrive == 0 {
                    let counts = under_way.counts;
                    let bus = self.bus(node, packet.parcel.stripe.rail);
                    bus.receiving -= 1;
                    bus.coming -= u32::from(counts);
                }
            }
            Input::Acknowledged { stripe, .. } => {
                let under_way = self.under_way(node, *stripe);
                under_way.to_acknowledge -= 1;
                if under_way.to_acknowledge == 0 {
                    assert_eq!((under_way.to_leave, under_way.to_arrive), (0, 0));
                    self.stripes.remove(&(node, *stripe));
                }
            }
            Input::Control { .. }
            | Input::ControlAcknowledged { .. }
            | Input::Farewell { .. }
            | Input::Rail { .. }
            | Input::Way { .. }
            | Input::Shown { .. } => {}
        }
    }

    fn under_way(&mut self, from: NodeId, stripe: StripeId) -> &mut UnderWay {
        self.stripes.get_mut(&(from, stripe)).expect("it is under way")
    }

    /// A node wants something done.
    pub fn after(&mut self, node: NodeId, action: &Action) {
        match action {
            Action::Control { rail, to, packet, .. } => {
                let kind = match packet {
                    Control::Rts(_) => "RTS",
                    Control::Cts => "CTS",
                    Control::Nack => "NACK",
                    Control::Ack => "ACK",
                    Control::Abort => "ABORT",
                };
                *self.packets.entry(kind).or_default() += 1;
                self.log.push(format!("{}>{} rail {} {kind}", node.0, to.0, rail.0));
                if let Control::Rts(priority) = packet {
                    assert_eq!(priority.node, node, "a request says whose it is");
                }
            }
            Action::Transmit(packet) => self.transmit(packet),
            Action::Deliver { from, message, bytes } => {
                let expected = self.expected.remove(&(*from, *message));
                assert_eq!(expected, Some((node, *bytes)), "once, here, and with this length");
            }
            Action::Complete { pe, message } => {
                assert_eq!(self.incomplete.remove(&(node, *message)), Some(*pe));
                *self.completed.entry((node, *pe)).or_default() += 1;
            }
            Action::HandedOver { .. } | Action::Landed { .. } | Action::Unreachable { .. } => {
                panic!("nobody asked")
            }
        }
    }

    fn transmit(&mut self, packet: &Packet) {
        let parcel = &packet.parcel;
        let (from, to, rail) = (parcel.from, parcel.to, parcel.stripe.rail);
        self.log.push(format!("{}>{} rail {} {:?}", from.0, to.0, rail.0, packet.bytes));
        let under_way = self.stripes.get(&(from, parcel.id));
        assert_eq!(under_way.is_none(), packet.number == 0, "packets come in order");
        if let Some(under_way) = under_way {
            assert_eq!(under_way.parcel, *parcel, "numbers of stripes under way are their own");
            return;
        }
        let counts = parcel.reserved || self.promise != Promise::Exclusive;
        let packets = self.packing.packets(parcel.stripe.len());
        let new = UnderWay {
            parcel: parcel.clone(),
            counts,
            begun_to_arrive: false,
            to_leave: packets,
            to_arrive: packets,
            to_acknowledge: packets,
        };
        self.stripes.insert((from, parcel.id), new);
        let (sender, receiver) = (*self.bus(from, rail), *self.bus(to, rail));
        match self.promise {
            Promise::OneWay => {
                assert!(*self.directions.entry((from, rail)).or_insert(true), "{parcel:?}");
                assert!(!*self.directions.entry((to, rail)).or_insert(false), "{parcel:?}");
            }
            Promise::FreeSender => {
                assert_eq!((sender.sending, sender.receiving), (0, 0), "{parcel:?}");
            }
            Promise::Exclusive if counts => {
                assert_eq!((sender.sending, sender.coming), (0, 0), "the sender of {parcel:?}");
                assert_eq!((receiver.sending, receiver.coming), (0, 0), "receiver of {parcel:?}");
            }
            Promise::Exclusive | Promise::Nothing => {}
        }
        *if parcel.reserved { &mut self.reserved } else { &mut self.unreserved } += 1;
        self.bus(from, rail).sending += u32::from(counts);
        self.bus(to, rail).coming += u32::from(counts);
    }

    fn bus(&mut self, node: NodeId, rail: RailId) -> &mut Bus {
        self.buses.entry((node, rail)).or_default()
    }

    /// Nothing is missing, and every request and every reservation has come to its end.
    pub fn all_is_well(&self) {
        assert!(self.expected.is_empty(), "not delivered: {:?}", self.expected);
        assert!(self.incomplete.is_empty(), "not sent: {:?}", self.incomplete);
        assert!(self.stripes.is_empty(), "under way: {:?}", self.stripes);
        assert_eq!(self.count("RTS"), self.count("CTS") + self.count("NACK"), "answers");
        assert_eq!(self.count("CTS"), self.count("ACK") + self.count("ABORT"), "reservations");
        assert_eq!(self.count("ACK"), self.reserved, "reserved stripes are acknowledged");
        assert!(self.buses.values().all(|bus| *bus == Bus::default()), "{:?}", self.buses);
    }
}
