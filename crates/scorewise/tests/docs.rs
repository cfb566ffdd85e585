//! Checks that generated documentation is up to date.

#[test]
fn scores_page_is_generated_from_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scores.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == scorewise::score::markdown(),
        "docs/scores.md is not up to date; run: cargo run -- scores --markdown > docs/scores.md"
    );
}
