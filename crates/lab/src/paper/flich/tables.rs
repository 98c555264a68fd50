//! Measures of the claims about Tables 1 to 3 and about means over many networks.

use super::super::evidence::estimate;
use super::super::statistic::{largest, mean, smallest};
use super::scheme::Scheme;
use super::{Answer, Evidence, SIZES};
use crosstie_study::Row;
use crosstie_study::paper::{Claim, Estimate, Grid, GridRow, Measured, Missing, Truth};

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
            factors.map(|factors| Measured::Number(smallest(&factors)))
        }
        ["fig2", "shape", "itb_gain"] => growing_gain(e),
        ["fig2", "shape", "more_itbs"] => more_stops(e),
        ["abstract", "dfs"] => mean_gain(e, "64", Scheme::DfsItb),
        ["abstract", "smart"] => mean_gain(e, "32", Scheme::BItb),
        ["minimal", scheme, size] => {
            let shares = column(e, switches(size)?, Scheme::named(scheme)?, "minimal_share");
            shares.map(|shares| Measured::Number(mean(&shares).scaled(100.0)))
        }
        ["minimal", scheme] => {
            let of = Scheme::named(scheme)?;
            let shares = SIZES.map(|size| column(e, size, of, "minimal_share"));
            let shares: Result<Vec<_>, _> = shares.into_iter().collect();
            shares.map(|shares| Measured::Number(smallest(&shares.concat()).scaled(100.0)))
        }
        ["itbs", "shape"] => fewer_stops(e),
        ["itbs", scheme, size] => column(e, switches(size)?, Scheme::named(scheme)?, "stops_mean")
            .map(|stops| Measured::Number(mean(&stops))),
        ["sat", "ud", size] => peaks(e, table1(switches(size)?), Scheme::Ud)
            .map(|peaks| Measured::Number(mean(&peaks).scaled(FULL))),
        ["latency", "b512", "bound"] => largest_increase(e),
        ["latency", "b32", "ud_itb", "lo"] => maxima(e).map(|m| Measured::Number(smallest(&m))),
        ["latency", "b32", "ud_itb", "hi"] => maxima(e).map(|m| Measured::Number(largest(&m))),
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

type Statistic = fn(&[Estimate]) -> Estimate;

fn statistic(word: &str) -> Option<Statistic> {
    Some(match word {
        "min" => smallest,
        "max" => largest,
        "avg" => mean,
        _ => return None,
    })
}

/// What a claim tolerates, as a share.
fn tolerated(claim: &Claim) -> f64 {
    claim.tolerance.map_or(0.0, |tolerance| tolerance.around(1.0).1 - 1.0)
}

