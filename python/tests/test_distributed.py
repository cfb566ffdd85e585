"""Tests that training in several processes gives the same loss and gradients as a single process with the whole batch."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from scorewise.torch import ScoreLoss, TemporalScoreLoss

ROWS = 600


def random_data() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the features, labels and weights of all rows."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(ROWS, 6, generator=generator, dtype=torch.float64)
    y = torch.rand(ROWS, generator=generator) < 0.08
    y[:130] = False  # the first rank of two or four has no positive
    return x, y, torch.rand(ROWS, generator=generator, dtype=torch.float64)


def network(outputs: int = 1) -> torch.nn.Module:
    """Return an untrained network, always with the same initial weights."""
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(), torch.nn.Linear(9, outputs)).double()


def rows_of_rank(rank: int, ranks: int) -> slice:
    """Return the rows of the process with this rank. The processes have different numbers of rows; the first has 60 rows, all negative."""
    borders = [0, 60, *(60 + (ROWS - 60) * k * k // (ranks - 1) ** 2 for k in range(1, ranks))]
    return slice(borders[rank], borders[rank + 1])


def losses_by_task(group: bool | None, averaged: bool = True) -> dict[str, torch.nn.Module]:
    """Return a binary, a multiclass and a temporal loss, with `group` as their argument `process_group`, and with `averaged`."""
    options = {"process_group": group, "averaged": averaged}
    return {
        "binary": ScoreLoss("f1", "cosine:0.5,0.4", **options),
        "multiclass": ScoreLoss("tss", "cosine:0.4,0.3", task="multiclass", **options),
        "temporal": TemporalScoreLoss("csi", "cosine:0.5,0.4", **options),
    }


def loss_of_rows(task: str, loss: torch.nn.Module, model: torch.nn.Module, rows: slice) -> torch.Tensor:
    """Return the loss of a model on some of the rows."""
    x, y, w = (tensor[rows] for tensor in random_data())
    if task == "multiclass":
        return loss(model(x), (y.long() + (x[:, 0] > 1).long()), w)
    if task == "temporal":  # series of twelve steps
        return loss(model(x)[:, 0].reshape(-1, 12), y.reshape(-1, 12), w.reshape(-1, 12))
    return loss(model(x)[:, 0], y, w)


def worker(rank: int, ranks: int, port: int, folder: str) -> None:
    """Compute losses and gradients in one of several processes; the last process saves them to a file."""
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    results = {}
    for task, loss in losses_by_task(True).items():
        rows = rows_of_rank(rank, ranks)
        if task == "temporal":
            rows = slice(rows.start // 12 * 12, rows.stop // 12 * 12)
        model = DistributedDataParallel(network(3 if task == "multiclass" else 1))
        loss_value = loss_of_rows(task, loss, model, rows)
        loss_value.backward()
        results[task] = (loss_value.item(), [parameter.grad.clone() for parameter in model.parameters()])
    # For this loss, the gradients of the processes are summed. For the losses above, DistributedDataParallel has averaged them.
    model = network()
    loss_of_rows("binary", losses_by_task(True, averaged=False)["binary"], model, rows_of_rank(rank, ranks)).backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    results["summed"] = (results["binary"][0], [parameter.grad for parameter in model.parameters()])
    # Every process divides its rows into micro-batches and accumulates the gradient over them.
    model = DistributedDataParallel(network())
    x, y, w = (tensor[rows_of_rank(rank, ranks)] for tensor in random_data())
    pieces = list(zip(x.tensor_split(3), y.tensor_split(3), w.tensor_split(3), strict=True))
    accumulation = losses_by_task(True)["binary"].accumulate()
    with torch.no_grad():
        for piece in pieces:
            accumulation.count(model.module(piece[0])[:, 0], *piece[1:])
    with model.no_sync():
        for piece in pieces[:-1]:
            accumulation(model(piece[0])[:, 0], *piece[1:]).backward()
    last = accumulation(model(pieces[-1][0])[:, 0], *pieces[-1][1:])
    last.backward()
    results["accumulated"] = (last.item(), [parameter.grad for parameter in model.parameters()])
    if rank == ranks - 1:
        torch.save(results, Path(folder) / "results.pt")
    dist.barrier()
    dist.destroy_process_group()


@pytest.mark.parametrize("ranks", [2, 4])
def test_several_processes_give_the_same_loss_and_gradients_as_one_process(ranks: int, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    assert not random_data()[1][rows_of_rank(0, ranks)].any(), "the first process must have no positive row"
    sizes = {rows_of_rank(rank, ranks).stop - rows_of_rank(rank, ranks).start for rank in range(ranks)}
    assert len(sizes) > 1 and rows_of_rank(ranks - 1, ranks).stop == ROWS
    mp.spawn(worker, (ranks, port, str(tmp_path)), nprocs=ranks)
    results = torch.load(tmp_path / "results.pt")
    for task, (loss_value, gradients) in results.items():
        name = task if task in losses_by_task(None) else "binary"
        model = network(3 if name == "multiclass" else 1)
        expected = loss_of_rows(name, losses_by_task(None)[name], model, slice(0, ROWS))
        expected.backward()
        assert abs(loss_value - expected.item()) <= 1e-12, task
        for gradient, parameter in zip(gradients, model.parameters(), strict=True):
            assert (gradient - parameter.grad).abs().max() <= 1e-6 * parameter.grad.abs().max(), task
