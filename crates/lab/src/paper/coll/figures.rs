//! Measures of the claims about Figures 7 to 20: each asks the rows of one or two parts.

use super::super::{Estimate, Evidence};
use crosstie_study::paper::{Measured, Missing};

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

/// Measures a claim; nothing if it is not about these figures.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "metric.ceiling" => ceiling(e),
        "metric.presaturation" => below_saturation(e),
        "metric.postsaturation" => beyond_saturation(e),
        "headline.dynamic_vs_local" => largest_gain(e, "local-dynamic"),
        "headline.dynamic_vs_basic" => largest_gain(e, "basic"),
        "f7_10.basic_size" => by_size(e, "basic", |short, long| short.exceeds(long)),
        "f7_10.dynamic_size" => by_size(e, "dynamic", |short, long| long.exceeds(short)),
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
        "f12.loss_min" => loss_by_nodes(e, f64::min),
        "f12.loss_max" => loss_by_nodes(e, f64::max),
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
    e.estimates(part, settings, x, "accepted")
}

fn latency(e: &Evidence, part: &str, scheme: &str, x: &str) -> Result<Curve, Missing> {
    e.estimates(part, &[("scheme", scheme)], x, "latency_mean")
}

/// The most that a scheme accepts at any load.
fn peak(e: &Evidence, part: &str, scheme: &str) -> Result<Estimate, Missing> {
    let curve = accepted(e, part, &[("scheme", scheme)], LOAD)?;
    let most = curve.into_iter().map(|(_, y)| y).max_by(|a, b| a.value.total_cmp(&b.value));
    Ok(most.expect("a curve has points"))
}

/// By how many per cent one is more than the other, and how sure that is.
fn gain(more: Estimate, less: Estimate) -> Measured {
    let ratio = more.value / less.value;
    let relative = more.half_width / more.value + less.half_width / less.value;
    Measured::about(100.0 * (ratio - 1.0), 100.0 * ratio * relative)
}

fn percent(ratio: f64) -> String {
    format!("{:+.0} %", 100.0 * (ratio - 1.0))
}

fn load(estimate: Estimate) -> String {
    format!("{:.3} ± {:.3}", estimate.value, estimate.half_width)
}

/// Whether all curves go one way: from end to end beyond noise, and nowhere the other way beyond it.
fn trend(curves: &[(String, Curve)], wanted: Trend) -> Measured {
    let goes = |from: Estimate, to: Estimate| match wanted {
        Trend::Rises => to.exceeds(from),
        Trend::Falls => from.exceeds(to),
    };
    let holds = curves.iter().all(|(_, curve)| {
        let steps_back = curve.windows(2).any(|pair| goes(pair[1].1, pair[0].1));
        goes(curve[0].1, curve[curve.len() - 1].1) && !steps_back
    });
    Measured::shape(holds, ends(curves))
}

/// The first and the last value of each curve, in words.
fn ends(curves: &[(String, Curve)]) -> String {
    let words = curves.iter().map(|(name, curve)| {
        let (first, last) = (curve[0].1.value, curve[curve.len() - 1].1.value);
        format!("{name}: {first:.3} to {last:.3}")
    });
    words.collect::<Vec<_>>().join("; ")
}

/// How far a curve strays from its mean, relative to it.
fn stray(curve: &Curve) -> f64 {
    let mean = curve.iter().map(|(_, y)| y.value).sum::<f64>() / curve.len() as f64;
    curve.iter().map(|(_, y)| (y.value / mean - 1.0).abs()).fold(0.0, f64::max)
}

/// Points of two curves at the same places.
fn pairs(a: &Curve, b: &Curve) -> Vec<(f64, Estimate, Estimate)> {
    let beside = |&(x, y): &(f64, Estimate)| {
        let (_, other) = b.iter().find(|(at, _)| *at == x)?;
        Some((x, y, *other))
    };
    a.iter().filter_map(beside).collect()
}

fn ceiling(e: &Evidence) -> Answer {
    let mut most = Estimate { value: 0.0, half_width: 0.0 };
    for part in [SHORT, LONG, "fig12", "fig13", "fig14", "fig16", STRIPED, UNSTRIPED] {
        for row in e.rows(part)? {
            if let Some(value) = row.measured("accepted").filter(|&value| value > most.value) {
                let half_width = row.measured("accepted_ci").unwrap_or(0.0);
                most = Estimate { value, half_width };
            }
        }
    }
    Ok(Measured::about(100.0 * most.value, 100.0 * most.half_width))
}

