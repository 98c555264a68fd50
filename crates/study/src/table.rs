//! Rows laid out by two keys, with a value in each cell.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use toml::Spanned;
use toml::de::DeValue;

use crate::column::Column;
use crate::document::{self, Fault};
use crate::figure::{check_name, one_or_more, span_of};
use crate::row::{Row, Setting, Status, number};

/// One table: a line for each value of a key, and a column for each value of another key or for
/// each measured column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    /// Its name among the tables of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The swept key whose values are the lines.
    pub rows: String,
    /// The swept key whose values are the columns; without it, each of `value` is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// What stands in the cells: one measured column, or several where no key is laid out across.
    #[serde(deserialize_with = "one_or_more")]
    pub value: Vec<String>,
}

impl Table {
    /// Reads the list of tables of a study with these swept keys and measured columns.
    pub(crate) fn read(
        value: &Spanned<DeValue<'_>>,
        keys: &[String],
        columns: &[&Column],
    ) -> Result<Vec<Table>, Fault> {
        let DeValue::Array(list) = value.get_ref() else {
            return Err(Fault::value("a single value", "a list of tables")
                .at(value.span())
                .within("table")
                .with_help("head each table with `[[table]]`, in double brackets"));
        };
        let mut tables: Vec<Table> = Vec::new();
        for item in list.iter() {
            let table: Table = document::decode(item).map_err(|fault| fault.within("table"))?;
            table
                .check(&tables, keys, columns)
                .map_err(|(key, fault)| fault.at(span_of(item, &key)))?;
            tables.push(table);
        }
        Ok(tables)
    }

    /// What serde cannot tell; mistakes come with the key of the table they are at.
    fn check(
        &self,
        earlier: &[Table],
        keys: &[String],
        columns: &[&Column],
    ) -> Result<(), (String, Fault)> {
        if let Some(name) = &self.name {
            let earlier = earlier.iter().filter_map(|table| table.name.as_deref());
            check_name("table", name, earlier)?;
        }
        let keys = || keys.iter().map(String::as_str);
        for (place, key) in [("rows", Some(&self.rows)), ("columns", self.columns.as_ref())] {
            if let Some(key) = key.filter(|key| !keys().any(|known| known == *key)) {
                let fault = Fault::unknown("swept key", key, keys())
                    .with_help("a table is laid out by keys of `[sweep]`");
                return Err((place.into(), fault));
            }
        }
        if self.columns.as_ref() == Some(&self.rows) {
            let label = "expected another key than in `rows`";
            return Err(("columns".into(), Fault::new("rows and columns are the same", label)));
        }
        let columns = || columns.iter().map(|column| column.name);
        for (i, name) in self.value.iter().enumerate() {
            if !columns().any(|column| column == name) {
                return Err((format!("value.{i}"), Fault::unknown("column", name, columns())));
            }
        }
        if let (Some(_), [_, _, ..]) = (&self.columns, self.value.as_slice()) {
            let label = format!("found {}, expected one beside `columns`", self.value.len());
            return Err((
                "value".into(),
                Fault::new("several values for each cell", label)
                    .with_help("make a table of each, or leave `columns` out"),
            ));
        }
        Ok(())
    }

    /// The rows laid out, in the order in which values first appear: one sheet for each combination
    /// of the further swept keys that tell rows of the same cell apart.
    pub fn sheets<'a>(&'a self, rows: &'a [Row]) -> Vec<Sheet<'a>> {
        let placed: Vec<Placed<'a>> = rows.iter().filter_map(|row| self.place(row)).collect();
        let further = further_keys(&placed);
        let order = Order {
            lines: distinct(placed.iter().map(|placed| placed.line)),
            across: distinct(placed.iter().filter_map(|placed| placed.across)),
        };
        let mut groups: Vec<(Settings<'a>, Vec<Placed<'a>>)> = Vec::new();
        for placed in placed {
            let value = |key: &&'a str| Some((*key, placed.row.setting(key)?));
            let settings: Settings<'a> = further.iter().filter_map(value).collect();
            match groups.iter_mut().find(|(known, _)| alike(known, &settings)) {
                Some((_, members)) => members.push(placed),
                None => groups.push((settings, vec![placed])),
            }
        }
        let sheet = |(settings, members): (_, Vec<_>)| self.sheet(settings, &members, &order);
        groups.into_iter().map(sheet).collect()
    }

