//! Measures of the claims about Tables 1 to 3 and about means over many networks.

use super::scheme::Scheme;
use super::{Answer, Evidence, SIZES};
use crosstie_study::Row;
use crosstie_study::paper::{Claim, Grid, GridRow, Measured, Missing};

const SEED: &str = "fabric.irregular.seed";
const SWITCHES: &str = "fabric.irregular.switches";
const ROUTING: &str = "routing";
const DESTINATION: &str = "traffic.destination";
const SIZE: &str = "traffic.size.fixed.size";

/// Flits per ns and switch for a load of 1: 160 MB/s in flits of a byte, 4 hosts.
const FULL: f64 = 0.16 * 4.0;

/// The cells of a table that differ by scheme and network alone.
#[derive(Clone, Copy)]
struct Cell<'a> {
    part: &'a str,
    switches: &'a str,
    /// A further key and what its value begins with: choices with keys are shown with them.
    place: Option<(&'a str, &'a str)>,
}

/// Measures a claim; nothing if it is not about these tables.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["t1", "uniform", size, scheme, stat] => {
            let of = Scheme::named(scheme)?;
            shown(factors(e, table1(switches(size)?), of, of.base()), statistic(stat)?)
        }
        ["t2", "uniform", bytes, size, scheme, stat] => {
            let cell = table2(switches(size)?, bytes.strip_prefix('b')?);
            shown(increases(e, cell, Scheme::named(scheme)?), statistic(stat)?)
        }
        ["t3", "shape"] => gains_everywhere(e),
        ["t3", "shape", "b_itb"] => losses_of_balance(e, tolerated(claim)),
        ["t3", pattern, size, scheme, stat] => {
            let of = Scheme::named(scheme)?;
            let cell = table3(switches(size)?, pattern)?;
            shown(factors(e, cell, of, of.base()), statistic(stat)?)
        }
        ["fig1", "smart_vs_ud", "max"] => largest_gain(e, Scheme::Ud),
        ["fig1", "smart_vs_dfs", "max"] => largest_gain(e, Scheme::Dfs),
        ["fig1", "shape", "best"] => smart_is_best(e),
        ["fig2", "sw16", "b_itb", "worst"] => {
            let factors = factors(e, table1("16"), Scheme::BItb, Scheme::Smart);
            factors.map(|factors| Measured::number(least(&factors)))
        }
        ["fig2", "shape", "itb_gain"] => growing_gain(e),
        ["fig2", "shape", "more_itbs"] => more_stops(e),
        ["abstract", "dfs"] => mean_gain(e, "64", Scheme::DfsItb),
        ["abstract", "smart"] => mean_gain(e, "32", Scheme::BItb),
        ["minimal", scheme, size] => {
            let shares = column(e, switches(size)?, Scheme::named(scheme)?, "minimal_share");
            shares.map(|shares| Measured::number(100.0 * mean(&shares)))
        }
        ["minimal", scheme] => {
            let of = Scheme::named(scheme)?;
            let shares = SIZES.map(|size| column(e, size, of, "minimal_share"));
            let shares: Result<Vec<_>, _> = shares.into_iter().collect();
            shares.map(|shares| Measured::number(100.0 * least(&shares.concat())))
        }
        ["itbs", "shape"] => fewer_stops(e),
        ["itbs", scheme, size] => column(e, switches(size)?, Scheme::named(scheme)?, "stops_mean")
            .map(|stops| Measured::number(mean(&stops))),
        ["sat", "ud", size] => peaks(e, table1(switches(size)?), Scheme::Ud)
            .map(|peaks| Measured::number(FULL * mean(&peaks))),
        ["latency", "b512", "bound"] => largest_increase(e),
        ["latency", "b32", "ud_itb", "lo"] => maxima(e).map(|m| Measured::number(least(&m))),
        ["latency", "b32", "ud_itb", "hi"] => maxima(e).map(|m| Measured::number(most(&m))),
        ["latency", "shape"] => short_messages(e),
        _ => return None,
    })
}

