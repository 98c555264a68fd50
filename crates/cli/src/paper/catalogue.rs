//! Which papers there are.

use crosstie_lab::paper::{OtherReading, PAPERS, Paper, Scale};
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::experiment;

#[derive(Serialize)]
struct Listing {
    papers: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    title: &'static str,
    citation: &'static str,
    claims: usize,
    parts: Vec<PartEntry>,
    readings: Vec<ReadingEntry>,
}

#[derive(Serialize)]
struct ReadingEntry {
    name: &'static str,
    says: &'static str,
}

#[derive(Serialize)]
struct PartEntry {
    name: &'static str,
    title: String,
    points: usize,
    quick_points: usize,
    full_points: usize,
}

/// Prints all papers with their parts.
pub fn list(console: &Console) -> Exit {
    let papers = PAPERS.iter().map(entry).collect::<Result<Vec<Entry>, Failure>>()?;
    if console.json {
        console.print_json(&Listing { papers })?;
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    for Entry { name, citation, claims, parts, readings, .. } in &papers {
        text += &format!("{name}: {citation}\n  {claims} claims, {} parts\n", parts.len());
        let width = parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
        for part in parts {
            let (name, title) = (part.name, &part.title);
            let mut points = experiment::points(part.points);
            points += &format!(", {} with --quick", part.quick_points);
            if part.full_points != part.points {
                points += &format!(", {} with --full", part.full_points);
            }
            text += &format!("  {name:<width$}  {title} ({points})\n");
        }
        for ReadingEntry { name, says } in readings {
            text += &format!("  --reading {name}: {says}\n");
        }
    }
    console.print(&text)?;
    Ok(Answer::Yes)
}

fn entry(paper: &'static Paper) -> Result<Entry, Failure> {
    let parts = paper.parts.iter().map(|part| {
        let study = |scale| part.study(scale).map_err(Failure::ours);
        let usual = study(Scale::Usual)?;
        Ok(PartEntry {
            name: part.name,
            points: usual.points().len(),
            quick_points: study(Scale::Quick)?.points().len(),
            full_points: study(Scale::Full)?.points().len(),
            title: usual.title,
        })
    });
    Ok(Entry {
        name: paper.name,
        title: paper.title,
        citation: paper.citation,
        claims: paper.published().map_err(Failure::ours)?.claims.len(),
        parts: parts.collect::<Result<_, Failure>>()?,
        readings: paper.readings.iter().map(ReadingEntry::of).collect(),
    })
}

impl ReadingEntry {
    fn of(&OtherReading { name, says, .. }: &OtherReading) -> ReadingEntry {
        ReadingEntry { name, says }
    }
}

/// The paper of that name.
pub fn find(name: &str) -> Result<&'static Paper, Failure> {
    Paper::named(name).ok_or_else(|| {
        let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        Failure::user(format!(
            "there is no paper `{name}`\nhelp: known are {}; `crosstie paper` lists their parts",
            known.join(", ")
        ))
    })
}
