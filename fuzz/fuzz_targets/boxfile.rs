#![no_main]
libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(diagnostic) = crosstie_study::box_file::parse("fuzzed", text) {
        assert!(!diagnostic.render(false).is_empty());
    }
});
