//! What to draw from the rows of a study.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;
use toml::de::DeValue;

use crate::column::Column;
use crate::document::{self, Fault};

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
    /// Swept keys that tell the lines apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
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
    /// Reads the list of figures of a study with these swept keys and measured columns.
    pub(crate) fn read(
        value: &Spanned<DeValue<'_>>,
        keys: &[String],
        columns: &[&Column],
    ) -> Result<Vec<Figure>, Fault> {
        let DeValue::Array(list) = value.get_ref() else {
            return Err(Fault::value("a single value", "a list of figures")
                .at(value.span())
                .within("figure")
                .with_help("head each figure with `[[figure]]`, in double brackets"));
        };
        let mut figures: Vec<Figure> = Vec::new();
        for item in list.iter() {
            let figure: Figure = document::decode(item).map_err(|fault| fault.within("figure"))?;
            figure
                .check(&figures, keys, columns)
                .map_err(|(key, fault)| fault.at(span_of(item, &key)))?;
            figures.push(figure);
        }
        Ok(figures)
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
