//! What is wrong with a text.

/// Why a text is not GOAL, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}; {help}")]
pub struct GoalError {
    /// The line, counted from 1.
    pub line: u32,
    /// The byte of the line, counted from 1.
    pub column: u32,
    /// What was found and what was expected.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

/// The word that a misspelt one may have been meant to be.
pub(super) fn nearest<'a>(found: &str, words: &[&'a str]) -> Option<&'a str> {
    let near = words.iter().map(|&word| (distance(found, word), word)).min();
    near.filter(|&(distance, word)| distance <= 2 && distance < word.len()).map(|(_, word)| word)
}

/// How many letters must be changed, added or removed to get from one word to the other.
fn distance(one: &str, other: &str) -> usize {
    // No word is this long.
    if one.len() > 16 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}
