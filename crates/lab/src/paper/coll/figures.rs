//! Measures of the claims about Figures 7 to 20: each asks the rows of one or two parts. Every row
//! is a run of its own, and intervals are of confidence.

use super::super::Evidence;
use super::super::statistic::{largest, smallest};
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

type Answer = Result<Measured, Missing>;

const SHORT: &str = "fig07-10-4k";
const LONG: &str = "fig07-10-64k";
const STRIPED: &str = "fig17-20-striped";
const UNSTRIPED: &str = "fig17-20-unstriped";

const LOAD: &str = "traffic.load";
const SIZE: &str = "traffic.size.exponential.mean";
const RAILS: &str = "cluster.rails";
const NODES: &str = "fabric.tree.hosts";

const LOCAL_UNSTRIPED: &str = "local-dynamic(striping=0)";
const DYNAMIC_UNSTRIPED: &str = "dynamic(striping=0)";

/// How much of what a scheme accepts at most is certainly below its saturation.
const WELL_BELOW: f64 = 0.6;

/// What is within this share of something is not more than it: two things that are the same would
/// otherwise never be told to be.
const SAME: f64 = 0.05;

/// Measures a claim; nothing if it is not about these figures.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "metric.ceiling" => ceiling(e),
        "metric.presaturation" => below_saturation(e),
        "metric.postsaturation" => beyond_saturation(e),
        "headline.dynamic_vs_local" => largest_gain(e, "local-dynamic"),
        "headline.dynamic_vs_basic" => largest_gain(e, "basic"),
        "f7_10.basic_size" => by_size(e, "basic", Trend::Falls),
        "f7_10.dynamic_size" => by_size(e, "dynamic", Trend::Rises),
        "f7_10.short_order" => order(e, SHORT, ["basic", "local-dynamic", "dynamic"]),
        "f7_10.long_order" => order(e, LONG, ["dynamic", "local-dynamic", "basic"]),
        "f7_10.local_latency" => local_latency(e),
        "striping.bandwidth" => striping_bandwidth(e),
        "striping.latency" => striping_latency(e),
        "striping.full_best" => full_striping(e),
        "f10.dynamic_striping_gain" => striping_gain(e, "dynamic", DYNAMIC_UNSTRIPED),
        "f10.local_striping_gain" => striping_gain(e, "local-dynamic", LOCAL_UNSTRIPED),
        "f10.latency_crossover" => load_crossover(e),
        "f11.size_crossover" => size_crossover(e),
        "f12.gain_32" => gain_at(e, "32"),
        "f12.gain_128" => gain_at(e, "128"),
        "f12.loss_min" => loss_by_nodes(e, smallest),
        "f12.loss_max" => loss_by_nodes(e, largest),
        "f13.dynamic_size" => by_size_and_rails(e, "dynamic", Trend::Rises),
        "f13.basic_size" => by_size_and_rails(e, "basic", Trend::Falls),
        "f13.dynamic_rails" | "concl.rails_linear" => level(e, "fig14", "dynamic", RAILS),
        "f13.improve_size" | "concl.superlinear_size" => improving_size(e),
        "f14.dynamic" => rails_of_dynamic(e),
        "f14.basic_loss" => loss_of_basic(e),
        "f15.basic" => latency_of_basic(e),
        "f15.striped" => latency_striped(e),
        "f15.unstriped" => latency_unstriped(e),
        "f16.dynamic" => accepted(e, "fig16", &[("scheme", "dynamic")], SIZE)
            .map(|curve| trend(&[("dynamic".to_owned(), curve)], Trend::Rises)),
        "f16.others" => flat_others(e),
        "f17_20.bandwidth" => hybrid_bandwidth(e),
        "f17_20.latency" => hybrid_latency(e),
        "f17_20.latency_unstriped" => dynamic_beside_hybrid(e),
        "concl.hybrid_vs_dynamic" => hybrid_gain(e, "dynamic"),
        "concl.hybrid_vs_basic" => hybrid_gain(e, "basic"),
        "concl.hybrid_vs_local" => hybrid_gain(e, "local-dynamic"),
        _ => return None,
    })
}

type Curve = Vec<(f64, Estimate)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trend {
    Rises,
    Falls,
}

/// What a part accepts against a swept key.
fn accepted(
    e: &Evidence,
    part: &str,
    settings: &[(&str, &str)],
    x: &str,
) -> Result<Curve, Missing> {
    e.curve(part, settings, x, "accepted")
}

