//! What was found, as a model file.

use super::{Capacity, Measured, Probe};
use crosstie_model::Cost;
use crosstie_model::fit::Finding;
use std::fmt::Write;

impl Probe {
    /// The parameters with the keys of a model, and how each was measured as a comment.
    pub fn to_toml(&self) -> String {
        let parameters = &self.parameters;
        let mut text =
            "# The communication parameters of a cluster, as probes have measured them.\n"
                .to_owned();
        _ = writeln!(
            text,
            "\n# The longest message that is one packet.\npacket = \"{}\"",
            parameters.packet
        );
        if parameters.least.get() > 0 {
            _ = writeln!(
                text,
                "\n# What is shorter is filled up on the wire.\nleast = \"{}\"",
                parameters.least
            );
        }
        let costs = [
            parameters.send,
            parameters.send_gap,
            parameters.latency,
            parameters.receive_gap,
            parameters.receive,
            parameters.pickup,
        ];
        for (measured, cost) in self.costs.iter().zip(costs) {
            _ = writeln!(text, "\n# {}\n{} = {}", measured.comment(), measured.key, inline(cost));
        }
        _ = writeln!(text, "\n# B_L: {}", self.buffer.comment());
        if let Some(uplink) = &self.uplink {
            _ = writeln!(text, "# B_L of what comes from other switches: {}", uplink.comment());
        }
        if let Some(buffer) = parameters.buffer {
            _ = writeln!(
                text,
                "[buffer]\narchitecture = \"{}\"\nframes = {}",
                buffer.architecture, buffer.frames
            );
        }
        text
    }
}

/// A cost as an inline table.
fn inline(cost: Cost) -> String {
    let keys = toml::to_string(&cost).expect("a cost is a table of times");
    match keys.trim() {
        "" => "\"0 ps\"".to_owned(),
        keys => format!("{{ {} }}", keys.replace('\n', ", ")),
    }
}

impl Measured {
    fn comment(&self) -> String {
        let Measured { symbol, samples, fit, .. } = self;
        let fitted = samples.iter().filter(|sample| sample.left_out.is_none()).count();
        let timings: usize = samples.iter().map(|sample| sample.count).sum();
        let discarded: usize = samples.iter().map(|sample| sample.discarded).sum();
        let noise = match discarded {
            0 => String::new(),
            discarded => format!(" ({discarded} others were noise)"),
        };
        match fit {
            Err(reason) => format!("{symbol}: not resolved, {reason}{noise}. This stands for it:"),
            Ok(fit) => {
                let truth = fit.error.map_or(String::new(), |error| {
                    format!("; within {:.2} % of the truth", error * 100.0)
                });
                let full = samples.iter().max_by_key(|sample| (sample.bytes, !sample.nodes));
                let spread = full.and_then(|full| Some((full.bytes, full.spread?)));
                let spread = spread.map_or(String::new(), |(bytes, [low, high])| {
                    format!("; of {bytes} B, eight in ten between {low:.3} and {high:.3} us")
                });
                format!(
                    "{symbol}: {timings} timings{noise}; fitted to {fitted} of {} means of the middle 80 %, r^2 {:.4}, \
                     off by {:.3} us at most{truth}{spread}.",
                    samples.len(),
                    fit.r_squared,
                    fit.residual
                )
            }
        }
    }
}

impl Capacity {
    fn comment(&self) -> String {
        let bursts: Vec<String> = self
            .bursts
            .iter()
            .map(|b| format!("{} to {}: {:.1}", b.sources, b.sinks, b.frames()))
            .collect();
        let kept = match bursts.is_empty() {
            _ if self.overflowed => "sinks had no room for what came".to_owned(),
            true => "nothing of any burst was lost".to_owned(),
            false => format!("kept of bursts, sources to sinks: {}", bursts.join(", ")),
        };
        match &self.finding {
            Finding::Resolved { buffer, error, .. } => {
                let resolution = match self.open {
                    0 => format!("within {:.2} %", error * 100.0),
                    _ => format!("within {:.1} frames", self.resolution().unwrap_or(0.0)),
                };
                let (frames, place) = (buffer.frames, buffer.architecture);
                format!("{frames} frames, {place}, {resolution}; {kept}.")
            }
            Finding::NotResolved { candidates } if candidates.is_empty() => {
                format!("not resolved; {kept}.")
            }
            Finding::NotResolved { candidates } => {
                let names: Vec<&str> = candidates.iter().map(|place| place.name()).collect();
                format!("not resolved, may be {}; {kept}.", names.join(" or "))
            }
        }
    }
}
