//! Whether something holds, as far as measurements can tell.

use std::ops::Not;

/// Whether something holds, as far as measurements can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It does, wherever the values lie in their intervals.
    Holds,
    /// It does not, wherever they lie.
    Fails,
    /// That depends on where they lie.
    Open,
}

impl Truth {
    /// The truth of what is certain.
    pub fn of(holds: bool) -> Truth {
        if holds { Truth::Holds } else { Truth::Fails }
    }

    /// Whether all of them hold.
    pub fn all(truths: impl IntoIterator<Item = Truth>) -> Truth {
        let truths: Vec<Truth> = truths.into_iter().collect();
        Truth::at_least(truths.len(), truths)
    }

    /// Whether so many of them hold.
    pub fn at_least(count: usize, truths: impl IntoIterator<Item = Truth>) -> Truth {
        let (mut certain, mut possible) = (0, 0);
        for truth in truths {
            certain += usize::from(truth == Truth::Holds);
            possible += usize::from(truth != Truth::Fails);
        }
        match (certain >= count, possible < count) {
            (true, _) => Truth::Holds,
            (_, true) => Truth::Fails,
            _ => Truth::Open,
        }
    }

    /// The same, but refuted by anything that certainly holds.
    pub fn unless(self, objections: impl IntoIterator<Item = Truth>) -> Truth {
        match objections.into_iter().any(|objection| objection == Truth::Holds) {
            true => Truth::Fails,
            false => self,
        }
    }
}

impl Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::Holds => Truth::Fails,
            Truth::Fails => Truth::Holds,
            Truth::Open => Truth::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{self, Fails, Holds, Open};

    #[test]
    fn what_is_open_decides_only_where_the_rest_does_not() {
        assert_eq!(Truth::all([Holds, Holds]), Holds);
        assert_eq!(Truth::all([Holds, Open]), Open);
        assert_eq!(Truth::all([Open, Fails]), Fails);
        assert_eq!(Truth::at_least(1, [Open, Holds]), Holds);
        assert_eq!(Truth::at_least(2, [Open, Holds, Fails]), Open);
        assert_eq!(Truth::at_least(2, [Fails, Holds, Fails]), Fails);
        assert_eq!([!Holds, !Fails, !Open], [Fails, Holds, Open]);
        assert_eq!([Holds.unless([Open, Holds]), Open.unless([Open, Fails])], [Fails, Open]);
    }
}