fn latency(e: &Evidence, part: &str, scheme: &str, x: &str) -> Result<Curve, Missing> {
    e.curve(part, &[("scheme", scheme)], x, "latency_mean")
}

/// The most that a scheme accepts at any load.
fn peak(e: &Evidence, part: &str, scheme: &str) -> Result<Estimate, Missing> {
    let curve = accepted(e, part, &[("scheme", scheme)], LOAD)?;
    Ok(largest(&curve.into_iter().map(|(_, y)| y).collect::<Vec<_>>()))
}

/// By how many per cent one is more than the other.
fn gain(more: Estimate, less: Estimate) -> Estimate {
    more.over_independent(less).shifted(-1.0).scaled(100.0)
}

/// By how many per cent one is less than the other.
fn loss(less: Estimate, more: Estimate) -> Estimate {
    gain(less, more).scaled(-1.0)
}

/// Whether one is not more than the other.
fn not_more(one: Estimate, other: Estimate) -> Truth {
    one.over_independent(other).within(f64::NEG_INFINITY, 1.0 + SAME)
}

fn percent(ratio: f64) -> String {
    format!("{:+.0} %", 100.0 * (ratio - 1.0))
}

fn load(estimate: Estimate) -> String {
    spelled(estimate, 3)
}

/// A value with the larger half of its interval.
fn spelled(Estimate { value, low, high }: Estimate, decimals: usize) -> String {
    format!("{value:.decimals$} ± {:.decimals$}", (high - value).max(value - low))
}

/// Whether one value follows on the other as it should.
fn goes(from: Estimate, to: Estimate, wanted: Trend) -> Truth {
    match wanted {
        Trend::Rises => to.above_independent(from),
        Trend::Falls => from.above_independent(to),
    }
}

/// Whether all curves go one way from end to end, and nowhere the other way beyond noise.
fn trend(curves: &[(String, Curve)], wanted: Trend) -> Measured {
    let holds = curves.iter().map(|(_, curve)| {
        let back = curve.windows(2).map(|pair| goes(pair[1].1, pair[0].1, wanted));
        goes(curve[0].1, curve[curve.len() - 1].1, wanted).unless(back)
    });
    Measured::shape(Truth::all(holds), ends(curves))
}

/// The first and the last value of each curve, in words.
fn ends(curves: &[(String, Curve)]) -> String {
    let words = curves.iter().map(|(name, curve)| {
        let (first, last) = (curve[0].1.value, curve[curve.len() - 1].1.value);
        format!("{name}: {first:.3} to {last:.3}")
    });
    words.collect::<Vec<_>>().join("; ")
}

/// Whether a curve stays within a tenth of its mean, and how far it strays from it.
fn is_level(curve: &Curve) -> (Truth, f64) {
    let mean = curve.iter().map(|(_, y)| y.value).sum::<f64>() / curve.len() as f64;
    let shares = || curve.iter().map(|(_, y)| y.scaled(1.0 / mean));
    let stray = shares().map(|share| (share.value - 1.0).abs()).fold(0.0, f64::max);
    (Truth::all(shares().map(|share| share.within(0.9, 1.1))), stray)
}

/// Points of two curves at the same places.
fn pairs(a: &Curve, b: &Curve) -> Pairs {
    let beside = |&(x, y): &(f64, Estimate)| {
        let (_, other) = b.iter().find(|(at, _)| *at == x)?;
        Some((x, y, *other))
    };
    a.iter().filter_map(beside).collect()
}

fn ceiling(e: &Evidence) -> Answer {
    let mut all = Vec::new();
    for part in [SHORT, LONG, "fig12", "fig13", "fig14", "fig16", STRIPED, UNSTRIPED] {
        all.extend(e.column(part, &[], "accepted")?);
    }
    Ok(Measured::Number(largest(&all).scaled(100.0)))
}

