//! Things under small numbers.

/// Keeps things under small numbers. The number of a thing that has been taken out is given again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    spare: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Slab<T> {
        Slab { places: Vec::new(), spare: Vec::new() }
    }

    /// The number under which the next thing will be kept.
    pub fn next(&self) -> u32 {
        self.spare.last().copied().unwrap_or(self.places.len() as u32)
    }

    /// Keeps a thing, under the number of [`Slab::next`].
    pub fn put(&mut self, thing: T) {
        match self.spare.pop() {
            Some(number) => self.places[number as usize] = Some(thing),
            None => self.places.push(Some(thing)),
        }
    }

    pub fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.places.get_mut(number as usize)?.as_mut()
    }

    /// Takes a thing out, if it is there.
    pub fn take(&mut self, number: u32) -> Option<T> {
        let thing = self.places.get_mut(number as usize)?.take()?;
        self.spare.push(number);
        Some(thing)
    }

    pub fn is_empty(&self) -> bool {
        self.places.len() == self.spare.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_small_and_given_again() {
        let mut slab = Slab::new();
        for (number, thing) in ["a", "b", "c"].into_iter().enumerate() {
            assert_eq!(slab.next(), number as u32);
            slab.put(thing);
        }
        assert_eq!((slab.take(1), slab.take(1), slab.take(7)), (Some("b"), None, None));
        assert_eq!((slab.get(1), slab.next()), (None, 1));
        slab.put("d");
        assert_eq!((slab.get(1), slab.get(0), slab.next()), (Some(&"d"), Some(&"a"), 3));
        assert!(!slab.is_empty());
        assert_eq!([0, 1, 2].map(|number| slab.take(number)), [Some("a"), Some("d"), Some("c")]);
        assert!(slab.is_empty());
    }
}
