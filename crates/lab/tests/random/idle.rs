//! Random work of two nodes that have a network for themselves: every channel in every world, rails
//! in both orders, with and without patience.
//!
//! Nothing can be lost there, and all time-outs are as recommended, so that
//!
//! - nothing is sent again, and no rail is taken for dead; on frames, which might be lost,
//!   `selective` may send one in [`PROBES`] packets again whose acknowledgement waits behind data
//!   that goes the other way;
//! - a policy that goes by what rails show (`fastest`, `pull`) is not slower than the best rail
//!   alone by more than [`OVERHEAD`] and two packets, in the median of its messages: some are sent
//!   to find out about the others;
//! - no policy is slower than the slowest rail alone by more than that, unless it reserves or is
//!   told to give one rail more than the others;
//! - for those that cut evenly or go by what rails show, the order in which rails are listed does
//!   not matter.

use crate::bench::{Bench, get};
use crate::draw::{Draw, choice};
use crate::ethernet::channel;
use crate::experiment::{Experiment, table};
use crate::frame::POLICIES;
use crosstie_lab::Silent;
use crosstie_study::{Row, Status, Study};
use crosstie_units::{Rate, Seed};
use std::sync::atomic::AtomicBool;
use toml::{Table, Value};

/// By how much more than the best rail alone takes several may take: envelopes on other rails,
/// pieces that are cut, and acknowledgements.
const OVERHEAD: f64 = 0.1;

/// One packet in this number may be sent again where frames might be lost.
const PROBES: f64 = 1000.0;

/// Rates of rails.
const RATES: [&str; 5] = ["10 Mbit/s", "100 Mbit/s", "250 Mbit/s", "1 Gbit/s", "10 Gbit/s"];

/// A case: its experiment, of which the last points are the rails and the same in reverse, and
/// those before each rail alone.
pub struct Idle {
    pub file: Experiment,
    policy: &'static str,
    /// How many of the points have several rails.
    lists: usize,
    /// What two packets take on the slowest rail, in microseconds.
    packets: f64,
}

impl Idle {
    pub fn draw(case: u64) -> Idle {
        let mut draw = Draw(Seed(case).stream("idle", 0));
        let mut file = Experiment::default();
        file.put("title", "Idle");
        file.put("seed", draw.seed());
        let world = draw.one(&["wormhole", "frame", "ideal"]);
        file.put("world", world);
        file.put("fabric.single.hosts", 2);
        file.put("link.flit", "1 B");
        file.put("link.wire", draw.one(&["15 ns", "1 us", "20 us"]));
        let rates: Vec<&str> = (0..draw.one(&[2, 2, 3])).map(|_| draw.one(&RATES)).collect();
        file.put("link.rate", rates[0]);
        // Static allocation has no place for two nodes on one rail.
        let policy = Some(draw.one(&POLICIES)).filter(|name| *name != "static").unwrap_or("basic");
        file.put("policy", policy);
        let size = draw.one(&[8, 1000, 5000, 30_000, 262_144, 1_048_576]);
        let packet = draw.one(&[1000, 1460, 0]);
        let packet = if packet == 0 && world == "frame" { 1460 } else { packet };
        if packet > 0 {
            file.put("nic.packet", format!("{packet} B"));
        }
        if draw.chance(0.5) {
            file.put("profile", "liu");
            file.put("message", Table::new());
        }
        let channel = if draw.chance(0.2) { "raw".into() } else { channel(&mut draw, false) };
        file.put("channel", channel);
        let named = file.choice("channel").expect("it has one").to_owned();
        let ordered = named.ends_with("go-back-n");
        file.put("switch.virtual-channels", if ordered { 1 } else { draw.one(&[1, 2, 8]) });
        if draw.chance(0.5) && named != "raw" && !["dynamic", "hybrid"].contains(&policy) {
            file.put("nic.patience", Table::new());
            if draw.chance(0.5) {
                file.put("nic.patience.least", draw.one(&["1 ns", "100 us"]));
            }
            if draw.chance(0.5) {
                file.put("nic.patience.round-trips", draw.one(&[1, 2]));
            }
        }
        if draw.chance(0.3) {
            file.put("node.commodity", table([("send", "2 us"), ("receive", "5 us")]));
        }
        file.put("work.ping", table([("size", format!("{size} B"))]));
        file.put("work.ping.iterations", 40);
        file.put("measure.max-cycles", 1_000_000_000_000_i64);
        let rates = if world == "wormhole" { vec![rates[0]; rates.len()] } else { rates };
        file.put("sweep.product", choice("cluster.rails", Table::new()));
        let rail = |rate: &&str| Value::from(table([("rate", *rate)]));
        let list = |rates: &[&str]| match world {
            "wormhole" => Value::from(rates.len() as i64),
            _ => rates.iter().map(rail).collect::<Vec<_>>().into(),
        };
        let reversed: Vec<&str> = rates.iter().rev().copied().collect();
        let mut points: Vec<Value> = Vec::new();
        let alone = rates.iter().map(|rate| list(&[rate]));
        for point in alone.chain([list(&rates), list(&reversed)]) {
            if !points.contains(&point) {
                points.push(point);
            }
        }
        let lists = if list(&rates) == list(&reversed) { 1 } else { 2 };
        file.keys["sweep"]["product"]["cluster.rails"] = points.into();
        let rate = |rate: &&str| rate.parse::<Rate>().expect("a rate").bytes_per_second();
        let slowest = rates.iter().map(rate).min().expect("there are rails") as f64;
        let longest = if packet > 0 { packet.min(size) } else { size };
        let packets = 2.0 * (longest + 100) as f64 / slowest * 1e6;
        Idle { file, policy, lists, packets }
    }

