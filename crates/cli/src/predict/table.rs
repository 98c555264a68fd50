//! Predictions for several sizes, one line each.

use crosstie_lab::predict::{Prediction, Subject};

use super::layout::{bottleneck, path, port, rate, shares, us};

/// A line for each size.
pub fn by_size(subject: Subject, predictions: &[Prediction]) -> String {
    let lines = match subject.is_collective() {
        true => collective(predictions),
        false => between_two(predictions),
    };
    let mut text = String::from("# times in us\n") + &aligned(&lines);
    for prediction in predictions {
        text += &path(prediction);
    }
    // The last has most to say: windows and time-outs are the same for all.
    text + &predictions.last().map_or(String::new(), |last| port(subject, last))
}

/// Lines of cells under a head: numbers stand to the right, words in the first and the last column
/// to the left.
pub fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let is_word = |line: &Vec<String>| line[0].starts_with(|first: char| first.is_alphabetic());
    let words = lines.iter().skip(1).all(is_word);
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        text += if number == 0 { "# " } else { "  " };
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column + 1 == columns {
                cell.clone()
            } else if column == 0 && words {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        text += &cells.collect::<Vec<_>>().join("  ");
        text.push('\n');
    }
    text
}

fn between_two(predictions: &[Prediction]) -> Vec<Vec<String>> {
    let heads = ["size [B]", "packets", "time", "MB/s", "host", "gap", "wire", "bottleneck"];
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    let has_rails = predictions.iter().any(|one| !one.ranking[0].rails.is_empty());
    if has_rails {
        lines[0].insert(heads.len() - 1, "rails [%]".to_owned());
    }
    for Prediction { size, packets, ranking, .. } in predictions {
        let (size, way) = (size.unwrap_or(0), &ranking[0]);
        lines.push(vec![
            size.to_string(),
            packets.to_string(),
            us(way.time),
            rate(size, way.time),
            us(way.host),
            us(way.gap),
            us(way.wire),
        ]);
        let line = lines.last_mut().expect("there is one");
        line.extend(has_rails.then(|| shares(way)));
        line.push(bottleneck(way));
    }
    lines
}

/// A column for each algorithm, in the order in which they first turn up.
fn collective(predictions: &[Prediction]) -> Vec<Vec<String>> {
    let mut algorithms: Vec<&str> = Vec::new();
    for way in predictions.iter().flat_map(|prediction| &prediction.ranking) {
        let name = way.algorithm.as_deref().unwrap_or_default();
        if !algorithms.contains(&name) {
            algorithms.push(name);
        }
    }
    let mut heads = vec!["size [B]".to_owned()];
    heads.extend(algorithms.iter().map(|name| (*name).to_owned()));
    heads.push("fastest, bottleneck".to_owned());
    let mut lines = vec![heads];
    for Prediction { size, ranking, .. } in predictions {
        let mut line = vec![size.unwrap_or(0).to_string()];
        for name in &algorithms {
            let way = ranking.iter().find(|way| way.algorithm.as_deref() == Some(name));
            line.push(way.map_or("-".to_owned(), |way| us(way.time)));
        }
        let best = &ranking[0];
        let name = best.algorithm.as_deref().unwrap_or_default();
        line.push(format!("{name}, {}", bottleneck(best)));
        lines.push(line);
    }
    lines
}
