//! What an exchange may lose.
//!
//! The price of a schedule follows packets of nodes that begin together and never wait: nodes are
//! *in step*, and in each step no two packets go to one port. Then only uplinks make packets wait,
//! and whether a memory overflows is known. Nodes fall out of step when a window between two nodes
//! is full (k > W_FC), since an acknowledgement then decides when the next packet goes. From then
//! on packets of different steps meet:
//!
//! | memory | of omega senders at a time | is too small if |
//! |---|---|---|
//! | at outputs | a packet of each of two rounds may wait | B_L <= 2 omega, or p - 1 |
//! | shared | the same at each of p ports | B_L / p is |
//! | at inputs | an input passes a share s(omega), and the rest waits | B_L < k omega (1 - s) |
//!
//! With one partner at a time it takes longer until they meet: a node that is ahead by a round
//! sends to one that another still sends to, and W_FC packets may wait at a port (k > 2 W_FC). At
//! an uplink with memory at inputs, those for all d_1 hosts wait in one queue.
//!
//! s is the throughput of saturated input queues: a packet at the head that waits for its port
//! holds up those behind it [Karol, Hluchyj and Morgan, 1987]. A global window keeps nodes in step,
//! as a node that is ahead waits for the others.
//!
//! Packets of two senders never meet to the picosecond: a port needs room for one that leaves and
//! one that comes. What losses cost is not predicted.

use crosstie_collective::Window;
use crosstie_collective::algorithm::AllToAll;
use crosstie_model::{Architecture, Exchange, Parameters};
use serde::Serialize;
use std::fmt;

/// What an algorithm may lose, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// A port has no room for a packet that leaves and one that comes.
    Narrow {
        /// Packets that a port keeps.
        frames: u32,
    },
    /// Nodes out of step fill a memory: more packets may meet than it keeps.
    OutOfStep {
        /// Packets that may wait at a port.
        waiting: u64,
        /// Packets that it keeps.
        frames: u32,
        /// The share that an input passes, where packets hold up those behind them.
        #[serde(skip_serializing_if = "Option::is_none")]
        passes: Option<f64>,
    },
    /// A memory overflows even if nodes are in step, unless windows between two nodes, which have
    /// no price, hold packets back.
    Overflows(String),
}

impl Risk {
    /// Higher where losses are surer.
    pub fn level(&self) -> u8 {
        match self {
            Risk::Narrow { .. } | Risk::OutOfStep { .. } => 1,
            Risk::Overflows(_) => 2,
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Risk::Narrow { frames } => write!(
                f,
                "may lose packets: a port keeps {frames}, and has no room for one that leaves and one that comes"
            ),
            Risk::OutOfStep { waiting, frames, passes } => {
                write!(f, "may lose packets: out of step, ")?;
                if let Some(passes) = passes {
                    write!(f, "inputs pass {:.0} % and ", passes * 100.0)?;
                }
                write!(f, "{waiting} may wait at a port that keeps {frames}")
            }
            Risk::Overflows(what) => {
                let what = what.split(';').next().unwrap_or(what);
                write!(f, "loses packets unless windows between nodes hold them back: {what}")
            }
        }
    }
}

/// What an algorithm may lose on a machine with windows between two nodes of W_FC, if nothing
/// overflows in step.
pub(super) fn of(
    parameters: &Parameters,
    exchange: Exchange,
    between: Option<u32>,
    algorithm: AllToAll,
    window: Option<Window>,
) -> Option<Risk> {
    let omega = fan_out(exchange, algorithm);
    match window {
        Some(window) => {
            let alone = window.packets == 1;
            narrow(parameters, exchange, omega).filter(|_| !alone)
        }
        None => of_fan_out(parameters, exchange, between, omega),
    }
}

/// Partners at a time.
fn fan_out(exchange: Exchange, algorithm: AllToAll) -> u32 {
    match algorithm {
        AllToAll::Shift {} | AllToAll::Pairwise { .. } => 1,
        AllToAll::GroupShuffle { group, .. } => group.min(exchange.colours()),
        _ => exchange.ranks - 1,
    }
}

/// Senders whose packets may meet at a port: two if a global window keeps nodes in step.
pub(super) fn meeting(exchange: Exchange, algorithm: AllToAll, window: Option<Window>) -> u32 {
    let omega = fan_out(exchange, algorithm);
    if window.is_some() { omega.min(2) } else { omega }
}

