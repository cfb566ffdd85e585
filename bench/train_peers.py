"""One epoch of the paper's two networks: ours against PyTorch, JAX and Keras, on one core each, in turn, in one run.

    pip install -r bench/train-requirements.txt
    python bench/train_peers.py [ROUNDS]

Real data, prepared as the paper prepares them: Adult (48 features, 16086 rows of steps and 8043 of validation, 1 - F1) at batches of 64
and 256, and Beijing's air (8 features, 8736 + 4368 rows, 1 - TSS) at full batch. An epoch is a shuffle (none at full batch, where the
order changes nothing), all steps with Adam, and the loss of the validation rows. Every side runs in a process of its own that is bound
to one core and waits while the others run. Then two threads against one: eight independent trainings, and one training at full batch
on a million rows. Prints medians, spread and ratios beside the bars, and the validation loss that each side came to; ours has run
fifteen epochs for each of a peer's by then. Needs a machine that has nothing else to do.
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
# Table and batch (0 is all), and how many times as fast as each peer we want to be.
BARS = {("adult", 64): {"torch": 30, "jax": 3, "keras": 80}, ("adult", 256): {}, ("pollution", 0): {"torch": 10, "jax": 4}}


def adult():
    """48 standardised features of the 30162 whole rows; 4/5 of them at random, of these a third for validation."""
    with gzip.open(ROOT / "data" / "adult.data.gz", "rt") as file:
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


def pollution():
    """8 features of an hour, and whether the next one is above 400: the first of the paper's windows."""
    with gzip.open(next((ROOT / "data").glob("PRSA*.gz")), "rt") as file:
        rows = list(csv.DictReader(file))[24:]
    number = lambda row, name: 0.0 if row[name] in ("NA", "") else float(row[name])
    wind = {"NE": 0, "NW": 1, "SE": 2, "cv": 3}
    names = ["pm2.5", "DEWP", "TEMP", "PRES", "Iws", "Is", "Ir"]
    matrix = numpy.array([[number(row, name) for name in names] + [wind[row["cbwd"]]] for row in rows[:13104]])
    labels = numpy.array([number(row, "pm2.5") > 400 for row in rows[1:13105]])
    matrix = (matrix - matrix.mean(0)) / matrix.std(0)
    order = numpy.random.default_rng(0).permutation(len(matrix))
    return matrix[order].astype(numpy.float32), labels[order], 8736


def write(folder, name, matrix, labels, steps, hidden, score):
    matrix.astype(numpy.float32).tofile(folder / f"{name}.f32")
    labels.astype(numpy.uint8).tofile(folder / f"{name}.u8")
    widths = ",".join(map(str, hidden))
    (folder / f"{name}.txt").write_text(f"{matrix.shape[1]} {steps} {widths} {score} {PRIOR}")


def read(folder, name):
    columns, steps, hidden, score, _ = (pathlib.Path(folder) / f"{name}.txt").read_text().split()
    matrix = numpy.fromfile(pathlib.Path(folder) / f"{name}.f32", numpy.float32).reshape(-1, int(columns))
    labels = numpy.fromfile(pathlib.Path(folder) / f"{name}.u8", numpy.uint8).astype(numpy.float32)
    return matrix, labels, int(steps), [int(width) for width in hidden.split(",")], score


def loss_of(hits, alarms, positives, negatives, score):
    """1 - the score of the expected matrix."""
    if score == "f1":
        return 1 - 2 * hits / (hits + alarms + positives)
    return 1 - hits / positives + alarms / negatives


# --- the peers: each makes a function that runs one more epoch and says the validation loss --------------------------------------


def torch_side(folder, name, batch):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    matrix, labels, steps, hidden, score = read(folder, name)
    matrix, labels = torch.from_numpy(matrix), torch.from_numpy(labels)
    widths = [matrix.shape[1], *hidden, 1]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
        torch.nn.init.xavier_uniform_(layers[-2].weight)
        torch.nn.init.zeros_(layers[-2].bias)
    net = torch.nn.Sequential(*layers[:-1])
    adam = torch.optim.Adam(net.parameters(), lr=RATE, betas=(BETA1, BETA2), eps=EPSILON, fused=True)
    batch = batch or steps

    def loss(x, y):
        u = ((torch.sigmoid(net(x).squeeze(1)) - MU) / DELTA).clamp(-1, 1)
        above = 0.5 * (1 + u + torch.sin(torch.pi * u) / torch.pi)
        positives = y.sum()
        return loss_of((y * above).sum(), ((1 - y) * above).sum(), positives, len(y) - positives, score)

    def epoch():
        order = torch.randperm(steps) if batch < steps else torch.arange(steps)
        for start in range(0, steps, batch):
            rows = order[start : start + batch]
            adam.zero_grad(set_to_none=True)
            loss(matrix[rows], labels[rows]).backward()
            adam.step()
        with torch.no_grad():
            return loss(matrix[steps:], labels[steps:]).item()

    return epoch


