//! What a folder of results says about itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::SideTable;
use crate::column::{self, Column};
use crate::row::{Status, quantities};
use crate::spec::World;
use crate::study::Study;

/// The version of the folder's layout. It changes when a reader of the old layout would go wrong.
pub(super) const FORMAT: u32 = 2;
/// The oldest layout that can be read.
pub(super) const OLDEST: u32 = 1;

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The version of the folder's layout.
    pub format: u32,
    /// The version of Crosstie that wrote the folder.
    pub crosstie: String,
    /// What computed the rows: each engine with the revision of its results.
    #[serde(default)]
    pub revisions: BTreeSet<String>,
    /// The title of the study.
    pub title: String,
    /// The publication it belongs to.
    pub citation: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// The seed of all points; `None` if the seed is swept, and then a setting.
    pub seed: Option<u64>,
    /// How many points the study has.
    pub points: usize,
    /// How many of them have a row.
    pub finished: usize,
    /// The columns that hold settings: the swept keys.
    pub settings: Vec<String>,
    /// The columns of the rows, in order.
    pub columns: Vec<ColumnMeaning>,
    /// The columns of the tables beside the rows, in order, by file.
    #[serde(default)]
    pub side_tables: BTreeMap<String, Vec<ColumnMeaning>>,
    /// Files the study refers to, copied into the folder, with the 128-bit FNV-1a hash of their
    /// content.
    pub inputs: BTreeMap<String, String>,
    /// How to compute the results again.
    pub rerun: String,
    /// The profiles by which ranks exchange messages, over all points.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub profiles: BTreeSet<String>,
    /// Which rows differ from run to run, if some do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<String>,
}

/// What a folder says of rows that were measured on real hosts.
const VARIES: &str = "rows of world = \"live\" were measured on real hosts (hosts.csv): another run gives other numbers, while \
                      all other rows are the same to the byte";

/// Name, unit and meaning of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnMeaning {
    /// Its name.
    pub name: String,
    /// Its unit; empty for text and for a pure number.
    pub unit: String,
    /// What it means.
    pub meaning: String,
}

fn meaning(name: &str, unit: &str, meaning: &str) -> ColumnMeaning {
    ColumnMeaning { name: name.into(), unit: unit.into(), meaning: meaning.into() }
}

impl Meta {
    pub(super) fn of(
        study: &Study,
        finished: usize,
        version: &str,
        revisions: BTreeSet<String>,
    ) -> Meta {
        let kinds = study.kinds();
        let mut statuses: Vec<&str> = Vec::new();
        for status in kinds.iter().flat_map(|kind| kind.statuses()).copied().map(Status::word) {
            if !statuses.contains(&status) {
                statuses.push(status);
            }
        }
        let statuses = statuses.join(", ");
        let mut columns = vec![meaning("point", "", "number of the point within the study")];
        columns
            .extend(study.keys().iter().map(|key| meaning(key, "", "a swept key of study.toml")));
        columns.push(meaning("status", "", &format!("how the run ended: {statuses}")));
        columns.push(meaning("note", "", "anything unusual, in a sentence"));
        let knows_more = study.points().iter().any(|point| point.spec.knows_more());
        let may_occur = |column: &&&Column| !column.optional || knows_more;
        let measured = column::columns(&kinds);
        let measured = measured.iter().filter(may_occur);
        columns.extend(measured.map(|c| meaning(c.name, c.unit, c.meaning)));
        for (name, unit, _) in study.points().iter().flat_map(|p| quantities(&p.settings)) {
            if !columns.iter().any(|column| column.name == name) {
                columns.push(meaning(
                    &name,
                    &unit.replace("_per_", "/"),
                    "the same key as a number",
                ));
            }
        }
        let has = |world| study.points().iter().any(|point| point.spec.world == world);
        let may_be = |table: &&SideTable| match table {
            SideTable::Buffers => has(World::Frame),
            SideTable::Hosts => has(World::Live),
            SideTable::Channels | SideTable::Ranks | SideTable::Timeline => true,
        };
        let side_tables = kinds.iter().flat_map(|kind| kind.side_tables()).filter(may_be);
        let side_tables = side_tables.map(|table| {
            let columns = table.columns().iter().map(|[n, u, m]| meaning(n, u, m));
            (table.file().to_owned(), columns.collect())
        });
        let profiles = study.points().iter().filter_map(|point| point.spec.profile);
        let is_told = profiles.clone().any(|profile| !profile.is_of_paper());
        if is_told && !study.keys().iter().any(|key| key == "profile") {
            let place = columns.iter().position(|column| column.name == "note").unwrap_or(0) + 1;
            let says = "the profile by which ranks exchanged messages, if it is none of a paper";
            columns.insert(place, meaning("profile", "", says));
        }
        let swept_seed = study.keys().iter().any(|key| key == "seed");
        let seed = study.points().first().map(|point| point.spec.seed.0);
        Meta {
            format: FORMAT,
            crosstie: version.to_owned(),
            revisions,
            title: study.title.clone(),
            citation: study.citation.clone(),
            description: study.description.clone(),
            seed: seed.filter(|_| !swept_seed),
            points: study.points().len(),
            finished,
            settings: study.keys().to_vec(),
            columns,
            side_tables: side_tables.collect(),
            inputs: study
                .copies()
                .into_iter()
                .map(|(path, input)| (path, input.fingerprint.to_string()))
                .collect(),
            rerun: "crosstie run study.toml".to_owned(),
            profiles: profiles.map(|profile| profile.name().to_owned()).collect(),
            varies: has(World::Live).then(|| VARIES.to_owned()),
        }
    }
}