/// The three tables, laid out as the paper has them.
pub(super) fn grids() -> Vec<Grid> {
    let grid = |title: &str, head: &str, places: &[(&str, &str)]| Grid {
        title: title.to_owned(),
        heads: [head, "switches", "over networks"].map(str::to_owned).to_vec(),
        columns: Scheme::WITH_STOPS
            .map(|scheme| format!("{} over {}", scheme.name(), scheme.base().name()))
            .to_vec(),
        rows: places.iter().flat_map(|&(name, id)| grid_rows(name, id)).collect(),
    };
    vec![
        grid(
            "Table 1: factors of throughput, 512-byte messages",
            "traffic",
            &[("uniform", "t1.uniform")],
        ),
        grid(
            "Table 2: increase of latency at very low traffic",
            "message",
            &[("512 bytes", "t2.uniform.b512"), ("32 bytes", "t2.uniform.b32")],
        ),
        grid(
            "Table 3: factors of throughput, 512-byte messages",
            "traffic",
            &[
                ("hot-spot", "t3.hotspot"),
                ("bit-reversal", "t3.bitreversal"),
                ("local", "t3.local"),
                ("combined", "t3.combined"),
            ],
        ),
    ]
}

/// The rows of a table that the claims with this beginning fill.
fn grid_rows(name: &str, id: &str) -> Vec<GridRow> {
    let row = |size: &str, (stat, word): (&str, &str)| GridRow {
        names: [name, size, word].map(str::to_owned).to_vec(),
        cells: Scheme::WITH_STOPS.map(|s| format!("{id}.sw{size}.{}.{stat}", s.id())).to_vec(),
    };
    let statistics = [("min", "least"), ("max", "most"), ("avg", "mean")];
    SIZES.iter().flat_map(|size| statistics.map(|statistic| row(size, statistic))).collect()
}

fn table1(switches: &str) -> Cell<'_> {
    Cell { part: "table1", switches, place: None }
}

fn table2<'a>(switches: &'a str, bytes: &'a str) -> Cell<'a> {
    let size = if bytes == "32" { "32 B" } else { "512 B" };
    Cell { part: "table2", switches, place: Some((SIZE, size)) }
}

fn table3<'a>(switches: &'a str, pattern: &str) -> Option<Cell<'a>> {
    let destination = match pattern {
        "hotspot" => "hot-spot",
        "bitreversal" => "bit-reversal",
        "local" => "local",
        "combined" => "mixture",
        _ => return None,
    };
    Some(Cell { part: "table3", switches, place: Some((DESTINATION, destination)) })
}

/// The number in `sw16` and its kin.
fn switches(word: &str) -> Option<&str> {
    word.strip_prefix("sw")
}

type Statistic = fn(&[f64]) -> f64;

fn statistic(word: &str) -> Option<Statistic> {
    Some(match word {
        "min" => least,
        "max" => most,
        "avg" => mean,
        _ => return None,
    })
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What a claim tolerates, as a share.
fn tolerated(claim: &Claim) -> f64 {
    claim.tolerance.map_or(0.0, |tolerance| tolerance.around(1.0).1 - 1.0)
}

/// A statistic over networks.
fn shown(values: Result<Vec<f64>, Missing>, statistic: Statistic) -> Answer {
    Ok(Measured::number(statistic(&values?)))
}

/// The rows of a cell and scheme on every network: one list for each.
fn by_network<'a>(
    e: &'a Evidence,
    cell: Cell<'_>,
    scheme: Scheme,
) -> Result<Vec<Vec<&'a Row>>, Missing> {
    let seeds = e.values(cell.part, SEED)?;
    let fits = |row: &&Row| {
        cell.place.is_none_or(|(key, begin)| {
            row.setting(key).is_some_and(|value| value.to_string().starts_with(begin))
        })
    };
    let network = |seed: &String| {
        let settings =
            [(SWITCHES, cell.switches), (ROUTING, scheme.routing()), (SEED, seed.as_str())];
        let rows: Vec<_> = e.pick(cell.part, &settings)?.into_iter().filter(fits).collect();
        match (rows.is_empty(), cell.place) {
            (true, Some((key, begin))) => {
                Err(Missing(format!("{} has no point with {key} = {begin}", cell.part)))
            }
            _ => Ok(rows),
        }
    };
    seeds.iter().map(network).collect()
}