def jax_side(folder, name, batch):
    import jax
    import jax.numpy as jnp

    matrix, labels, steps, hidden, score = read(folder, name)
    matrix, labels = jnp.asarray(matrix), jnp.asarray(labels)
    widths = [matrix.shape[1], *hidden, 1]
    keys = jax.random.split(jax.random.key(1), len(widths))
    glorot = jax.nn.initializers.glorot_uniform()
    net = [(glorot(key, shape), jnp.zeros(shape[1])) for key, shape in zip(keys, zip(widths, widths[1:]))]
    batch = batch or steps

    def loss(net, x, y):
        for weights, biases in net[:-1]:
            x = jax.nn.relu(x @ weights + biases)
        logits = (x @ net[-1][0] + net[-1][1])[:, 0]
        u = jnp.clip((jax.nn.sigmoid(logits) - MU) / DELTA, -1, 1)
        above = 0.5 * (1 + u + jnp.sin(jnp.pi * u) / jnp.pi)
        positives = y.sum()
        return loss_of((y * above).sum(), ((1 - y) * above).sum(), positives, y.shape[0] - positives, score)

    def step(state, rows):
        net, means, squares, count = state
        slopes = jax.grad(loss)(net, matrix[rows], labels[rows])
        count = count + 1
        means = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, means, slopes)
        squares = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, squares, slopes)
        first, second = 1 - BETA1**count, 1 - BETA2**count
        move = lambda p, m, v: p - RATE * (m / first) / (jnp.sqrt(v / second) + EPSILON)
        return (jax.tree.map(move, net, means, squares), means, squares, count), None

    @jax.jit
    def whole(state, key):
        order = jax.random.permutation(key, steps) if batch < steps else jnp.arange(steps)
        whole_batches = steps // batch
        state, _ = jax.lax.scan(step, state, order[: whole_batches * batch].reshape(whole_batches, batch))
        if steps % batch:  # the last batch is smaller: a shape of its own, in the same program
            state, _ = step(state, order[whole_batches * batch :])
        return state, loss(state[0], matrix[steps:], labels[steps:])

    rest = jax.tree.map(jnp.zeros_like, net)
    held = {"state": (net, rest, rest, jnp.float32(0)), "key": jax.random.key(2)}

    def epoch():
        held["key"], key = jax.random.split(held["key"])
        held["state"], value = whole(held["state"], key)
        return float(jax.block_until_ready(value))

    return epoch


def keras_side(folder, name, batch, epochs=1):
    import keras
    from keras import ops

    if keras.backend.backend() == "tensorflow":
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(1)
    matrix, labels, steps, hidden, score = read(folder, name)
    batch = batch or steps

    def loss(y, p):
        y, p = ops.reshape(y, (-1,)), ops.reshape(p, (-1,))
        u = ops.clip((p - MU) / DELTA, -1, 1)
        above = 0.5 * (1 + u + ops.sin(numpy.pi * u) / numpy.pi)
        positives, negatives = ops.sum(y), ops.sum(1 - y)
        return loss_of(ops.sum(y * above), ops.sum((1 - y) * above), positives, negatives, score)

    layers = [keras.layers.Dense(width, activation="relu") for width in hidden]
    net = keras.Sequential([keras.Input((matrix.shape[1],)), *layers, keras.layers.Dense(1, activation="sigmoid")])
    net.compile(optimizer=keras.optimizers.Adam(RATE, BETA1, BETA2, EPSILON), loss=loss)
    targets = labels.reshape(-1, 1)

    def epoch():
        story = net.fit(
            matrix[:steps], targets[:steps], batch_size=batch, epochs=epochs, shuffle=batch < steps, verbose=0,
            validation_data=(matrix[steps:], targets[steps:]), validation_batch_size=len(matrix) - steps,
        )
        return story.history["val_loss"][-1]

    return epoch


SIDES = {"torch": torch_side, "jax": jax_side, "keras": keras_side}


def serve(side, folder):
    """A peer's process: bound to one core, one epoch for each line."""
    bind()
    made = {}
    for line in sys.stdin:
        name, batch = line.split()
        if line not in made:
            made[line] = SIDES[side](folder, name, int(batch))
        start = time.perf_counter()
        value = made[line]()
        print(time.perf_counter() - start, value, flush=True)


