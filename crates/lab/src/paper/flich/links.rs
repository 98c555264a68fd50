//! Measures of the claims about Figure 3: how busy the channels between switches are, and for how
//! long they are blocked.

use super::super::statistic::{largest, smallest};
use super::super::{Drawing, drawing};
use super::scheme::Scheme;
use super::{Answer, Evidence};
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Truth};
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
            let measured: fn(&[Estimate]) -> Estimate = match what {
                "lt10" => |links| share(links, f64::NEG_INFINITY, 10.0),
                "gt30" => |links| share(links, 30.0, f64::INFINITY),
                "in15_20" => |links| share(links, 15.0, 20.0),
                "n_gt50" => {
                    |links| share(links, 50.0, f64::INFINITY).scaled(links.len() as f64 / 100.0)
                }
                "min" => smallest,
                "max" => largest,
                _ => return None,
            };
            utilisation(e, of).map(|links| Measured::Number(measured(&links)))
        }
        ["blocked", scheme, _] => {
            let links = links(e, HIGH, Scheme::named(scheme)?, |channel| channel.blocked);
            links.map(|links| Measured::Number(largest(&links)))
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
            let links = links(e, load, scheme, number)?;
            let mut links: Vec<f64> = links.into_iter().map(|link| link.value).collect();
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

/// Flits of a packet: 512 bytes, a byte each.
const PACKET: f64 = 512.0;
/// Standard errors of a count on either side of a 95 % interval.
const ERRORS: f64 = 1.96;

/// A number in per cent for every channel between switches. What a channel does is as sure as a
/// count of the packets that it carried.
fn links(
    e: &Evidence,
    load: &str,
    scheme: Scheme,
    number: Number,
) -> Result<Vec<Estimate>, Missing> {
    let settings = [(ROUTING, scheme.routing()), ("traffic.load", load)];
    let channels = e.channels(PART, &settings)?;
    let between = channels.into_iter().filter(|channel| channel.kind == "link");
    let estimate = |channel: &ChannelRow| {
        let (value, packets) = (100.0 * number(channel), channel.flits as f64 / PACKET);
        match packets > 0.0 {
            true => Estimate::about(value, value * ERRORS / packets.sqrt()),
            false => Estimate::exact(value),
        }
    };
    Ok(between.map(estimate).collect())
}

fn utilisation(e: &Evidence, scheme: Scheme) -> Result<Vec<Estimate>, Missing> {
    links(e, LOW, scheme, |channel| channel.utilisation)
}

/// The share of links between two ends, in per cent: at least those that certainly are, at most
/// those that may be.
fn share(links: &[Estimate], min: f64, max: f64) -> Estimate {
    let percent = |fits: &dyn Fn(&Estimate) -> bool| {
        100.0 * links.iter().filter(|link| fits(link)).count() as f64 / links.len() as f64
    };
    Estimate {
        value: percent(&|link| min <= link.value && link.value <= max),
        low: percent(&|link| link.within(min, max) == Truth::Holds),
        high: percent(&|link| link.within(min, max) != Truth::Fails),
    }
}

/// Whether two schemes load channels alike: no share of channels below a utilisation differs by
/// more than the tolerance.
fn alike(claim: &Claim, e: &Evidence, one: Scheme, other: Scheme) -> Answer {
    let tolerance = claim.tolerance.map_or(0.0, |tolerance| tolerance.around(0.0).1);
    let (one, other) = (utilisation(e, one)?, utilisation(e, other)?);
    let apart = |limit: f64| {
        let below = |links| share(links, f64::NEG_INFINITY, limit).scaled(0.01);
        below(&one).minus(below(&other))
    };
    let limits = || one.iter().chain(&other).map(|link| link.value);
    let holds = Truth::all(limits().map(|limit| apart(limit).within(-tolerance, tolerance)));
    let distance = limits().map(|limit| apart(limit).value.abs()).fold(0.0, f64::max);
    let text = format!("shares of channels differ by at most {:.0} %", 100.0 * distance);
    Ok(Measured::shape(holds, text))
}

fn balance(e: &Evidence) -> Answer {
    let [smart, dfs, ud] = [Scheme::Smart, Scheme::Dfs, Scheme::Ud].map(|s| utilisation(e, s));
    let [smart, dfs, ud] = [deviation(&smart?), deviation(&dfs?), deviation(&ud?)];
    let text = format!(
        "standard deviation, %: SMART {:.1}, DFS {:.1}, UD {:.1}",
        smart.value, dfs.value, ud.value
    );
    Ok(Measured::shape(Truth::all([dfs.above(smart), ud.above(dfs)]), text))
}

/// How unevenly links are loaded: the standard deviation over them. Noise adds to it, so that it is
/// hardly more than what was seen, and may be less by all of the noise.
fn deviation(links: &[Estimate]) -> Estimate {
    let count = links.len() as f64;
    let mean = links.iter().map(|link| link.value).sum::<f64>() / count;
    let seen = links.iter().map(|link| (link.value - mean).powi(2)).sum::<f64>() / count;
    let noise = links.iter().map(|link| ((link.high - link.value) / ERRORS).powi(2)).sum::<f64>();
    let low = (seen - noise / count).max(0.0).sqrt();
    Estimate { value: seen.sqrt(), low, high: seen.sqrt() }
}
