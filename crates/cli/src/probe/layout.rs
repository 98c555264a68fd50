//! What was found, in the terminal.

use std::fmt::Write;

use super::document::{Document, FoundBuffer, FoundCost, FoundSample, Place};

/// All of it, and what to do with it.
pub fn report(document: &Document<'_>, samples: bool) -> String {
    let Document { machine, title, world, nodes, iterations, packet, file, .. } = document;
    let spread = match document.costs.iter().any(|cost| cost.spread.is_some()) {
        true => format!("; spread: of eight in ten timings of {packet} B"),
        false => String::new(),
    };
    let mut text = format!(
        "# probe of {machine}, {nodes} nodes, {world}, {iterations} iterations\n# {title}\n\
         # times in us; error: the largest of all lengths{spread}\n\n"
    );
    text += &costs(&document.costs, *packet);
    if samples {
        text += &document.costs.iter().map(samples_of).collect::<String>();
    }
    text +=
        "\nbuffers: of bursts of k packets the share rho = intercept + slope / k comes through\n";
    text += &buffer("B_L", &document.buffer, samples);
    if let Some(uplink) = &document.uplink {
        text += "\nbuffers for what comes from other switches\n";
        text += &buffer("B_L", uplink, samples);
    }
    write!(
        text,
        "\nmodel file   {file}\n\
         to use it    crosstie predict transfer --model {file}\n\
         {:<12} world = \"model\" with model.file.path = \"{file}\" in an experiment\n",
        ""
    )
    .ok();
    text
}

/// Lines of cells in columns; the first so many are words, which stand to the left.
fn columns(lines: &[Vec<String>], words: usize) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        // What stands last in a line may go on for as long as it likes.
        let inner = lines.iter().filter(|line| line.len() == count || column + 1 < line.len());
        inner.filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let cells =
            line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                match column < words || (column == words && line.len() == words + 1) {
                    true => format!("{cell:<width$}"),
                    false => format!("{cell:>width$}"),
                }
            });
        writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end()).ok();
    }
    text
}

fn us(value: f64) -> String {
    format!("{value:.3}")
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn or_dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".to_owned(), show)
}

fn spread(spread: Option<[f64; 2]>) -> String {
    spread.map_or("-".to_owned(), |[low, high]| format!("{low:.2}..{high:.2}"))
}

/// A time that is little, in nanoseconds.
fn ns(value: f64) -> String {
    if value == 0.0 { "-".to_owned() } else { format!("{:.3}", value * 1e3) }
}

