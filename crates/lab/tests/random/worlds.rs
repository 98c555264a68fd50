//! Random work of two nodes that have a network for themselves, in three worlds.
//!
//! Nobody waits for anybody else, so that
//!
//! - the model agrees with the frame network within [`MODEL`], or its row says what the model
//!   leaves out or only estimates;
//! - the frame network is not faster than the ideal one, and slower by no more than what its switch
//!   and its frames take: one more wire, one more transmission of a packet, and [`FRAMING`] bytes
//!   for each packet. A window of go-back-N may wait for that once a packet, there and back; a
//!   rendezvous and a reservation are [`CONTROLS`] packets more, and who reserves does so for each
//!   envelope of a rendezvous.
//!
//! Three kinds of nodes wait for each other all the same, and how often depends on when things
//! come. There the two may differ either way, by as much as
//!
//! - a way in frames for every [`FOUND`] packets, there and back, where a selective channel finds
//!   its window: a message that is longer waits for acknowledgements;
//! - a way for every [`PULLED`] packets, where `pull` waits for a processor that is interrupted by
//!   each packet. While they come faster than it receives them it picks none up, so that all of
//!   them are told of together, when nothing is on the way any more;
//! - the time on all rails but one, and an exchange on each of these, where a long message reserves
//!   rails: NICs that still have to do with the envelope before are not free. The message goes
//!   without them, and without their FINs.

use crate::bench::{Bench, get};
use crate::draw::Draw;
use crate::ethernet::channel;
use crate::experiment::{Experiment, table};
use crate::frame::POLICIES;
use crosstie_lab::Silent;
use crosstie_study::{Row, Status, Study};
use crosstie_units::{Rate, Seed};
use std::sync::atomic::AtomicBool;
use toml::{Table, Value};

/// By what share the model may differ from the frame network; and where it estimates how messages
/// share rails, and nothing else.
const MODEL: f64 = 0.02;
const SHARED: f64 = 0.15;

/// What a frame may have besides the bytes of a message: headers, padding, the gap between frames,
/// and an acknowledgement.
const FRAMING: f64 = 160.0;

/// Control packets that a message may wait for.
const CONTROLS: f64 = 4.0;

/// The least window of a selective channel that loses nothing, in packets: what it keeps beside
/// what the way carries.
const FOUND: u32 = 6;

/// The least that `pull` has under way on a rail, in packets: one, and a part of one for the time
/// that it is on its way.
const PULLED: u32 = 2;

/// Messages longer than that ask first.
const EAGER: u32 = 16 * 1024;

/// Microseconds for which a selective channel holds an acknowledgement back at most.
const HELD: [(&str, f64); 2] = [("5 us", 5.0), ("100 us", 100.0)];
const USUALLY_HELD: f64 = 10.0;

/// Messages of a stream that are under way at once.
const WINDOW: u32 = 8;

/// A case.
pub struct Worlds {
    pub file: Experiment,
    /// By how much the frame network may be slower than the ideal one, in microseconds.
    slack: f64,
    /// By how much they may differ either way besides.
    apart: f64,
    /// The least that the bytes take.
    least: f64,
}

