"""Compare one epoch of the two networks of Marchetti et al. (2022) with PyTorch, JAX and Keras, on one core each, alternating in one run.

    pip install -r bench/train-requirements.txt
    python bench/train_peers.py [ROUNDS]

The data are prepared as in that paper: Adult (48 features, 16086 training and 8043 validation rows, loss 1 - F1) with batches of 64 and 256, and
Beijing PM2.5 (8 features, 8736 training and 4368 validation rows, loss 1 - TSS) with full batches. An epoch consists of a shuffle (not with full
batches, where the order does not matter), all optimisation steps with Adam, and the loss of the validation rows. Each framework runs in its own
process, bound to one core, and waits while the others run. Then two threads are compared with one: for eight independent training runs, and for
one training run with full batches of a million rows. Prints medians, ranges and ratios with their targets, and the final validation losses.
scorewise runs fifteen epochs for each epoch of another framework. The machine should be otherwise idle.
"""

import csv
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-7
MU, DELTA = 0.5, 0.3
PRIOR = f"cosine:{MU},{DELTA}"
NETS = {"adult": ([50, 20, 5], "f1"), "pollution": ([15, 8], "tss")}
# The targets for each data set and batch size (0 means all rows): by what factor scorewise should be faster than each framework.
TARGETS = {("adult", 64): {"torch": 30, "jax": 3, "keras": 80}, ("adult", 256): {}, ("pollution", 0): {"torch": 10, "jax": 4}}


def adult_data():
    """Return 48 standardised features and the labels of 24129 rows of the Adult data, and the number of training rows among them.

    The rows are 4/5 of the 30162 complete rows, drawn at random; the first 2/3 of them are training rows, the others validation rows.
    """
    with gzip.open(ROOT / "crates/scorewise-table/data" / "adult.data.gz", "rt") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if len(row) == 15]
    rows = [row for row in rows if "?" not in row]
    columns = list(zip(*rows))
    features = [numpy.array(columns[at], float) for at in (0, 2, 4, 10, 11, 12)]
    features.append(numpy.array([cell == "United-States" for cell in columns[13]], float))
    for at in (1, 5, 6, 7, 8, 9):
        for level in sorted(set(columns[at])):
            features.append(numpy.array([cell == level for cell in columns[at]], float))
    labels = numpy.array([cell == ">50K" for cell in columns[14]])
    matrix = numpy.stack(features, 1)
    assert matrix.shape == (30162, 48) and labels.sum() == 7508
    matrix = (matrix - matrix.mean(0)) / matrix.std(0)
    order = numpy.random.default_rng(0).permutation(len(matrix))[:24129]
    return matrix[order].astype(numpy.float32), labels[order], 16086


def pollution_data():
    """Return 8 features of each hour, whether PM2.5 exceeds 400 in the next hour, and the number of training rows.

    The hours are those of the first time window in the experiments of Marchetti et al. (2022).
    """
    with gzip.open(next((ROOT / "crates/scorewise-table/data").glob("PRSA*.gz")), "rt") as file:
        rows = list(csv.DictReader(file))[24:]
    number = lambda row, name: 0.0 if row[name] in ("NA", "") else float(row[name])
    wind = {"NE": 0, "NW": 1, "SE": 2, "cv": 3}
    names = ["pm2.5", "DEWP", "TEMP", "PRES", "Iws", "Is", "Ir"]
    matrix = numpy.array([[number(row, name) for name in names] + [wind[row["cbwd"]]] for row in rows[:13104]])
    labels = numpy.array([number(row, "pm2.5") > 400 for row in rows[1:13105]])
    matrix = (matrix - matrix.mean(0)) / matrix.std(0)
    order = numpy.random.default_rng(0).permutation(len(matrix))
    return matrix[order].astype(numpy.float32), labels[order], 8736


def write_data(folder, name, matrix, labels, n_training, hidden, score):
    """Write a data set, the layer widths of its network, and its score to files, which the Rust program and the other frameworks read."""
    matrix.astype(numpy.float32).tofile(folder / f"{name}.f32")
    labels.astype(numpy.uint8).tofile(folder / f"{name}.u8")
    widths = ",".join(map(str, hidden))
    (folder / f"{name}.txt").write_text(f"{matrix.shape[1]} {n_training} {widths} {score} {PRIOR}")


