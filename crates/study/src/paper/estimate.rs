//! A measured value and how far it can be trusted.

use super::truth::Truth;

/// A measured value and the interval in which it lies; all three are equal if it is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this.
    pub high: f64,
}

impl Estimate {
    /// A value that is exact, or of which no interval is known.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }

    /// A value in the middle of its interval.
    pub fn about(value: f64, half_width: f64) -> Estimate {
        Estimate { value, low: value - half_width, high: value + half_width }
    }

    /// The value with another one added.
    pub fn shifted(self, by: f64) -> Estimate {
        Estimate { value: self.value + by, low: self.low + by, high: self.high + by }
    }

    /// So many times the value.
    pub fn scaled(self, by: f64) -> Estimate {
        let (a, b) = (self.low * by, self.high * by);
        Estimate { value: self.value * by, low: a.min(b), high: a.max(b) }
    }

    /// The difference: as small and as large as both intervals allow.
    pub fn minus(self, other: Estimate) -> Estimate {
        Estimate {
            value: self.value - other.value,
            low: self.low - other.high,
            high: self.high - other.low,
        }
    }

    /// The ratio to a positive quantity: as small and as large as both intervals allow.
    pub fn over(self, other: Estimate) -> Estimate {
        let value = self.value / other.value;
        if other.low > 0.0 {
            let low = if self.low < 0.0 { self.low / other.low } else { self.low / other.high };
            let high = if self.high < 0.0 { self.high / other.high } else { self.high / other.low };
            return Estimate { value, low, high };
        }
        let low = if self.low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        Estimate { value, low, high: f64::INFINITY }
    }

    /// The ratio to a positive quantity, where both have confidence intervals and are taken to be
    /// independent: the half-widths of their logarithms add up as the root of the sum of squares.
    pub fn over_independent(self, other: Estimate) -> Estimate {
        let value = self.value / other.value;
        let apart = |a: f64, b: f64| a.hypot(b).exp();
        if self.low > 0.0 && other.low > 0.0 {
            let down = apart((self.value / self.low).ln(), (other.high / other.value).ln());
            let up = apart((self.high / self.value).ln(), (other.value / other.low).ln());
            return Estimate { value, low: value / down, high: value * up };
        }
        self.over(other)
    }

    /// Returns [`Truth::Holds`] if this is larger than an independent quantity; half-widths add
    /// up as in [`over_independent`](Estimate::over_independent).
    pub fn above_independent(self, other: Estimate) -> Truth {
        let difference = Estimate {
            value: self.value - other.value,
            low: self.value - other.value - (self.value - self.low).hypot(other.high - other.value),
            high: self.value - other.value
                + (self.high - self.value).hypot(other.value - other.low),
        };
        difference.above(Estimate::exact(0.0))
    }

    /// Whether this is larger; open where the intervals overlap.
    pub fn above(self, other: Estimate) -> Truth {
        match (self.low > other.high, self.high <= other.low) {
            (true, _) => Truth::Holds,
            (_, true) => Truth::Fails,
            _ => Truth::Open,
        }
    }

    /// Whether this lies between two ends: all of the interval does, none of it, or some.
    pub fn within(self, min: f64, max: f64) -> Truth {
        match (min <= self.low && self.high <= max, self.high < min || max < self.low) {
            (true, _) => Truth::Holds,
            (_, true) => Truth::Fails,
            _ => Truth::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_carried_through_arithmetic() {
        let (a, b) = (Estimate::about(12.0, 3.0), Estimate::about(4.0, 1.0));
        assert_eq!(a.over(b), Estimate { value: 3.0, low: 9.0 / 5.0, high: 5.0 });
        assert_eq!(a.minus(b), Estimate { value: 8.0, low: 4.0, high: 12.0 });
        assert_eq!(b.scaled(-2.0), Estimate { value: -8.0, low: -10.0, high: -6.0 });
        assert_eq!(b.shifted(-1.0), Estimate { value: 3.0, low: 2.0, high: 4.0 });
        let loss = Estimate { value: -1.0, low: -2.0, high: 1.0 };
        assert_eq!(loss.over(b), Estimate { value: -0.25, low: -2.0 / 3.0, high: 1.0 / 3.0 });
        let unbounded = a.over(Estimate::about(4.0, 5.0));
        assert_eq!((unbounded.low, unbounded.high), (0.0, f64::INFINITY));
    }

    #[test]
    fn half_widths_of_independent_estimates_add_up_in_squares() {
        let (a, b) = (Estimate::about(100.0, 3.0), Estimate::about(50.0, 2.0));
        let Estimate { value, low, high } = a.over_independent(b);
        // 3 % and 4 % make 5 %.
        assert!(value == 2.0 && (low - 1.9).abs() < 0.01 && (high - 2.1).abs() < 0.01);
        let exact = Estimate::exact(50.0);
        assert!((a.over_independent(exact).low - a.over(exact).low).abs() < 1e-12);
        assert!((a.over_independent(exact).high - a.over(exact).high).abs() < 1e-12);
        let vague = Estimate::about(4.0, 5.0);
        assert_eq!(a.over_independent(vague), a.over(vague));
        let about = Estimate::about;
        assert_eq!(about(105.1, 3.0).above_independent(about(100.0, 4.0)), Truth::Holds);
        assert_eq!(about(104.9, 3.0).above_independent(about(100.0, 4.0)), Truth::Open);
        assert_eq!(about(94.9, 3.0).above_independent(about(100.0, 4.0)), Truth::Fails);
        assert_eq!(Estimate::exact(3.0).above_independent(Estimate::exact(3.0)), Truth::Fails);
        assert_eq!(Estimate::exact(f64::NAN).above_independent(about(3.0, 1.0)), Truth::Open);
    }

    #[test]
    fn overlapping_intervals_leave_a_comparison_open() {
        let about = Estimate::about;
        assert_eq!(about(5.0, 1.0).above(about(3.0, 0.9)), Truth::Holds);
        assert_eq!(about(3.0, 0.9).above(about(5.0, 1.0)), Truth::Fails);
        assert_eq!(about(5.0, 1.0).above(about(3.0, 1.1)), Truth::Open);
        assert_eq!(about(3.0, 1.1).above(about(5.0, 1.0)), Truth::Open);
        assert_eq!(Estimate::exact(3.0).above(Estimate::exact(3.0)), Truth::Fails);
        assert_eq!(Estimate::exact(f64::NAN).above(about(3.0, 1.0)), Truth::Open);
    }
}
