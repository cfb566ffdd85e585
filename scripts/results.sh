#!/usr/bin/env bash
# Makes docs/results.md and its figures again: all trainings of the paper, with and without the cure, and the recipe that goes beyond.
# About half an hour on two cores; interrupted, it goes on where it was. The trainings themselves stay in target/results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --locked
scorewise="${CARGO_TARGET_DIR:-target}/release/scorewise"
out="${CARGO_TARGET_DIR:-target}/results"
"$scorewise" reproduce adult --out "$out/adult" >/dev/null
"$scorewise" reproduce pollution --out "$out/pollution" >/dev/null
"$scorewise" reproduce pollution --beyond --out "$out/pollution" >/dev/null

mkdir -p docs/results
cp "$out/adult/"figure-[12].svg "$out/adult/"figure-[12].png docs/results/
# Prose from docs/results/*.md, numbers from the commands: neither is written twice.
{
  cat docs/results/opening.md
  printf '\n## Adult\n\n'
  cat "$out/adult/table.md" docs/results/adult.md
  printf '\n## Beijing PM2.5\n\n'
  cat "$out/pollution/table.md" docs/results/pollution.md
  printf '\n## Beyond\n\n'
  cat "$out/pollution/beyond.md" docs/results/beyond.md
} >docs/results.md
