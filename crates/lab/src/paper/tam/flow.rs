//! Rows of chapters 4 to 6: at each setting, what flows carried over the seeds.

use super::super::Evidence;
use super::super::evidence::estimate;
use super::super::statistic::mean;
use crosstie_model::congestion::Loss;
use crosstie_study::paper::{Estimate, Missing};
use crosstie_study::{Row, Setting};

/// g_r: the time of a full packet on Fast Ethernet, in us.
pub(super) const SLOT: f64 = 123.04;
/// Its payload in bytes.
pub(super) const PAYLOAD: f64 = 1492.0;
/// What a port of Fast Ethernet carries at best, in MB/s of payload.
pub(super) const PORT: f64 = PAYLOAD / SLOT;

/// What a port of a box carries at best, of which real frames of 1514 bytes have 1448 of payload.
const LIVE_PORT: f64 = 1448.0 / 121.12;

/// The rows of one setting, one for each seed; of real ranks, one for each time.
#[derive(Debug, Clone)]
pub(super) struct Flow<'e> {
    rows: Vec<&'e Row>,
    /// What the port carries at best, in MB/s of payload.
    port: f64,
}

/// The rows of a part, by setting, in the order of its sweep.
pub(super) fn flows<'e>(e: &'e Evidence, part: &str) -> Result<Vec<Flow<'e>>, Missing> {
    let mut flows: Vec<Flow<'e>> = Vec::new();
    let port = if e.is_live() { LIVE_PORT } else { PORT };
    for row in e.rows(part)? {
        match flows.iter_mut().find(|flow| alike(flow.rows[0], row)) {
            Some(flow) => flow.rows.push(row),
            None => flows.push(Flow { rows: vec![row], port }),
        }
    }
    let unfinished = flows.iter().flat_map(|flow| &flow.rows).find(|row| carried(row).is_none());
    match unfinished {
        None => Ok(flows),
        Some(row) => {
            let (point, status) = (row.point, row.status);
            Err(Missing(format!("{part} carried nothing at point {point}: it ended {status}")))
        }
    }
}

/// Whether two rows differ in nothing but the seed.
fn alike(one: &Row, other: &Row) -> bool {
    let settings = |row: &Row| -> Vec<(String, Setting)> {
        row.settings.iter().filter(|(key, _)| key != "seed").cloned().collect()
    };
    settings(one) == settings(other)
}

fn carried(row: &Row) -> Option<Estimate> {
    estimate(row, "bandwidth")
}

/// The hosts of a list such as `20, 0-3, 10-12`.
pub(super) fn hosts(list: &str) -> Vec<u32> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let end = |text: &str| text.trim().parse::<u32>().ok();
        end(first).zip(end(last)).map(|(first, last)| first..=last)
    };
    list.split(',').filter_map(range).flatten().collect()
}

impl Flow<'_> {
    fn setting(&self, ending: &str) -> Option<&Setting> {
        let settings = &self.rows[0].settings;
        settings.iter().find(|(key, _)| key.ends_with(ending)).map(|(_, setting)| setting)
    }

    /// A swept key that is a number or a quantity.
    pub fn number(&self, ending: &str) -> Option<f64> {
        self.setting(ending)?.number()
    }

    /// A swept key as tables show it.
    pub fn text(&self, ending: &str) -> String {
        self.setting(ending).map(Setting::to_string).unwrap_or_default()
    }

    /// The hosts that take part, in the order of their ranks.
    pub fn hosts(&self) -> Vec<u32> {
        hosts(&self.text("schedule.hosts"))
    }

    /// P: those that send to one; 15 where that is not swept.
    pub fn senders(&self) -> u32 {
        let ranks = match self.number("schedule.ranks") {
            Some(ranks) => ranks as u32,
            None => self.hosts().len() as u32,
        };
        ranks.checked_sub(1).unwrap_or(15)
    }

    /// W_FC; 12 where that is not swept.
    pub fn window(&self) -> u32 {
        self.number("window").map_or(12, |window| window as u32)
    }

    /// The time-out in slots.
    pub fn slots(&self) -> u32 {
        (self.number("timeout").unwrap_or(0.0) * 1e6 / SLOT).round() as u32
    }

    /// How much hosts jitter, in us.
    pub fn jitter(&self) -> f64 {
        self.number("jitter").unwrap_or(0.0) * 1e6
    }

    /// A column over the seeds; nothing if no seed has it.
    pub fn column(&self, column: &str) -> Option<Estimate> {
        let found: Vec<Estimate> =
            self.rows.iter().filter_map(|row| estimate(row, column)).collect();
        match found[..] {
            [] => None,
            [one] => Some(one),
            _ => Some(mean(&found)),
        }
    }

    /// Payload over time, of all flows together, in MB/s.
    pub fn bandwidth(&self) -> Estimate {
        let found: Vec<Estimate> = self.rows.iter().filter_map(|row| carried(row)).collect();
        match found[..] {
            [one] => one,
            _ => mean(&found),
        }
    }

    /// Throughput efficiency: the time that the packets would take at best over what they took.
    pub fn efficiency(&self) -> Estimate {
        self.bandwidth().scaled(1.0 / self.port)
    }

    /// Packets lost, over all seeds.
    pub fn lost(&self) -> f64 {
        self.rows.iter().filter_map(|row| row.measured("lost")).sum()
    }

    /// Packets lost in each run. Where acknowledgements alone are lost, nothing is sent again, and
    /// nothing counts.
    pub fn losses(&self) -> Vec<f64> {
        let lost = |row: &&Row| match row.measured("resent") {
            Some(0.0) => 0.0,
            _ => row.measured("lost").unwrap_or(0.0),
        };
        self.rows.iter().map(lost).collect()
    }

    /// What Eq. 4.10 makes of the chances that were counted; nothing if none were.
    pub fn predicted(&self, frames: u32) -> Option<f64> {
        let chance = |column| self.column(column).map(|chance| chance.value);
        let loss = Loss {
            interrupted: chance("interruption")?,
            severe: chance("severity")?,
            recovered: chance("recovery")?,
        };
        let slots = f64::from(self.slots());
        let found = loss.efficiency(self.senders(), self.window(), frames, slots);
        found.is_finite().then_some(found)
    }
}

/// The flow of so many senders with this window and time-out.
pub(super) fn at<'f, 'e>(
    flows: &'f [Flow<'e>],
    part: &str,
    (senders, window, slots): (u32, u32, u32),
) -> Result<&'f Flow<'e>, Missing> {
    let fits = |flow: &&Flow<'_>| {
        (flow.senders(), flow.window(), flow.slots()) == (senders, window, slots)
    };
    flows.iter().find(fits).ok_or_else(|| {
        Missing(format!(
            "{part} has no point with {senders} senders, window {window}, time-out {slots} slots"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_hosts_are_read() {
        assert_eq!(hosts("20, 0-3, 10-12"), [20, 0, 1, 2, 3, 10, 11, 12]);
        assert_eq!(hosts("0-1, 12-13").len(), 4);
        assert!(hosts("").is_empty());
    }
}
