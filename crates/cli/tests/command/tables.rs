//! Tables of numbers in the documentation: each says where its numbers come from, and has them.
//!
//! A comment on the line before a table, which readers do not see, names the source:
//!
//! - `<!-- table: FILE NAME; KEY = VALUE; .. -->`: the table NAME of an experiment, on the sheet
//!   with these values of further keys. Lines and columns are found by their names, and columns
//!   whose head begins with `published` are left alone. FILE is one of the repository, or of a
//!   block of the page.
//! - `<!-- columns: HEAD = FILE NAME / COLUMN / KEY = VALUE; .. -->`: each column from a table of
//!   its own.
//! - `<!-- slow table: .. -->`, `<!-- slow columns: .. -->`: the same where the experiment takes
//!   more than a few seconds. A test of its own compares it.
//! - `<!-- measured: DATE; COMMAND -->`: by a clock on the wall, or in hours. It is not compared.
//! - `<!-- reference -->`: nothing was measured: formulas, defaults.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::invocation::repository;
use crate::pages::{blocks, clone, names, shell};
use serde_json::Value;

/// A table of a page: its lines of cells, the first of which is the head, and the comment before
/// it.
struct Printed {
    line: usize,
    comment: String,
    lines: Vec<Vec<String>>,
}

/// The tables of a page outside of blocks.
fn printed(page: &str) -> Vec<Printed> {
    let mut tables: Vec<Printed> = Vec::new();
    let (mut before, mut in_block, mut in_table) = ("", false, false);
    for (i, line) in page.lines().enumerate() {
        in_block ^= line.starts_with("```");
        if in_block || !line.starts_with('|') {
            (before, in_table) = (line, false);
            continue;
        }
        if !in_table {
            let comment = before.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
            let comment = comment.unwrap_or_default().to_owned();
            tables.push(Printed { line: i + 1, comment, lines: Vec::new() });
            in_table = true;
        }
        let is_rule = line.chars().all(|c| "|-: ".contains(c));
        if let (false, Some(table)) = (is_rule, tables.last_mut()) {
            let cells = line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
            table.lines.push(cells.collect());
        }
    }
    tables
}

impl Printed {
    /// Returns true if it shows numbers, and not keys with their defaults or files with their
    /// points, which other tests hold to what they are.
    fn is_of_numbers(&self) -> bool {
        let cells = || self.lines.iter().skip(1).flat_map(|line| line.iter().skip(1));
        let numbers = cells().filter(|cell| number(cell).is_some()).count();
        let head = self.lines[0][0].as_str();
        !["key", "file"].contains(&head) && 4 * numbers >= cells().count() && numbers > 1
    }
}

/// The number that a cell begins with, as it is printed.
fn number(cell: &str) -> Option<String> {
    let text = cell.trim_matches('*').split([' ', '(', '*']).next()?.trim_end_matches([',', '%']);
    let text = text.replace(',', "");
    text.parse::<f64>().ok().map(|_| text)
}

/// The names in the first cell of a line: those in code, or all of it.
fn labels(cell: &str) -> Vec<&str> {
    let code: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    if code.is_empty() { vec![cell] } else { code }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Where the numbers of a column of a page are: a file, a table, a column of it, and values of
/// further keys.
struct Source<'a> {
    file: &'a str,
    table: &'a str,
    column: &'a str,
    settings: Vec<(&'a str, &'a str)>,
}

/// The source of every column that is compared, by its head.
fn sources<'a>(printed: &'a Printed, kind: &str, comment: &'a str) -> Vec<(&'a str, Source<'a>)> {
    let wrong = || -> ! { panic!("line {}: `{comment}` names no source", printed.line) };
    let settings = |parts: &[&'a str]| -> Vec<(&'a str, &'a str)> {
        parts.iter().map(|part| part.split_once(" = ").unwrap_or_else(|| wrong())).collect()
    };
    let place = |text: &'a str| text.split_once(' ').unwrap_or_else(|| wrong());
    let entries: Vec<&str> = comment.split("; ").collect();
    if kind == "table" {
        let heads = printed.lines[0].iter().skip(1).map(String::as_str);
        let source = |head: &'a str| {
            let (file, table) = place(entries[0]);
            (head, Source { file, table, column: head, settings: settings(&entries[1..]) })
        };
        return heads.filter(|head| !head.starts_with("published")).map(source).collect();
    }
    let source = |entry: &&'a str| {
        let (head, rest) = entry.split_once(" = ").unwrap_or_else(|| wrong());
        let parts: Vec<&str> = rest.split(" / ").collect();
        let [first, column, further @ ..] = &parts[..] else { wrong() };
        let (file, table) = place(first);
        (head, Source { file, table, column, settings: settings(further) })
    };
    entries.iter().map(source).collect()
}

/// The value that a line has in a source, or what the source lacks.
fn value(results: &Value, source: &Source<'_>, label: &str) -> Result<Option<f64>, String> {
    let Source { file, table, column, settings } = source;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tables = list(&results["tables"]);
    let sheets =
        tables.iter().filter(|found| found["name"] == *table).flat_map(|t| list(&t["sheets"]));
    let is_meant =
        |sheet: &Value| settings.iter().all(|(key, value)| text(&sheet["settings"][key]) == *value);
    let sheet = sheets.into_iter().find(is_meant);
    let sheet =
        sheet.ok_or_else(|| format!("{file} has no sheet of `{table}` with {settings:?}"))?;
    let heads: Vec<String> = list(&sheet["columns"]).iter().map(text).collect();
    let place = heads.iter().position(|head| head == column);
    let place = place.ok_or_else(|| format!("{file} has no column `{column}` among {heads:?}"))?;
    let rows = list(&sheet["rows"]);
    let row = rows.iter().find(|row| text(&row["row"]) == label);
    let row = row.ok_or_else(|| format!("{file} has no line `{label}`"))?;
    Ok(row["cells"][place]["value"].as_f64())
}

