//! Threads that wait on one worker.
//!
//! One of them, the *leader*, polls; the others, its *followers*, sleep. All of them look under the
//! lock, say here what they have seen, let go of the lock and sleep. A thread that lets go of the
//! lock and leaves more behind than a sleeper has seen wakes it ([`Roster::tell`]): so nothing that
//! happens between a look and a sleep is missed. A leader that leaves wakes a follower, which leads
//! from then on ([`Roster::resign`]). The progress thread leads only while no other thread calls,
//! and a thread that calls takes over from it.
//!
//! There is no lock and no clock in here: the same code is run by a model of all orders.

use crosstie_units::Time;

#[cfg(all(test, target_os = "linux"))]
mod model;

/// What wakes a thread.
pub(crate) trait Wakes {
    /// Wakes it, or lets it not fall asleep.
    fn wake(&self);
}

/// A thread that waits, as the roster numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter(u64);

/// What kind of thread leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One that waits for something.
    Caller,
    /// The progress thread, which waits for nothing.
    Progress,
}

/// How things stand when the lock is let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Counts what threads may wait for.
    pub news: u64,
    /// When something is to be done, if nothing happens before.
    pub due: Option<Time>,
    /// True if something waits for room.
    pub waits: bool,
}

/// The thread that looks.
#[derive(Debug)]
struct Leader {
    waiter: Waiter,
    kind: Kind,
    /// What it has seen, if it sleeps, and until when it does.
    asleep: Option<(Seen, Time)>,
}

/// A thread that sleeps while another looks.
#[derive(Debug)]
struct Follower<W> {
    waiter: Waiter,
    news: u64,
    bell: W,
}

/// Threads that wait. `W` wakes a follower.
#[derive(Debug)]
pub(crate) struct Roster<W> {
    leader: Option<Leader>,
    followers: Vec<Follower<W>>,
    next: u64,
    /// How many of them sleep.
    asleep: usize,
}

impl<W> Default for Roster<W> {
    fn default() -> Roster<W> {
        Roster { leader: None, followers: Vec::new(), next: 0, asleep: 0 }
    }
}

impl<W: Wakes> Roster<W> {
    fn number(&mut self) -> Waiter {
        self.next += 1;
        Waiter(self.next)
    }

    /// Returns true if a thread looks.
    pub fn is_led(&self) -> bool {
        self.leader.is_some()
    }

    /// Returns true if this thread looks.
    pub fn leads(&self, waiter: Waiter) -> bool {
        self.leader.as_ref().is_some_and(|leader| leader.waiter == waiter)
    }

    /// Lets a thread look, unless another does that waits for something.
    pub fn lead(&mut self, kind: Kind) -> Option<Waiter> {
        if kind == Kind::Caller {
            self.depose();
        }
        if self.leader.is_some() {
            return None;
        }
        let waiter = self.number();
        self.leader = Some(Leader { waiter, kind, asleep: None });
        Some(waiter)
    }

    /// A thread calls: the progress thread looks no more. It finds out when it wakes.
    pub fn depose(&mut self) {
        if let Some(leader) = self.leader.take_if(|leader| leader.kind == Kind::Progress) {
            self.asleep -= usize::from(leader.asleep.is_some());
        }
    }

    /// The leader sleeps, until a time at most.
    pub fn sleeps(&mut self, waiter: Waiter, seen: Seen, until: Time) {
        if let Some(leader) = self.leader.as_mut().filter(|leader| leader.waiter == waiter) {
            self.asleep += usize::from(leader.asleep.is_none());
            leader.asleep = Some((seen, until));
        }
    }

    /// The leader is awake.
    pub fn wakes(&mut self, waiter: Waiter) {
        if let Some(leader) = self.leader.as_mut().filter(|leader| leader.waiter == waiter) {
            self.asleep -= usize::from(leader.asleep.take().is_some());
        }
    }

    /// The leader looks no more; a follower is woken to do so.
    pub fn resign(&mut self, waiter: Waiter) {
        self.wakes(waiter);
        self.leader.take_if(|leader| leader.waiter == waiter);
        self.pass_on();
    }

