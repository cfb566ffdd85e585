"""Compare scorewise with scikit-learn and PyTorch on the same rows, alternating in one run.

    python bench/peers.py            # requires the packages of scripts/golden-requirements.txt

Uses ten million f32 rows. Prints medians, ranges, the speed-up, and the results of scorewise and of the other library.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import sklearn
import torch
from sklearn.metrics import precision_recall_curve

ROWS = 10_000_000
ROUNDS = 5
NINE = ["accuracy", "precision", "recall", "specificity", "f1", "tss", "csi", "hss1", "hss"]


class Scorewise:
    """A process of the Rust program `time_rows`, which reads commands from standard input and prints the elapsed seconds and a result."""

    def __init__(self, program, folder, threads):
        """Start the program with this number of threads; it reads its data from the folder."""
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __call__(self, command):
        """Send a command to the program; return the elapsed seconds and the result."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        seconds, result = self.process.stdout.readline().split()
        return float(seconds), float(result)


def run_and_time(work):
    """Call `work`; return the elapsed seconds, and what `work` returned as a float."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, float(result)


def build_program():
    """Build the Rust program and return its path, as reported by cargo."""
    command = ["cargo", "build", "--release", "-p", "scorewise", "--features", "rayon", "--example", "time_rows",
               "--message-format", "json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    executables = [json.loads(line).get("executable") for line in lines]
    return [path for path in executables if path][-1]


def torch_loss(logits, labels, prior):
    """Compute the loss 1 - F1 of the expected confusion matrix and its gradient in plain PyTorch; return the loss."""
    logits.grad = None
    probabilities = torch.sigmoid(logits)
    if prior == "uniform":
        cdf = probabilities
    else:
        u = ((probabilities - 0.5) / 0.1).clamp(-1, 1)
        cdf = 0.5 * (1 + u + torch.sin(torch.pi * u) / torch.pi)
    tp = (labels * cdf).sum(dtype=torch.float64)
    fp = ((1 - labels) * cdf).sum(dtype=torch.float64)
    fn = labels.sum(dtype=torch.float64) - tp
    loss = 1 - 2 * tp / (2 * tp + fp + fn)
    loss.backward()
    return loss.detach()


def sklearn_best_f1(labels, probabilities):
    """Return the best F1 on the precision-recall curve."""
    precision, recall, _ = precision_recall_curve(labels, probabilities)
    return numpy.nanmax(2 * precision * recall / numpy.maximum(precision + recall, 1e-300))


def main():
    """Print the times of scorewise and of the other libraries; return 1 if a target is missed."""
    torch.set_num_threads(1)
    random = numpy.random.default_rng(0)
    labels = random.random(ROWS) < 0.05
    logits = (1.5 * random.standard_normal(ROWS) + numpy.where(labels, 1.0, -2.0)).astype(numpy.float32)
    probabilities = (1 / (1 + numpy.exp(-logits))).astype(numpy.float32)
    program = build_program()
    print(f"{ROWS:,} rows; scikit-learn {sklearn.__version__}, PyTorch {torch.__version__} eager on one thread, numpy {numpy.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        logits.tofile(path / "logits.f32")
        probabilities.tofile(path / "probabilities.f32")
        labels.astype(numpy.uint8).tofile(path / "labels.u8")
        one_thread, two_threads = Scorewise(program, folder, 1), Scorewise(program, folder, 2)
        rows = torch.from_numpy(logits).requires_grad_()
        targets = torch.from_numpy(labels.astype(numpy.float32))
        sweep = "sweep " + " ".join(NINE + ["f1"])
        pairs = {
            "value + gradient of 1 - f1, uniform prior, 1 thread (PyTorch)": (
                lambda: run_and_time(lambda: torch_loss(rows, targets, "uniform")), lambda: one_thread("loss f1 uniform"), 8),
            "value + gradient of 1 - f1, cosine:0.5,0.1, 1 thread (PyTorch)": (
                lambda: run_and_time(lambda: torch_loss(rows, targets, "cosine")), lambda: one_thread("loss f1 cosine:0.5,0.1"), 8),
            "exact best thresholds of nine scores, 2 threads (scikit-learn, precision_recall_curve)": (
                lambda: run_and_time(lambda: sklearn_best_f1(labels, probabilities)), lambda: two_threads(sweep), 8),
            "exact best thresholds of nine scores, 1 thread (scikit-learn, precision_recall_curve)": (
                lambda: run_and_time(lambda: sklearn_best_f1(labels, probabilities)), lambda: one_thread(sweep), None),
        }
        seconds = {name: ([], []) for name in pairs}
        results = {}
        for round_number in range(ROUNDS + 1):
            for name, (peer, ours, _) in pairs.items():
                (peer_seconds, peer_result), (our_seconds, our_result) = peer(), ours()
                results[name] = (peer_result, our_result)
                if round_number > 0:  # the first round is a warm-up
                    seconds[name][0].append(peer_seconds)
                    seconds[name][1].append(our_seconds)
    missed = False
    for name, (_, _, target) in pairs.items():
        peer, ours = (statistics.median(times) for times in seconds[name])
        spread = ["{:.0f} to {:.0f}".format(1e3 * min(times), 1e3 * max(times)) for times in seconds[name]]
        verdict = "" if target is None else f"; the target of {target} x is {'met' if peer / ours >= target else 'MISSED'}"
        missed |= target is not None and peer / ours < target
        print(f"{name}\n    peer {1e3 * peer:7.1f} ms ({spread[0]}), scorewise {1e3 * ours:6.1f} ms ({spread[1]}): {peer / ours:.1f} x{verdict}")
        print(f"    results: peer {results[name][0]:.8f}, scorewise {results[name][1]:.8f}")
        assert abs(results[name][0] - results[name][1]) < 1e-5, "the results differ"
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
