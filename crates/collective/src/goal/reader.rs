//! From text to schedule.

use super::error::nearest;
use super::labels::Labels;
use super::scanner::{Mark, Scanner, error};
use super::{Goal, GoalError, MOST_RANKS, Origins};
use crate::{Builder, CyclicRank, Need, Op, OpId, Rank, Step, Tag, When};
use crosstie_units::Time;

/// The words that begin an operation.
const OPERATIONS: [&str; 4] = ["send", "recv", "get", "calc"];

/// The words that stand between two labels.
const DEPENDENCIES: [&str; 2] = ["requires", "irequires"];

/// The words that may follow an operation, in this order.
const OPTIONS: [&str; 3] = ["tag", "cpu", "nic"];

pub(super) fn read(text: &str) -> Result<Goal, GoalError> {
    if u32::try_from(text.len()).is_err() {
        let what = format!("found {} bytes, expected fewer than 4 GiB", text.len());
        return Err(error(Scanner::new(text).mark(), what, "cut the text into several"));
    }
    let mut reader = Reader::new(text, None);
    reader.text()?;
    if reader.rails {
        reader.builder.name_rails();
    }
    match reader.builder.finish() {
        Ok(schedule) => Ok(Goal { schedule, origins: reader.origins }),
        Err(cyclic) => Err(circle(text, &cyclic)),
    }
}

/// The error at the dependency that closes a circle: the last of them.
fn circle(text: &str, CyclicRank { rank, circle }: &CyclicRank) -> GoalError {
    let next = circle.iter().cycle().skip(1);
    let mut pairs: Vec<(OpId, OpId)> = circle.iter().copied().zip(next.copied()).collect();
    pairs.sort_unstable();
    let mut reader = Reader::new(text, Some(Watch { rank: *rank, pairs, last: None }));
    // It has been read before.
    let _ = reader.text();
    let last = reader.watch.and_then(|watch| watch.last);
    let mark = last.unwrap_or(reader.scan.mark());
    let what = match circle.len() {
        1 => "found an operation that waits for itself".to_owned(),
        count => format!(
            "found a dependency that closes a circle: {count} operations of rank {} wait for each other",
            rank.0
        ),
    };
    error(mark, what, "remove one of their dependencies, or nothing of them can ever start")
}

/// Dependencies of a rank whose place in the text is wanted.
struct Watch {
    rank: Rank,
    /// Which operation waits for which, sorted.
    pairs: Vec<(OpId, OpId)>,
    /// Where the last of them stands.
    last: Option<Mark>,
}

