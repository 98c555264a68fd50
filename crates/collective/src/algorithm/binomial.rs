//! Binomial trees of ranks that are counted from the root.
//!
//! There are two of them. The *near* tree reaches 1, then 2, then 4 further ones: number n hangs
//! below n less its highest bit. In the *far* tree whoever hangs below a number follows it without
//! a gap: n hangs below n less its lowest bit.

/// The number above another one than 0 in the near tree.
pub(super) fn near_parent(number: u32) -> u32 {
    number - (1 << number.ilog2())
}

/// The numbers below another one in the near tree, in the order in which it reaches them.
pub(super) fn near_children(number: u32, ranks: u32) -> impl DoubleEndedIterator<Item = u32> {
    let first = number.checked_ilog2().map_or(0, |highest| highest + 1);
    (first..32).filter_map(move |bit| {
        let child = u64::from(number) + (1u64 << bit);
        (child < u64::from(ranks)).then_some(child as u32)
    })
}

/// The number above another one than 0 in the far tree.
pub(super) fn far_parent(number: u32) -> u32 {
    number & (number - 1)
}

/// The numbers below another one in the far tree, the nearest first.
pub(super) fn far_children(number: u32, ranks: u32) -> impl DoubleEndedIterator<Item = u32> {
    (0..number.trailing_zeros()).filter_map(move |bit| {
        let child = u64::from(number) + (1u64 << bit);
        (child < u64::from(ranks)).then_some(child as u32)
    })
}

/// A number of the far tree and all that hang below it.
pub(super) fn far_subtree(number: u32, ranks: u32) -> std::ops::Range<u32> {
    match number {
        0 => 0..ranks,
        // Its lowest bit tells how many they are.
        _ => number..ranks.min(number.saturating_add(1 << number.trailing_zeros())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_trees_reach_everybody_once() {
        for ranks in 1..70 {
            let mut near = vec![0];
            let mut far = vec![0];
            for number in 0..ranks {
                for child in near_children(number, ranks) {
                    assert_eq!(near_parent(child), number);
                    near.push(child);
                }
                let mut below = vec![number];
                for child in far_children(number, ranks) {
                    assert_eq!(far_parent(child), number);
                    far.push(child);
                    below.extend(far_subtree(child, ranks));
                }
                assert_eq!(below, far_subtree(number, ranks).collect::<Vec<_>>());
            }
            near.sort_unstable();
            far.sort_unstable();
            let all: Vec<u32> = (0..ranks).collect();
            assert_eq!((&near, &far), (&all, &all));
        }
    }
}