def bind():
    """To the last core that we may use."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class Side:
    """A process that waits for work on its standard input and answers with seconds and a loss."""

    def __init__(self, command, one_core=False, **environment):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **environment}, preexec_fn=bind if one_core else None,
        )

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert len(answer) == 2, f"`{line}` was not answered: {self.process.args}"
        return float(answer[0]), float(answer[1])


def build():
    """Builds our side and says where it is; cargo itself knows best."""
    command = ["cargo", "build", "--release", "--workspace", "--example", "time_epochs", "--message-format", "json"]
    lines = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    built = [json.loads(line).get("executable") for line in lines]
    return [path for path in built if path][-1]


def spread(times):
    return f"{1e3 * statistics.median(times):8.2f} ms ({1e3 * min(times):.2f} to {1e3 * max(times):.2f})"


def verdict(ratio, bar):
    return "" if bar is None else f", bar {bar} x {'holds' if ratio >= bar else 'FALLS SHORT'}"


def against_peers(folder, program, rounds):
    """Rounds in turn; true where every bar holds."""
    single = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", "OMP_NUM_THREADS": "1"}
    quiet = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    sides = {side: Side([sys.executable, __file__, "--serve", side, folder], **single, **quiet) for side in SIDES}
    ours = Side([program, folder], one_core=True)
    holds = True
    for (name, batch), bars in BARS.items():
        rows = read(folder, name)[2]
        print(f"{name} net {'-'.join(map(str, NETS[name][0]))}, {'full batch' if batch == 0 else f'batch {batch}'}, one core each")
        times, losses = {side: [] for side in ["ours", *SIDES]}, {}
        for round_number in range(rounds + 1):
            for side in times:
                # Ours are short: several epochs, and their median.
                if side == "ours":
                    answers = [ours(f"epoch {name} {batch or rows}") for _ in range(15)]
                    answer = (statistics.median(seconds for seconds, _ in answers), answers[-1][1])
                else:
                    answer = sides[side](f"{name} {batch}")
                if round_number > 0:  # the first round warms up and compiles
                    times[side].append(answer[0])
                losses[side] = answer[1]
        middle = statistics.median(times["ours"])
        for side in times:
            ratio = statistics.median(times[side]) / middle
            bar = bars.get(side)
            holds &= bar is None or ratio >= bar
            print(f"  {side:<6}{spread(times[side])}, {ratio:6.1f} x ours{verdict(ratio, bar)}; validation loss {losses[side]:.4f}")
    for side in sides.values():
        side.process.stdin.close()
    return holds


def two_threads(folder, program, rounds):
    """Two threads against one; true where both bars hold."""
    ours, holds = Side([program, folder]), True
    for title, line, bar in [
        ("eight independent trainings, Adult, batch 64, 40 epochs each", "members adult 64 8 40", 1.8),
        ("one training at full batch on a million rows, Adult net, one epoch", "full million", 1.6),
    ]:
        times = {1: [], 2: []}
        losses = {}
        for round_number in range(rounds + 1):
            for threads in times:
                seconds, losses[threads] = ours(f"{line} {threads}")
                if round_number > 0:
                    times[threads].append(seconds)
        assert losses[1] == losses[2], "one and two threads do not compute the same"
        # One and two threads right after each other suffer alike from neighbours on the machine: the ratio is taken round by round.
        ratio = statistics.median(one / two for one, two in zip(times[1], times[2]))
        holds &= ratio >= bar
        print(f"{title}\n  1 thread {spread(times[1])}, 2 threads {spread(times[2])}: {ratio:.2f} x{verdict(ratio, bar)}")
    return holds


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    program = build()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for name, table in (("adult", adult()), ("pollution", pollution())):
            write(path, name, *table, *NETS[name])
        matrix, labels, _ = adult()
        again = numpy.arange(1_010_000) % len(matrix)
        write(path, "million", matrix[again], labels[again], 1_000_000, *NETS["adult"])
        versions = subprocess.run(
            [sys.executable, "-m", "pip", "list", "--format", "json"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        named = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in json.loads(versions)}
        keras = f"Keras {named.get('keras')} on TensorFlow {named.get('tensorflow-cpu')}"
        print(f"PyTorch {named.get('torch')} eager with fused Adam, JAX {named.get('jax')} with the epoch in one jit, {keras} with `fit`")
        holds = against_peers(folder, program, rounds)
        holds &= two_threads(folder, program, rounds)
    return 0 if holds else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main())
