//! What can be asked about.

use super::candidate::has_price;
use crosstie_study::Operation;

/// Something that nodes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A message from one node to another.
    Transfer,
    /// Two messages in opposite directions.
    Exchange,
    /// A collective operation, by name.
    Collective(&'static str),
}

/// The operation of a name, with its usual algorithm.
fn operation(name: &str) -> Operation {
    let mut all = Operation::all().into_iter();
    all.find(|operation| operation.name() == name).expect("it declares itself")
}

impl Subject {
    /// All of them.
    pub fn all() -> Vec<Subject> {
        let operations = Operation::all().map(|operation| Subject::Collective(operation.name()));
        [Subject::Transfer, Subject::Exchange].into_iter().chain(operations).collect()
    }

    /// The one of a name.
    pub fn find(name: &str) -> Option<Subject> {
        Subject::all().into_iter().find(|subject| subject.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Transfer => "transfer",
            Subject::Exchange => "exchange",
            Subject::Collective(name) => name,
        }
    }

    /// What is done, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Subject::Transfer => "A message from one node to another.",
            Subject::Exchange => "Two nodes send each other a message at the same time.",
            Subject::Collective(name) => operation(name).sentence(),
        }
    }

    /// Whether all nodes take part in it.
    pub fn is_collective(self) -> bool {
        matches!(self, Subject::Collective(_))
    }

    /// Whether it has a size.
    pub fn has_size(self) -> bool {
        match self {
            Subject::Transfer | Subject::Exchange => true,
            Subject::Collective(name) => operation(name).keys().contains(&"size"),
        }
    }

    /// The names of its algorithms that have a price, if it has any to choose from.
    pub fn algorithms(self) -> Vec<&'static str> {
        match self {
            Subject::Transfer | Subject::Exchange => Vec::new(),
            Subject::Collective(name) => {
                let names =
                    operation(name).algorithms().into_iter().map(|algorithm| algorithm.name);
                names.filter(|algorithm| has_price(name, algorithm)).collect()
            }
        }
    }
}
