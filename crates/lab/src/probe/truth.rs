//! What a machine really takes, as far as that is known.

use crate::parameters::{buffer, derive};
use crate::{RoutedFabric, World};
use crosstie_model::{Buffer, Parameters};
use crosstie_study::{self as study, Commodity, Fabric, Memory, Spec};
use crosstie_units::{Cost, Time};

/// What is known about a machine.
pub(super) enum Truth<'a> {
    /// It is simulated: what its spec says.
    Configured(Box<Configured<'a>>),
    /// It is real.
    Real {
        /// What a packet takes on a link, if that has a rate.
        slot: Option<Box<dyn Fn(u32) -> Time + Sync + 'a>>,
        /// What its switch keeps.
        buffer: Option<Buffer>,
    },
}

/// Shorthands for what is known of one length.
impl Truth<'_> {
    fn configured(&self) -> Option<&Configured<'_>> {
        match self {
            Truth::Configured(configured) => Some(configured),
            Truth::Real { .. } => None,
        }
    }

    fn slot(&self, bytes: u32) -> Option<f64> {
        match self {
            Truth::Configured(_) => None,
            Truth::Real { slot, .. } => slot.as_ref().map(|slot| us(slot(bytes))),
        }
    }

    pub fn parameters(&self) -> Option<Parameters> {
        self.configured()?.parameters()
    }

    pub fn send(&self, bytes: u32) -> Option<f64> {
        self.configured()?.send(bytes)
    }

    pub fn send_gap(&self, bytes: u32) -> Option<f64> {
        self.slot(bytes).or_else(|| self.configured()?.send_gap(bytes))
    }

    pub fn receive_gap(&self, bytes: u32) -> Option<f64> {
        self.slot(bytes).or_else(|| self.configured()?.receive_gap(bytes))
    }

    pub fn receive(&self, bytes: u32) -> Option<f64> {
        self.configured()?.receive(bytes)
    }

    pub fn pickup(&self, bytes: u32) -> Option<f64> {
        self.configured()?.pickup(bytes)
    }

    pub fn latency(&self, bytes: u32, pairs: u32) -> Option<f64> {
        self.configured()?.latency(bytes, pairs)
    }

    pub fn buffer(&self, uplink: bool) -> Option<Buffer> {
        match self {
            Truth::Configured(configured) => configured.buffer(uplink),
            Truth::Real { buffer, .. } => *buffer,
        }
    }
}

/// What the spec of a simulated machine says.
pub(super) struct Configured<'a> {
    spec: &'a Spec,
    commodity: &'a Commodity,
    parameters: Parameters,
    hosts: u32,
}

impl<'a> Configured<'a> {
    pub fn of(spec: &'a Spec, commodity: &'a Commodity, world: &World) -> Configured<'a> {
        let network: &RoutedFabric = world.network();
        let hosts = network.fabric.hosts().len() as u32;
        Configured { spec, commodity, parameters: derive(spec, network, 0), hosts }
    }

    pub fn parameters(&self) -> Option<Parameters> {
        self.is_ethernet().then_some(self.parameters)
    }

    fn at(&self, cost: Cost, bytes: u32) -> f64 {
        us(cost.at(bytes.into(), self.hosts))
    }

    pub fn send(&self, bytes: u32) -> Option<f64> {
        Some(self.at(self.parameters.send, bytes) + us(self.commodity.jitter) / 2.0)
    }

    pub fn send_gap(&self, bytes: u32) -> Option<f64> {
        self.is_ethernet().then(|| self.at(self.parameters.send_gap, bytes))
    }

    pub fn receive_gap(&self, bytes: u32) -> Option<f64> {
        self.is_ethernet().then(|| self.at(self.parameters.receive_gap, bytes))
    }

    pub fn receive(&self, bytes: u32) -> Option<f64> {
        self.commodity.interrupts.then(|| self.at(self.parameters.receive, bytes))
    }

    /// What does not interrupt is received when it is picked up.
    pub fn pickup(&self, bytes: u32) -> Option<f64> {
        let Parameters { receive, pickup, .. } = self.parameters;
        let system = if self.commodity.interrupts { 0.0 } else { self.at(receive, bytes) };
        Some(self.at(pickup, bytes) + system)
    }

    /// Between so many pairs across the bisection. Those of one switch wait for its forwarding
    /// engine; where pairs share links, nobody knows.
    pub fn latency(&self, bytes: u32, pairs: u32) -> Option<f64> {
        let latency = || us(self.parameters.latency.at(bytes.into(), 2 * pairs));
        match self.spec.fabric {
            _ if !self.is_ethernet() => None,
            Fabric::Single { .. } => Some(latency()),
            Fabric::TwoLevel { .. } if pairs == 1 => Some(latency()),
            _ => None,
        }
    }

    /// The buffers of a switch with hosts, for what comes from these or from another switch.
    pub fn buffer(&self, uplink: bool) -> Option<Buffer> {
        let memory = self.spec.frame.switch.memory;
        let found = buffer(&memory);
        let frames = match memory {
            _ if !self.is_ethernet() => return None,
            Memory::Input { uplink: Some(capacity), hand_over, stage, circuit, .. } if uplink => {
                buffer(&Memory::Input { capacity, uplink: None, hand_over, stage, circuit }).frames
            }
            Memory::Shared { cap: None, uplink: Some(capacity), .. } if uplink => {
                found.frames + buffer(&Memory::Shared { capacity, cap: None, uplink: None }).frames
            }
            _ => found.frames,
        };
        Some(Buffer { frames, ..found })
    }

    fn is_ethernet(&self) -> bool {
        self.spec.world == study::World::Frame
    }
}

fn us(time: Time) -> f64 {
    time.seconds() * 1e6
}
