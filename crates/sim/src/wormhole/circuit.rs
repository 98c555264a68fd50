//! Circuits: a packet holds its way until its destination has acknowledged it.
//!
//! The last flit of a packet is its End-Of-Packet token (EOP). The source keeps it until the
//! acknowledge is back, and so the packet keeps its virtual channels. At either end of the way the
//! flits before the EOP, the *body*, are a stretch of sending by itself: a plan ends with it. On
//! all channels between, the EOP is a flit that has not come yet.

use super::engine::{Engine, Event, Observer, Vc};
use super::wiring::NONE;
use super::{Circuits, Config, NEVER, Tick};
use std::collections::BTreeMap;

/// What sources and destinations keep of circuits.
#[derive(Debug)]
pub(super) struct Holding {
    /// Ticks that an acknowledge takes for each channel.
    acknowledge: Tick,
    /// Of each worm, by its number.
    circuits: Vec<Circuit>,
    /// Where NICs decide when they acknowledge: the worms delivered that wait for it, by the
    /// numbers of their packets.
    withheld: Option<BTreeMap<u64, u32>>,
}

/// The circuit of a packet.
#[derive(Debug, Clone, Copy)]
struct Circuit {
    /// The virtual channel by which it leaves its source.
    source: u32,
    /// The acknowledge is back.
    acknowledged: bool,
}

impl Holding {
    /// No circuit yet; `None` where packets do not wait for acknowledges.
    pub fn of(config: &Config) -> Option<Box<Holding>> {
        let Circuits { acknowledge, withheld } = config.circuits?;
        let acknowledge = Tick::from(acknowledge) * Tick::from(config.ticks);
        let withheld = withheld.then(BTreeMap::new);
        Some(Box::new(Holding { acknowledge, circuits: Vec::new(), withheld }))
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
    #[inline(never)]
    pub(super) fn part_eop(&mut self, vc: u32) {
        let Vc { packet, feeder, ahead, .. } = self.vcs[vc];
        if feeder == NONE {
            let circuit = Circuit { source: vc, acknowledged: false };
            let circuits = &mut self.holding().circuits;
            if circuits.len() <= packet as usize {
                circuits.resize(packet as usize + 1, circuit);
            }
            circuits[packet as usize] = circuit;
        }
        if feeder == NONE || ahead.is_end() {
            self.vcs[vc].remaining -= 1;
        }
    }

    /// All that was to be sent into a virtual channel has left. Returns true if that was the body:
    /// the packet keeps the channel.
    #[inline(never)]
    pub(super) fn holds(&mut self, vc: u32, observer: &mut impl Observer) -> bool {
        let Vc { packet, feeder, ahead, cost, latency, mux, bit, .. } = self.vcs[vc];
        if self.holding().circuit(packet).acknowledged {
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

    /// A body has reached memory: the destination acknowledges it at once, unless its NIC decides.
    pub(super) fn body_delivered(&mut self, worm: u32) {
        let id = self.worms[worm as usize].packet.id;
        match &mut self.holding().withheld {
            Some(withheld) => {
                let before = withheld.insert(id, worm);
                assert!(before.is_none(), "circuits have numbers of their own");
            }
            None => self.send_acknowledge(worm),
        }
    }

    /// The NIC of its destination acknowledges a packet that has been delivered, now.
    ///
    /// # Panics
    /// If NICs do not decide, or no packet of this number waits for it.
    pub fn acknowledge(&mut self, id: u64) {
        let withheld = self.holding().withheld.as_mut().expect("NICs acknowledge packets");
        let worm = withheld.remove(&id).expect("a packet is acknowledged once");
        self.send_acknowledge(worm);
    }

    /// An acknowledge goes back, channel by channel.
    fn send_acknowledge(&mut self, worm: u32) {
        let channels = Tick::from(self.worms[worm as usize].hop + 1);
        let at = self.now + channels * self.holding().acknowledge;
        self.wheel.push(at, Event::Acknowledged(worm));
    }

    /// The acknowledge is back: the source may send the EOP.
    #[inline(never)]
    pub(super) fn acknowledged(&mut self, worm: u32, observer: &mut impl Observer) {
        let circuit = self.holding().circuit(worm);
        circuit.acknowledged = true;
        let vc = circuit.source;
        (self.vcs[vc].remaining, self.vcs[vc].arrives) = (1, NEVER);
        self.activate(vc);
        observer.acknowledged(&self.worms[worm as usize].packet, self.now);
    }
}
