//! Many flows into one port: windows, time-outs and what losses leave of its rate [tam, ch. 4].

use super::{FlowQuestion, as_us, both_as_us, some_as_us};
use crosstie_model::congestion::{Cycle, Loss, Timeouts, largest_window, loses, timeouts};
use crosstie_model::{Architecture, Buffer, Parameters};
use crosstie_units::Time;
use serde::Serialize;
use std::str::FromStr;

/// P senders and one receiver.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManyToOne {
    /// P.
    pub senders: u32,
    /// Where packets wait that the port cannot take yet.
    pub architecture: &'static str,
    /// How many can: B_L.
    pub frames: u32,
    /// What the port takes for a full packet: g_r.
    #[serde(serialize_with = "as_us")]
    pub slot: Time,
    /// The largest window with which nothing is lost.
    pub largest_window: u32,
    /// The shortest and the longest time-out recommended, in slots.
    pub timeout_slots: [f64; 2],
    /// The same as times.
    #[serde(serialize_with = "both_as_us")]
    pub timeout: [Time; 2],
    /// What becomes of a window.
    pub flow: Option<Flow>,
}

/// What becomes of senders with a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flow {
    /// W_FC.
    pub window: u32,
    /// How much of it a block fills.
    pub outstanding: u32,
    /// Whether packets are lost.
    pub loses: bool,
    /// When a packet is sent again, in slots.
    pub timeout_slots: f64,
    /// What of the port's rate is left, if it is known.
    pub efficiency: Option<f64>,
    /// The equation that says so.
    pub equation: Option<&'static str>,
    /// The time of all packets at that rate.
    #[serde(serialize_with = "some_as_us")]
    pub time: Option<Time>,
    /// Why it is not known.
    pub unknown: Option<&'static str>,
}

/// When a packet is sent again: in slots `400`, or a time `50ms`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Patience {
    /// In slots.
    Slots(f64),
    /// As a time.
    Time(Time),
}

impl FromStr for Patience {
    type Err = String;

    fn from_str(text: &str) -> Result<Patience, String> {
        let slots = text.trim().parse().ok().filter(|slots| (1.0..=1e9).contains(slots));
        let time = || text.parse().ok().filter(|&time| time > Time::ZERO).map(Patience::Time);
        slots.map(Patience::Slots).or_else(time).ok_or_else(|| {
            format!("found `{text}`, expected slots such as 400, or a time such as 50ms")
        })
    }
}

/// How often what is lost is lost how: `c,1-a,f` [tam, 4.3.1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses(Loss);

impl FromStr for Losses {
    type Err = String;

    fn from_str(text: &str) -> Result<Losses, String> {
        let numbers: Vec<f64> =
            text.split(',').map_while(|number| number.trim().parse().ok()).collect();
        let all = text.split(',').count();
        let share = |number: f64| (0.0..=1.0).contains(&number);
        match numbers[..] {
            [interrupted, severe, recovered]
                if all == 3
                    && [interrupted, severe, recovered].into_iter().all(share)
                    && interrupted > 0.0
                    && recovered > 0.0 =>
            {
                Ok(Losses(Loss { interrupted, severe, recovered }))
            }
            _ => Err(format!(
                "found `{text}`, expected three shares c,1-a,f from 0 to 1, such as 0.0218,0.0547,0.5329; \
                 c and f are not 0"
            )),
        }
    }
}

impl ManyToOne {
    /// Of blocks of so many bytes from all nodes but one; `None` if nobody knows what the router
    /// keeps.
    pub(super) fn of(
        parameters: &Parameters,
        bytes: u64,
        nodes: u32,
        flow: Option<FlowQuestion>,
    ) -> Option<ManyToOne> {
        let Buffer { architecture, frames } = parameters.buffer?;
        let senders = nodes - 1;
        let full = parameters.packet.get();
        let slot = parameters.packet_of(full, nodes).receive_gap;
        let recommended = timeouts(architecture, senders, frames);
        let Timeouts { shortest, longest } = recommended;
        let block = bytes.div_ceil(full).max(1);
        Some(ManyToOne {
            senders,
            architecture: architecture.name(),
            frames,
            slot,
            largest_window: largest_window(architecture, senders, frames),
            timeout_slots: [shortest, longest],
            timeout: recommended.times(slot),
            flow: flow.map(|flow| {
                let timeout = match flow.timeout {
                    None => longest,
                    Some(Patience::Slots(slots)) => slots,
                    Some(Patience::Time(time)) => time.ps() as f64 / slot.ps().max(1) as f64,
                };
                let least = slot * block * u64::from(senders);
                Port { architecture, frames, senders }.flow(flow, block, timeout, least)
            }),
        })
    }
}

/// The port that many send to.
struct Port {
    architecture: Architecture,
    frames: u32,
    senders: u32,
}

impl Port {
    /// What becomes of blocks of so many packets that take `least` if none is lost.
    fn flow(&self, flow: FlowQuestion, block: u64, timeout: f64, least: Time) -> Flow {
        let Port { architecture, frames, senders } = *self;
        let FlowQuestion { window, losses, .. } = flow;
        let outstanding = u32::try_from(block).map_or(window, |block| window.min(block));
        let lost = loses(architecture, outstanding, senders, frames);
        let (efficiency, equation, unknown) = match (lost, losses, architecture) {
            (false, ..) => (Some(1.0), None, None),
            (true, Some(Losses(loss)), _) => {
                (Some(loss.efficiency(senders, outstanding, frames, timeout)), Some("4.10"), None)
            }
            (true, None, Architecture::Input) => match Cycle::new(senders, outstanding, frames) {
                Some(cycle) => (Some(cycle.efficiency()), Some("4.2"), None),
                None if senders < 2 => (None, None, Some("4.2 is about several senders")),
                None => (None, None, Some("the window is larger than 4.2 holds for")),
            },
            (true, None, Architecture::Output | Architecture::Shared) => {
                (None, None, Some("4.9 needs to know what is lost how: --loss c,1-a,f"))
            }
        };
        let at = |rate: f64| Time::from_ps((least.ps() as f64 / rate).min(u64::MAX as f64) as u64);
        let time = efficiency.map(at);
        Flow {
            window,
            outstanding,
            loses: lost,
            timeout_slots: timeout,
            efficiency,
            equation,
            time,
            unknown,
        }
    }
}
