//! Things by number.

/// Things by number, whose numbers are used again.
#[derive(Debug, Clone)]
pub(crate) struct Slab<T> {
    places: Vec<T>,
    spare: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { places: Vec::new(), spare: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    #[inline]
    pub fn put(&mut self, thing: T) -> u32 {
        match self.spare.pop() {
            Some(place) => {
                self.places[place as usize] = thing;
                place
            }
            None => {
                self.places.push(thing);
                self.places.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub fn get(&self, place: u32) -> &T {
        &self.places[place as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }

    #[inline]
    pub fn take(&mut self, place: u32) -> T {
        self.spare.push(place);
        self.places[place as usize]
    }

    pub fn is_empty(&self) -> bool {
        self.places.len() == self.spare.len()
    }

    /// The numbers of all things that are so.
    pub fn find(&self, is_so: impl Fn(&T) -> bool) -> Vec<u32> {
        let places = (0..).zip(&self.places);
        let found = places.filter(|(place, thing)| is_so(thing) && !self.spare.contains(place));
        found.map(|(place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::default();
        let (a, b) = (slab.put('a'), slab.put('b'));
        assert_eq!((slab.take(a), slab.is_empty()), ('a', false));
        assert_eq!((slab.put('c'), *slab.get(b)), (a, 'b'));
        slab.take(a);
        slab.take(b);
        assert!(slab.is_empty());
    }
}
