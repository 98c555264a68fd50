//! Pieces of a message: ranges of bytes in ascending order, none of which touch.

use std::ops::Range;

/// Adds bytes to pieces of which none may be there before, and gives the piece in which they lie
/// now; `None` if some are.
pub(crate) fn insert(pieces: &mut Vec<Range<u64>>, bytes: &Range<u64>) -> Option<Range<u64>> {
    let next = pieces.partition_point(|piece| piece.end <= bytes.start);
    if pieces.get(next).is_some_and(|piece| piece.start < bytes.end) {
        return None;
    }
    let follows = next > 0 && pieces[next - 1].end == bytes.start;
    let precedes = pieces.get(next).is_some_and(|piece| piece.start == bytes.end);
    let place = if follows { next - 1 } else { next };
    match (follows, precedes) {
        (true, true) => pieces[place].end = pieces.remove(next).end,
        (true, false) => pieces[place].end = bytes.end,
        (false, true) => pieces[place].start = bytes.start,
        (false, false) => pieces.insert(place, bytes.clone()),
    }
    Some(pieces[place].clone())
}

/// Adds bytes to pieces, whether they are there or not, and gives the piece in which they lie now
/// and how many are new.
pub(crate) fn unite(pieces: &mut Vec<Range<u64>>, bytes: &Range<u64>) -> (Range<u64>, u64) {
    let first = pieces.partition_point(|piece| piece.end < bytes.start);
    let end = pieces.partition_point(|piece| piece.start <= bytes.end);
    let new = missing(pieces, bytes).map(|gap| gap.end - gap.start).sum();
    if first == end {
        pieces.insert(first, bytes.clone());
    } else {
        let start = pieces[first].start.min(bytes.start);
        pieces[first] = start..pieces[end - 1].end.max(bytes.end);
        pieces.drain(first + 1..end);
    }
    (pieces[first].clone(), new)
}

/// Those of some bytes that are in no piece.
pub(crate) fn missing(
    pieces: &[Range<u64>],
    bytes: &Range<u64>,
) -> impl Iterator<Item = Range<u64>> {
    let first = pieces.partition_point(|piece| piece.end <= bytes.start);
    let (mut at, end) = (bytes.start, bytes.end);
    let mut pieces = pieces[first..].iter();
    std::iter::from_fn(move || {
        while at < end {
            let piece = pieces.next().map_or(end..end, |piece| piece.start.min(end)..piece.end);
            let gap = at..piece.start;
            at = at.max(piece.end);
            if gap.start < gap.end {
                return Some(gap);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn pieces_in_any_order_make_a_whole(
            order in Just((0..30u64).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut pieces = Vec::new();
            for (count, &byte) in order.iter().enumerate() {
                let piece = insert(&mut pieces, &(byte..byte + 1)).unwrap();
                prop_assert!(piece.contains(&byte));
                let present: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
                prop_assert_eq!(present as usize, count + 1);
                prop_assert!(pieces.is_sorted_by(|a, b| a.end < b.start), "{:?}", pieces);
                prop_assert!(insert(&mut pieces, &(byte..byte + 1)).is_none());
            }
            prop_assert_eq!(pieces, vec![0..30]);
        }

        #[test]
        fn pieces_that_overlap_are_united(
            ranges in prop::collection::vec((0..40u64, 1..12u64), 1..20), asked in (0..40u64, 0..20u64),
        ) {
            let (mut pieces, mut set) = (Vec::new(), BTreeSet::new());
            for (start, length) in ranges {
                let bytes = start..start + length;
                let before = set.len();
                set.extend(bytes.clone());
                let (piece, new) = unite(&mut pieces, &bytes);
                prop_assert_eq!(new as usize, set.len() - before);
                prop_assert!(piece.start <= bytes.start && bytes.end <= piece.end);
                prop_assert!(pieces.is_sorted_by(|a, b| a.end < b.start), "{:?}", pieces);
                prop_assert!(pieces.iter().cloned().flatten().eq(set.iter().copied()));
            }
            let asked = asked.0..asked.0 + asked.1;
            let found: Vec<u64> = missing(&pieces, &asked).flatten().collect();
            prop_assert!(found.into_iter().eq(asked.filter(|byte| !set.contains(byte))));
        }
    }
}