/// All points well below saturation together: single ones are no surer than their statistics.
fn below_saturation(e: &Evidence) -> Answer {
    let (mut offered, mut carried, mut spread) = (0.0, 0.0, 0.0);
    for part in [SHORT, LONG] {
        for scheme in e.values(part, "scheme")? {
            let most = peak(e, part, &scheme)?.value;
            for row in e.pick(part, &[("scheme", &scheme)])? {
                let Some(x) = row.measured("offered").filter(|&x| x < WELL_BELOW * most) else {
                    continue;
                };
                offered += x;
                carried += row.measured("accepted").unwrap_or(0.0);
                spread += row.measured("accepted_ci").unwrap_or(0.0).powi(2);
            }
        }
    }
    Ok(Measured::about(100.0 * (carried / offered - 1.0), 100.0 * spread.sqrt() / offered))
}

fn beyond_saturation(e: &Evidence) -> Answer {
    let mut least = (f64::INFINITY, String::new());
    for part in [SHORT, LONG] {
        for scheme in e.values(part, "scheme")? {
            let curve = accepted(e, part, &[("scheme", &scheme)], LOAD)?;
            let share = curve[curve.len() - 1].1.value / peak(e, part, &scheme)?.value;
            if share < least.0 {
                least = (share, format!("{scheme} in {part}"));
            }
        }
    }
    let (share, place) = least;
    let text = format!("at the highest load at least {:.0} % of the most ({place})", 100.0 * share);
    Ok(Measured::shape(share >= 0.9, text))
}

/// Over all settings in which both schemes were driven beyond saturation: the curves against the load
/// at their highest, and the points of the parts that run at one high load.
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
    let ratio = |&(dynamic, other): &(Estimate, Estimate)| dynamic.value / other.value;
    let largest = settings.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let &(dynamic, other) = largest.expect("the curves have peaks");
    Ok(gain(dynamic, other))
}

fn by_size(e: &Evidence, scheme: &str, holds: fn(Estimate, Estimate) -> bool) -> Answer {
    let (short, long) = (peak(e, SHORT, scheme)?, peak(e, LONG, scheme)?);
    let text = format!("4 KB: {}, 64 KB: {}", load(short), load(long));
    Ok(Measured::shape(holds(short, long), text))
}

/// Whether schemes stand in this order by the most they accept, ties within noise allowed between
/// neighbours but not between the first and the last.
fn order(e: &Evidence, part: &str, schemes: [&str; 3]) -> Answer {
    let peaks = schemes.map(|scheme| peak(e, part, scheme).map(|most| (scheme, most)));
    let [first, second, third] = peaks;
    let peaks = [first?, second?, third?];
    let turned = peaks.windows(2).any(|pair| pair[1].1.exceeds(pair[0].1));
    let holds = !turned && peaks[0].1.exceeds(peaks[2].1);
    let words = peaks.map(|(scheme, most)| format!("{scheme} {}", load(most)));
    Ok(Measured::shape(holds, words.join(", ")))
}

fn local_latency(e: &Evidence) -> Answer {
    let mut words = Vec::new();
    let mut holds = true;
    for part in [SHORT, LONG] {
        let local = latency(e, part, "local-dynamic", LOAD)?;
        let points = pairs(&local, &latency(e, part, "basic", LOAD)?);
        let lower = points.iter().filter(|(_, local, basic)| local.value < basic.value).count();
        holds &= 2 * lower > points.len();
        let (_, local, basic) = points.first().ok_or_else(|| nothing(part))?;
        let change = percent(local.value / basic.value);
        words.push(format!(
            "{part}: lower at {lower} of {} loads, {change} at the least",
            points.len()
        ));
    }
    Ok(Measured::shape(holds, words.join("; ")))
}

fn nothing(part: &str) -> Missing {
    Missing(format!("{part} has no point with a latency of both schemes"))
}

const TWINS: [(&str, &str); 2] =
    [("local-dynamic", LOCAL_UNSTRIPED), ("dynamic", DYNAMIC_UNSTRIPED)];

fn striping_bandwidth(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (true, Vec::new());
    for part in [SHORT, LONG] {
        for (striped, unstriped) in TWINS {
            let (with, without) = (peak(e, part, striped)?, peak(e, part, unstriped)?);
            let ratio = with.value / without.value;
            let noise = (with.half_width + without.half_width) / without.value;
            holds &= (ratio - 1.0).abs() <= 0.05 + noise;
            words.push(format!("{striped} in {part} {}", percent(ratio)));
        }
    }
    Ok(Measured::shape(holds, words.join(", ")))
}