def read_data(folder, name):
    """Read a data set that `write_data` has written: features, labels, number of training rows, widths of the network and name of the score."""
    columns, n_training, hidden, score, _ = (pathlib.Path(folder) / f"{name}.txt").read_text().split()
    matrix = numpy.fromfile(pathlib.Path(folder) / f"{name}.f32", numpy.float32).reshape(-1, int(columns))
    labels = numpy.fromfile(pathlib.Path(folder) / f"{name}.u8", numpy.uint8).astype(numpy.float32)
    return matrix, labels, int(n_training), [int(width) for width in hidden.split(",")], score


def score_loss(tp, fp, positives, negatives, score):
    """Return 1 - the score of the expected confusion matrix; the score is F1 if `score` is `f1`, otherwise TSS."""
    if score == "f1":
        return 1 - 2 * tp / (tp + fp + positives)
    return 1 - tp / positives + fp / negatives


# --- The other frameworks ----------------------------------------------------------------------------------------------------------


def torch_trainer(folder, name, batch):
    """Return a function that runs one epoch in PyTorch and returns the validation loss."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    matrix, labels, n_training, hidden, score = read_data(folder, name)
    matrix, labels = torch.from_numpy(matrix), torch.from_numpy(labels)
    widths = [matrix.shape[1], *hidden, 1]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
        torch.nn.init.xavier_uniform_(layers[-2].weight)
        torch.nn.init.zeros_(layers[-2].bias)
    net = torch.nn.Sequential(*layers[:-1])
    adam = torch.optim.Adam(net.parameters(), lr=RATE, betas=(BETA1, BETA2), eps=EPSILON, fused=True)
    batch = batch or n_training

    def loss(x, y):
        """Return the loss of the network for the features x and the labels y."""
        u = ((torch.sigmoid(net(x).squeeze(1)) - MU) / DELTA).clamp(-1, 1)
        cdf = 0.5 * (1 + u + torch.sin(torch.pi * u) / torch.pi)
        positives = y.sum()
        return score_loss((y * cdf).sum(), ((1 - y) * cdf).sum(), positives, len(y) - positives, score)

    def train_one_epoch():
        """Train for one epoch and return the validation loss."""
        order = torch.randperm(n_training) if batch < n_training else torch.arange(n_training)
        for start in range(0, n_training, batch):
            rows = order[start : start + batch]
            adam.zero_grad(set_to_none=True)
            loss(matrix[rows], labels[rows]).backward()
            adam.step()
        with torch.no_grad():
            return loss(matrix[n_training:], labels[n_training:]).item()

    return train_one_epoch


def jax_trainer(folder, name, batch):
    """Return a function that runs one epoch in JAX and returns the validation loss."""
    import jax
    import jax.numpy as jnp

    matrix, labels, n_training, hidden, score = read_data(folder, name)
    matrix, labels = jnp.asarray(matrix), jnp.asarray(labels)
    widths = [matrix.shape[1], *hidden, 1]
    keys = jax.random.split(jax.random.key(1), len(widths))
    glorot = jax.nn.initializers.glorot_uniform()
    net = [(glorot(key, shape), jnp.zeros(shape[1])) for key, shape in zip(keys, zip(widths, widths[1:]))]
    batch = batch or n_training

    def loss(net, x, y):
        """Return the loss of the network `net` for the features x and the labels y."""
        for weights, biases in net[:-1]:
            x = jax.nn.relu(x @ weights + biases)
        logits = (x @ net[-1][0] + net[-1][1])[:, 0]
        u = jnp.clip((jax.nn.sigmoid(logits) - MU) / DELTA, -1, 1)
        cdf = 0.5 * (1 + u + jnp.sin(jnp.pi * u) / jnp.pi)
        positives = y.sum()
        return score_loss((y * cdf).sum(), ((1 - y) * cdf).sum(), positives, y.shape[0] - positives, score)

    def step(state, rows):
        """Update the network with Adam on one batch; return the new state, and None as `jax.lax.scan` requires."""
        net, means, squares, count = state
        gradient = jax.grad(loss)(net, matrix[rows], labels[rows])
        count = count + 1
        means = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, means, gradient)
        squares = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, squares, gradient)
        mean_correction, square_correction = 1 - BETA1**count, 1 - BETA2**count
        update = lambda p, m, v: p - RATE * (m / mean_correction) / (jnp.sqrt(v / square_correction) + EPSILON)
        return (jax.tree.map(update, net, means, squares), means, squares, count), None

    @jax.jit
    def run_epoch(state, key):
        """Train for one epoch with rows in random order; return the new state (network and Adam moments) and the validation loss."""
        order = jax.random.permutation(key, n_training) if batch < n_training else jnp.arange(n_training)
        whole_batches = n_training // batch
        state, _ = jax.lax.scan(step, state, order[: whole_batches * batch].reshape(whole_batches, batch))
        if n_training % batch:  # the last batch is smaller
            state, _ = step(state, order[whole_batches * batch :])
        return state, loss(state[0], matrix[n_training:], labels[n_training:])

    zeros = jax.tree.map(jnp.zeros_like, net)
    current = {"state": (net, zeros, zeros, jnp.float32(0)), "key": jax.random.key(2)}

    def train_one_epoch():
        """Train for one epoch and return the validation loss."""
        current["key"], key = jax.random.split(current["key"])
        current["state"], value = run_epoch(current["state"], key)
        return float(jax.block_until_ready(value))

    return train_one_epoch


def keras_trainer(folder, name, batch, epochs=1):
    """Return a function that runs `epochs` epochs in Keras and returns the validation loss."""
    import keras
    from keras import ops

    if keras.backend.backend() == "tensorflow":
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(1)
    matrix, labels, n_training, hidden, score = read_data(folder, name)
    batch = batch or n_training

    def loss(y, p):
        """Return the loss for the labels y and the predicted probabilities p."""
        y, p = ops.reshape(y, (-1,)), ops.reshape(p, (-1,))
        u = ops.clip((p - MU) / DELTA, -1, 1)
        cdf = 0.5 * (1 + u + ops.sin(numpy.pi * u) / numpy.pi)
        positives, negatives = ops.sum(y), ops.sum(1 - y)
        return score_loss(ops.sum(y * cdf), ops.sum((1 - y) * cdf), positives, negatives, score)

    layers = [keras.layers.Dense(width, activation="relu") for width in hidden]
    net = keras.Sequential([keras.Input((matrix.shape[1],)), *layers, keras.layers.Dense(1, activation="sigmoid")])
    net.compile(optimizer=keras.optimizers.Adam(RATE, BETA1, BETA2, EPSILON), loss=loss)
    targets = labels.reshape(-1, 1)

    def fit_epochs():
        """Train for `epochs` epochs and return the validation loss."""
        history = net.fit(
            matrix[:n_training], targets[:n_training], batch_size=batch, epochs=epochs, shuffle=batch < n_training, verbose=0,
            validation_data=(matrix[n_training:], targets[n_training:]), validation_batch_size=len(matrix) - n_training,
        )
        return history.history["val_loss"][-1]

    return fit_epochs


TRAINERS = {"torch": torch_trainer, "jax": jax_trainer, "keras": keras_trainer}


def answer_timing_requests(framework, folder):
    """For each line of standard input, run one epoch with the framework, and print the seconds and the validation loss.

    A line names a data set and a batch size. This function runs in a process of its own, which is bound to one core.
    """
    bind_to_last_core()
    trainings = {}
    for line in sys.stdin:
        name, batch = line.split()
        if line not in trainings:
            trainings[line] = TRAINERS[framework](folder, name, int(batch))
        start = time.perf_counter()
        value = trainings[line]()
        print(time.perf_counter() - start, value, flush=True)


def bind_to_last_core():
    """Bind this process to the last available core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class TrainingProcess:
    """A process that reads commands from standard input and answers with the elapsed seconds and the loss."""

    def __init__(self, command, one_core=False, **environment):
        """Start the process, and add `environment` to its environment variables. With `one_core`, bind it to the last available core."""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **environment}, preexec_fn=bind_to_last_core if one_core else None,
        )

    def __call__(self, line):
        """Send a command to the process; return the elapsed seconds and the loss."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert len(answer) == 2, f"no answer to `{line}` from {self.process.args}"
        return float(answer[0]), float(answer[1])


def build_program():
    """Build the Rust program and return its path, as reported by cargo."""
    command = ["cargo", "build", "--release", "--workspace", "--example", "time_epochs", "--message-format", "json"]
    lines = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    executables = [json.loads(line).get("executable") for line in lines]
    return [path for path in executables if path][-1]


def format_times(times):
    """Return the median and the range of times, given in seconds, as text in milliseconds."""
    return f"{1e3 * statistics.median(times):8.2f} ms ({1e3 * min(times):.2f} to {1e3 * max(times):.2f})"


def format_verdict(ratio, target):
    """Return whether the ratio meets the target, as text; empty if there is no target."""
    return "" if target is None else f" (the target of {target} x is {'met' if ratio >= target else 'MISSED'})"


def compare_with_frameworks(folder, program, rounds):
    """Compare scorewise with the other frameworks, which run alternately; return whether every target is met."""
    single = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", "OMP_NUM_THREADS": "1"}
    quiet = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    sides = {side: TrainingProcess([sys.executable, __file__, "--serve", side, folder], **single, **quiet) for side in TRAINERS}
    ours = TrainingProcess([program, folder], one_core=True)
    is_met = True
    for (name, batch), targets in TARGETS.items():
        rows = read_data(folder, name)[2]
        print(f"{name} net {'-'.join(map(str, NETS[name][0]))}, {'full batch' if batch == 0 else f'batch {batch}'}, one core each")
        times, losses = {side: [] for side in ["scorewise", *TRAINERS]}, {}
        for round_number in range(rounds + 1):
            for side in times:
                # The epochs of scorewise are short, so the median of several epochs is used.
                if side == "scorewise":
                    answers = [ours(f"epoch {name} {batch or rows}") for _ in range(15)]
                    answer = (statistics.median(seconds for seconds, _ in answers), answers[-1][1])
                else:
                    answer = sides[side](f"{name} {batch}")
                if round_number > 0:  # the first round is a warm-up
                    times[side].append(answer[0])
                losses[side] = answer[1]
        middle = statistics.median(times["scorewise"])
        for side in times:
            ratio = statistics.median(times[side]) / middle
            target = targets.get(side)
            is_met &= target is None or ratio >= target
            comparison = f"{ratio:6.1f} x the time of scorewise{format_verdict(ratio, target)}"
            print(f"  {side:<10}{format_times(times[side])}, {comparison}; validation loss {losses[side]:.4f}")
    for side in sides.values():
        side.process.stdin.close()
    return is_met


def compare_thread_counts(folder, program, rounds):
    """Compare the times of scorewise on one thread and on two threads, for many small training runs and for a large one.

    Return whether the targets of both comparisons are met.
    """
    ours, is_met = TrainingProcess([program, folder]), True
    for title, line, target in [
        ("eight independent training runs, Adult, batch 64, 40 epochs each", "members adult 64 8 40", 1.8),
        ("one training run at full batch on a million rows, network of the Adult experiment, one epoch", "full million", 1.6),
    ]:
        times = {1: [], 2: []}
        losses = {}
        for round_number in range(rounds + 1):
            for threads in times:
                seconds, losses[threads] = ours(f"{line} {threads}")
                if round_number > 0:
                    times[threads].append(seconds)
        assert losses[1] == losses[2], "the results of one and two threads differ"
        # The ratio is computed for each round, since other programs on the machine slow down both runs of a round alike.
        ratio = statistics.median(one / two for one, two in zip(times[1], times[2]))
        is_met &= ratio >= target
        print(f"{title}\n  1 thread {format_times(times[1])}, 2 threads {format_times(times[2])}: {ratio:.2f} x{format_verdict(ratio, target)}")
    return is_met


def main():
    """Compare scorewise with the other frameworks, and its speed on two threads with that on one thread. Return 1 if a target is missed."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    program = build_program()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for name, table in (("adult", adult_data()), ("pollution", pollution_data())):
            write_data(path, name, *table, *NETS[name])
        matrix, labels, _ = adult_data()
        repeated = numpy.arange(1_010_000) % len(matrix)
        write_data(path, "million", matrix[repeated], labels[repeated], 1_000_000, *NETS["adult"])
        versions = subprocess.run(
            [sys.executable, "-m", "pip", "list", "--format", "json"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        named = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in json.loads(versions)}
        keras = f"Keras {named.get('keras')} on TensorFlow {named.get('tensorflow-cpu')}"
        print(f"PyTorch {named.get('torch')} eager with fused Adam, JAX {named.get('jax')} with the epoch in one jit, {keras} with `fit`")
        is_met = compare_with_frameworks(folder, program, rounds)
        is_met &= compare_thread_counts(folder, program, rounds)
    return 0 if is_met else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        answer_timing_requests(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main())