/// A cell with another value, to the decimals that it has.
fn replaced(cell: &str, value: Option<f64>) -> String {
    match (number(cell), value) {
        (Some(number), Some(value)) => {
            let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let found = format!("{value:.decimals$}");
            if found == number { cell.to_owned() } else { cell.replace(&number, &found) }
        }
        (None, None) => cell.to_owned(),
        (_, Some(value)) => format!("{value:.0}"),
        (_, None) => "nothing".to_owned(),
    }
}

fn markdown(lines: &[Vec<String>]) -> String {
    lines.iter().map(|line| format!("| {} |\n", line.join(" | "))).collect()
}

/// Compares the tables of all pages that are slow, or those that are not; returns how many.
fn compare(slow: bool) -> usize {
    let (mut compared, mut wrong) = (0, String::new());
    for name in names() {
        let page = fs::read_to_string(repository(&name)).unwrap();
        let folder = clone();
        for block in blocks(&page) {
            if let Some(file) = block.comment.strip_prefix("file: ") {
                fs::write(folder.path().join(file), &block.text).unwrap();
            }
        }
        let mut results: BTreeMap<String, Value> = BTreeMap::new();
        for table in &printed(&page) {
            let comment = table.comment.strip_prefix("slow ");
            let (is_slow, comment) = (comment.is_some(), comment.unwrap_or(&table.comment));
            let Some((kind, comment)) = comment.split_once(": ") else { continue };
            if is_slow != slow || !["table", "columns"].contains(&kind) {
                continue;
            }
            let mut lines = table.lines.clone();
            for (head, source) in sources(table, kind, comment) {
                let results = results
                    .entry(source.file.to_owned())
                    .or_insert_with(|| run(folder.path(), source.file));
                let column = table.lines[0].iter().position(|known| known == head);
                let column = column.unwrap_or_else(|| panic!("{name}: no column `{head}`"));
                for line in &mut lines[1..] {
                    let mut cells: Vec<String> = Vec::new();
                    for label in labels(&line[0]) {
                        match value(results, &source, label) {
                            Ok(value) => cells.push(replaced(&line[column], value)),
                            Err(lacks) => panic!("{name}:{}: {lacks}", table.line),
                        }
                    }
                    cells.dedup();
                    line[column] = cells.join(" or ");
                }
            }
            if lines != table.lines {
                wrong += &format!("{name}:{}: it should be\n{}\n", table.line, markdown(&lines));
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    compared
}

fn run(folder: &Path, file: &str) -> Value {
    let output = shell(folder, &format!("crosstie run {file} --json --quiet --no-report"));
    serde_json::from_str(&output).unwrap_or_else(|error| panic!("{file}: {error}: {output}"))
}

#[test]
fn every_table_of_numbers_says_where_it_is_from() {
    let known =
        ["table: ", "columns: ", "slow table: ", "slow columns: ", "measured: ", "reference"];
    let (mut silent, mut found) = (Vec::new(), 0);
    for name in names() {
        let page = fs::read_to_string(repository(&name)).unwrap();
        for table in printed(&page).iter().filter(|table| table.is_of_numbers()) {
            found += 1;
            if !known.iter().any(|start| table.comment.starts_with(start)) {
                silent.push(format!("{name}:{}", table.line));
            }
        }
    }
    assert!(
        silent.is_empty(),
        "no comment before these tables says where they are from: {silent:#?}"
    );
    assert!(found >= 10, "only {found} tables of numbers");
}

#[test]
fn tables_have_the_numbers_of_their_experiments() {
    assert!(compare(false) >= 3);
}

/// It takes three minutes of a core: `experiments/policies.toml`, `elan-schemes.toml` and three of
/// `experiments/liu`.
#[test]
fn slow_tables_have_the_numbers_of_their_experiments() {
    assert!(compare(true) >= 6);
}

#[test]
fn a_cell_keeps_its_words_and_decimals() {
    assert_eq!(replaced("1950 MB/s", Some(1949.7)), "1950 MB/s");
    assert_eq!(replaced("**27.8**", Some(27.94)), "**27.9**");
    assert_eq!(replaced("883 (fitted)", Some(880.2)), "880 (fitted)");
    assert_eq!(replaced("never done", None), "never done");
    assert_eq!(
        (replaced("never done", Some(3.0)), replaced("3", None)),
        ("3".into(), "nothing".into())
    );
}

#[test]
fn tables_are_told_from_what_is_in_blocks() {
    let page = "<!-- table: f.toml t -->\n| a | b |\n|---|---|\n| x | 1 |\n| y | 2.5 us |\n\n```\n| 1 |\n```\n";
    let tables = printed(page);
    assert_eq!(tables.len(), 1);
    assert_eq!((tables[0].line, tables[0].comment.as_str()), (2, "table: f.toml t"));
    assert!(tables[0].is_of_numbers());
    assert_eq!(labels("`even-striping`, `pull`"), ["even-striping", "pull"]);
}
