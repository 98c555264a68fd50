//! What to draw from the rows of a study.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;
use toml::de::DeValue;

use crate::column::Column;
use crate::document::{self, Fault};
use crate::point::Point;
use crate::row::{Row, Setting};

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figure {
    /// Its name among the figures of the study, fit for a file name.
    pub name: String,
    /// Its title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What runs along: a column or a swept key.
    pub x: String,
    /// What is drawn: one or more columns.
    #[serde(deserialize_with = "one_or_more")]
    pub y: Vec<String>,
    /// Swept keys that tell the curves apart. Those that the file leaves out are added where a
    /// curve would otherwise have several values at one x.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
    /// Values of swept keys: rows that have others are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, toml::Value>,
    /// Logarithmic x axis.
    #[serde(default)]
    pub log_x: bool,
    /// Logarithmic y axis.
    #[serde(default)]
    pub log_y: bool,
    /// Ends of the x axis; from the data if missing.
    #[serde(default, deserialize_with = "ends", skip_serializing_if = "Option::is_none")]
    pub x_range: Option<[f64; 2]>,
    /// Ends of the y axis; from the data if missing.
    #[serde(default, deserialize_with = "ends", skip_serializing_if = "Option::is_none")]
    pub y_range: Option<[f64; 2]>,
}

impl Figure {
    /// Reads the list of figures of a study with these swept keys, measured columns and points.
    pub(crate) fn read(
        value: &Spanned<DeValue<'_>>,
        keys: &[String],
        columns: &[&Column],
        points: &[Point],
    ) -> Result<Vec<Figure>, Fault> {
        let DeValue::Array(list) = value.get_ref() else {
            return Err(Fault::value("a single value", "a list of figures")
                .at(value.span())
                .within("figure")
                .with_help("head each figure with `[[figure]]`, in double brackets"));
        };
        let mut figures: Vec<Figure> = Vec::new();
        for item in list.iter() {
            let mut figure: Figure =
                document::decode(item).map_err(|fault| fault.within("figure"))?;
            figure
                .check(&figures, keys, columns)
                .and_then(|()| figure.check_only(keys, points))
                .map_err(|(key, fault)| fault.at(span_of(item, &key)))?;
            figure.series.extend(figure.missing_series(keys, points));
            figures.push(figure);
        }
        Ok(figures)
    }

    /// The rows that it draws.
    pub fn rows(&self, rows: &[Row]) -> Vec<Row> {
        rows.iter().filter(|row| self.has(|key| row.setting(key))).cloned().collect()
    }

