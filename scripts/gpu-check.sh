#!/usr/bin/env bash
# Checks training on a GPU of NVIDIA against the CPU. Runs on a machine with a GPU, its driver and CUDA's compiler library; needs no network.
#
#   scripts/gpu-check.sh [COMMAND]      COMMAND: the program scorewise (default: target/release/scorewise, which is built if it is missing)
#
# - Two runs on the GPU give the same bytes.
# - The tables of the paper agree with those of the CPU within their standard errors.
# - compute-sanitizer, if it is installed, finds no errors of memory accesses and no data races.
# - Prints the seconds of both tables of the paper on the GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scorewise="${1:-target/release/scorewise}"
[ -x "$scorewise" ] || cargo build --release --locked
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
date -u +%F
for experiment in adult pollution; do
  for run in gpu-1 gpu-2; do
    "$scorewise" reproduce "$experiment" --repeats 10 --device cuda --out "$work/$experiment-$run" --json 2>/dev/null |
      python3 -c 'import json, sys; found = json.load(sys.stdin); [found.pop(key) for key in ("seconds", "training_seconds")]; print(json.dumps(found))' >"$work/$experiment-$run.json"
  done
  cmp "$work/$experiment-gpu-1.json" "$work/$experiment-gpu-2.json" && echo "$experiment: two runs on the GPU are equal"
  "$scorewise" reproduce "$experiment" --repeats 10 --device cpu --out "$work/$experiment-cpu" --json >"$work/$experiment-cpu.json" 2>/dev/null
  python3 - "$work/$experiment-cpu.json" "$work/$experiment-gpu-1.json" "$experiment" <<'PYTHON'
import json, math, sys

cpu, gpu = (json.load(open(path)) for path in sys.argv[1:3])


def numbers(found, path=()):
    """Yield every mean with its standard deviation, and every number of successes."""
    if isinstance(found, dict):
        if {"mean", "sd"} <= found.keys():
            yield path, found["mean"], found["sd"]
        for key, value in found.items():
            yield from numbers(value, (*path, key))
    elif isinstance(found, list):
        for index, value in enumerate(found):
            yield from numbers(value, (*path, index))


pairs = list(zip(numbers(cpu), numbers(gpu), strict=True))
far = []
for (path, mean, sd), (_, other, other_sd) in pairs:
    if mean is None or other is None:
        continue
    # The standard error of the difference of two means of ten training runs; 4 of them, because there are hundreds of means.
    limit = 4 * math.sqrt(((sd or 0) ** 2 + (other_sd or 0) ** 2) / 10) + 1e-6
    if abs(mean - other) > limit:
        far.append((path, mean, other, limit))
print(f"{sys.argv[3]}: {len(pairs)} means compared with the CPU, {len(far)} differ by more than 4 standard errors")
for one in far:
    print("  ", *one)
sys.exit(bool(far))
PYTHON
done
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    # One epoch, because every access to memory is checked.
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$scorewise" train adult --recipe paper --epochs 1 --device cuda --report none \
      -o "$work/$tool.scorewise" >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
    echo "compute-sanitizer $tool: clean"
  done
fi
for experiment in adult pollution; do
  "$scorewise" reproduce "$experiment" --device cuda --out "$work/full-$experiment" 2>/dev/null | grep "the whole command took"
done
