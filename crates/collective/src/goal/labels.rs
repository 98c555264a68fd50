//! The labels of a rank.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Which operation has which label.
///
/// Most texts label the operations of a rank `l1`, `l2` and so on: such labels have a table, which
/// is never much longer than there are operations.
#[derive(Default)]
pub(super) struct Labels<'a> {
    /// Of label `l` with a number: the operation, and one more; 0: there is none.
    numbered: Vec<u32>,
    /// All other labels. The hash is the same in every run.
    others: HashMap<&'a str, u32, BuildHasherDefault<DefaultHasher>>,
    count: usize,
}

impl<'a> Labels<'a> {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.numbered.clear();
        self.others.clear();
        self.count = 0;
    }

    /// The operation with a label.
    pub fn get(&self, label: &str) -> Option<u32> {
        if let Some(number) = number(label)
            && let Some(&op) = self.numbered.get(number)
            && op > 0
        {
            return Some(op - 1);
        }
        if self.others.is_empty() { None } else { self.others.get(label).copied() }
    }

    /// Labels an operation, unless another one has the label.
    pub fn insert(&mut self, label: &'a str, op: u32) -> Result<(), u32> {
        if let Some(taken) = self.get(label) {
            return Err(taken);
        }
        self.count += 1;
        match number(label) {
            Some(number) if number <= 4 * self.count + 64 => {
                if number >= self.numbered.len() {
                    self.numbered.resize(number + 1, 0);
                }
                self.numbered[number] = op + 1;
            }
            _ => {
                self.others.insert(label, op);
            }
        }
        Ok(())
    }
}

/// The number of a label that is `l` and a number without zeros before it.
fn number(label: &str) -> Option<usize> {
    let digits = label.as_bytes().strip_prefix(b"l")?;
    if digits.is_empty() || digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    digits.iter().try_fold(0, |number, &digit| {
        digit.is_ascii_digit().then(|| number * 10 + usize::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_however_they_look() {
        let mut labels = Labels::default();
        let names =
            ["l1", "l900000000", "l01", "l", "la", "send", "l0", "l2", "l3x", "l9999999999"];
        for (op, name) in names.into_iter().enumerate() {
            assert_eq!(labels.get(name), None, "{name}");
            assert_eq!(labels.insert(name, op as u32), Ok(()));
        }
        for (op, name) in names.into_iter().enumerate() {
            assert_eq!(labels.get(name), Some(op as u32), "{name}");
            assert_eq!(labels.insert(name, 77), Err(op as u32));
        }
        labels.clear();
        assert!(names.iter().all(|name| labels.get(name).is_none()));
    }
}