    /// Returns true if settings are those of `only`.
    fn has<'a>(&self, setting: impl Fn(&str) -> Option<&'a Setting>) -> bool {
        self.only.iter().all(|(key, value)| {
            setting(key)
                .is_some_and(|setting| setting.to_string() == Setting::of(value).to_string())
        })
    }

    /// Checks that `only` names swept keys and values that they take.
    fn check_only(&self, keys: &[String], points: &[Point]) -> Result<(), (String, Fault)> {
        for (key, value) in &self.only {
            if !keys.contains(key) {
                let fault = Fault::unknown("swept key", key, keys.iter().map(String::as_str))
                    .with_help("a figure is of some values of a key of `[sweep]`");
                return Err(("only".into(), fault));
            }
            let wanted = Setting::of(value).to_string();
            let mut values: Vec<String> = Vec::new();
            for value in points.iter().filter_map(|point| point.setting(key)) {
                let value = value.to_string();
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            if !values.contains(&wanted) {
                let known = values.iter().map(String::as_str);
                let fault = Fault::unknown(&format!("value of `{key}`"), &wanted, known);
                return Err(("only".into(), fault));
            }
        }
        Ok(())
    }

    /// The swept keys that `series` must name besides, so that a curve joins only points that
    /// differ in x. Runs that differ in the seed alone count as one point. Where x is measured,
    /// a curve runs along the last swept key that is free and that no other key determines.
    fn missing_series(&self, keys: &[String], points: &[Point]) -> Vec<String> {
        let is_drawn = |point: &&Point| self.has(|key| point.setting(key));
        let points: Vec<&Point> = points.iter().filter(is_drawn).collect();
        let mut told: Vec<&str> = self.series.iter().map(String::as_str).collect();
        let varies = |key: &str| {
            let mut values = points.iter().map(|point| point.setting(key));
            let first = values.next().flatten();
            values.any(|value| value != first)
        };
        let mut free: Vec<&str> = (keys.iter().map(String::as_str))
            .filter(|key| *key != self.x && *key != "seed" && !told.contains(key) && varies(key))
            .collect();
        if keys.contains(&self.x) {
            told.push(&self.x);
        } else {
            // Of keys that are zipped, the one that determines the others.
            let determines = |one: &str, other: &str| {
                !is_ambiguous(&points, &[&told[..], &[one]].concat(), other)
            };
            let leads = |key: &str| {
                free.iter().all(|other| !determines(other, key) || determines(key, other))
            };
            if let Some(place) = free.iter().rposition(|key| leads(key)) {
                told.push(free.remove(place));
            }
        }
        free.retain(|key| {
            let splits = is_ambiguous(&points, &told, key);
            if splits {
                told.push(key);
            }
            splits
        });
        free.into_iter().map(str::to_owned).collect()
    }

    /// What serde cannot tell; mistakes come with the key of the figure they are at.
    fn check(
        &self,
        earlier: &[Figure],
        keys: &[String],
        columns: &[&Column],
    ) -> Result<(), (String, Fault)> {
        check_name("figure", &self.name, earlier.iter().map(|other| other.name.as_str()))?;
        let columns = || columns.iter().map(|column| column.name);
        let keys = || keys.iter().map(String::as_str);
        if !columns().chain(keys()).any(|name| name == self.x) {
            let known = keys().chain(columns());
            return Err(("x".into(), Fault::unknown("column or swept key", &self.x, known)));
        }
        for (i, name) in self.y.iter().enumerate() {
            if !columns().any(|column| column == name) {
                return Err((format!("y.{i}"), Fault::unknown("column", name, columns())));
            }
        }
        for (i, name) in self.series.iter().enumerate() {
            if !keys().any(|key| key == name) {
                let fault = Fault::unknown("swept key", name, keys())
                    .with_help("a series is told apart by a key of `[sweep]`");
                return Err((format!("series.{i}"), fault));
            }
        }
        for (key, range, log) in
            [("x-range", self.x_range, self.log_x), ("y-range", self.y_range, self.log_y)]
        {
            let Some([low, high]) = range else { continue };
            if log && low <= 0.0 {
                let label = format!("found {low}, expected a low end above 0");
                return Err((key.into(), Fault::new("no logarithm of this end", label)));
            }
            if low >= high {
                let label = format!("found {low} and {high}, expected the low end first");
                return Err((key.into(), Fault::new("an empty range", label)));
            }
        }
        Ok(())
    }
}

/// Returns true if points that agree in the keys `told` differ in `key`.
fn is_ambiguous(points: &[&Point], told: &[&str], key: &str) -> bool {
    let text = |point: &Point, key: &str| point.setting(key).map(ToString::to_string);
    let mut values = BTreeMap::new();
    points.iter().any(|point| {
        let place: Vec<_> = told.iter().map(|key| text(point, key)).collect();
        let value = text(point, key);
        *values.entry(place).or_insert_with(|| value.clone()) != value
    })
}

/// Checks the name of a figure or a table, which may become that of a file, among those before it.
pub(crate) fn check_name<'a>(
    what: &str,
    name: &str,
    mut earlier: impl Iterator<Item = &'a str>,
) -> Result<(), (String, Fault)> {
    let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !(1..=64).contains(&name.len()) || !name.chars().all(safe) {
        let expected = "1 to 64 lower-case letters, digits and hyphens";
        let fault = Fault::value(format!("`{}`", name.escape_debug()), expected);
        return Err(("name".into(), fault.within(&format!("{what}.name"))));
    }
    if earlier.any(|other| other == name) {
        let title = format!("two {what}s are called `{name}`");
        return Err(("name".into(), Fault::new(title, "the second of that name")));
    }
    Ok(())
}

/// The place of a key of a figure or a table.
pub(crate) fn span_of(item: &Spanned<DeValue<'_>>, key: &str) -> std::ops::Range<usize> {
    let DeValue::Table(keys) = item.get_ref() else { return item.span() };
    document::place(keys, key).map_or(item.span(), |(_, value)| value)
}

