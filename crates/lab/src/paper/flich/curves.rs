//! Measures of the claims about Figures 1 and 2: latency by traffic on one network of each size.

use super::super::statistic::largest;
use super::scheme::Scheme;
use super::{Answer, Evidence, SIZES};
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Truth};

const LOAD: &str = "traffic.load";

/// Measures a claim; nothing if it is not about these figures.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["fig2", "shape", "ud_dfs_itb"] => alike(claim, e),
        ["fig2", "shape", "latency"] => lower_latency(e),
        ["fig2", size, scheme] => {
            let (size, scheme) = (size.strip_prefix("sw")?, Scheme::named(scheme)?);
            factor(e, size, scheme, scheme.base()).map(Measured::Number)
        }
        _ => return None,
    })
}

fn part(switches: &str) -> String {
    format!("fig1-2-{switches}")
}

/// The most that a scheme accepts at any load.
fn peak(e: &Evidence, switches: &str, scheme: Scheme) -> Result<Estimate, Missing> {
    let settings = [("routing", scheme.routing())];
    Ok(largest(&e.column(&part(switches), &settings, "accepted")?))
}

fn factor(e: &Evidence, switches: &str, of: Scheme, over: Scheme) -> Result<Estimate, Missing> {
    Ok(peak(e, switches, of)?.over(peak(e, switches, over)?))
}

fn alike(claim: &Claim, e: &Evidence) -> Answer {
    let (low, high) = claim.tolerance.map_or((1.0, 1.0), |tolerance| tolerance.around(1.0));
    let ratios = SIZES.map(|size| factor(e, size, Scheme::UdItb, Scheme::DfsItb));
    let ratios = ratios.into_iter().collect::<Result<Vec<_>, _>>()?;
    let holds = Truth::all(ratios.iter().map(|ratio| ratio.within(low, high)));
    let words: Vec<_> = ratios.iter().map(|ratio| format!("{:.2}", ratio.value)).collect();
    Ok(Measured::shape(holds, format!("UD_ITB over DFS_ITB: {}", words.join(", "))))
}

/// Latency at the lowest load of each figure.
fn lower_latency(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for size in SIZES {
        let latency = |scheme: Scheme| -> Result<Estimate, Missing> {
            let settings = [("routing", scheme.routing())];
            Ok(e.curve(&part(size), &settings, LOAD, "latency_mean")?[0].1)
        };
        let (dfs, ud) = (latency(Scheme::DfsItb)?, latency(Scheme::UdItb)?);
        holds.push(ud.above(dfs));
        words.push(format!("{size} switches: {:.1} and {:.1}", dfs.value, ud.value));
    }
    let text = format!("cycles with DFS_ITB and UD_ITB, {}", words.join("; "));
    Ok(Measured::shape(Truth::all(holds), text))
}
