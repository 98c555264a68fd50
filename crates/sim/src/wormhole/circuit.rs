//! Circuits: a packet holds its way until its destination has acknowledged it.
//!
//! The last flit of a packet is its End-Of-Packet token (EOP). The source keeps it until the
//! acknowledge is back, and so the packet keeps its virtual channels. At either end of the way the
//! flits before the EOP, the *body*, are a stretch of sending by itself: a plan ends with it. On
//! all channels between, the EOP is a flit that has not come yet.
//!
//! What is marked `cold` is so for a network without circuits, which must not pay for them.

use super::engine::{Engine, Event, Observer, Packet, Vc, Worm};
use super::wiring::NONE;
use super::{Circuits, Config, Errors, NEVER, Tick};
use crosstie_units::Seed;
use std::collections::BTreeMap;

/// What sources and destinations keep of circuits.
#[derive(Debug)]
pub(super) struct Holding {
    /// Ticks that an acknowledge takes for each channel.
    acknowledge: Tick,
    errors: Option<Errors>,
    /// Packets that each host has started, where there are errors.
    started: Vec<u64>,
    /// Of each worm, by its number.
    circuits: Vec<Circuit>,
    /// Where NICs decide when they acknowledge: the worms delivered that wait for it, by the
    /// numbers of their packets and their hosts.
    withheld: Option<BTreeMap<(u64, u32), u32>>,
}

/// The circuit of a packet.
#[derive(Debug, Clone, Copy)]
struct Circuit {
    /// The virtual channel by which it leaves its source.
    source: u32,
    /// The acknowledge is back, positive or negative.
    acknowledged: bool,
    /// What decides where it is garbled.
    seed: Seed,
    /// It has been garbled on a channel.
    garbled: bool,
    /// All of it but the EOP has left for its destination.
    arrives: bool,
}

impl Holding {
    /// No circuit yet; `None` where packets do not wait for acknowledges.
    pub fn of(config: &Config) -> Option<Box<Holding>> {
        let Circuits { acknowledge, errors, withheld } = config.circuits?;
        let acknowledge = Tick::from(acknowledge) * Tick::from(config.ticks);
        let (started, circuits) = (Vec::new(), Vec::new());
        let withheld = withheld.then(BTreeMap::new);
        Some(Box::new(Holding { acknowledge, errors, started, circuits, withheld }))
    }

    /// A host starts a packet.
    fn begin(&mut self, worm: u32, host: u32, source: u32) {
        let seed = self.errors.map_or(Seed(0), |errors| {
            let place = host as usize;
            self.started.resize(self.started.len().max(place + 1), 0);
            let number = self.started[place];
            self.started[place] += 1;
            errors.of_packet(host, number)
        });
        let (acknowledged, garbled, arrives) = (false, false, false);
        let circuit = Circuit { source, acknowledged, seed, garbled, arrives };
        let place = worm as usize;
        self.circuits.resize(self.circuits.len().max(place + 1), circuit);
        self.circuits[place] = circuit;
    }

    /// A packet becomes several: one more has been through what this one has.
    pub fn branch(&mut self, worm: u32, branch: u32) {
        let circuit = *self.circuit(worm);
        let place = branch as usize;
        self.circuits.resize(self.circuits.len().max(place + 1), circuit);
        self.circuits[place] = circuit;
    }

    fn circuit(&mut self, worm: u32) -> &mut Circuit {
        &mut self.circuits[worm as usize]
    }
}

impl Engine<'_> {
    fn holding(&mut self) -> &mut Holding {
        self.holding.as_mut().expect("a network with circuits")
    }

    /// A packet has been given a virtual channel. At either end of its way, the EOP is sent by
    /// itself.
    #[cold]
    pub(super) fn extend(&mut self, vc: u32) {
        let Vc { packet, feeder, ahead, channel, .. } = self.vcs[vc];
        let host = self.worms[packet as usize].packet.from;
        let holding = self.holding();
        if feeder == NONE {
            holding.begin(packet, host, vc);
        }
        if let Some(errors) = holding.errors {
            let circuit = holding.circuit(packet);
            circuit.garbled |= errors.garbles(circuit.seed, channel);
        }
        if feeder == NONE || ahead.is_end() {
            self.vcs[vc].remaining -= 1;
        }
    }

    /// All that was to be sent into a virtual channel has left. Returns true if that was the body:
    /// the packet keeps the channel.
    #[cold]
    pub(super) fn holds(&mut self, vc: u32, observer: &mut impl Observer) -> bool {
        let Vc { packet, feeder, ahead, cost, latency, mux, bit, .. } = self.vcs[vc];
        let circuit = self.holding().circuit(packet);
        let is_closing = match (feeder, ahead.is_end()) {
            (NONE, _) => circuit.acknowledged,
            (_, true) => std::mem::replace(&mut circuit.arrives, true),
            (_, false) => true,
        };
        if is_closing {
            return false;
        }
        let left = self.now - Tick::from(cost);
        if feeder == NONE {
            observer.left(&self.worms[packet as usize].packet, left);
        }
        if ahead.is_end() {
            self.arrive(packet, left + Tick::from(latency), observer);
            if feeder != NONE {
                self.vcs[vc].remaining = 1;
                self.muxes[mux as usize].active |= 1 << bit;
            }
        }
        true
    }

    /// A body has reached its destination. Returns true if it is as it was sent. It is answered at
    /// once, unless it is delivered and the NIC decides when.
    #[cold]
    pub(super) fn answer(&mut self, worm: u32) -> bool {
        let Packet { id, to, .. } = self.worms[worm as usize].packet;
        let holding = self.holding();
        let garbled = holding.circuit(worm).garbled;
        match &mut holding.withheld {
            Some(withheld) if !garbled => {
                let before = withheld.insert((id, to), worm);
                assert!(before.is_none(), "circuits have numbers of their own");
            }
            _ => self.send_answer(worm, garbled),
        }
        !garbled
    }

    /// The NIC of a host acknowledges a packet that has been delivered there, now.
    ///
    /// # Panics
    /// If NICs do not decide, or no packet of this number waits for it.
    pub fn acknowledge(&mut self, id: u64, host: u32) {
        let withheld = self.holding().withheld.as_mut().expect("NICs acknowledge packets");
        let worm = withheld.remove(&(id, host)).expect("a packet is acknowledged once");
        self.send_answer(worm, false);
    }

    /// An acknowledge goes back, channel by channel; where the packet was forked, it waits for
    /// those of the other branches, and one refusal refuses all.
    fn send_answer(&mut self, worm: u32, refused: bool) {
        let channels = Tick::from(self.worms[worm as usize].hop + 1);
        let back = self.now + channels * self.holding().acknowledge;
        if let Some((source, at, refused)) = self.combine(worm, back, refused) {
            self.holding().circuit(source).garbled = refused;
            self.wheel.push(at, Event::Acknowledged(source));
        }
    }

    /// The acknowledge is back, positive or negative: the source may send the EOP.
    #[cold]
    pub(super) fn acknowledged(&mut self, worm: u32, observer: &mut impl Observer) {
        let circuit = self.holding().circuit(worm);
        circuit.acknowledged = true;
        let Circuit { source: vc, garbled, .. } = *circuit;
        (self.vcs[vc].remaining, self.vcs[vc].arrives) = (1, NEVER);
        self.activate(vc);
        let Worm { packet, .. } = &self.worms[worm as usize];
        if garbled {
            observer.refused(packet, self.now);
        } else {
            observer.acknowledged(packet, self.now);
        }
    }
}