/// All points well below saturation together: single ones are no surer than their statistics.
fn below_saturation(e: &Evidence) -> Answer {
    // Each point counts by how well it is known.
    let (mut sum, mut weights) = (0.0, 0.0);
    for part in [SHORT, LONG] {
        for scheme in e.values(part, "scheme")? {
            let most = peak(e, part, &scheme)?.value;
            for row in e.pick(part, &[("scheme", &scheme)])? {
                let Some(offered) = row.measured("offered").filter(|&x| x < WELL_BELOW * most)
                else {
                    continue;
                };
                let accepted = row.measured("accepted").unwrap_or(0.0);
                let spread = row.measured("accepted_ci").unwrap_or(accepted) / offered;
                // What seems to be known exactly does not outweigh all others.
                let weight = spread.max(1e-3).powi(-2);
                sum += (accepted / offered - 1.0) * weight;
                weights += weight;
            }
        }
    }
    if weights == 0.0 {
        return Err(Missing("no point lies well below saturation".to_owned()));
    }
    let gap = Estimate::about(sum / weights, 1.0 / weights.sqrt());
    Ok(Measured::Number(gap.scaled(100.0)))
}

fn beyond_saturation(e: &Evidence) -> Answer {
    let mut shares = Vec::new();
    for part in [SHORT, LONG] {
        for scheme in e.values(part, "scheme")? {
            let curve = accepted(e, part, &[("scheme", &scheme)], LOAD)?;
            let Some(((_, last), others)) = curve.split_last().filter(|(_, rest)| !rest.is_empty())
            else {
                return Err(Missing(format!("{part} has one load of {scheme}")));
            };
            let shares_of = others.iter().map(|(_, other)| last.over_independent(*other));
            let share = smallest(&shares_of.collect::<Vec<_>>());
            shares.push((share, format!("{scheme} in {part}")));
        }
    }
    let holds = Truth::all(shares.iter().map(|(share, _)| share.within(0.9, f64::INFINITY)));
    let least = shares.iter().min_by(|a, b| a.0.value.total_cmp(&b.0.value));
    let (share, place) = least.expect("a part sweeps its schemes");
    let share = 100.0 * share.value;
    let text = format!("at the highest load at least {share:.0} % of any other ({place})");
    Ok(Measured::shape(holds, text))
}

/// Over all settings in which both schemes were driven beyond saturation: the curves against the
/// load at their highest, and the points of the parts that run at one high load.
fn largest_gain(e: &Evidence, other: &str) -> Answer {
    let mut settings = Vec::new();
    for part in [SHORT, LONG] {
        settings.push((peak(e, part, "dynamic")?, peak(e, part, other)?));
    }
    for (part, x) in [("fig12", NODES), ("fig16", SIZE)] {
        let of = |scheme| accepted(e, part, &[("scheme", scheme)], x);
        let points = pairs(&of("dynamic")?, &of(other)?);
        settings.extend(points.into_iter().map(|(_, dynamic, other)| (dynamic, other)));
    }
    let gains: Vec<_> = settings.into_iter().map(|(dynamic, other)| gain(dynamic, other)).collect();
    Ok(Measured::Number(largest(&gains)))
}

fn by_size(e: &Evidence, scheme: &str, wanted: Trend) -> Answer {
    let (short, long) = (peak(e, SHORT, scheme)?, peak(e, LONG, scheme)?);
    let text = format!("4 KB: {}, 64 KB: {}", load(short), load(long));
    Ok(Measured::shape(goes(short, long, wanted), text))
}

/// Whether schemes stand in this order by the most they accept: the first before the last, and no
/// neighbours the other way round beyond noise.
fn order(e: &Evidence, part: &str, schemes: [&str; 3]) -> Answer {
    let peaks = schemes.map(|scheme| peak(e, part, scheme).map(|most| (scheme, most)));
    let [first, second, third] = peaks;
    let peaks = [first?, second?, third?];
    let turned = peaks.windows(2).map(|pair| pair[1].1.above_independent(pair[0].1));
    let holds = peaks[0].1.above_independent(peaks[2].1).unless(turned);
    let words = peaks.map(|(scheme, most)| format!("{scheme} {}", load(most)));
    Ok(Measured::shape(holds, words.join(", ")))
}

