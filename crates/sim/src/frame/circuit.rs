//! Circuits: what both directions of a port to another switch share.

use super::framing;
use super::memory::NONE;
use super::spec::Circuit;
use crosstie_units::Time;

/// The circuits of all ports.
#[derive(Debug, Default)]
pub(super) struct Circuits {
    /// The port that frames come to by a channel, and the port that they leave by it: two ports at
    /// its two ends. Empty if there are no circuits.
    to: Vec<u32>,
    from: Vec<u32>,
    ports: Vec<Port>,
}

/// A port with a circuit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Port {
    circuit: Circuit,
    pub input: u32,
    pub output: u32,
    /// When its circuit has passed the last frame.
    free: Time,
    /// True if that frame came from the other switch.
    is_inward: bool,
}

/// Which way a frame passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

impl Circuits {
    /// A port has a circuit: the channel by which frames come, and the one by which they leave, of
    /// all channels.
    pub fn add(&mut self, circuit: Circuit, (input, output): (u32, u32), channels: usize) {
        self.to.resize(channels, NONE);
        self.from.resize(channels, NONE);
        self.to[input as usize] = self.ports.len() as u32;
        self.from[output as usize] = self.ports.len() as u32;
        self.ports.push(Port { circuit, input, output, free: Time::ZERO, is_inward: false });
    }

    fn number(&self, way: Way, channel: u32) -> usize {
        let ports = if way == Way::In { &self.to } else { &self.from };
        ports.get(channel as usize).copied().unwrap_or(NONE) as usize
    }

    /// The port with a circuit that frames pass on a channel, if it is one.
    #[inline]
    pub fn port(&self, way: Way, channel: u32) -> Option<&Port> {
        self.ports.get(self.number(way, channel))
    }

    /// Returns true if frames pass no circuit there, or one that is free.
    #[inline]
    pub fn is_free(&self, way: Way, channel: u32, now: Time) -> bool {
        self.port(way, channel).is_none_or(|port| port.free <= now)
    }

    /// The output whose frame goes before the next one of an input: the input had the last turn.
    pub fn rival(&self, input: u32) -> Option<u32> {
        self.port(Way::In, input).filter(|port| port.is_inward).map(|port| port.output)
    }

    /// A frame passes. Returns when it has, if there is a circuit.
    #[inline]
    pub fn pass(&mut self, way: Way, channel: u32, now: Time, bytes: u32) -> Option<Time> {
        let number = self.number(way, channel);
        let port = self.ports.get_mut(number)?;
        port.is_inward = way == Way::In;
        let Circuit { inward, outward } = port.circuit;
        let pace = if port.is_inward { inward } else { outward };
        port.free = now + pace.time_for(framing::occupied(bytes));
        Some(port.free)
    }
}