/// The frames that a port keeps, if that is known: of shared memory its part.
fn per_port(parameters: &Parameters, exchange: Exchange) -> Option<(Architecture, u32)> {
    let buffer = parameters.buffer?;
    let ports = parameters.uplink.map_or(exchange.ranks, |uplink| uplink.hosts.min(exchange.ranks));
    let frames = match buffer.architecture {
        Architecture::Input | Architecture::Output => buffer.frames,
        Architecture::Shared => buffer.frames / ports,
    };
    Some((buffer.architecture, frames))
}

/// Why chance decides what is lost, whatever the algorithm, if it does: a port keeps a single
/// packet, and of any two that meet there one is lost.
pub(super) fn chance(parameters: &Parameters, exchange: Exchange) -> Option<&'static str> {
    let (_, frames) = per_port(parameters, exchange)?;
    (exchange.ranks > 2 && frames < 2)
        .then_some("a port keeps a single packet, and which packets meet there is chance")
}

/// Returns a risk if a port has no room for two packets where it needs it: where two senders meet,
/// and behind a switch that stores, where packets of one sender follow each other.
fn narrow(parameters: &Parameters, exchange: Exchange, omega: u32) -> Option<Risk> {
    let (architecture, frames) = per_port(parameters, exchange)?;
    let follow = exchange.packets > 1 && architecture != Architecture::Input;
    (frames < 2 && (omega > 1 || follow)).then_some(Risk::Narrow { frames })
}

/// What `omega` senders at a time may lose without a global window.
pub(super) fn of_fan_out(
    parameters: &Parameters,
    exchange: Exchange,
    between: Option<u32>,
    omega: u32,
) -> Option<Risk> {
    if let Some(risk) = narrow(parameters, exchange, omega) {
        return Some(risk);
    }
    if omega == 1 {
        return of_pairs(parameters, exchange, between?);
    }
    let (architecture, frames) = per_port(parameters, exchange)?;
    let in_step = between.is_none_or(|window| exchange.packets <= u64::from(window));
    if in_step {
        return None;
    }
    let (waiting, passes) = match architecture {
        // A node that is ahead by a round meets those of the round before; and one leaves.
        Architecture::Output | Architecture::Shared => {
            (u64::from((2 * omega).min(exchange.ranks - 1)) + 1, None)
        }
        Architecture::Input => {
            let passes = saturation(omega);
            let all = exchange.packets * u64::from(omega);
            ((all as f64 * (1.0 - passes)).ceil() as u64, Some(passes))
        }
    };
    (waiting > u64::from(frames)).then_some(Risk::OutOfStep { waiting, frames, passes })
}

/// What rounds of one partner at a time may lose: a node that is ahead by a round sends to one that
/// another still sends to, and what a window lets out waits. An uplink keeps what comes for all
/// hosts of its switch in one queue.
fn of_pairs(parameters: &Parameters, exchange: Exchange, between: u32) -> Option<Risk> {
    let (architecture, own) = per_port(parameters, exchange)?;
    let between = u64::from(between);
    if exchange.packets <= 2 * between {
        return None;
    }
    let behind = parameters.uplink.filter(|uplink| uplink.hosts < exchange.ranks);
    let (waiting, frames) = match (architecture, behind) {
        (Architecture::Input, Some(uplink)) => {
            (between * u64::from(uplink.hosts), uplink.frames.unwrap_or(own))
        }
        _ => (between, own),
    };
    (waiting > u64::from(frames)).then_some(Risk::OutOfStep { waiting, frames, passes: None })
}

/// What inputs pass of all they could, if packets for `outputs` outputs wait at each, in order:
/// head of line blocking. 2 - sqrt(2) for very many.
fn saturation(outputs: u32) -> f64 {
    /// For 1 to 8 outputs [Karol, Hluchyj and Morgan, 1987, table I].
    const FEW: [f64; 8] = [1.0, 0.75, 0.6825, 0.6553, 0.6399, 0.6302, 0.6234, 0.6184];
    match FEW.get(outputs.max(1) as usize - 1) {
        Some(passes) => *passes,
        None => 2.0 - std::f64::consts::SQRT_2,
    }
}