    /// Without a leader, wakes a follower to look.
    fn pass_on(&self) {
        if self.leader.is_none()
            && let Some(follower) = self.followers.first()
        {
            follower.bell.wake();
        }
    }

    /// A thread sleeps while another looks. This is what it has seen.
    pub fn follow(&mut self, news: u64, bell: W) -> Waiter {
        let waiter = self.number();
        self.followers.push(Follower { waiter, news, bell });
        self.asleep += 1;
        waiter
    }

    /// A follower is awake. It leads, follows again, or leaves: then it says so.
    pub fn unfollow(&mut self, waiter: Waiter) {
        if let Some(place) = self.followers.iter().position(|other| other.waiter == waiter) {
            self.followers.remove(place);
            self.asleep -= 1;
        }
    }

    /// A thread that has followed leaves. It may have been woken to lead: another does.
    pub fn leave(&self) {
        self.pass_on();
    }

    /// Returns true if a thread sleeps: then one that lets go of the lock says how things stand.
    #[inline]
    pub fn has_sleepers(&self) -> bool {
        self.asleep > 0
    }

    /// The lock is let go: threads that have not seen how things stand are woken. `bell` wakes the
    /// leader.
    #[cold]
    pub fn tell(&mut self, now: Seen, bell: &impl Wakes) {
        for follower in &mut self.followers {
            if follower.news != now.news {
                // Once: it looks how things stand then.
                follower.news = now.news;
                follower.bell.wake();
            }
        }
        let asleep = self.leader.as_mut().and_then(|leader| leader.asleep.as_mut());
        if let Some((seen, until)) = asleep
            && (seen.news != now.news
                || now.waits && !seen.waits
                || now.due.is_some_and(|due| due < *until))
        {
            (*seen, *until) = (Seen { waits: true, ..now }, Time::ZERO);
            bell.wake();
        }
    }

    /// Wakes all, to be told that nothing will ever come.
    #[cold]
    pub fn wake_all(&self, bell: &impl Wakes) {
        self.followers.iter().for_each(|follower| follower.bell.wake());
        bell.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    type Bell = Rc<Cell<u32>>;

    impl Wakes for Bell {
        fn wake(&self) {
            self.set(self.get() + 1);
        }
    }

    fn seen(news: u64, due: u64) -> Seen {
        Seen { news, due: Some(Time::from_ns(due)), waits: false }
    }

    #[test]
    fn sleepers_are_woken_once_by_what_they_have_not_seen() {
        let (leader, follower) = (Bell::default(), Bell::default());
        let mut roster = Roster::default();
        let first = roster.lead(Kind::Caller).unwrap();
        assert!(roster.lead(Kind::Caller).is_none() && roster.lead(Kind::Progress).is_none());
        assert!(!roster.has_sleepers());
        roster.sleeps(first, seen(1, 100), Time::from_ns(100));
        let second = roster.follow(1, Rc::clone(&follower));
        roster.tell(seen(1, 100), &leader);
        assert_eq!((leader.get(), follower.get()), (0, 0));
        // Something is due earlier: that is for the leader.
        roster.tell(seen(1, 50), &leader);
        roster.tell(seen(1, 40), &leader);
        assert_eq!((leader.get(), follower.get()), (1, 0));
        roster.tell(seen(2, 100), &leader);
        roster.tell(seen(2, 100), &leader);
        assert_eq!((leader.get(), follower.get()), (2, 1));
        roster.wakes(first);
        roster.resign(first);
        assert_eq!(follower.get(), 2, "it is to lead");
        roster.unfollow(second);
        assert!(!roster.has_sleepers() && !roster.is_led());
    }

    #[test]
    fn whoever_calls_takes_over_from_the_progress_thread() {
        let mut roster = Roster::<Bell>::default();
        let progress = roster.lead(Kind::Progress).unwrap();
        roster.sleeps(progress, seen(0, 0), Time::ZERO);
        assert!(roster.has_sleepers());
        let caller = roster.lead(Kind::Caller).unwrap();
        assert!(roster.leads(caller) && !roster.leads(progress) && !roster.has_sleepers());
        // It finds out when it wakes.
        roster.wakes(progress);
        roster.resign(progress);
        assert!(roster.leads(caller));
    }
}