    /// Returns an error if something that is promised does not hold.
    pub fn check(&self) -> Result<(), String> {
        let bench = Bench::with(&[]);
        let path = bench.path("idle.toml");
        std::fs::write(&path, self.file.text()).map_err(|error| error.to_string())?;
        let study = Study::load(path).map_err(|mistake| mistake.to_string())?;
        let summary = bench.run(&study, "results", 1, &AtomicBool::new(false), &Silent);
        let rows = summary.map_err(|error| error.to_string())?.rows;
        for row in &rows {
            if row.status != Status::Completed {
                return Err(format!("it is not done: {row:?}"));
            }
            let count = |column| row.measured(column).unwrap_or(0.0);
            let probes = self.file.choice("world") == Some("frame")
                && self.file.choice("channel") == Some("selective");
            let resent = if probes { (count("sent") / PROBES).ceil() } else { 0.0 };
            for (column, most) in [("lost", 0.0), ("resent", resent), ("deaths", 0.0)] {
                if count(column) > most {
                    return Err(format!("{column} on an idle network: {row:?}"));
                }
            }
        }
        self.compare(&rows)
    }

    fn compare(&self, rows: &[Row]) -> Result<(), String> {
        let time = |row: &Row| get(row, "time_p50");
        let (alone, lists) = rows.split_at(rows.len() - self.lists);
        let best = alone.iter().map(time).fold(f64::INFINITY, f64::min);
        let worst = alone.iter().map(time).fold(0.0, f64::max);
        let bound = match self.policy {
            "fastest" | "pull" => best,
            "dynamic" | "hybrid" | "weighted-striping" => f64::INFINITY,
            _ => worst,
        };
        let bound = (1.0 + OVERHEAD) * bound + self.packets;
        let times: Vec<f64> = lists.iter().map(time).collect();
        if let Some(row) = lists.iter().find(|row| time(row) > bound) {
            return Err(format!("{times:?} us, alone {best} to {worst}, at most {bound}: {row:?}"));
        }
        let symmetric = ["fastest", "pull", "even-striping"].contains(&self.policy);
        let apart =
            times.iter().any(|time| (time - times[0]).abs() > OVERHEAD * best + self.packets);
        if symmetric && apart {
            return Err(format!("{times:?} us in the two orders of the rails"));
        }
        Ok(())
    }
}