    /// The sheet of some rows, at most one for each cell.
    fn sheet<'a>(
        &'a self,
        settings: Settings<'a>,
        members: &[Placed<'a>],
        order: &Order<'a>,
    ) -> Sheet<'a> {
        let line_here = |line: &&Setting| members.iter().any(|placed| same(placed.line, line));
        let across_here = |across: &&Setting| members.iter().any(|placed| placed.is_at(across));
        let heads: Vec<Head<'a>> = match self.columns {
            Some(_) => {
                order.across.iter().copied().filter(across_here).map(Head::Setting).collect()
            }
            None => self.value.iter().map(|name| Head::Column(name)).collect(),
        };
        let cell = |line: &Setting, head: &Head<'a>| {
            let mut members = members.iter().filter(|placed| same(placed.line, line));
            let (placed, column) = match head {
                Head::Setting(across) => {
                    (members.find(|placed| placed.is_at(across)), self.value.first()?.as_str())
                }
                Head::Column(name) => (members.next(), *name),
            };
            placed.map(|placed| Cell { row: placed.row, column })
        };
        let line = |setting: &'a Setting| Line {
            setting,
            cells: heads.iter().map(|head| cell(setting, head)).collect(),
        };
        let lines = order.lines.iter().copied().filter(line_here).map(line).collect();
        Sheet { settings, lines, heads }
    }

    fn place<'a>(&self, row: &'a Row) -> Option<Placed<'a>> {
        let across = match &self.columns {
            Some(key) => Some(row.setting(key)?),
            None => None,
        };
        Some(Placed { row, line: row.setting(&self.rows)?, across })
    }
}

/// Swept keys and their values.
type Settings<'a> = Vec<(&'a str, &'a Setting)>;

/// The values of the keys that a table is laid out by, in order.
struct Order<'a> {
    lines: Vec<&'a Setting>,
    across: Vec<&'a Setting>,
}

/// A row, and the values by which it finds its cell.
struct Placed<'a> {
    row: &'a Row,
    line: &'a Setting,
    across: Option<&'a Setting>,
}

impl Placed<'_> {
    /// Whether it belongs to the column of this value.
    fn is_at(&self, across: &Setting) -> bool {
        self.across.is_some_and(|ours| same(ours, across))
    }
}

/// The keys that differ between rows of the same cell. A key that advances together with the rows
/// or the columns, as in a zipped sweep, does not.
fn further_keys<'a>(placed: &[Placed<'a>]) -> Vec<&'a str> {
    let mut cells = std::collections::BTreeMap::<_, &Row>::new();
    let mut further: Vec<&str> = Vec::new();
    for Placed { row, line, across } in placed {
        let cell = (line.to_string(), across.map(Setting::to_string));
        let first = cells.entry(cell).or_insert(row);
        for (key, value) in &row.settings {
            let differs = first.setting(key).is_none_or(|other| !same(other, value));
            if differs && !further.contains(&key.as_str()) {
                further.push(key);
            }
        }
    }
    // In the order of the sweep.
    let order = |key: &&str| {
        let settings = placed.iter().map(|placed| &placed.row.settings);
        settings.filter_map(|settings| settings.iter().position(|(k, _)| k == key)).min()
    };
    further.sort_by_key(order);
    further
}

/// Whether two settings read the same; unlike equality, of any two that were read.
fn same(a: &Setting, b: &Setting) -> bool {
    a.to_string() == b.to_string()
}

fn alike(ours: &Settings<'_>, theirs: &Settings<'_>) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
}

fn distinct<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<&'a Setting> {
    let mut known: Vec<&Setting> = Vec::new();
    for setting in settings {
        if !known.iter().any(|other| same(other, setting)) {
            known.push(setting);
        }
    }
    known
}

/// A table for one combination of the keys that it is not laid out by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet<'a> {
    /// The combination.
    #[serde(serialize_with = "in_order")]
    pub settings: Vec<(&'a str, &'a Setting)>,
    /// What its columns are, the first one apart.
    #[serde(rename = "columns")]
    pub heads: Vec<Head<'a>>,
    /// Its lines.
    #[serde(rename = "rows")]
    pub lines: Vec<Line<'a>>,
}

/// What a column of a sheet is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Head<'a> {
    /// The value of a swept key.
    Setting(&'a Setting),
    /// A measured column.
    Column(&'a str),
}

/// A line of a sheet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line<'a> {
    /// The value of the key whose values are the lines.
    #[serde(rename = "row")]
    pub setting: &'a Setting,
    /// One cell for each column; `None` where there is no such point, or it has not finished.
    pub cells: Vec<Option<Cell<'a>>>,
}

/// A cell: one measured column of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell<'a> {
    /// The row.
    pub row: &'a Row,
    /// The column.
    pub column: &'a str,
}

/// The point, how it ended, and the value, null where nothing was measured.
impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("point", &self.row.point)?;
        object.serialize_entry("status", Status::word(self.row.status))?;
        object.serialize_entry("value", &self.row.measured(self.column).and_then(number))?;
        object.end()
    }
}