fn local_latency(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for part in [SHORT, LONG] {
        let local = latency(e, part, "local-dynamic", LOAD)?;
        let points = pairs(&local, &latency(e, part, "basic", LOAD)?);
        let lower = points.iter().map(|(_, local, basic)| basic.above_independent(*local));
        holds.push(Truth::at_least(points.len() / 2 + 1, lower));
        let lower = points.iter().filter(|(_, local, basic)| local.value < basic.value).count();
        let (_, local, basic) = points.first().ok_or_else(|| nothing(part))?;
        let change = percent(local.value / basic.value);
        words.push(format!(
            "{part}: lower at {lower} of {} loads, {change} at the least",
            points.len()
        ));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

fn nothing(part: &str) -> Missing {
    Missing(format!("{part} has no point with a latency of both schemes"))
}

const TWINS: [(&str, &str); 2] =
    [("local-dynamic", LOCAL_UNSTRIPED), ("dynamic", DYNAMIC_UNSTRIPED)];

fn striping_bandwidth(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for part in [SHORT, LONG] {
        for (striped, unstriped) in TWINS {
            let ratio = peak(e, part, striped)?.over_independent(peak(e, part, unstriped)?);
            holds.push(ratio.within(1.0 - SAME, 1.0 + SAME));
            words.push(format!("{striped} in {part} {}", percent(ratio.value)));
        }
    }
    Ok(Measured::shape(Truth::all(holds), words.join(", ")))
}

/// What striping takes off the latency of a scheme at 64 KB and the lowest load, in per cent.
fn striping_gain(e: &Evidence, striped: &str, unstriped: &str) -> Answer {
    let points = pairs(&latency(e, LONG, striped, LOAD)?, &latency(e, LONG, unstriped, LOAD)?);
    let (_, with, without) = points.first().ok_or_else(|| nothing(LONG))?;
    Ok(Measured::Number(loss(*with, *without)))
}

fn striping_latency(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for (striped, unstriped) in TWINS {
        let ratios = |part| -> Result<Vec<Estimate>, Missing> {
            let with = latency(e, part, striped, LOAD)?;
            let points = pairs(&with, &latency(e, part, unstriped, LOAD)?);
            Ok(points.iter().map(|(_, with, without)| with.over_independent(*without)).collect())
        };
        let (short, long) = (ratios(SHORT)?, ratios(LONG)?);
        let (Some(&short_low), Some(&long_low)) = (short.first(), long.first()) else {
            return Err(nothing(LONG));
        };
        let long_high = long[long.len() - 1];
        holds
            .extend([short_low.above_independent(long_low), long_high.above_independent(long_low)]);
        words.push(format!(
            "{striped} at the lowest load: 4 KB {}, 64 KB {}; at the highest with a latency: 64 KB {}",
            percent(short_low.value),
            percent(long_low.value),
            percent(long_high.value)
        ));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

/// Only the two ends of the ratio were run: none and all.
fn full_striping(e: &Evidence) -> Answer {
    let mut holds = Vec::new();
    for part in [SHORT, LONG] {
        for (striped, unstriped) in TWINS {
            let with = latency(e, part, striped, LOAD)?;
            let points = pairs(&with, &latency(e, part, unstriped, LOAD)?);
            holds.extend(points.into_iter().map(|(_, with, without)| not_more(with, without)));
        }
    }
    let text = format!("latency is not higher than without striping at {}", share_of(&holds));
    Ok(Measured::shape(Truth::all(holds), text))
}

/// At how many points something holds, in words.
fn share_of(holds: &[Truth]) -> String {
    let count = |wanted| holds.iter().filter(|&&truth| truth == wanted).count();
    let (certain, open, points) = (count(Truth::Holds), count(Truth::Open), holds.len());
    match open {
        0 => format!("{certain} of {points} points"),
        open => format!("{certain} of {points} points, and perhaps at {open} more"),
    }
}

/// Two curves at the same places.
type Pairs = Vec<(f64, Estimate, Estimate)>;

/// Where the first of two curves falls below the second for good, by interpolation; the interval
/// reaches from the first place where that may be to the last. If it is nowhere, whether that is
/// sure.
fn crossing(points: &Pairs) -> Result<Estimate, Truth> {
    let value = falls_below(points, |ratio| ratio.value);
    // The curve of the least ratios crosses first, that of the largest last; beyond the ends of the
    // sweep nothing is known.
    let low = falls_below(points, |ratio| ratio.low);
    let high = falls_below(points, |ratio| ratio.high);
    match (value, low, high) {
        (Place::At(value), low, high) => Ok(Estimate {
            value,
            low: low.number().unwrap_or(f64::NEG_INFINITY),
            high: high.number().unwrap_or(f64::INFINITY),
        }),
        (Place::Before, _, Place::Before) | (Place::After, Place::After, _) => Err(Truth::Fails),
        _ => Err(Truth::Open),
    }
}

/// Where a curve falls below another for good: within the sweep, before it, or after it if at all.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Before,
    At(f64),
    After,
}

impl Place {
    fn number(self) -> Option<f64> {
        match self {
            Place::At(x) => Some(x),
            Place::Before | Place::After => None,
        }
    }
}

fn falls_below(points: &Pairs, part: fn(Estimate) -> f64) -> Place {
    let difference =
        |&(_, a, b): &(f64, Estimate, Estimate)| part(a.over_independent(b)).max(0.0).ln();
    let Some(last) = points.iter().rposition(|point| difference(point) >= 0.0) else {
        return Place::Before;
    };
    let Some(after) = points.get(last + 1) else { return Place::After };
    let before = &points[last];
    let (high, low) = (difference(before), difference(after));
    let share = match (high.is_finite(), low.is_finite()) {
        (true, true) => high / (high - low),
        // A ratio without a bound lets the crossing lie anywhere up to the next point.
        (false, _) => 1.0,
        (true, false) => 0.0,
    };
    Place::At(before.0 + (after.0 - before.0) * share)
}

fn load_crossover(e: &Evidence) -> Answer {
    let dynamic = latency(e, LONG, "dynamic", LOAD)?;
    let points = pairs(&dynamic, &latency(e, LONG, "local-dynamic", LOAD)?);
    Ok(match crossing(&points) {
        Ok(load) => Measured::Number(load.scaled(100.0)),
        Err(truth) => Measured::shape(truth, one_side(&points, "dynamic", "local-dynamic", "load")),
    })
}

/// What is to be said of two curves that do not cross.
fn one_side(points: &Pairs, one: &str, other: &str, x: &str) -> String {
    let lower = points.iter().filter(|(_, a, b)| a.value < b.value).count();
    let ratios: Vec<String> = points
        .iter()
        .map(|(at, a, b)| format!("{} at {x} {at}", percent(a.value / b.value)))
        .collect();
    let count = points.len();
    format!("{one} is lower than {other} at {lower} of {count}: {}", ratios.join(", "))
}

/// The smallest size from which on dynamic has the lowest latency of all schemes.
fn size_crossover(e: &Evidence) -> Answer {
    let dynamic = latency(e, "fig11", "dynamic", SIZE)?;
    let mut best = Pairs::new();
    for scheme in e.values("fig11", "scheme")?.iter().filter(|scheme| *scheme != "dynamic") {
        for (x, ours, theirs) in pairs(&dynamic, &latency(e, "fig11", scheme, SIZE)?) {
            match best.iter_mut().find(|(at, ..)| *at == x) {
                Some((_, _, least)) => *least = smallest(&[*least, theirs]),
                None => best.push((x, ours, theirs)),
            }
        }
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Sizes are swept by doubling, so the crossing lies between two of them in the logarithm.
    let logarithmic: Vec<_> = best.iter().map(|&(x, a, b)| (x.log2(), a, b)).collect();
    Ok(match crossing(&logarithmic) {
        Ok(size) => Measured::Number(kilobytes(size)),
        Err(truth) => {
            Measured::shape(truth, one_side(&best, "dynamic", "the best of the others", "size"))
        }
    })
}

/// A size of which the logarithm is known.
fn kilobytes(Estimate { value, low, high }: Estimate) -> Estimate {
    Estimate { value: value.exp2(), low: low.exp2(), high: high.exp2() }.scaled(1.0 / 1024.0)
}

fn at_nodes(e: &Evidence, scheme: &str, nodes: &str) -> Result<Estimate, Missing> {
    e.estimate("fig12", &[("scheme", scheme), (NODES, nodes)], "accepted")
}

fn gain_at(e: &Evidence, nodes: &str) -> Answer {
    Ok(Measured::Number(gain(at_nodes(e, "dynamic", nodes)?, at_nodes(e, "basic", nodes)?)))
}

fn loss_by_nodes(e: &Evidence, pick: fn(&[Estimate]) -> Estimate) -> Answer {
    let mut losses = Vec::new();
    for scheme in ["basic", "dynamic"] {
        losses.push(loss(at_nodes(e, scheme, "128")?, at_nodes(e, scheme, "32")?));
    }
    Ok(Measured::Number(pick(&losses)))
}

fn by_size_and_rails(e: &Evidence, scheme: &str, wanted: Trend) -> Answer {
    let mut curves = Vec::new();
    for rails in e.values("fig13", RAILS)? {
        let curve = accepted(e, "fig13", &[("scheme", scheme), (RAILS, &rails)], SIZE)?;
        let word = if rails == "1" { "rail" } else { "rails" };
        curves.push((format!("{rails} {word}"), curve));
    }
    Ok(trend(&curves, wanted))
}

/// Whether a curve stays within a tenth of its mean.
fn level(e: &Evidence, part: &str, scheme: &str, x: &str) -> Answer {
    let curve = accepted(e, part, &[("scheme", scheme)], x)?;
    let (holds, stray) = is_level(&curve);
    let text = format!(
        "{}; at most {:.0} % from the mean",
        ends(&[(scheme.to_owned(), curve)]),
        100.0 * stray
    );
    Ok(Measured::shape(holds, text))
}

/// The smallest size from which on the most rails carry more per rail than one.
fn improving_size(e: &Evidence) -> Answer {
    let rails = e.values("fig13", RAILS)?;
    let of = |rails: &str| accepted(e, "fig13", &[("scheme", "dynamic"), (RAILS, rails)], SIZE);
    let (one, most) = (of(&rails[0])?, of(&rails[rails.len() - 1])?);
    let points: Vec<_> =
        pairs(&one, &most).iter().map(|&(x, one, most)| (x.log2(), one, most)).collect();
    Ok(match crossing(&points) {
        Ok(size) => Measured::Number(kilobytes(size)),
        Err(truth) => {
            let (_, one, most) = points.last().ok_or_else(|| nothing("fig13"))?;
            let change = percent(most.value / one.value);
            Measured::shape(truth, format!("no such size; {change} at the largest"))
        }
    })
}

fn rails_of_dynamic(e: &Evidence) -> Answer {
    let curve = accepted(e, "fig14", &[("scheme", "dynamic")], RAILS)?;
    let (first, last) = (curve[0].1, curve[curve.len() - 1].1);
    Ok(Measured::shape(last.above_independent(first), ends(&[("dynamic".to_owned(), curve)])))
}

fn loss_of_basic(e: &Evidence) -> Answer {
    let curve = accepted(e, "fig14", &[("scheme", "basic")], RAILS)?;
    Ok(Measured::Number(loss(curve[curve.len() - 1].1, curve[0].1)))
}

/// A latency with the fewest and with the most rails.
fn by_rails(e: &Evidence, scheme: &str) -> Result<(Estimate, Estimate), Missing> {
    let curve = latency(e, "fig15", scheme, RAILS)?;
    Ok((curve[0].1, curve[curve.len() - 1].1))
}

fn latency_of_basic(e: &Evidence) -> Answer {
    let (first, last) = by_rails(e, "basic")?;
    let network = e.curve("fig15", &[("scheme", "basic")], RAILS, "network_mean")?;
    let (near, far) = (network[0].1, network[network.len() - 1].1);
    let text = format!(
        "{:.0} to {:.0} cycles; of a packet in the network {:.0} to {:.0}",
        first.value, last.value, near.value, far.value
    );
    let half = last.minus(first).scaled(0.5);
    Ok(Measured::shape(
        Truth::all([last.above_independent(first), half.above_independent(far.minus(near))]),
        text,
    ))
}

fn latency_striped(e: &Evidence) -> Answer {
    let (local, dynamic) = (by_rails(e, "local-dynamic")?, by_rails(e, "dynamic")?);
    let falls = |(first, last): (Estimate, Estimate)| first.above_independent(last);
    let holds = Truth::all([falls(local), falls(dynamic), dynamic.1.above_independent(local.1)]);
    let text = format!(
        "local-dynamic {}, dynamic {}",
        from_to(local, "cycles"),
        from_to(dynamic, "cycles")
    );
    Ok(Measured::shape(holds, text))
}

fn latency_unstriped(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for scheme in [LOCAL_UNSTRIPED, DYNAMIC_UNSTRIPED] {
        let (first, last) = by_rails(e, scheme)?;
        holds.push(not_more(last, first));
        words.push(format!("{scheme} {}", from_to((first, last), "cycles")));
    }
    Ok(Measured::shape(Truth::all(holds), words.join(", ")))
}

fn from_to((first, last): (Estimate, Estimate), unit: &str) -> String {
    format!("{} to {} {unit}", spelled(first, 0), spelled(last, 0))
}

fn flat_others(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for scheme in ["basic", "local-dynamic"] {
        let curve = accepted(e, "fig16", &[("scheme", scheme)], SIZE)?;
        let (level, stray) = is_level(&curve);
        holds.push(level);
        let from_end_to_end = ends(&[(scheme.to_owned(), curve)]);
        words.push(format!("{from_end_to_end}, {:.0} % from the mean", 100.0 * stray));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

/// The schemes of a part that are hybrid, by rising threshold.
fn hybrids(e: &Evidence, part: &str) -> Result<Vec<String>, Missing> {
    let schemes = e.values(part, "scheme")?;
    Ok(schemes.into_iter().filter(|scheme| scheme.starts_with("hybrid")).collect())
}

/// The scheme that reserves for all messages, as a part calls it.
fn dynamic_of(e: &Evidence, part: &str) -> Result<String, Missing> {
    let schemes = e.values(part, "scheme")?;
    let dynamic = schemes.into_iter().find(|scheme| scheme.starts_with("dynamic"));
    dynamic.ok_or_else(|| Missing(format!("{part} has no dynamic")))
}

fn hybrid_bandwidth(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for part in [STRIPED, UNSTRIPED] {
        let bars = [peak(e, part, &dynamic_of(e, part)?)?, peak(e, part, "basic")?];
        let mut ratios = Vec::new();
        for hybrid in hybrids(e, part)? {
            ratios.push(peak(e, part, &hybrid)?.over_independent(largest(&bars)));
        }
        // "Almost all": all but two readings of the thresholds.
        let above = ratios.iter().map(|ratio| ratio.above_independent(Estimate::exact(1.0)));
        holds.push(Truth::at_least(ratios.len().saturating_sub(2), above));
        let list: Vec<String> = ratios.iter().map(|ratio| percent(ratio.value)).collect();
        words.push(format!("{part}: by rising threshold {}", list.join(", ")));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

fn hybrid_latency(e: &Evidence) -> Answer {
    let mut holds = Vec::new();
    for part in [STRIPED, UNSTRIPED] {
        let dynamic = latency(e, part, &dynamic_of(e, part)?, LOAD)?;
        let basic = latency(e, part, "basic", LOAD)?;
        let hybrids = hybrids(e, part)?;
        // The largest threshold is the exception that the claim makes.
        for hybrid in &hybrids[..hybrids.len() - 1] {
            let curve = latency(e, part, hybrid, LOAD)?;
            for other in [&dynamic, &basic] {
                let points = pairs(&curve, other);
                holds.extend(points.into_iter().map(|(_, ours, theirs)| not_more(ours, theirs)));
            }
        }
    }
    let text = format!("not higher at {}", share_of(&holds));
    Ok(Measured::shape(Truth::at_least((9 * holds.len()).div_ceil(10), holds), text))
}

fn dynamic_beside_hybrid(e: &Evidence) -> Answer {
    let dynamic = latency(e, UNSTRIPED, &dynamic_of(e, UNSTRIPED)?, LOAD)?;
    let (mut higher, mut not_higher, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for hybrid in hybrids(e, UNSTRIPED)? {
        let points = pairs(&dynamic, &latency(e, UNSTRIPED, &hybrid, LOAD)?);
        let (Some((_, low, low_hybrid)), Some((_, high, high_hybrid))) =
            (points.first(), points.last())
        else {
            return Err(nothing(UNSTRIPED));
        };
        higher.push(low.above_independent(*low_hybrid));
        not_higher.push(not_more(*high, *high_hybrid));
        let (low, high) = (low.value / low_hybrid.value, high.value / high_hybrid.value);
        words.push(format!("{} and {}", percent(low), percent(high)));
    }
    let text = format!("dynamic at low and high load, by rising threshold: {}", words.join(", "));
    let mostly = |truths: Vec<Truth>| Truth::at_least(truths.len() / 2 + 1, truths);
    Ok(Measured::shape(Truth::all([mostly(higher), mostly(not_higher)]), text))
}

fn hybrid_gain(e: &Evidence, other: &str) -> Answer {
    let bar = peak(e, STRIPED, other)?;
    let mut gains = Vec::new();
    for hybrid in hybrids(e, STRIPED)? {
        gains.push(gain(peak(e, STRIPED, &hybrid)?, bar));
    }
    match gains.is_empty() {
        true => Err(Missing(format!("{STRIPED} has no hybrid"))),
        false => Ok(Measured::Number(largest(&gains))),
    }
}