/// A column of one row.
fn value(part: &str, row: &Row, column: &str) -> Result<f64, Missing> {
    let missing = || Missing(format!("{part} measured no {column} at point {}", row.point));
    row.measured(column).ok_or_else(missing)
}

/// The throughput of each network: the load at which it saturates.
fn peaks(e: &Evidence, cell: Cell<'_>, scheme: Scheme) -> Result<Vec<f64>, Missing> {
    let networks = by_network(e, cell, scheme)?;
    networks.iter().map(|rows| value(cell.part, rows[0], "saturation")).collect()
}

/// By how much a scheme accepts more than another, network by network.
fn factors(e: &Evidence, cell: Cell<'_>, of: Scheme, over: Scheme) -> Result<Vec<f64>, Missing> {
    let (of, over) = (peaks(e, cell, of)?, peaks(e, cell, over)?);
    Ok(of.iter().zip(&over).map(|(of, over)| of / over).collect())
}

/// By how many per cent a scheme raises latency, network by network.
fn increases(e: &Evidence, cell: Cell<'_>, of: Scheme) -> Result<Vec<f64>, Missing> {
    let latencies = |scheme| -> Result<Vec<f64>, Missing> {
        let networks = by_network(e, cell, scheme)?;
        networks.iter().map(|rows| value(cell.part, rows[0], "latency_mean")).collect()
    };
    let (with, without) = (latencies(of)?, latencies(of.base())?);
    Ok(with.iter().zip(&without).map(|(with, without)| 100.0 * (with / without - 1.0)).collect())
}

/// A column about routes, on every network of Table 1.
fn column(e: &Evidence, switches: &str, scheme: Scheme, column: &str) -> Result<Vec<f64>, Missing> {
    let networks = by_network(e, table1(switches), scheme)?;
    networks.iter().map(|rows| value("table1", rows[0], column)).collect()
}

/// The largest factor of SMART on any network for which the paper has it.
fn largest_gain(e: &Evidence, over: Scheme) -> Answer {
    let small = factors(e, table1("16"), Scheme::Smart, over)?;
    let large = factors(e, table1("32"), Scheme::Smart, over)?;
    Ok(Measured::number(most(&[small, large].concat())))
}

fn smart_is_best(e: &Evidence) -> Answer {
    let mut lowest = Vec::new();
    for over in [Scheme::Ud, Scheme::Dfs] {
        for size in ["16", "32"] {
            lowest.push(least(&factors(e, table1(size), Scheme::Smart, over)?));
        }
    }
    let text = format!(
        "least factor over UD with 16 and 32 switches {:.2} and {:.2}, over DFS {:.2} and {:.2}",
        lowest[0], lowest[1], lowest[2], lowest[3]
    );
    Ok(Measured::shape(least(&lowest) > 1.0, text))
}

fn growing_gain(e: &Evidence) -> Answer {
    let mut holds = true;
    let mut words = Vec::new();
    for scheme in [Scheme::UdItb, Scheme::DfsItb] {
        let means = SIZES.map(|size| factors(e, table1(size), scheme, scheme.base()));
        let means: Result<Vec<f64>, Missing> =
            means.into_iter().map(|factors| Ok(mean(&factors?))).collect();
        let means = means?;
        holds &= least(&means) >= 1.0 && means.is_sorted_by(|small, large| small < large);
        let name = scheme.name();
        words.push(format!("{name}: {:.2}, {:.2}, {:.2}", means[0], means[1], means[2]));
    }
    Ok(Measured::shape(holds, words.join("; ")))
}

fn more_stops(e: &Evidence) -> Answer {
    let mut holds = true;
    let mut words = Vec::new();
    for size in SIZES {
        let schemes = [Scheme::Ud, Scheme::UdMitb, Scheme::UdItb];
        let means = schemes.map(|scheme| peaks(e, table1(size), scheme));
        let means: Result<Vec<f64>, Missing> =
            means.into_iter().map(|peaks| Ok(FULL * mean(&peaks?))).collect();
        let means = means?;
        holds &= means.is_sorted_by(|fewer, more| fewer < more);
        words.push(format!("{size}: {:.4}, {:.4}, {:.4}", means[0], means[1], means[2]));
    }
    let text = format!("flits/ns/switch by switches, UD, UD_MITB, UD_ITB: {}", words.join("; "));
    Ok(Measured::shape(holds, text))
}

