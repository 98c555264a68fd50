//! Measures of what applications gain (section 6.2.3), by kernels that compute and exchange in
//! turn.

use super::Answer;
use super::comparison::margin;
use super::design::{Design, EVEN, ONE};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Measured, Missing, Truth};

const PART: &str = "kernels";
/// Blocks for one other process, of 8: FT in classes A and B, and IS in classes A and B.
const FT: [&str; 2] = ["2 MiB", "8 MiB"];
const IS: [&str; 2] = ["512 KiB", "2 MiB"];

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    Some(match claim.id.as_str() {
        "app.ft.comm" => saved(e, &FT).map(|saved| Measured::exact(100.0 * saved)),
        "app.is.comm" => saved(e, &IS).map(|saved| Measured::exact(100.0 * saved)),
        "app.is.run" | "app.vis.comm" | "app.vis.run" => Ok(Measured::beyond(
            "how much is computed, and what is sent, is not stated; kernels that compute for any share are measured in its place",
        )),
        "ours.kernels.share" => scaled(claim, e),
        _ => return None,
    })
}

/// A kernel on one rail and on two.
struct Kernel {
    /// How long an iteration computes, in us.
    compute: f64,
    /// How long it takes.
    one: f64,
    two: f64,
}

impl Kernel {
    fn at(e: &Evidence, size: &str, compute: &str) -> Result<Kernel, Missing> {
        let time = |design: Design| {
            let kernel = [("work.all-to-all.size", size), ("schedule.compute", compute)];
            let settings = [design, &kernel].concat();
            let rows = e.pick(PART, &settings)?;
            let computed = rows[0].setting("schedule.compute").and_then(|time| time.number());
            let took = e.estimate(PART, &settings, "time_mean")?.value;
            Ok((1e6 * computed.unwrap_or(0.0), took))
        };
        let ((compute, one), (_, two)) = (time(ONE)?, time(EVEN)?);
        Ok(Kernel { compute, one, two })
    }

    /// How much less time communication takes with two rails, as a share.
    fn communication(&self) -> f64 {
        1.0 - (self.two - self.compute) / (self.one - self.compute)
    }

    /// How much less time all of it takes.
    fn run(&self) -> f64 {
        1.0 - self.two / self.one
    }

    /// The share of communication in the time with one rail.
    fn share(&self) -> f64 {
        1.0 - self.compute / self.one
    }
}

/// How much less time communication takes at most, with nothing computed between.
fn saved(e: &Evidence, sizes: &[&str]) -> Result<f64, Missing> {
    let computes = e.values(PART, "schedule.compute")?;
    let found = sizes.iter().map(|size| Kernel::at(e, size, &computes[0]));
    let found = found.collect::<Result<Vec<Kernel>, Missing>>()?;
    Ok(found.iter().map(Kernel::communication).fold(f64::NEG_INFINITY, f64::max))
}

/// Whether a run gains what communication gains, times its share.
fn scaled(claim: &Claim, e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for compute in e.values(PART, "schedule.compute")? {
        let kernel = Kernel::at(e, IS[1], &compute)?;
        let (share, saved, run) = (kernel.share(), kernel.communication(), kernel.run());
        holds.push(Truth::of((run - share * saved).abs() <= margin(claim) && saved > 0.0));
        words.push(format!(
            "{:.0} % of the time is communication: that takes {:.0} % less, all of it {:.0} %",
            100.0 * share,
            100.0 * saved,
            100.0 * run
        ));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}
