//! Random values as experiment files write them.

use crosstie_units::Stream;
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// Draws in the manner of experiment files.
pub struct Draw(pub Stream);

impl Draw {
    pub fn chance(&mut self, share: f64) -> bool {
        self.0.chance(share)
    }

    pub fn whole(&mut self, range: RangeInclusive<i64>) -> i64 {
        range.start() + self.0.below((range.end() - range.start() + 1) as u64) as i64
    }

    /// A number with two digits after the point.
    pub fn real(&mut self, range: RangeInclusive<f64>) -> f64 {
        let hundredths = |x: f64| (100.0 * x).round() as i64;
        self.whole(hundredths(*range.start())..=hundredths(*range.end())) as f64 / 100.0
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }

    /// The usual value, or now and then one from the ends of its range.
    pub fn usually<T: Copy>(&mut self, usual: T, ends: &[T]) -> T {
        if self.chance(0.04) { self.one(ends) } else { usual }
    }

    /// A seed: a whole number that TOML can hold.
    pub fn seed(&mut self) -> i64 {
        let usual = self.whole(0..=999);
        self.usually(usual, &[0, (1 << 53) + 1, i64::MAX])
    }

    /// A size in bytes, now and then one from the ends of its range.
    pub fn size(&mut self, range: RangeInclusive<i64>, ends: &[&str]) -> String {
        let usual = self.bytes(range);
        self.usually(usual.as_str(), ends).to_owned()
    }

    pub fn bytes(&mut self, range: RangeInclusive<i64>) -> String {
        format!("{} B", self.whole(range))
    }

    pub fn ns(&mut self, range: RangeInclusive<i64>) -> String {
        format!("{} ns", self.whole(range))
    }

    /// A choice without keys, written in one of two ways.
    pub fn named(&mut self, name: &str) -> Value {
        if self.chance(0.5) { name.into() } else { choice(name, Table::new()) }
    }
}

/// A choice with its keys.
pub fn choice(name: &str, keys: Table) -> Value {
    Table::from_iter([(name.to_owned(), Value::Table(keys))]).into()
}
