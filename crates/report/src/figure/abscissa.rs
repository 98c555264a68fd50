//! Where each row stands along the horizontal axis.

use crosstie_study::{Row, Setting};
use crosstie_units::{Bytes, Rate, Time};

use crate::escape::one_line;
use crate::number;

/// The horizontal value of every row, and the names of the values where the file spells them.
pub(crate) struct Abscissa {
    /// One per row; none where the row has no such key.
    pub values: Vec<Option<f64>>,
    /// The distinct values with their spelling, in ascending order; empty for plain numbers.
    pub names: Vec<(f64, String)>,
    /// True if the values are names in no order: a line from one to the next would mean nothing.
    pub is_categorical: bool,
}

impl Abscissa {
    /// Reads a swept key or a measured column. Text with a unit ("64 KiB") is placed by its worth,
    /// other text in the order in which it first appears.
    pub fn of(rows: &[Row], key: &str) -> Abscissa {
        let settings: Vec<Option<Setting>> = rows
            .iter()
            .map(|row| {
                let measured = || row.measured(key).map(Setting::Number);
                row.setting(key).cloned().or_else(measured)
            })
            .collect();
        if !settings.iter().flatten().any(|setting| matches!(setting, Setting::Text(_))) {
            let number = |setting: Setting| match setting {
                Setting::Number(x) => Some(x),
                Setting::Text(_) => None,
            };
            let values = settings.into_iter().map(|setting| setting.and_then(number)).collect();
            return Abscissa { values, names: Vec::new(), is_categorical: false };
        }
        let texts: Vec<Option<String>> =
            settings.iter().map(|setting| setting.as_ref().map(spelling)).collect();
        let mut distinct: Vec<&String> = Vec::new();
        for text in texts.iter().flatten() {
            if !distinct.contains(&text) {
                distinct.push(text);
            }
        }
        let quantities = worths(&distinct);
        let is_categorical = quantities.is_none();
        let worths = quantities.unwrap_or_else(|| (0..distinct.len()).map(|i| i as f64).collect());
        let place = |text: &String| {
            let i = distinct.iter().position(|known| *known == text)?;
            Some(worths[i])
        };
        let mut names: Vec<(f64, String)> =
            distinct.iter().zip(&worths).map(|(text, worth)| (*worth, one_line(text))).collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let values = texts.iter().map(|text| text.as_ref().and_then(place)).collect();
        Abscissa { values, names, is_categorical }
    }
}

/// A setting as people read it.
pub(crate) fn spelling(setting: &Setting) -> String {
    match setting {
        Setting::Number(x) => number::chosen(*x),
        Setting::Text(text) => one_line(text),
    }
}

/// The worths of texts that are all sizes, all times or all rates.
fn worths(texts: &[&String]) -> Option<Vec<f64>> {
    fn all<T: std::str::FromStr>(texts: &[&String], worth: impl Fn(T) -> u64) -> Option<Vec<f64>> {
        texts.iter().map(|text| text.parse().ok().map(|quantity| worth(quantity) as f64)).collect()
    }
    all(texts, Bytes::get)
        .or_else(|| all(texts, Time::ps))
        .or_else(|| all(texts, Rate::bytes_per_second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::{Status, WorkKind};

    fn rows(settings: &[&str]) -> Vec<Row> {
        let row = |(point, text): (usize, &&str)| Row {
            profile: None,
            point: point as u32,
            kind: WorkKind::Traffic,
            settings: vec![("size".to_owned(), Setting::Text(text.to_string()))],
            status: Status::Converged,
            note: String::new(),
            measured: Vec::new(),
        };
        settings.iter().enumerate().map(row).collect()
    }

    #[test]
    fn text_with_units_is_placed_by_its_worth() {
        let abscissa = Abscissa::of(&rows(&["64 KiB", "1 KiB", "64 KiB"]), "size");
        assert_eq!(abscissa.values, [Some(65536.0), Some(1024.0), Some(65536.0)]);
        assert!(!abscissa.is_categorical);
        assert_eq!(abscissa.names, [(1024.0, "1 KiB".to_owned()), (65536.0, "64 KiB".to_owned())]);
    }

    #[test]
    fn other_text_is_placed_in_order_of_appearance() {
        let abscissa = Abscissa::of(&rows(&["uniform", "tornado", "uniform"]), "size");
        assert_eq!(abscissa.values, [Some(0.0), Some(1.0), Some(0.0)]);
        assert!(abscissa.is_categorical);
    }

    #[test]
    fn a_key_no_row_has_gives_no_values() {
        assert_eq!(Abscissa::of(&rows(&["a"]), "absent").values, [None]);
    }
}
