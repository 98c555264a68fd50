//! What each of several rails takes, so that all finish together.

/// When rails finish together that take so many bytes between them. Each rail is told by when it is
/// free and by what a byte takes on it, in order of when they are free.
pub fn finish(rails: impl IntoIterator<Item = (f64, f64)>, bytes: f64) -> f64 {
    // With the first few rails, as long as the next is free before these are done.
    let (mut speed, mut begun, mut end) = (0.0, 0.0, f64::INFINITY);
    for (free, pace) in rails {
        if free >= end {
            break;
        }
        // The sum over rails of (end - free) / pace is what they take.
        speed += 1.0 / pace;
        begun += free / pace;
        end = (bytes + begun) / speed;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rails_that_are_free_too_late_take_nothing() {
        assert_eq!(finish([(0.0, 1.0), (0.0, 1.0)], 10.0), 5.0);
        assert_eq!(finish([(0.0, 1.0), (4.0, 1.0)], 10.0), 7.0);
        assert_eq!(finish([(0.0, 1.0), (11.0, 1.0)], 10.0), 10.0);
        assert_eq!(finish([(0.0, 1.0), (0.0, 4.0)], 10.0), 8.0);
    }
}
