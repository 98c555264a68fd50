//! Rows as lines of JSON and of CSV, and back.

use std::io::{self, Write};

use crosstie_protocol::ProfileKind;
use serde_json::{Map, Value};

use crate::column::{Column, columns};
use crate::kind::WorkKind;
use crate::row::{Row, Setting, number};

/// Writes one JSON object per row.
pub(super) fn write_json(rows: &[Row], to: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        serde_json::to_writer(&mut *to, row)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a head and one line per row, with the columns of all kinds of work there are, and at the
/// end the numbers of settings that are quantities; what there is not is empty.
pub(super) fn write_csv(
    keys: &[String],
    kinds: &[WorkKind],
    rows: &[Row],
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(to);
    let keys = || keys.iter().map(String::as_str);
    let is_there = |column: &&Column| {
        !column.optional || rows.iter().any(|row| row.measured(column.name).is_some())
    };
    let swept = keys().any(|key| key == "profile");
    let profiles = !swept && rows.iter().any(|row| row.profile.is_some());
    let columns: Vec<&Column> = columns(kinds).into_iter().filter(is_there).collect();
    let names = || columns.iter().map(|column| column.name);
    let quantities = quantity_columns(rows);
    let head = ["point"].into_iter().chain(keys()).chain(["status", "note"]);
    let head = head.chain(profiles.then_some("profile")).chain(names());
    csv.write_record(head.chain(quantities.iter().map(String::as_str)))?;
    let text = |x: f64| number(x).map(|x| x.to_string()).unwrap_or_default();
    for row in rows {
        let mut record = vec![row.point.to_string()];
        record.extend(keys().map(|key| match row.setting(key) {
            Some(Setting::Number(x)) => text(*x),
            Some(Setting::Text(text)) => text.clone(),
            None => String::new(),
        }));
        record.extend([row.status.word().to_owned(), row.note.clone()]);
        record.extend(profiles.then(|| row.profile.map_or("", ProfileKind::name).to_owned()));
        record.extend(names().map(|name| row.measured(name).map(text).unwrap_or_default()));
        let found: Vec<_> = row.quantities().collect();
        let value = |name: &String| found.iter().find(|(known, _)| known == name).map(|(_, x)| *x);
        record.extend(quantities.iter().map(|name| value(name).map(text).unwrap_or_default()));
        csv.write_record(&record)?;
    }
    csv.flush()
}

/// The columns of settings that are quantities, in the order of the keys.
fn quantity_columns(rows: &[Row]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for (name, _) in rows.iter().flat_map(Row::quantities) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns
}

/// Reads a line of [`write_json`], or says what is wrong with it; `kinds` are those of all points.
pub(super) fn read_json(line: &str, keys: &[String], kinds: &[WorkKind]) -> Result<Row, String> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |key: &str| match object.get(key) {
        Some(Value::String(text)) => Ok(text.as_str()),
        other => Err(format!("`{key}` is {}, expected text", shown(other))),
    };
    let point = object.get("point").and_then(Value::as_u64).and_then(|p| u32::try_from(p).ok());
    let point = point.filter(|&point| (point as usize) < kinds.len()).ok_or_else(|| {
        let (found, points) = (shown(object.get("point")), kinds.len());
        format!("`point` is {found}, expected the number of one of {points} points, from 0")
    })?;
    let kind = kinds[point as usize];
    let settings = keys
        .iter()
        .map(|key| match object.get(key) {
            Some(Value::String(text)) => Ok((key.clone(), Setting::Text(text.clone()))),
            Some(Value::Number(x)) => {
                Ok((key.clone(), Setting::Number(x.as_f64().unwrap_or(f64::NAN))))
            }
            other => Err(format!("`{key}` is {}, expected a setting", shown(other))),
        })
        .collect::<Result<_, _>>()?;
    let measured = kind
        .columns()
        .iter()
        .filter_map(|column| Some((column.name.to_owned(), object.get(column.name)?.as_f64()?)))
        .collect();
    // Older rows and those of papers tell none.
    let name = object.get("profile").and_then(Value::as_str);
    let mut told = ProfileKind::ALL.into_iter().filter(|kind| !kind.is_of_paper());
    let profile = told.find(|kind| Some(kind.name()) == name);
    Ok(Row {
        point,
        kind,
        settings,
        profile,
        status: text("status")?.parse().map_err(|e: crate::row::UnknownStatus| e.to_string())?,
        note: text("note")?.to_owned(),
        measured,
    })
}

fn shown(value: Option<&Value>) -> String {
    value.map_or("missing".to_owned(), |value| format!("`{value}`"))
}
