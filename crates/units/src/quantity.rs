//! Text with units: the shared grammar `<decimal number> <unit>` of all quantities.

/// Why a text is not the quantity that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text does not start with a number.
    #[error("found `{found}`, expected {kind} such as \"{example}\"")]
    NoNumber {
        /// The text given.
        found: String,
        /// What was asked for, with its article.
        kind: &'static str,
        /// A text that would have been accepted.
        example: &'static str,
    },
    /// A number without a unit.
    #[error("`{found}` has no unit: write {kind} such as \"{example}\" (units: {units})")]
    NoUnit {
        /// The text given.
        found: String,
        /// What was asked for, with its article.
        kind: &'static str,
        /// A text that would have been accepted.
        example: &'static str,
        /// The known units.
        units: String,
    },
    /// A unit that this quantity does not have.
    #[error("`{unit}` is not a unit of {kind} (units: {units})")]
    UnknownUnit {
        /// The unit given.
        unit: String,
        /// What was asked for, with its article.
        kind: &'static str,
        /// The known units.
        units: String,
    },
    /// A part of what cannot be divided.
    #[error("`{found}` is not a whole number of {atoms}, and there are no parts of one")]
    Fraction {
        /// The text given.
        found: String,
        /// What cannot be divided.
        atoms: &'static str,
    },
    /// Below zero, or too large for the integer behind the quantity.
    #[error("`{found}` is out of range for {kind}")]
    OutOfRange {
        /// The text given.
        found: String,
        /// What was asked for, with its article.
        kind: &'static str,
    },
}

/// The units of one quantity, each with its worth in the quantity's base unit.
pub(crate) struct Scale {
    /// What is parsed, with its article: "a time".
    pub kind: &'static str,
    /// A valid text, for error messages.
    pub example: &'static str,
    /// Unit names and their worth, smallest first: what is read and printed.
    pub units: &'static [(&'static str, u64)],
    /// Further units that are read but never printed.
    pub also_read: &'static [(&'static str, u64)],
    /// What the base units are called if they cannot be divided; otherwise fractions are rounded.
    pub atoms: Option<&'static str>,
}

impl Scale {
    /// Parses text to a whole number of base units.
    pub fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let trimmed = text.trim();
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-')))
            .unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
        let value: f64 = number.parse().map_err(|_| QuantityError::NoNumber {
            found: text.to_owned(),
            kind: self.kind,
            example: self.example,
        })?;
        let known = || self.units.iter().chain(self.also_read);
        let units = || known().map(|(u, _)| *u).collect::<Vec<_>>().join(", ");
        if unit.is_empty() {
            return Err(QuantityError::NoUnit {
                found: text.to_owned(),
                kind: self.kind,
                example: self.example,
                units: units(),
            });
        }
        let &(_, worth) = known().find(|(u, _)| *u == unit).ok_or_else(|| {
            QuantityError::UnknownUnit { unit: unit.to_owned(), kind: self.kind, units: units() }
        })?;
        let out_of_range = || QuantityError::OutOfRange { found: text.to_owned(), kind: self.kind };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(worth).ok_or_else(out_of_range);
        }
        let exact = value * worth as f64;
        let base = exact.round();
        // What is left of a whole number is more than reading and multiplying can be off by.
        if let Some(atoms) = self.atoms
            && (exact - base).abs() > 4.0 * f64::EPSILON * exact.abs()
        {
            return Err(QuantityError::Fraction { found: text.to_owned(), atoms });
        }
        // 2^63 bounds every quantity, so that sums of two never overflow.
        if !(0.0..9.2e18).contains(&base) { Err(out_of_range()) } else { Ok(base as u64) }
    }

    /// Prints a value in the largest unit that needs at most three decimals.
    pub fn print(&self, value: u64, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for &(unit, worth) in self.units.iter().rev() {
            if value >= worth && (u128::from(value) * 1000).is_multiple_of(u128::from(worth)) {
                let decimals = format!("{:.3}", value as f64 / worth as f64);
                let short = decimals.trim_end_matches('0').trim_end_matches('.');
                return f.pad(&format!("{short} {unit}"));
            }
        }
        let (unit, _) = self.units[0];
        f.pad(&format!("{value} {unit}"))
    }
}

/// `Display`, `FromStr` and serde (as text with a unit) for a quantity with a `SCALE` and a `.0`.
macro_rules! text_with_units {
    ($quantity:ident) => {
        impl std::fmt::Display for $quantity {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                SCALE.print(self.0, f)
            }
        }

        impl std::str::FromStr for $quantity {
            type Err = crate::QuantityError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                SCALE.parse(text).map($quantity)
            }
        }

        impl serde::Serialize for $quantity {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $quantity {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $quantity;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "{} such as \"{}\"", SCALE.kind, SCALE.example)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$quantity, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                from.deserialize_str(Text)
            }
        }
    };
}
pub(crate) use text_with_units;
