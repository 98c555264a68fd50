//! Measures of the claims about Figure 3: how busy the channels between switches are, and for how
//! long they are blocked.

use super::super::{Drawing, drawing};
use super::scheme::Scheme;
use super::{Answer, Evidence};
use crosstie_study::paper::{Claim, Measured, Missing};
use crosstie_study::{ChannelRow, Figure, Row};

const PART: &str = "fig3";
/// 0.03 and 0.05 flits/ns/switch, as loads: over 0.64.
const LOW: &str = "0.046875";
const HIGH: &str = "0.078125";

/// Measures a claim; nothing if it is not about this figure.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["util", "shape", "dfs_itb"] => alike(claim, e, Scheme::DfsItb, Scheme::UdItb),
        ["util", "shape", "b_itb"] => alike(claim, e, Scheme::BItb, Scheme::Smart),
        ["util", "shape", "balance"] => balance(e),
        ["util", scheme, what] => {
            let of = Scheme::named(scheme)?;
            let measured: fn(&[f64]) -> f64 = match what {
                "lt10" => |links| share(links, |busy| busy < 10.0),
                "gt30" => |links| share(links, |busy| busy > 30.0),
                "in15_20" => |links| share(links, |busy| (15.0..=20.0).contains(&busy)),
                "n_gt50" => |links| links.iter().filter(|&&busy| busy > 50.0).count() as f64,
                "min" => |links| links.iter().copied().fold(f64::INFINITY, f64::min),
                "max" => most,
                _ => return None,
            };
            utilisation(e, of).map(|links| Measured::number(measured(&links)))
        }
        ["blocked", scheme, _] => {
            let links = links(e, HIGH, Scheme::named(scheme)?, |channel| channel.blocked);
            links.map(|links| Measured::number(most(&links)))
        }
        _ => return None,
    })
}

/// Figure 3 as the paper has it: how many channels are how busy, and for how long they are blocked.
pub(super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    let utilisation: Number = |channel| channel.utilisation;
    let blocked: Number = |channel| channel.blocked;
    let with_stops = Scheme::WITH_STOPS.as_slice();
    let without = &[Scheme::Ud, Scheme::Dfs, Scheme::Smart];
    let drawings = [
        ("fig3a", "utilisation at 0.03 flits/ns/switch", without.as_slice(), LOW, utilisation),
        ("fig3b", "utilisation at 0.03 flits/ns/switch, with stops", with_stops, LOW, utilisation),
        (
            "fig3c",
            "blocked time at 0.05 flits/ns/switch",
            &[Scheme::Smart, Scheme::BItb],
            HIGH,
            blocked,
        ),
    ];
    let drawn = drawings.into_iter().map(|(name, title, schemes, load, number)| {
        let mut rows = Vec::new();
        for &scheme in schemes {
            let mut links = links(e, load, scheme, number)?;
            links.sort_by(f64::total_cmp);
            rows.extend((0..=SLICES).map(|slice| quantile(&links, slice, scheme)));
        }
        let title = format!("Figure {}: {title}", &name[3..]);
        let figure = drawing::plain(name, title, SHARE, BUSY, ROUTING);
        Ok((Figure { x_range: Some([0.0, 100.0]), ..figure }, rows))
    });
    // Without its part there is nothing to draw.
    drawn.collect::<Result<_, Missing>>().unwrap_or_default()
}

/// Into how many slices a figure cuts the channels, from the least busy to the busiest.
const SLICES: usize = 20;
const SHARE: &str = "channels, %";
const BUSY: &str = "time, %";
const ROUTING: &str = "routing";

/// What so many slices of the channels do not exceed.
fn quantile(sorted: &[f64], slice: usize, scheme: Scheme) -> Row {
    let place = slice * (sorted.len() - 1) / SLICES;
    let share = 100.0 * slice as f64 / SLICES as f64;
    drawing::point((ROUTING, scheme.routing()), (SHARE, share), (BUSY, sorted[place]))
}

type Number = fn(&ChannelRow) -> f64;

/// A number in per cent for every channel between switches.
fn links(e: &Evidence, load: &str, scheme: Scheme, number: Number) -> Result<Vec<f64>, Missing> {
    let settings = [(ROUTING, scheme.routing()), ("traffic.load", load)];
    let channels = e.channels(PART, &settings)?;
    let between = channels.into_iter().filter(|channel| channel.kind == "link");
    Ok(between.map(|channel| 100.0 * number(channel)).collect())
}

fn utilisation(e: &Evidence, scheme: Scheme) -> Result<Vec<f64>, Missing> {
    links(e, LOW, scheme, |channel| channel.utilisation)
}

/// The share of links in per cent.
fn share(links: &[f64], fits: fn(f64) -> bool) -> f64 {
    100.0 * links.iter().filter(|&&link| fits(link)).count() as f64 / links.len() as f64
}

fn most(links: &[f64]) -> f64 {
    links.iter().copied().fold(0.0, f64::max)
}

/// Whether two schemes load channels alike: no share of channels below a utilisation differs by more
/// than the tolerance.
fn alike(claim: &Claim, e: &Evidence, one: Scheme, other: Scheme) -> Answer {
    let tolerance = claim.tolerance.map_or(0.0, |tolerance| tolerance.around(0.0).1);
    let (one, other) = (utilisation(e, one)?, utilisation(e, other)?);
    let below = |links: &[f64], limit: f64| {
        links.iter().filter(|&&link| link <= limit).count() as f64 / links.len() as f64
    };
    let limits = one.iter().chain(&other);
    let distance =
        limits.map(|&limit| (below(&one, limit) - below(&other, limit)).abs()).fold(0.0, f64::max);
    let text = format!("shares of channels differ by at most {:.0} %", 100.0 * distance);
    Ok(Measured::shape(distance <= tolerance, text))
}

fn balance(e: &Evidence) -> Answer {
    let deviation = |scheme| -> Result<f64, Missing> {
        let links = utilisation(e, scheme)?;
        let count = links.len() as f64;
        let mean = links.iter().sum::<f64>() / count;
        Ok((links.iter().map(|link| (link - mean).powi(2)).sum::<f64>() / count).sqrt())
    };
    let (smart, dfs, ud) =
        (deviation(Scheme::Smart)?, deviation(Scheme::Dfs)?, deviation(Scheme::Ud)?);
    let text = format!("standard deviation, %: SMART {smart:.1}, DFS {dfs:.1}, UD {ud:.1}");
    Ok(Measured::shape(smart < dfs && dfs < ud, text))
}