fn in_order<S: Serializer>(settings: &[(&str, &Setting)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(settings.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;

    /// The sheets of the only table of a study all of whose rows have their number as `accepted`,
    /// one text per line.
    fn laid_out(sweep: &str, table: &str) -> Vec<String> {
        let text = format!(
            "title = 'x'\nseed = 1\nfabric.tree = {{k = 2, n = 2}}\ntraffic.size.fixed.size = '64 B'\n\
             traffic.load = 0.1\n[sweep]\n{sweep}\n[[table]]\n{table}"
        );
        let study = Study::parse("tables", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        let row = |point: &crate::Point| {
            let measured = vec![("accepted".to_owned(), f64::from(point.index))];
            Row::of(point, Status::Converged, String::new(), measured)
        };
        let rows: Vec<Row> = study.points().iter().map(row).collect();
        let mut lines = Vec::new();
        for sheet in study.tables[0].sheets(&rows) {
            let list = |settings: &[(&str, &Setting)]| -> String {
                settings.iter().map(|(key, value)| format!("{key}={value} ")).collect()
            };
            let head = |head: &Head<'_>| match head {
                Head::Setting(setting) => setting.to_string(),
                Head::Column(name) => (*name).to_owned(),
            };
            let heads: Vec<String> = sheet.heads.iter().map(head).collect();
            lines.push(format!("{}| {}", list(&sheet.settings), heads.join(" ")));
            for line in &sheet.lines {
                let cell = |cell: &Option<Cell<'_>>| match cell {
                    Some(cell) => {
                        cell.row.measured(cell.column).map_or("?".into(), |x| x.to_string())
                    }
                    None => "-".to_owned(),
                };
                let cells: Vec<String> = line.cells.iter().map(cell).collect();
                lines.push(format!("{} | {}", line.setting, cells.join(" ")));
            }
        }
        lines
    }

    const BY_LOAD: &str = "rows = 'traffic.load'\ncolumns = 'routing'\nvalue = 'accepted'";

    #[test]
    fn lines_and_columns_are_in_the_order_of_the_sweep() {
        assert_eq!(
            laid_out(
                "product.routing = ['tree-deterministic', 'tree-adaptive']\nproduct.traffic.load = [0.5, 0.1]",
                BY_LOAD
            ),
            ["| tree-deterministic tree-adaptive", "0.5 | 0 2", "0.1 | 1 3"]
        );
    }

    #[test]
    fn further_keys_make_a_sheet_for_each_combination() {
        let sweep = "product.bus = ['half', 'full']\nproduct.routing = ['tree-adaptive', 'shortest']\n\
                     product.traffic.load = [0.1, 0.2]";
        assert_eq!(
            laid_out(sweep, BY_LOAD),
            [
                "bus=half | tree-adaptive shortest",
                "0.1 | 0 2",
                "0.2 | 1 3",
                "bus=full | tree-adaptive shortest",
                "0.1 | 4 6",
                "0.2 | 5 7",
            ]
        );
    }

    #[test]
    fn keys_that_advance_together_make_one_sheet() {
        let sweep = "zip.switch = {virtual-channels = [1, 2], buffer = [256, 128]}\n\
                     product.routing = ['tree-adaptive', 'shortest']";
        let table = "rows = 'switch.buffer'\ncolumns = 'routing'\nvalue = 'accepted'";
        assert_eq!(laid_out(sweep, table), ["| tree-adaptive shortest", "256 | 0 1", "128 | 2 3"]);
        let table =
            "rows = 'switch.buffer'\ncolumns = 'switch.virtual-channels'\nvalue = 'accepted'";
        assert_eq!(
            laid_out(sweep, table),
            ["routing=tree-adaptive | 1 2", "256 | 0 -", "128 | - 2"]
                .into_iter()
                .chain(["routing=shortest | 1 2", "256 | 1 -", "128 | - 3"])
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn without_a_key_across_each_value_is_a_column() {
        let table = "rows = 'traffic.load'\nvalue = ['accepted', 'latency_mean']";
        assert_eq!(
            laid_out("product.traffic.load = [0.1, 0.2]", table),
            ["| accepted latency_mean", "0.1 | 0 ?", "0.2 | 1 ?"]
        );
    }

    #[test]
    fn a_sheet_is_plain_json() {
        let setting = Setting::Text("8 B".into());
        let row = Row {
            profile: None,
            point: 3,
            kind: crate::WorkKind::Ping,
            settings: vec![("work.ping.size".into(), setting)],
            status: Status::Completed,
            note: String::new(),
            measured: vec![("latency".into(), 1.5)],
        };
        let (name, title, columns) = (None, None, None);
        let value = vec!["latency".to_owned(), "bandwidth".to_owned()];
        let table = Table { name, title, rows: "work.ping.size".into(), columns, value };
        let json = serde_json::to_string(&table.sheets(&[row])).unwrap();
        assert_eq!(
            json,
            r#"[{"settings":{},"columns":["latency","bandwidth"],"rows":[{"row":"8 B","cells":[{"point":3,"status":"completed","value":1.5},{"point":3,"status":"completed","value":null}]}]}]"#
        );
    }
}
