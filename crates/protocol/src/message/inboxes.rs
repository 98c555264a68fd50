//! Receives and messages of all contexts, each matched in its own.

use std::collections::BTreeMap;

use super::messenger::{Unexpected, Waiting};
use super::{Context, Tag};
use crate::{Matching, RankId};

/// Receives and messages of one context.
pub(super) type Inbox = Matching<RankId, Tag, Waiting, Unexpected>;

/// Inboxes that may be there before one in which nothing waits goes: most often the same context is
/// used again soon.
const WARM: usize = 16;

/// The inboxes of a rank. Those in which nothing waits take no memory, but for a few.
#[derive(Debug, Default)]
pub(super) struct Inboxes {
    all: BTreeMap<Context, Inbox>,
    /// Receives and messages that wait, in all of them.
    standing: usize,
    /// The age at which a new inbox begins: what was taken out of an inbox that has gone since is
    /// older than all that comes later.
    age: u64,
}

impl Inboxes {
    /// Returns true if no receive and no message waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.standing == 0
    }

    /// The inbox of a context, if there is one.
    pub fn get(&self, context: Context) -> Option<&Inbox> {
        self.all.get(&context)
    }

    /// All there are.
    pub fn iter(&self) -> impl Iterator<Item = (Context, &Inbox)> {
        self.all.iter().map(|(&context, inbox)| (context, inbox))
    }

    /// Does something with the inbox of a context, which is there for as long.
    #[inline]
    pub fn with<R>(&mut self, context: Context, work: impl FnOnce(&mut Inbox) -> R) -> R {
        let age = self.age;
        let inbox = self.all.entry(context).or_insert_with(|| Inbox::from_age(age));
        let before = inbox.len();
        let result = work(inbox);
        let after = inbox.len();
        self.standing = self.standing + after - before;
        if after == 0 && self.all.len() > WARM {
            self.remove(context);
        }
        result
    }

    #[cold]
    fn remove(&mut self, context: Context) {
        if let Some(inbox) = self.all.remove(&context) {
            self.age = self.age.max(inbox.age());
        }
    }

    /// The receive that takes a message, if one asks for it.
    #[inline]
    pub fn take(&mut self, context: Context, from: RankId, tag: Tag) -> Option<Waiting> {
        // Most contexts have an inbox: none is made, and one that empties stays until another goes.
        let waiting = self.all.get_mut(&context)?.take(from, tag)?;
        self.standing -= 1;
        Some(waiting)
    }

    /// Does something with all inboxes.
    pub fn each(&mut self, mut work: impl FnMut(Context, &mut Inbox)) {
        self.all.iter_mut().for_each(|(&context, inbox)| work(context, inbox));
        let (kept, oldest) = (self.all.len().min(WARM), self.age);
        let (mut count, mut age) = (0, oldest);
        self.all.retain(|_, inbox| {
            count += usize::from(inbox.is_empty());
            let stays = !inbox.is_empty() || count <= kept;
            age = if stays { age } else { age.max(inbox.age()) };
            stays
        });
        self.age = age;
        self.standing = self.all.values().map(Inbox::len).sum();
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Class, RequestId};

    fn context(id: u16) -> Context {
        Context { class: Class::Application, id }
    }

    fn message(number: u32) -> Unexpected {
        Unexpected::Eager { number, bytes: 8, send: None }
    }

    const A: RankId = RankId(1);

    #[test]
    fn inboxes_in_which_nothing_waits_go() {
        let mut inboxes = Inboxes::default();
        let waiting = |id| Waiting { request: RequestId(id), room: 8 };
        for id in 0..10_000u16 {
            assert!(
                inboxes.with(context(id), |inbox| inbox.post(None, None, waiting(7))).is_none()
            );
            assert!(!inboxes.is_empty());
            assert!(inboxes.take(context(id), A, Tag(1)).is_some() && inboxes.is_empty());
            let arrived = |inbox: &mut Inbox| inbox.arrive(A, Tag(1), message(1)).is_none();
            assert!(inboxes.with(context(id), arrived) && !inboxes.is_empty());
            assert!(inboxes.with(context(id), |inbox| inbox.claim(None, None)).is_some());
        }
        assert!(inboxes.is_empty() && inboxes.count() <= WARM, "{}", inboxes.count());
        (0..100).for_each(|id| {
            inboxes.with(context(id), |inbox| inbox.post(Some(A), None, waiting(id.into())));
        });
        assert!(inboxes.count() >= 100);
        inboxes.each(|_, inbox| drop(inbox.give_up(A)));
        assert!(inboxes.is_empty() && inboxes.count() <= WARM, "{}", inboxes.count());
    }

    #[test]
    fn a_message_that_is_put_back_is_the_oldest_again_also_if_its_inbox_had_gone() {
        let mut inboxes = Inboxes::default();
        for number in 0..3 {
            inboxes.with(context(0), |inbox| inbox.arrive(A, Tag(1), message(number)));
        }
        let claimed = [(); 3].map(|()| inboxes.with(context(0), |inbox| inbox.claim(None, None)));
        for id in 1..100 {
            inboxes.with(context(id), |inbox| inbox.arrive(A, Tag(1), message(0)));
        }
        inboxes.with(context(0), |_| ());
        assert!(inboxes.get(context(0)).is_none());
        inboxes.with(context(0), |inbox| inbox.arrive(A, Tag(1), message(3)));
        for (age, from, tag, message) in claimed.into_iter().flatten() {
            let taken = inboxes.with(context(0), |inbox| inbox.put_back(age, (from, tag), message));
            assert!(taken.is_none());
        }
        for number in 0..4 {
            let (.., found) = inboxes.with(context(0), |inbox| inbox.claim(None, None)).unwrap();
            assert!(matches!(found, Unexpected::Eager { number: n, .. } if n == number));
        }
    }
}