/// What striping takes off the latency of a scheme at 64 KB and the lowest load, in per cent.
fn striping_gain(e: &Evidence, striped: &str, unstriped: &str) -> Answer {
    let points = pairs(&latency(e, LONG, striped, LOAD)?, &latency(e, LONG, unstriped, LOAD)?);
    let (_, with, without) = points.first().ok_or_else(|| nothing(LONG))?;
    let relative = with.half_width / with.value + without.half_width / without.value;
    let ratio = with.value / without.value;
    Ok(Measured::about(100.0 * (1.0 - ratio), 100.0 * ratio * relative))
}

fn striping_latency(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (true, Vec::new());
    for (striped, unstriped) in TWINS {
        let ratios = |part| -> Result<Vec<f64>, Missing> {
            let with = latency(e, part, striped, LOAD)?;
            let points = pairs(&with, &latency(e, part, unstriped, LOAD)?);
            Ok(points.iter().map(|(_, with, without)| with.value / without.value).collect())
        };
        let (short, long) = (ratios(SHORT)?, ratios(LONG)?);
        let (Some(&short_low), Some(&long_low)) = (short.first(), long.first()) else {
            return Err(nothing(LONG));
        };
        let long_high = long[long.len() - 1];
        holds &= long_low < short_low && long_low < long_high;
        words.push(format!(
            "{striped} at the lowest load: 4 KB {}, 64 KB {}; at the highest with a latency: 64 KB {}",
            percent(short_low),
            percent(long_low),
            percent(long_high)
        ));
    }
    Ok(Measured::shape(holds, words.join("; ")))
}

/// Only the two ends of the ratio were run: none and all.
fn full_striping(e: &Evidence) -> Answer {
    let (mut lower, mut points) = (0, 0);
    for part in [SHORT, LONG] {
        for (striped, unstriped) in TWINS {
            let with = latency(e, part, striped, LOAD)?;
            for (_, with, without) in pairs(&with, &latency(e, part, unstriped, LOAD)?) {
                points += 1;
                lower += usize::from(!with.exceeds(without));
            }
        }
    }
    let text = format!("latency is not higher than without striping at {lower} of {points} points");
    Ok(Measured::shape(lower == points, text))
}

/// Where the difference of two curves changes its sign for good, by interpolation.
fn crossing(points: &[(f64, Estimate, Estimate)]) -> Option<f64> {
    let difference = |&(_, a, b): &(f64, Estimate, Estimate)| (a.value / b.value).ln();
    let last = points.iter().rposition(|point| difference(point) >= 0.0)?;
    let (before, after) = (points.get(last)?, points.get(last + 1)?);
    let (high, low) = (difference(before), difference(after));
    Some(before.0 + (after.0 - before.0) * high / (high - low))
}

fn load_crossover(e: &Evidence) -> Answer {
    let dynamic = latency(e, LONG, "dynamic", LOAD)?;
    let points = pairs(&dynamic, &latency(e, LONG, "local-dynamic", LOAD)?);
    Ok(match crossing(&points) {
        Some(load) => Measured::number(100.0 * load),
        None => Measured::shape(false, one_side(&points, "dynamic", "local-dynamic", "load")),
    })
}