impl Worlds {
    pub fn draw(case: u64) -> Worlds {
        let mut draw = Draw(Seed(case).stream("worlds", 0));
        let mut file = Experiment::default();
        file.put("title", "Worlds");
        file.put("seed", draw.seed());
        file.put("fabric.single.hosts", 2);
        let rate = draw.one(&["10 Mbit/s", "100 Mbit/s", "1 Gbit/s", "10 Gbit/s"]);
        let (wire_text, wire) = draw.one(&[("15 ns", 0.015), ("1 us", 1.0), ("20 us", 20.0)]);
        file.put("link.rate", rate);
        file.put("link.wire", wire_text);
        let packet = draw.one(&[500_u32, 1000, 1460]);
        file.put("nic.packet", format!("{packet} B"));
        let rails = draw.one(&[1_u32, 1, 1, 2, 4]);
        file.put("cluster.rails", rails);
        if rails > 1 {
            let policy = draw.one(&POLICIES);
            file.put("policy", Some(policy).filter(|&it| it != "static").unwrap_or("pull"));
        }
        if draw.chance(0.2) {
            file.put("profile", "liu");
            file.put("message", Table::new());
        }
        let channel = if draw.chance(0.6) { "raw".into() } else { channel(&mut draw, false) };
        file.put("channel", channel);
        if draw.chance(0.3) {
            file.put("node.commodity", table([("send", "2 us"), ("receive", "5 us")]));
        } else if draw.chance(0.3) {
            file.put("node.overhead.message", "3 us");
        }
        let size = draw.one(&[0_u32, 1, 8, 499, 1461, 5000, 30_000, 262_144, 1_000_003]);
        let messages = if draw.chance(0.6) {
            file.put("work.ping", table([("size", format!("{size} B"))]));
            file.put("work.ping.iterations", 40);
            2
        } else {
            file.put("work.stream", table([("size", format!("{} B", size.max(1)))]));
            file.put("work.stream.window", WINDOW);
            file.put("work.stream.iterations", 40);
            WINDOW + 1
        };
        file.put("measure.max-cycles", 100_000_000_000_i64);
        file.put("sweep.product.world", vec![Value::from("model"), "ideal".into(), "frame".into()]);
        let rate = rate.parse::<Rate>().expect("a rate").bytes_per_second() as f64 / 1e6;
        let packets = f64::from(size.div_ceil(packet).max(1));
        let switch = wire + (f64::from(packet) + FRAMING) / rate;
        let channel = file.choice("channel").unwrap_or("raw");
        let mut waits = match channel {
            "go-back-n" | "simple-go-back-n" => 2.0 * packets,
            _ => 1.0,
        };
        let asks = file.keys.contains_key("message");
        let policy = file.choice("policy").unwrap_or(if asks { "pull" } else { "round-robin" });
        let reserves = ["dynamic", "hybrid"].contains(&policy);
        let is_long = asks && size > EAGER;
        // RTS, CTS, the data, and a FIN on each rail.
        let exchanges = if is_long { 3 + rails } else { 1 };
        waits += if reserves { CONTROLS * f64::from(exchanges) } else { 0.0 };
        waits += if asks { CONTROLS } else { 0.0 };
        let message = waits * switch + packets * FRAMING / rate;
        // To the switch and on, and what the processors take for a packet.
        let commodity = file.get("node.commodity").is_some();
        let way = 2.0 * switch + if commodity { 2.0 + 5.0 } else { 0.0 };
        let rounds = |least| (packets / f64::from(least)).ceil();
        let mut apart = 0.0;
        if channel == "selective" {
            let after = file.get("channel.selective.after").and_then(Value::as_str);
            let held = HELD.iter().find(|(text, _)| after == Some(text));
            apart += rounds(FOUND) * (2.0 * way + held.map_or(USUALLY_HELD, |(_, held)| *held));
        }
        if policy == "pull" && commodity {
            apart += rounds(PULLED) * if channel == "raw" { way } else { 2.0 * way };
        }
        if reserves && is_long {
            let others = f64::from(rails - 1);
            let exchange = CONTROLS * (wire + FRAMING / rate);
            apart += f64::from(size) / rate * others / f64::from(rails) + others * exchange;
        }
        let messages = f64::from(messages);
        let least = 2.0 * f64::from(size) / rate / f64::from(rails);
        Worlds { file, slack: messages * message, apart: messages * apart, least }
    }

    /// Returns an error if the worlds disagree.
    pub fn check(&self) -> Result<(), String> {
        let bench = Bench::with(&[]);
        let path = bench.path("worlds.toml");
        std::fs::write(&path, self.file.text()).map_err(|error| error.to_string())?;
        let study = Study::load(path).map_err(|mistake| mistake.to_string())?;
        let summary = bench.run(&study, "results", 1, &AtomicBool::new(false), &Silent);
        let rows = summary.map_err(|error| error.to_string())?.rows;
        let [model, ideal, frame] = &rows[..] else { return Err(format!("{} rows", rows.len())) };
        if let Some(row) = [ideal, frame].into_iter().find(|row| row.status != Status::Completed) {
            return Err(format!("it is not done: {row:?}"));
        }
        let time = |row: &Row| get(row, "time_p50");
        let bound = match model.note.split_once("only estimated by the model: ") {
            _ if model.status != Status::Completed => f64::INFINITY,
            _ if model.note.contains("not used by the model") => f64::INFINITY,
            Some((_, "policy")) => SHARED,
            Some(_) => f64::INFINITY,
            None => MODEL,
        };
        if (time(model) / time(frame) - 1.0).abs() > bound {
            return Err(format!("model {} us, frame {} us: {model:?}", time(model), time(frame)));
        }
        let least = (0.99 * time(ideal) - self.apart).max(0.99 * self.least);
        let most = 1.02 * time(ideal) + self.slack + self.apart;
        match (least..=most).contains(&time(frame)) {
            true => Ok(()),
            false => {
                Err(format!("frame {} us, expected {least} to {most}: {frame:?}", time(frame)))
            }
        }
    }
}