struct Reader<'a> {
    scan: Scanner<'a>,
    ranks: u32,
    builder: Builder,
    labels: Labels<'a>,
    origins: Origins,
    /// Whether a message has named its nic.
    rails: bool,
    watch: Option<Watch>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, watch: Option<Watch>) -> Reader<'a> {
        Reader {
            scan: Scanner::new(text),
            ranks: 0,
            builder: Builder::new(0),
            labels: Labels::default(),
            origins: Origins::default(),
            rails: false,
            watch,
        }
    }

    /// What was found at a place is not what was expected.
    fn unexpected(&self, mark: Mark, expected: &str, help: impl Into<String>) -> GoalError {
        error(mark, format!("found {}, expected {expected}", self.scan.found(mark)), help)
    }

    /// The same for a word that may be misspelt.
    fn unknown(&self, mark: Mark, found: &str, words: &[&str], help: &str) -> GoalError {
        let listed = listed(words);
        match nearest(found, words) {
            Some(word) => self.unexpected(mark, &listed, format!("write `{word}`")),
            None => self.unexpected(mark, &listed, help),
        }
    }

    fn text(&mut self) -> Result<(), GoalError> {
        self.scan.lines()?;
        let mark = self.scan.mark();
        let word = self.scan.word();
        if word != "num_ranks" {
            let help = "begin with the number of ranks, such as `num_ranks 8`";
            return Err(self.unknown(mark, word, &["num_ranks"], help));
        }
        self.ranks = self.whole("the number of ranks", 1, MOST_RANKS.into())? as u32;
        self.end_of_statement()?;
        self.builder = Builder::new(self.ranks);
        self.origins.first = vec![u32::MAX; self.ranks as usize];
        // Where the block of each rank begins.
        let mut blocks = vec![0u32; self.ranks as usize];
        loop {
            self.scan.lines()?;
            if self.scan.is_end() {
                return Ok(());
            }
            let begin = self.scan.mark();
            let word = self.scan.word();
            if word != "rank" {
                return Err(self.outside(begin, word));
            }
            self.scan.blanks()?;
            let mark = self.scan.mark();
            let rank = self.rank()?;
            let line = self.scan.line();
            let earlier = std::mem::replace(&mut blocks[rank as usize], line);
            if earlier > 0 {
                let what = format!("found a second block of rank {rank}, expected one");
                let help = format!("join it with the first one, on line {earlier}");
                return Err(error(mark, what, help));
            }
            self.block(Rank(rank), begin)?;
        }
    }

    /// Something that does not belong between blocks.
    fn outside(&self, mark: Mark, word: &str) -> GoalError {
        let mut ahead = self.scan.from(mark);
        let _ = ahead.word();
        let labelled = ahead.blanks().is_ok() && ahead.peek() == b':';
        let number = ahead.peek().is_ascii_digit();
        if !word.is_empty() && (labelled || (OPERATIONS.contains(&word) && number)) {
            let help = "put it into the block of a rank, `rank 0 { ... }`";
            return self.unexpected(mark, "`rank`: an operation belongs to a rank", help);
        }
        if self.scan.peek() == b'}' && word.is_empty() {
            let help = "remove it, or add the `rank R {` that it ends";
            return self.unexpected(mark, "`rank`: no block is open", help);
        }
        self.unknown(mark, word, &["rank"], "only blocks of ranks may follow")
    }

    fn block(&mut self, rank: Rank, begin: Mark) -> Result<(), GoalError> {
        self.scan.lines()?;
        if self.scan.peek() != b'{' {
            let mark = self.scan.mark();
            return Err(self.unexpected(mark, "`{`", "write a block as `rank 0 { ... }`"));
        }
        self.scan.step();
        self.labels.clear();
        self.origins.first[rank.0 as usize] = self.origins.lines.len() as u32;
        loop {
            self.scan.lines()?;
            if self.scan.peek() == b'}' {
                self.scan.step();
                return Ok(());
            }
            if self.scan.is_end() {
                let what = format!("found a block of rank {} that does not end", rank.0);
                return Err(error(begin, what, "end it with `}`"));
            }
            self.statement(rank)?;
            self.end_of_statement()?;
        }
    }

    fn statement(&mut self, rank: Rank) -> Result<(), GoalError> {
        let mark = self.scan.mark();
        let word = self.scan.word();
        self.scan.blanks()?;
        if self.scan.peek() == b':' {
            self.check_label(mark, word)?;
            self.scan.step();
            self.scan.blanks()?;
            let op_mark = self.scan.mark();
            let op = self.scan.word();
            return self.operation(rank, Some((word, mark)), op, op_mark);
        }
        let operation = OPERATIONS.contains(&word);
        if self.scan.at_word() && !self.scan.peek().is_ascii_digit() {
            let dependency_mark = self.scan.mark();
            let dependency = self.scan.word();
            if DEPENDENCIES.contains(&dependency) {
                return self.dependency(rank, word, mark, dependency);
            }
            if !operation && !word.is_empty() {
                let help = "a dependency is written `l2 requires l1`";
                return Err(self.unknown(dependency_mark, dependency, &DEPENDENCIES, help));
            }
            self.scan.return_to(dependency_mark);
        }
        if word == "rank" && self.scan.at_word() {
            let expected = "an operation, a dependency or `}`";
            let help = format!("end the block of rank {} with `}}` first", rank.0);
            return Err(self.unexpected(mark, expected, help));
        }
        self.operation(rank, None, word, mark)
    }

    fn operation(
        &mut self,
        rank: Rank,
        label: Option<(&'a str, Mark)>,
        word: &str,
        mark: Mark,
    ) -> Result<(), GoalError> {
        let line = self.scan.line();
        let mut op = match word {
            "send" => {
                let bytes = self.size()?;
                self.keyword("to")?;
                let at = self.blank_mark()?;
                let to = Rank(self.rank()?);
                if to == rank {
                    let what = format!("found a send of rank {} to itself", rank.0);
                    return Err(error(at, what, "expected another rank; leave it out or `calc`"));
                }
                Op { step: Step::Send { to, tag: Tag(0), bytes }, cpu: 0, nic: None }
            }
            "recv" => {
                let bytes = self.size()?;
                self.keyword("from")?;
                let at = self.blank_mark()?;
                let from = if self.any()? { None } else { Some(Rank(self.rank()?)) };
                if from == Some(rank) {
                    let what = format!("found a receive of rank {} from itself", rank.0);
                    return Err(error(at, what, "expected another rank; leave it out or `calc`"));
                }
                let tag = Some(Tag(0));
                Op { step: Step::Receive { from, tag, bytes }, cpu: 0, nic: None }
            }
            "get" => {
                let bytes = self.size()?;
                self.keyword("from")?;
                let at = self.blank_mark()?;
                let from = Rank(self.rank()?);
                if from == rank {
                    let what = format!("found a get of rank {} from itself", rank.0);
                    return Err(error(at, what, "expected another rank; leave it out or `calc`"));
                }
                Op { step: Step::Get { from, bytes }, cpu: 0, nic: None }
            }
            "calc" => {
                let time = self.whole("a time in whole nanoseconds", 0, u64::MAX / 1000)?;
                Op { step: Step::Compute { time: Time::from_ns(time) }, cpu: 0, nic: None }
            }
            _ => {
                let help = "an operation is written `l1: send 8b to 1`, `l1: recv 8b from 0` or \
                            `l1: calc 100`";
                return Err(self.unknown(mark, word, &OPERATIONS, help));
            }
        };
        self.options(&mut op)?;
        let id = self.builder.add(rank, op);
        if let Some((label, mark)) = label
            && let Err(taken) = self.labels.insert(label, id.0)
        {
            let first = self.origins.first[rank.0 as usize];
            let line = self.origins.lines[(first + taken) as usize];
            let what = format!("found a second label `{label}`, expected one of its own");
            return Err(error(mark, what, format!("choose another one than on line {line}")));
        }
        self.origins.lines.push(line);
        self.origins.labels.push_str(label.map_or("", |(label, _)| label));
        self.origins.ends.push(self.origins.labels.len() as u32);
        Ok(())
    }

    /// What may follow an operation: tag, cpu and nic, in this order.
    fn options(&mut self, op: &mut Op) -> Result<(), GoalError> {
        let mut next = 0;
        while !self.scan.ended()? {
            let mark = self.scan.mark();
            let word = self.scan.word();
            let allowed = match op.step {
                Step::Compute { .. } => &OPTIONS[1..2],
                Step::Get { .. } => &OPTIONS[2..],
                Step::Send { .. } | Step::Receive { .. } => &OPTIONS[..],
            };
            let place = OPTIONS.iter().position(|&option| option == word);
            let Some(place) = place.filter(|_| allowed.contains(&word)) else {
                let words = [allowed, &["the end of the line"]].concat();
                let help = "one statement stands on one line";
                return Err(self.unknown(mark, word, &words, help));
            };
            if place < next {
                let expected = match &OPTIONS[next..] {
                    [] => "the end of the line".to_owned(),
                    rest => format!("{} or the end of the line", listed(rest)),
                };
                let help = "tag, cpu and nic stand in this order, each at most once";
                return Err(self.unexpected(mark, &expected, help));
            }
            next = place + 1;
            match (place, &mut op.step) {
                (0, Step::Send { tag, .. }) => {
                    *tag = Tag(self.whole("a tag", 0, u32::MAX.into())? as u32);
                }
                (0, Step::Receive { tag, .. }) => {
                    let any = self.any()?;
                    *tag = match any {
                        true => None,
                        false => Some(Tag(self.whole("a tag", 0, u32::MAX.into())? as u32)),
                    };
                }
                (1, _) => op.cpu = self.whole("a cpu", 0, u16::MAX.into())? as u16,
                _ => {
                    op.nic = Some(self.whole("a nic", 0, u16::MAX.into())? as u16);
                    self.rails = true;
                }
            }
        }
        Ok(())
    }

    fn dependency(
        &mut self,
        rank: Rank,
        word: &str,
        mark: Mark,
        dependency: &str,
    ) -> Result<(), GoalError> {
        let op = self.labelled(mark, word)?;
        let other_mark = self.blank_mark()?;
        let other = self.scan.word();
        let other = self.labelled(other_mark, other)?;
        let when = if dependency == "requires" { When::Done } else { When::Started };
        self.builder.need(rank, op, Need { op: other, when });
        if let Some(watch) = &mut self.watch
            && watch.rank == rank
            && watch.pairs.binary_search(&(op, other)).is_ok()
        {
            watch.last = Some(mark);
        }
        Ok(())
    }

    /// The operation with a label.
    fn labelled(&self, mark: Mark, label: &str) -> Result<OpId, GoalError> {
        self.check_label(mark, label)?;
        match self.labels.get(label) {
            Some(op) => Ok(OpId(op)),
            None => {
                let expected = "a label of an operation above, of the same rank";
                let help = format!("write `{label}:` before the operation that is meant");
                Err(self.unexpected(mark, expected, help))
            }
        }
    }

    fn check_label(&self, mark: Mark, label: &str) -> Result<(), GoalError> {
        if label.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
            return Ok(());
        }
        let help = "a label has letters, digits and `_`, and begins with a letter";
        Err(self.unexpected(mark, "a label", help))
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), GoalError> {
        let mark = self.blank_mark()?;
        let word = self.scan.word();
        if word == keyword {
            return Ok(());
        }
        let help = "an operation is written `send 8b to 1` or `recv 8b from 0`";
        Err(self.unexpected(mark, &format!("`{keyword}`"), help))
    }

    fn blank_mark(&mut self) -> Result<Mark, GoalError> {
        self.scan.blanks()?;
        Ok(self.scan.mark())
    }

    /// A whole number of a range.
    fn whole(&mut self, kind: &str, least: u64, most: u64) -> Result<u64, GoalError> {
        let mark = self.blank_mark()?;
        let number = self.scan.digits();
        match number {
            Some(number)
                if (least..=most).contains(&number)
                    && !self.scan.at_word()
                    && self.scan.peek() != b'.' =>
            {
                Ok(number)
            }
            _ => {
                let help = "write it with digits alone";
                Err(self.unexpected(mark, &format!("{kind} from {least} to {most}"), help))
            }
        }
    }

    fn rank(&mut self) -> Result<u32, GoalError> {
        let mark = self.blank_mark()?;
        match self.scan.digits() {
            Some(rank) if rank < self.ranks.into() && !self.scan.at_word() => Ok(rank as u32),
            _ => {
                let expected = format!("a rank from 0 to {}", self.ranks - 1);
                let help = format!("the text begins with `num_ranks {}`", self.ranks);
                Err(self.unexpected(mark, &expected, help))
            }
        }
    }

    /// Whether `-1` stands here, for anything.
    fn any(&mut self) -> Result<bool, GoalError> {
        let mark = self.blank_mark()?;
        if self.scan.peek() != b'-' {
            return Ok(false);
        }
        self.scan.step();
        let any = self.scan.word() == "1";
        if !any {
            self.scan.return_to(mark);
        }
        Ok(any)
    }

    /// A number of bytes: digits and a `b`.
    fn size(&mut self) -> Result<u32, GoalError> {
        let mark = self.blank_mark()?;
        let number = self.scan.digits();
        let unit = self.scan.word() == "b";
        match number {
            Some(size) if unit => u32::try_from(size).map_err(|_| {
                let expected = format!("a size of at most {}b", u32::MAX);
                self.unexpected(mark, &expected, "send it in several messages")
            }),
            _ => {
                let help = "write the number of bytes with a `b` behind it";
                Err(self.unexpected(mark, "a size such as `1024b`", help))
            }
        }
    }

    fn end_of_statement(&mut self) -> Result<(), GoalError> {
        if self.scan.ended()? {
            return Ok(());
        }
        let help = "one statement stands on one line";
        Err(self.unexpected(self.scan.mark(), "the end of the line", help))
    }
}

/// Words in a sentence.
fn listed(words: &[&str]) -> String {
    let quoted = |word: &&str| match word.contains(' ') {
        true => (*word).to_owned(),
        false => format!("`{word}`"),
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