/// Reads a column or a list of columns.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a column or a list of columns")
        }
        fn visit_str<E: Error>(self, name: &str) -> Result<Vec<String>, E> {
            Ok(vec![name.to_owned()])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some(name) = list.next_element()? {
                names.push(name);
            }
            if names.is_empty() {
                return Err(A::Error::custom("found an empty list, expected at least one column"));
            }
            Ok(names)
        }
    }
    from.deserialize_any(Names)
}

fn ends<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[f64; 2]>, D::Error> {
    let numbers: Vec<f64> = Vec::deserialize(from)?;
    match numbers.as_slice() {
        &[low, high] if low.is_finite() && high.is_finite() => Ok(Some([low, high])),
        _ => Err(D::Error::custom(format!(
            "found {} values, expected two numbers, low and high",
            numbers.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use crate::study::Study;

    /// The keys that tell the curves of the only figure apart.
    fn series(sweep: &str, figure: &str) -> Vec<String> {
        let text = format!(
            "title = 'x'\nseed = 1\nfabric.tree = {{k = 2, n = 2}}\ntraffic.size.fixed.size = '64 B'\n\
             traffic.load = 0.1\n[sweep]\n{sweep}\n[[figure]]\nname = 'f'\ny = 'latency_mean'\n{figure}"
        );
        let study = Study::parse("figures", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        study.figures[0].series.clone()
    }

    const THREE: &str = "product.traffic.load = [0.1, 0.2]\nproduct.bus = ['half', 'full']\n\
                         product.routing = ['tree-adaptive', 'shortest']";

    #[test]
    fn a_swept_key_that_is_left_out_tells_curves_apart() {
        assert_eq!(series(THREE, "x = 'traffic.load'"), ["bus", "routing"]);
        assert_eq!(series(THREE, "x = 'traffic.load'\nseries = ['routing']"), ["routing", "bus"]);
        // A key of one value tells nothing apart.
        assert!(
            series(
                "product.traffic.load = [0.1, 0.2]\nproduct.bus = ['half']",
                "x = 'traffic.load'"
            )
            .is_empty()
        );
    }

    #[test]
    fn runs_of_several_seeds_are_one_curve() {
        assert!(
            series(
                "product.traffic.load = [0.1, 0.2]\nproduct.seed = [1, 2]",
                "x = 'traffic.load'"
            )
            .is_empty()
        );
    }

    #[test]
    fn keys_that_advance_together_are_named_once() {
        let sweep = "zip.switch = {virtual-channels = [1, 2], buffer = [256, 128]}\n\
                     product.traffic.load = [0.1, 0.2]";
        assert_eq!(series(sweep, "x = 'traffic.load'"), ["switch.virtual-channels"]);
        assert_eq!(series(sweep, "x = 'switch.buffer'"), ["traffic.load"]);
        assert!(series(sweep, "x = 'traffic.load'\nseries = ['switch.buffer']").len() == 1);
    }

    #[test]
    fn a_figure_may_be_of_one_value_of_a_key() {
        let only = |value: &str| format!("x = 'traffic.load'\nonly.bus = {value}");
        assert_eq!(series(THREE, &only("'half'")), ["routing"]);
        let text = |value: &str| {
            format!(
                "title = 'x'\nseed = 1\nfabric.tree = {{k = 2, n = 2}}\ntraffic.load = 0.1\n\
                 traffic.size.fixed.size = '64 B'\n[sweep]\n{THREE}\n[[figure]]\nname = 'f'\n\
                 y = 'latency_mean'\n{}",
                only(value)
            )
        };
        let mistake = Study::parse("figures", &text("'hal'")).unwrap_err().to_string();
        assert!(
            mistake.contains("unknown value of `bus` `hal`") && mistake.contains("half"),
            "{mistake}"
        );
    }

    #[test]
    fn along_a_measured_x_runs_the_last_key_that_is_free() {
        assert_eq!(series(THREE, "x = 'accepted'"), ["traffic.load", "bus"]);
        let named = "x = 'accepted'\nseries = ['routing', 'bus']";
        assert_eq!(series(THREE, named), ["routing", "bus"]);
        // The load determines how long runs may be, and not the other way round.
        let lengths = "zip.traffic.load = [0.1, 0.2, 0.3]\n\
                       zip.measure.max-cycles = [200000, 100000, 200000]\nproduct.bus = ['half', 'full']";
        assert_eq!(series(lengths, "x = 'offered'\nseries = ['bus']"), ["bus"]);
    }
}