fn costs(costs: &[FoundCost<'_>], packet: u64) -> String {
    let lines = || costs.iter().filter_map(|cost| cost.line.as_ref());
    let by_node = lines().any(|line| line.node > 0.0);
    let by_both = lines().any(|line| line.byte_node > 0.0);
    let mut heads = vec!["", "cost", "fixed", "ns/B"];
    heads.extend(by_node.then_some("ns/node"));
    heads.extend(by_both.then_some("ns/B/node"));
    heads.extend(["r^2", "off by", "kept", "noise"]);
    let full = format!("{packet} B");
    heads.push(&full);
    let spreads = costs.iter().any(|cost| cost.spread.is_some());
    heads.extend(spreads.then_some("spread"));
    heads.extend(["configured", "error"]);
    let mut table = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for cost in costs {
        let mut cells = vec![cost.symbol.to_owned(), cost.meaning.to_owned()];
        match (&cost.line, &cost.unresolved) {
            (Some(line), _) => {
                cells.extend([us(line.fixed), ns(line.byte)]);
                cells.extend(by_node.then(|| ns(line.node)));
                cells.extend(by_both.then(|| ns(line.byte_node)));
                cells.extend([format!("{:.4}", line.r_squared), us(line.residual)]);
                cells.extend([cost.kept.to_string(), cost.discarded.to_string()]);
                cells.push(or_dash(cost.found, us));
                cells.extend(spreads.then(|| spread(cost.spread)));
                cells.extend([or_dash(cost.configured, us), or_dash(cost.error, percent)]);
            }
            (None, unresolved) => cells.push(unresolved.as_ref().map_or(String::new(), |none| {
                let configured = cost.configured.map_or(String::new(), |configured| {
                    format!("; configured {} for {packet} B", us(configured))
                });
                let noise = match cost.discarded {
                    0 => String::new(),
                    noise => format!(" ({noise} timings were noise)"),
                };
                let (why, stand_in) = (none.why, none.stand_in);
                format!("not resolved: {why}{noise}; {stand_in} stands for it{configured}")
            })),
        }
        table.push(cells);
    }
    columns(&table, 2)
}

fn samples_of(cost: &FoundCost<'_>) -> String {
    let spreads = cost.samples.iter().any(|sample| sample.spread.is_some());
    let mean = if spreads { "mean, spread" } else { "mean" };
    let heads = ["bytes", "nodes", mean, "configured", "kept", "noise", ""];
    let mut table = vec![heads.map(str::to_owned).to_vec()];
    for sample in &cost.samples {
        let FoundSample { bytes, nodes, found, configured, kept, discarded, left_out, .. } = sample;
        let left_out = left_out.map_or(String::new(), |why| format!("not fitted: {why}"));
        table.push(vec![
            bytes.to_string(),
            nodes.to_string(),
            match sample.spread {
                Some(of) => format!("{}, {}", us(*found), spread(Some(of))),
                None => us(*found),
            },
            or_dash(*configured, us),
            kept.to_string(),
            discarded.to_string(),
            left_out,
        ]);
    }
    // Words stand to the left.
    let widest = table.iter().map(|line| line[6].chars().count()).max().unwrap_or(0);
    for line in &mut table {
        line[6] = format!("{:<widest$}", line[6]);
    }
    format!("\n{}, {}\n{}", cost.symbol, cost.meaning, columns(&table, 0))
}

fn buffer(symbol: &str, found: &FoundBuffer<'_>, samples: bool) -> String {
    let mut text = String::new();
    if !found.bursts.is_empty() {
        let heads = ["sources", "sinks", "slope", "intercept", "R g_s/(S g_r)", "r^2", "frames"];
        let mut table = vec![heads.map(str::to_owned).to_vec()];
        table.extend(found.bursts.iter().map(|bursts| {
            vec![
                bursts.sources.to_string(),
                bursts.sinks.to_string(),
                format!("{:.2}", bursts.slope),
                format!("{:.4}", bursts.intercept),
                bursts
                    .expected_intercept
                    .map_or("-".to_owned(), |expected| format!("{expected:.4}")),
                format!("{:.4}", bursts.r_squared),
                format!("{:.2}", bursts.frames),
            ]
        }));
        text += &columns(&table, 0);
        if samples {
            text += &found.bursts.iter().map(shares).collect::<String>();
        }
    }
    let error = match (found.found, found.error) {
        (_, Some(error)) => format!(", error {}", percent(error)),
        (Some(_), None) if found.configured.is_some() => ", another place".to_owned(),
        _ => String::new(),
    };
    match (found.found, &found.unresolved) {
        (Some(place), _) => {
            let off = found.off.unwrap_or(0.0);
            let next = found.next_off.map_or(String::new(), |next| {
                format!(", and {} from the next best's", percent(next))
            });
            writeln!(text, "  {symbol:<12} {}", words(place)).ok();
            writeln!(
                text,
                "  {:<12} slopes are {} from such a buffer's{next}",
                "how sure",
                percent(off)
            )
            .ok();
            if let Some(resolution) = found.resolution {
                let what = "with one frame more or less that may be leaving";
                writeln!(text, "  {:<12} {resolution:.1} frames, {what}", "resolution").ok();
            }
        }
        (None, why) => {
            let why = why.as_deref().unwrap_or_default();
            writeln!(text, "  {symbol:<12} not resolved: {why}").ok();
        }
    }
    if let Some(configured) = found.configured {
        writeln!(text, "  {:<12} {}{error}", "configured", words(configured)).ok();
    }
    text
}

fn words(place: Place) -> String {
    let Place { architecture, frames } = place;
    match architecture {
        "shared" => format!("{frames} frames, shared by all ports"),
        place => format!("{frames} frames at each {place}"),
    }
}

/// The points of a line.
fn shares(bursts: &super::document::FoundBursts<'_>) -> String {
    let points = bursts.points.iter().map(|(k, rho)| format!("{rho:.4} of {k}"));
    let points = points.collect::<Vec<_>>().join(", ");
    format!("  from {} to {}: {points}\n", bursts.sources, bursts.sinks)
}
