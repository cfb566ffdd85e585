"""Several real processes: the loss and the gradients are those of one process with the whole batch."""

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


def data() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    made = torch.Generator().manual_seed(3)
    x = torch.randn(ROWS, 6, generator=made, dtype=torch.float64)
    y = torch.rand(ROWS, generator=made) < 0.08
    y[:130] = False  # the first rank of two or four has no positive
    return x, y, torch.rand(ROWS, generator=made, dtype=torch.float64)


def network(outputs: int = 1) -> torch.nn.Module:
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(), torch.nn.Linear(9, outputs)).double()


def part(rank: int, ranks: int) -> slice:
    """Uneven parts: the first has 60 rows (none of them positive), the last what is left."""
    borders = [0, 60, *(60 + (ROWS - 60) * k * k // (ranks - 1) ** 2 for k in range(1, ranks))]
    return slice(borders[rank], borders[rank + 1])


def losses(group: bool | None, averaged: bool = True) -> dict[str, torch.nn.Module]:
    more = {"process_group": group, "averaged": averaged}
    return {
        "binary": ScoreLoss("f1", "cosine:0.5,0.4", **more),
        "multiclass": ScoreLoss("tss", "cosine:0.4,0.3", task="multiclass", **more),
        "temporal": TemporalScoreLoss("csi", "cosine:0.5,0.4", **more),
    }


def value(kind: str, loss: torch.nn.Module, model: torch.nn.Module, rows: slice) -> torch.Tensor:
    x, y, w = (tensor[rows] for tensor in data())
    if kind == "multiclass":
        return loss(model(x), (y.long() + (x[:, 0] > 1).long()), w)
    if kind == "temporal":  # sequences of twelve steps: parts are multiples of it
        return loss(model(x)[:, 0].reshape(-1, 12), y.reshape(-1, 12), w.reshape(-1, 12))
    return loss(model(x)[:, 0], y, w)


def worker(rank: int, ranks: int, port: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    found = {}
    for kind, loss in losses(True).items():
        rows = part(rank, ranks)
        if kind == "temporal":
            rows = slice(rows.start // 12 * 12, rows.stop // 12 * 12)
        model = DistributedDataParallel(network(3 if kind == "multiclass" else 1))
        whole = value(kind, loss, model, rows)
        whole.backward()
        found[kind] = (whole.item(), [parameter.grad.clone() for parameter in model.parameters()])
    # By hand, with the gradients summed.
    model = network()
    value("binary", losses(True, averaged=False)["binary"], model, part(rank, ranks)).backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    found["summed"] = (found["binary"][0], [parameter.grad for parameter in model.parameters()])
    # In micro-batches on every rank.
    model = DistributedDataParallel(network())
    x, y, w = (tensor[part(rank, ranks)] for tensor in data())
    pieces = list(zip(x.tensor_split(3), y.tensor_split(3), w.tensor_split(3), strict=True))
    whole = losses(True)["binary"].accumulate()
    with torch.no_grad():
        for piece in pieces:
            whole.count(model.module(piece[0])[:, 0], *piece[1:])
    with model.no_sync():
        for piece in pieces[:-1]:
            whole(model(piece[0])[:, 0], *piece[1:]).backward()
    last = whole(model(pieces[-1][0])[:, 0], *pieces[-1][1:])
    last.backward()
    found["accumulated"] = (last.item(), [parameter.grad for parameter in model.parameters()])
    if rank == ranks - 1:
        torch.save(found, Path(folder) / "found.pt")
    dist.barrier()
    dist.destroy_process_group()


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_equal_one_process_with_the_whole_batch(ranks: int, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert not data()[1][part(0, ranks)].any(), "the first rank has no positive"
    sizes = {part(rank, ranks).stop - part(rank, ranks).start for rank in range(ranks)}
    assert len(sizes) > 1 and part(ranks - 1, ranks).stop == ROWS
    mp.spawn(worker, (ranks, port, str(tmp_path)), nprocs=ranks)
    found = torch.load(tmp_path / "found.pt")
    for kind, (whole, gradients) in found.items():
        name = kind if kind in losses(None) else "binary"
        model = network(3 if name == "multiclass" else 1)
        expected = value(name, losses(None)[name], model, slice(0, ROWS))
        expected.backward()
        assert abs(whole - expected.item()) <= 1e-12, kind
        for got, parameter in zip(gradients, model.parameters(), strict=True):
            assert (got - parameter.grad).abs().max() <= 1e-6 * parameter.grad.abs().max(), kind
