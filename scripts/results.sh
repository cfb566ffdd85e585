#!/usr/bin/env bash
# Regenerates docs/results.md and its figures: all training runs of Marchetti et al. (2022), once as published and once with the changes that prevent
# failed training runs, and the improved recipe (`--beyond`). Takes about half an hour on two cores and resumes after an interruption. The results of
# the training runs are kept in target/results.
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
# The text comes from docs/results/*.md, the tables from the commands.
{
  cat docs/results/opening.md
  printf '\n## Adult\n\n'
  cat "$out/adult/table.md" docs/results/adult.md
  printf '\n## Beijing PM2.5\n\n'
  cat "$out/pollution/table.md" docs/results/pollution.md
  printf '\n## Beyond\n\n'
  cat "$out/pollution/beyond.md" docs/results/beyond.md
  printf '\n## Training on a GPU\n'
  cat docs/results/gpu.md
} >docs/results.md
