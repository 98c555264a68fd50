//! The right name nearest to a wrong one.

/// The known name that most resembles `found`, if any is close enough to be worth suggesting.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing is quadratic in the length, and no long text is a typing error.
    if found.len() > 64 {
        return None;
    }
    let spelled = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
    let found = spelled(found);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&found, &spelled(name)), name))
        .filter(|&(distance, name)| distance <= (name.len().max(found.len()) / 3).max(1))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_near_names_only() {
        let known = ["virtual-channels", "buffer", "routing-delay", "k"];
        for (found, expected) in [
            ("virtual_channels", Some("virtual-channels")),
            ("virtal-chanels", Some("virtual-channels")),
            ("bufer", Some("buffer")),
            ("Buffer", Some("buffer")),
            ("K", Some("k")),
            ("colour", None),
            ("", Some("k")),
        ] {
            assert_eq!(nearest(found, known), expected, "{found}");
        }
        assert_eq!(nearest(&"buffer".repeat(1000), known), None);
    }
}