/// What is to be said of two curves that do not cross.
fn one_side(points: &[(f64, Estimate, Estimate)], one: &str, other: &str, x: &str) -> String {
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
    let mut best: Vec<(f64, Estimate, Estimate)> = Vec::new();
    for scheme in e.values("fig11", "scheme")?.iter().filter(|scheme| *scheme != "dynamic") {
        for (x, ours, theirs) in pairs(&dynamic, &latency(e, "fig11", scheme, SIZE)?) {
            match best.iter_mut().find(|(at, ..)| *at == x) {
                Some((_, _, least)) if theirs.value < least.value => *least = theirs,
                Some(_) => {}
                None => best.push((x, ours, theirs)),
            }
        }
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Sizes are swept by doubling, so the crossing lies between two of them in the logarithm.
    let logarithmic: Vec<_> = best.iter().map(|&(x, a, b)| (x.log2(), a, b)).collect();
    Ok(match crossing(&logarithmic) {
        Some(size) => Measured::number(size.exp2() / 1024.0),
        None => {
            Measured::shape(false, one_side(&best, "dynamic", "the best of the others", "size"))
        }
    })
}

fn at_nodes(e: &Evidence, scheme: &str, nodes: &str) -> Result<Estimate, Missing> {
    e.estimate("fig12", &[("scheme", scheme), (NODES, nodes)], "accepted")
}

fn gain_at(e: &Evidence, nodes: &str) -> Answer {
    Ok(gain(at_nodes(e, "dynamic", nodes)?, at_nodes(e, "basic", nodes)?))
}

fn loss_by_nodes(e: &Evidence, pick: fn(f64, f64) -> f64) -> Answer {
    let mut picked: Option<f64> = None;
    for scheme in ["basic", "dynamic"] {
        let (small, large) = (at_nodes(e, scheme, "32")?, at_nodes(e, scheme, "128")?);
        let loss = 100.0 * (1.0 - large.value / small.value);
        picked = Some(picked.map_or(loss, |other| pick(other, loss)));
    }
    Ok(Measured::number(picked.expect("there are two schemes")))
}

fn by_size_and_rails(e: &Evidence, scheme: &str, wanted: Trend) -> Answer {
    let mut curves = Vec::new();
    for rails in e.values("fig13", RAILS)? {
        let curve = accepted(e, "fig13", &[("scheme", scheme), (RAILS, &rails)], SIZE)?;
        curves.push((format!("{rails} rails"), curve));
    }
    Ok(trend(&curves, wanted))
}

/// Whether a curve stays within a tenth of its mean.
fn level(e: &Evidence, part: &str, scheme: &str, x: &str) -> Answer {
    let curve = accepted(e, part, &[("scheme", scheme)], x)?;
    let stray = stray(&curve);
    let text = format!(
        "{}; at most {:.0} % from the mean",
        ends(&[(scheme.to_owned(), curve)]),
        100.0 * stray
    );
    Ok(Measured::shape(stray <= 0.1, text))
}

/// The smallest size from which on the most rails carry more per rail than one.
fn improving_size(e: &Evidence) -> Answer {
    let rails = e.values("fig13", RAILS)?;
    let of = |rails: &str| accepted(e, "fig13", &[("scheme", "dynamic"), (RAILS, rails)], SIZE);
    let (one, most) = (of(&rails[0])?, of(&rails[rails.len() - 1])?);
    let points: Vec<_> =
        pairs(&one, &most).iter().map(|&(x, one, most)| (x.log2(), one, most)).collect();
    Ok(match crossing(&points) {
        Some(size) => Measured::number(size.exp2() / 1024.0),
        None => {
            let (_, one, most) = points.last().ok_or_else(|| nothing("fig13"))?;
            let change = percent(most.value / one.value);
            Measured::shape(false, format!("no such size; {change} at the largest"))
        }
    })
}

fn rails_of_dynamic(e: &Evidence) -> Answer {
    let curve = accepted(e, "fig14", &[("scheme", "dynamic")], RAILS)?;
    let (first, last) = (curve[0].1, curve[curve.len() - 1].1);
    Ok(Measured::shape(last.exceeds(first), ends(&[("dynamic".to_owned(), curve)])))
}

fn loss_of_basic(e: &Evidence) -> Answer {
    let curve = accepted(e, "fig14", &[("scheme", "basic")], RAILS)?;
    let (first, last) = (curve[0].1.value, curve[curve.len() - 1].1.value);
    Ok(Measured::number(100.0 * (1.0 - last / first)))
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
    let growth = last.value - first.value;
    let text = format!(
        "{:.0} to {:.0} cycles; of a packet in the network {near:.0} to {far:.0}",
        first.value, last.value
    );
    Ok(Measured::shape(last.exceeds(first) && far - near < growth / 2.0, text))
}

fn latency_striped(e: &Evidence) -> Answer {
    let (local, dynamic) = (by_rails(e, "local-dynamic")?, by_rails(e, "dynamic")?);
    let falls = |(first, last): (Estimate, Estimate)| first.exceeds(last);
    let holds = falls(local) && falls(dynamic) && !local.1.exceeds(dynamic.1);
    let text = format!(
        "local-dynamic {}, dynamic {}",
        from_to(local, "cycles"),
        from_to(dynamic, "cycles")
    );
    Ok(Measured::shape(holds, text))
}

fn latency_unstriped(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (true, Vec::new());
    for scheme in [LOCAL_UNSTRIPED, DYNAMIC_UNSTRIPED] {
        let (first, last) = by_rails(e, scheme)?;
        holds &= !last.exceeds(first);
        words.push(format!("{scheme} {}", from_to((first, last), "cycles")));
    }
    Ok(Measured::shape(holds, words.join(", ")))
}

fn from_to((first, last): (Estimate, Estimate), unit: &str) -> String {
    format!(
        "{:.0} ± {:.0} to {:.0} ± {:.0} {unit}",
        first.value, first.half_width, last.value, last.half_width
    )
}

fn flat_others(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (true, Vec::new());
    for scheme in ["basic", "local-dynamic"] {
        let curve = accepted(e, "fig16", &[("scheme", scheme)], SIZE)?;
        let stray = stray(&curve);
        holds &= stray <= 0.1;
        let from_end_to_end = ends(&[(scheme.to_owned(), curve)]);
        words.push(format!("{from_end_to_end}, {:.0} % from the mean", 100.0 * stray));
    }
    Ok(Measured::shape(holds, words.join("; ")))
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
    let (mut holds, mut words) = (true, Vec::new());
    for part in [STRIPED, UNSTRIPED] {
        let dynamic = peak(e, part, &dynamic_of(e, part)?)?.value;
        let bar = dynamic.max(peak(e, part, "basic")?.value);
        let mut ratios = Vec::new();
        for hybrid in hybrids(e, part)? {
            ratios.push(peak(e, part, &hybrid)?.value / bar);
        }
        let above = ratios.iter().filter(|&&ratio| ratio > 1.0).count();
        // "Almost all": all but two readings of the thresholds.
        holds &= above + 2 >= ratios.len();
        let list: Vec<String> = ratios.iter().map(|&ratio| percent(ratio)).collect();
        words.push(format!("{part}: by rising threshold {}", list.join(", ")));
    }
    Ok(Measured::shape(holds, words.join("; ")))
}

fn hybrid_latency(e: &Evidence) -> Answer {
    let (mut lower, mut points) = (0, 0);
    for part in [STRIPED, UNSTRIPED] {
        let dynamic = latency(e, part, &dynamic_of(e, part)?, LOAD)?;
        let basic = latency(e, part, "basic", LOAD)?;
        let hybrids = hybrids(e, part)?;
        // The largest threshold is the exception that the claim makes.
        for hybrid in &hybrids[..hybrids.len() - 1] {
            let curve = latency(e, part, hybrid, LOAD)?;
            for other in [&dynamic, &basic] {
                for (_, ours, theirs) in pairs(&curve, other) {
                    points += 1;
                    lower += usize::from(!ours.exceeds(theirs));
                }
            }
        }
    }
    let text = format!("not higher at {lower} of {points} points");
    Ok(Measured::shape(10 * lower >= 9 * points, text))
}

fn dynamic_beside_hybrid(e: &Evidence) -> Answer {
    let dynamic = latency(e, UNSTRIPED, &dynamic_of(e, UNSTRIPED)?, LOAD)?;
    let (mut higher, mut not_higher, mut count, mut words) = (0, 0, 0, Vec::new());
    for hybrid in hybrids(e, UNSTRIPED)? {
        let points = pairs(&dynamic, &latency(e, UNSTRIPED, &hybrid, LOAD)?);
        let (Some((_, low, low_hybrid)), Some((_, high, high_hybrid))) =
            (points.first(), points.last())
        else {
            return Err(nothing(UNSTRIPED));
        };
        count += 1;
        higher += usize::from(low.value > low_hybrid.value);
        not_higher += usize::from(!high.exceeds(*high_hybrid));
        let (low, high) = (low.value / low_hybrid.value, high.value / high_hybrid.value);
        words.push(format!("{} and {}", percent(low), percent(high)));
    }
    let text = format!("dynamic at low and high load, by rising threshold: {}", words.join(", "));
    Ok(Measured::shape(2 * higher > count && 2 * not_higher > count, text))
}

fn hybrid_gain(e: &Evidence, other: &str) -> Answer {
    let bar = match other {
        "local-dynamic" => peak(e, LONG, other)?,
        other => peak(e, STRIPED, other)?,
    };
    let mut best = None;
    for hybrid in hybrids(e, STRIPED)? {
        let most = peak(e, STRIPED, &hybrid)?;
        if best.is_none_or(|best: Estimate| most.value > best.value) {
            best = Some(most);
        }
    }
    let best = best.ok_or_else(|| Missing(format!("{STRIPED} has no hybrid")))?;
    Ok(gain(best, bar))
}