/// A statistic over networks.
fn shown(values: Result<Vec<Estimate>, Missing>, statistic: Statistic) -> Answer {
    Ok(Measured::Number(statistic(&values?)))
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

/// A column of the row of each network.
fn of_networks(
    e: &Evidence,
    cell: Cell<'_>,
    scheme: Scheme,
    column: &str,
) -> Result<Vec<Estimate>, Missing> {
    let value = |rows: &Vec<&Row>| {
        let (part, point) = (cell.part, rows[0].point);
        let missing = || Missing(format!("{part} measured no {column} at point {point}"));
        estimate(rows[0], column).ok_or_else(missing)
    };
    by_network(e, cell, scheme)?.iter().map(value).collect()
}

/// The throughput of each network: the load at which it saturates.
fn peaks(e: &Evidence, cell: Cell<'_>, scheme: Scheme) -> Result<Vec<Estimate>, Missing> {
    of_networks(e, cell, scheme, "saturation")
}

/// A quantity of one scheme beside that of another, network by network.
fn beside(
    of: Result<Vec<Estimate>, Missing>,
    other: Result<Vec<Estimate>, Missing>,
    compared: impl Fn(Estimate, Estimate) -> Estimate,
) -> Result<Vec<Estimate>, Missing> {
    Ok(of?.into_iter().zip(other?).map(|(of, other)| compared(of, other)).collect())
}

/// By how much a scheme accepts more than another, network by network.
fn factors(
    e: &Evidence,
    cell: Cell<'_>,
    of: Scheme,
    over: Scheme,
) -> Result<Vec<Estimate>, Missing> {
    beside(peaks(e, cell, of), peaks(e, cell, over), Estimate::over)
}

/// By how many per cent a scheme raises latency, network by network.
fn increases(e: &Evidence, cell: Cell<'_>, of: Scheme) -> Result<Vec<Estimate>, Missing> {
    let latencies = |scheme| of_networks(e, cell, scheme, "latency_mean");
    let increase = |with: Estimate, without| with.over(without).shifted(-1.0).scaled(100.0);
    beside(latencies(of), latencies(of.base()), increase)
}

/// A column about routes, on every network of Table 1.
fn column(
    e: &Evidence,
    switches: &str,
    scheme: Scheme,
    column: &str,
) -> Result<Vec<Estimate>, Missing> {
    of_networks(e, table1(switches), scheme, column)
}

const NO_GAIN: Estimate = Estimate { value: 1.0, low: 1.0, high: 1.0 };

/// The largest factor of SMART on any network for which the paper has it.
fn largest_gain(e: &Evidence, over: Scheme) -> Answer {
    let small = factors(e, table1("16"), Scheme::Smart, over)?;
    let large = factors(e, table1("32"), Scheme::Smart, over)?;
    Ok(Measured::Number(largest(&[small, large].concat())))
}

fn smart_is_best(e: &Evidence) -> Answer {
    let mut lowest = Vec::new();
    for over in [Scheme::Ud, Scheme::Dfs] {
        for size in ["16", "32"] {
            lowest.push(smallest(&factors(e, table1(size), Scheme::Smart, over)?));
        }
    }
    let [ud16, ud32, dfs16, dfs32] = [0, 1, 2, 3].map(|i| lowest[i].value);
    let text = format!(
        "least factor over UD with 16 and 32 switches {ud16:.2} and {ud32:.2}, over DFS {dfs16:.2} and \
         {dfs32:.2}"
    );
    Ok(Measured::shape(Truth::all(lowest.iter().map(|factor| factor.above(NO_GAIN))), text))
}

fn growing_gain(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for scheme in [Scheme::UdItb, Scheme::DfsItb] {
        let means = SIZES.map(|size| factors(e, table1(size), scheme, scheme.base()));
        let means: Result<Vec<Estimate>, Missing> =
            means.into_iter().map(|factors| Ok(mean(&factors?))).collect();
        let means = means?;
        holds.extend(means.iter().map(|factor| !NO_GAIN.above(*factor)));
        holds.extend(means.windows(2).map(|pair| pair[1].above(pair[0])));
        let list: Vec<String> = means.iter().map(|mean| format!("{:.2}", mean.value)).collect();
        words.push(format!("{}: {}", scheme.name(), list.join(", ")));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

fn more_stops(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    let steps = [(Scheme::UdMitb, Scheme::Ud), (Scheme::UdItb, Scheme::UdMitb)];
    for size in SIZES {
        // Factors, because networks differ more from each other than schemes do on one of them.
        for (of, over) in steps {
            let factor = mean(&factors(e, table1(size), of, over)?);
            holds.push(factor.above(NO_GAIN));
            let (of, over, factor) = (of.name(), over.name(), factor.value);
            words.push(format!("{of} over {over}, {size} switches: {factor:.2}"));
        }
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

/// The mean gain in per cent.
fn mean_gain(e: &Evidence, switches: &str, scheme: Scheme) -> Answer {
    let factors = factors(e, table1(switches), scheme, scheme.base())?;
    Ok(Measured::Number(mean(&factors).shifted(-1.0).scaled(100.0)))
}

fn fewer_stops(e: &Evidence) -> Answer {
    let stops = |scheme| column(e, "64", scheme, "stops_mean");
    let (dfs, ud) = (stops(Scheme::DfsItb)?, stops(Scheme::UdItb)?);
    let (fewer, more) = (mean(&dfs).value, mean(&ud).value);
    let saved = mean(&beside(Ok(ud), Ok(dfs), Estimate::minus)?);
    let text = format!("DFS_ITB {fewer:.2}, UD_ITB {more:.2}");
    Ok(Measured::shape(saved.above(Estimate::exact(0.0)), text))
}

/// The cells of Table 2 that the paper fills.
fn is_filled(size: &str, scheme: Scheme) -> bool {
    size != "64" || scheme != Scheme::BItb
}

fn largest_increase(e: &Evidence) -> Answer {
    let mut all = Vec::new();
    for size in SIZES {
        for scheme in Scheme::WITH_STOPS.into_iter().filter(|&scheme| is_filled(size, scheme)) {
            all.extend(increases(e, table2(size, "512"), scheme)?);
        }
    }
    Ok(Measured::Number(largest(&all)))
}

/// The largest increase of UD_ITB with 32 bytes, by size of network.
fn maxima(e: &Evidence) -> Result<Vec<Estimate>, Missing> {
    let largest_of = |size| Ok(largest(&increases(e, table2(size, "32"), Scheme::UdItb)?));
    SIZES.into_iter().map(largest_of).collect()
}

/// Something that a claim asks for, and the words for the place where it is not so.
type Demand = (Truth, String);

/// A claim that asks for much: all of it holds, or where it does not, or may not.
fn demanded(demands: Vec<Demand>) -> Answer {
    let unmet = |wanted| demands.iter().filter(move |(truth, _)| *truth == wanted);
    let against: Vec<&str> = unmet(Truth::Fails).map(|(_, place)| place.as_str()).collect();
    let open: Vec<&str> = unmet(Truth::Open).map(|(_, place)| place.as_str()).collect();
    let text = match (against.is_empty(), open.is_empty()) {
        (true, true) => "everywhere".to_owned(),
        (true, false) => format!("perhaps not at {}", open.join("; ")),
        (false, _) => format!("not at {}", against.join("; ")),
    };
    Ok(Measured::shape(Truth::all(demands.iter().map(|(truth, _)| *truth)), text))
}

fn short_messages(e: &Evidence) -> Answer {
    let mut demands = Vec::new();
    for size in SIZES {
        let of = |bytes, scheme| increases(e, table2(size, bytes), scheme);
        let more = |more, less| Ok(mean(&beside(more, less, Estimate::minus)?));
        for scheme in Scheme::WITH_STOPS.into_iter().filter(|&scheme| is_filled(size, scheme)) {
            let gap: Estimate = more(of("32", scheme), of("512", scheme))?;
            let place = format!("{}, {size} switches: by {:.2} %", scheme.name(), gap.value);
            demands.push((gap.above(Estimate::exact(0.0)), place));
        }
        for bytes in ["32", "512"] {
            let gap = more(of(bytes, Scheme::UdItb), of(bytes, Scheme::UdMitb))?;
            let place = format!("UD_MITB, {size} switches, {bytes} bytes: by {:.2} %", gap.value);
            demands.push((gap.above(Estimate::exact(0.0)), place));
        }
    }
    demanded(demands)
}

const PATTERNS: [&str; 4] = ["hotspot", "bitreversal", "local", "combined"];

fn gains_everywhere(e: &Evidence) -> Answer {
    let mut demands = Vec::new();
    for pattern in PATTERNS {
        for size in SIZES {
            for scheme in [Scheme::UdMitb, Scheme::UdItb, Scheme::DfsItb] {
                let cell = table3(size, pattern).expect("a pattern of the paper");
                let factor = mean(&factors(e, cell, scheme, scheme.base())?);
                let (name, value) = (scheme.name(), factor.value);
                let place = format!("{name}, {pattern}, {size} switches: {value:.2}");
                demands.push((factor.above(NO_GAIN), place));
            }
        }
    }
    demanded(demands)
}

fn losses_of_balance(e: &Evidence, tolerance: f64) -> Answer {
    let factor = |pattern| -> Result<Estimate, Missing> {
        let cell = table3("16", pattern).expect("a pattern of the paper");
        Ok(mean(&factors(e, cell, Scheme::BItb, Scheme::Smart)?))
    };
    let (hot_spot, reversal) = (factor("hotspot")?, factor("bitreversal")?);
    let holds = [hot_spot, reversal].map(|factor| factor.within(0.0, 1.0 + tolerance));
    let text = format!("hot-spot {:.2}, bit-reversal {:.2}", hot_spot.value, reversal.value);
    Ok(Measured::shape(Truth::all(holds), text))
}
