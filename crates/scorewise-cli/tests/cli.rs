//! The command as it is typed: the README's examples, and what users get wrong.

#[test]
fn readme_and_examples_do_as_they_say() {
    trycmd::TestCases::new().case("../../README.md").case("tests/cmd/*.md");
}