/// The mean gain in per cent.
fn mean_gain(e: &Evidence, switches: &str, scheme: Scheme) -> Answer {
    let factors = factors(e, table1(switches), scheme, scheme.base())?;
    Ok(Measured::number(100.0 * (mean(&factors) - 1.0)))
}

fn fewer_stops(e: &Evidence) -> Answer {
    let stops = |scheme| column(e, "64", scheme, "stops_mean").map(|stops| mean(&stops));
    let (dfs, ud) = (stops(Scheme::DfsItb)?, stops(Scheme::UdItb)?);
    Ok(Measured::shape(dfs < ud, format!("DFS_ITB {dfs:.2}, UD_ITB {ud:.2}")))
}

/// The cells of Table 2 that the paper fills.
fn is_filled(size: &str, scheme: Scheme) -> bool {
    size != "64" || scheme != Scheme::BItb
}

fn largest_increase(e: &Evidence) -> Answer {
    let mut largest = f64::NEG_INFINITY;
    for size in SIZES {
        for scheme in Scheme::WITH_STOPS.into_iter().filter(|&scheme| is_filled(size, scheme)) {
            largest = largest.max(most(&increases(e, table2(size, "512"), scheme)?));
        }
    }
    Ok(Measured::number(largest))
}

/// The largest increase of UD_ITB with 32 bytes, by size of network.
fn maxima(e: &Evidence) -> Result<Vec<f64>, Missing> {
    let largest = |size| Ok(most(&increases(e, table2(size, "32"), Scheme::UdItb)?));
    SIZES.into_iter().map(largest).collect()
}

fn short_messages(e: &Evidence) -> Answer {
    let mut against = Vec::new();
    for size in SIZES {
        let mean_of = |bytes, scheme| Ok(mean(&increases(e, table2(size, bytes), scheme)?));
        for scheme in Scheme::WITH_STOPS.into_iter().filter(|&scheme| is_filled(size, scheme)) {
            let (short, long): (f64, f64) = (mean_of("32", scheme)?, mean_of("512", scheme)?);
            if short <= long {
                let name = scheme.name();
                against.push(format!("{name}, {size} switches: {short:.2} and {long:.2} %"));
            }
        }
        for bytes in ["32", "512"] {
            let (few, many): (f64, f64) =
                (mean_of(bytes, Scheme::UdMitb)?, mean_of(bytes, Scheme::UdItb)?);
            if few >= many {
                against.push(format!("UD_MITB, {size} switches, {bytes} bytes: {few:.2} %"));
            }
        }
    }
    let text = if against.is_empty() { "everywhere".to_owned() } else { against.join("; ") };
    Ok(Measured::shape(against.is_empty(), text))
}

const PATTERNS: [&str; 4] = ["hotspot", "bitreversal", "local", "combined"];

fn gains_everywhere(e: &Evidence) -> Answer {
    let mut against = Vec::new();
    for pattern in PATTERNS {
        for size in SIZES {
            for scheme in [Scheme::UdMitb, Scheme::UdItb, Scheme::DfsItb] {
                let cell = table3(size, pattern).expect("a pattern of the paper");
                let factor = mean(&factors(e, cell, scheme, scheme.base())?);
                if factor <= 1.0 {
                    let name = scheme.name();
                    against.push(format!("{name}, {pattern}, {size} switches: {factor:.2}"));
                }
            }
        }
    }
    let text = if against.is_empty() { "everywhere".to_owned() } else { against.join("; ") };
    Ok(Measured::shape(against.is_empty(), text))
}

fn losses_of_balance(e: &Evidence, tolerance: f64) -> Answer {
    let factor = |pattern| {
        let cell = table3("16", pattern).expect("a pattern of the paper");
        Ok(mean(&factors(e, cell, Scheme::BItb, Scheme::Smart)?))
    };
    let (hot_spot, reversal): (f64, f64) = (factor("hotspot")?, factor("bitreversal")?);
    let holds = hot_spot.max(reversal) <= 1.0 + tolerance;
    Ok(Measured::shape(holds, format!("hot-spot {hot_spot:.2}, bit-reversal {reversal:.2}")))
}
