//! Things under small numbers.

/// Keeps things under small numbers. The number of a thing that has been put away is given again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    spare: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Slab<T> {
        Slab { places: Vec::new(), spare: Vec::new() }
    }

    /// Keeps a thing that knows its number.
    #[inline]
    pub fn put(&mut self, thing: impl FnOnce(u32) -> T) -> u32 {
        if let Some(number) = self.spare.pop() {
            self.places[number as usize] = Some(thing(number));
            return number;
        }
        let number = self.places.len() as u32;
        self.places.push(Some(thing(number)));
        number
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize)?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.places.get_mut(number as usize)?.as_mut()
    }

    /// All things and their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.places).filter_map(|(number, place)| Some((number, place.as_ref()?)))
    }

    /// Puts the thing of a number away, if it is there.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        if let Some(place @ Some(_)) = self.places.get_mut(number as usize) {
            *place = None;
            self.spare.push(number);
        }
    }

    /// Puts away all things that are so, and gives them.
    pub fn drain(&mut self, is_so: impl Fn(&T) -> bool) -> Vec<T> {
        let mut drained = Vec::new();
        for (number, place) in (0..).zip(&mut self.places) {
            if let Some(thing) = place.take_if(|thing| is_so(thing)) {
                self.spare.push(number);
                drained.push(thing);
            }
        }
        drained
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
        let put = |slab: &mut Slab<(char, u32)>, letter| slab.put(|number| (letter, number));
        assert_eq!(['a', 'b', 'c'].map(|letter| put(&mut slab, letter)), [0, 1, 2]);
        [1, 1, 7].into_iter().for_each(|number| slab.remove(number));
        assert_eq!(slab.get(1), None);
        assert_eq!(['d', 'e'].map(|letter| put(&mut slab, letter)), [1, 3]);
        assert_eq!(slab.get(1), Some(&('d', 1)));
        assert_eq!(slab.get_mut(0), Some(&mut ('a', 0)));
        assert!(!slab.is_empty());
        (0..4).for_each(|number| slab.remove(number));
        assert!(slab.is_empty());
    }
}
