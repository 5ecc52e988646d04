"""Run by an interpreter that has PyTorch: the loaders of prony.torch with real
data sets. Each case is a forked process that ends as scripts do: importing
PyTorch takes longer than all cases. Says how they ended, as JSON."""

import atexit
import json
import os
import shutil
import sys
import tempfile
import traceback

import torch
from torch.utils.data import (BatchSampler, DataLoader, Dataset,
                              IterableDataset, SequentialSampler)

import prony
from benchy.torch import BenchmarkDataLoader, BenchmarkGenericIteratorWrapper

TRIAL = 5  # batches


class Numbers(Dataset):
    """A sample is its number, as floats, and a label."""

    def __init__(self, count=23):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.full((3,), float(i)), i % 4


class Nested(Numbers):
    def __getitem__(self, i):
        return {"x": torch.full((2,), float(i)),
                "more": (torch.tensor(i), [torch.tensor(i + .5)])}


class Bare(Numbers):
    def __getitem__(self, i):
        return torch.tensor(float(i))


class Stream(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        step = info.num_workers if info else 1
        return (torch.tensor(float(i)) for i in
                range(info.id if info else 0, 23, step))


class Batches(IterableDataset):
    """Gives whole batches, of 4 samples."""

    def __iter__(self):
        return (torch.full((4, 2), float(i)) for i in range(9))


def flat(batch):
    """All numbers in a batch."""
    if isinstance(batch, torch.Tensor):
        return batch.flatten().tolist()
    if isinstance(batch, dict):
        batch = list(batch.values())
    return [x for part in batch for x in flat(part)]


def endless(loader, count):
    """The batches of a plain loader, begun again when it ends."""
    out = []
    while len(out) < count:
        for batch in loader:
            out.append(flat(batch))
            if len(out) == count:
                break
    return out


def same_batches(dataset, samples, **options):
    """FULL gives what the plain loader gives, SYNTHETIC its first batch; rate
    x time is the number of samples."""
    plain = endless(DataLoader(dataset, **options), TRIAL)
    loader = BenchmarkDataLoader(dataset, **options)
    loops = [[flat(b) for b in loader] for i in range(8)]
    assert all(loop == [plain[0]] * (TRIAL + 1) for loop in loops[:4]), loops
    assert all(loop == plain for loop in loops[4:]), (plain, loops[4])
    for phase in ("IO", "SYNTHETIC", "FULL"):
        r = loader.results[phase]
        assert [len(x) for x in r["rates"]] == [TRIAL] * 3, r
        got = [round(a * b, 6) for a, b in zip(r["trial_throughput"],
                                               r["trial_time"])]
        if phase == "FULL":
            assert got == [float(samples)] * 3, (samples, got)
    return loader


CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def tuples_0_workers():
    same_batches(Numbers(), 8 + 8 + 7 + 8 + 8, batch_size=8)


@case
def tuples_2_workers():
    same_batches(Numbers(), 39, batch_size=8, num_workers=2)


@case
def persistent_workers():
    same_batches(Numbers(), 39, batch_size=8, num_workers=2,
                 persistent_workers=True)


@case
def drop_last():
    same_batches(Numbers(), 40, batch_size=8, drop_last=True)


@case
def nested_batches():
    same_batches(Nested(), 39, batch_size=8)


@case
def tensor_batches():
    same_batches(Bare(), 39, batch_size=8)


@case
def less_than_a_batch():
    same_batches(Bare(3), 15, batch_size=8)


@case
def batch_sampler():
    sampler = BatchSampler(SequentialSampler(Numbers()), 6, False)
    same_batches(Numbers(), 6 + 6 + 6 + 5 + 6, batch_sampler=sampler)


@case
def iterable_dataset():
    same_batches(Stream(), 39, batch_size=8)


@case
def iterable_dataset_2_workers():
    same_batches(Stream(), 8 + 8 + 4 + 3 + 8, batch_size=8, num_workers=2)


@case
def whole_batches():
    same_batches(Batches(), 20, batch_size=None)


@case
def own_collate():
    same_batches(Numbers(), 39, batch_size=8,
                 collate_fn=lambda many: tuple(zip(*[
                     (x, torch.tensor(y)) for x, y in many])))


@case
def is_a_dataloader():
    loader = BenchmarkDataLoader(Numbers(), 8, True)
    assert isinstance(loader, DataLoader) and len(loader) == 3
    assert loader.batch_size == 8 and loader.dataset.count == 23
    assert loader.verdict["io"] > 0


@case
def generic_wrapper():
    class Dali:
        extra = "mine"

        def __init__(self):
            self.at = 0

        def __iter__(self):
            self.at = 0
            return self

        def __next__(self):
            self.at += 1
            if self.at > 3:
                raise StopIteration
            return [{"data": torch.zeros(2, 5) + self.at}]

        def __len__(self):
            return 3

    loader = BenchmarkGenericIteratorWrapper(Dali(), 2)
    assert len(loader) == 3 and loader.extra == "mine"
    assert loader.batch_size == 2
    try:
        loader.missing
        raise RuntimeError("there is no such attribute")
    except AttributeError:
        pass
    loops = [[b[0]["data"][0, 0].item() for b in loader] for i in range(8)]
    assert loops == [[1.] * 6] * 4 + [[1., 2., 3., 1., 2.]] * 4, loops
    assert round(loader.results["FULL"]["trial_throughput"][0]
                 * loader.results["FULL"]["trial_time"][0], 6) == 10


@case
def ends_the_script():
    loader = BenchmarkDataLoader(Bare(), batch_size=8)
    for epoch in range(15):
        n = sum(1 for batch in loader)
        assert n == (6 if epoch < 4 else 5), (epoch, n)
        assert epoch < 8, "the script goes on"
    raise RuntimeError("the ninth loop should have ended the script")


@case
def goes_on():
    loader = BenchmarkDataLoader(Bare(), batch_size=8)
    loops = [sum(1 for b in loader) for i in range(10)]
    assert loops == [6] * 4 + [5] * 4 + [3, 3], loops


@case
def workers_do_not_disturb():
    """While SYNTHETIC is timed no worker reads."""
    class Slow(Numbers):
        def __getitem__(self, i):
            with open("log", "a") as f:
                f.write("%d\n" % i)
            return super().__getitem__(i)

    for persistent in (False, True):
        loader = BenchmarkDataLoader(Slow(200), batch_size=4, num_workers=2,
                                     persistent_workers=persistent)
        for n, batch in enumerate(loader):
            if n == 0:
                continue
            now = os.path.getsize("log")
            if n == 1:
                before = now
            assert now == before, "workers read in step %d" % n


@case
def broken_worker():
    class Broken(Numbers):
        def __getitem__(self, i):
            if i == 20:
                raise ValueError("bad sample")
            return super().__getitem__(i)

    loader = BenchmarkDataLoader(Broken(), batch_size=8, num_workers=2)


@case
def no_cuda_needed():
    assert not torch.cuda.is_available()
    BenchmarkDataLoader(Bare(), batch_size=8)


@case
def training():
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(64, 10),
                                          torch.randn(64, 1))
    loader = BenchmarkDataLoader(data, batch_size=16, shuffle=True)
    model = torch.nn.Linear(10, 1)
    optimiser = torch.optim.SGD(model.parameters(), lr=.01)
    for epoch in range(8):
        for x, y in loader:
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimiser.step()
    assert loader.verdict["bound"] in ("compute bound", "input bound",
                                       "balanced")


class Once(IterableDataset):
    """Hands out one generator."""

    def __init__(self, count):
        self.left = (torch.tensor(float(i)) for i in range(count))

    def __iter__(self):
        return self.left


class GoesOn(Once):
    """Hands out new generators over one."""

    def __iter__(self):
        yield from self.left


def numbers_of(loop):
    return [float(x) for b in loop for x in (b if b.ndim else [b])]


@case
def what_comes_once_is_not_lost():
    for loader in (DataLoader(Once(300), 4), DataLoader(GoesOn(300), 4), iter(DataLoader(Bare(300), 4)),
                   iter(DataLoader(Bare(300), 4, num_workers=2))):
        measured = prony.wrap(loader, quiet=True)
        assert numbers_of(measured) == list(range(300)), loader
        assert list(measured.numbers) == ["FULL"], loader


@case
def wrap_has_what_the_loader_has():
    loader = prony.wrap(DataLoader(Bare(), 4), quiet=True)
    assert loader.batch_size == 4 and len(loader) == 6
    assert loader.dataset.count == 23


@case
def what_comes_once_is_refused():
    for iterator in ((b for b in [torch.zeros(4)]), iter([torch.zeros(4)]),
                     iter(DataLoader(Bare(), 4)), DataLoader(Once(30), 4),
                     DataLoader(GoesOn(3000), 4)):
        try:
            BenchmarkGenericIteratorWrapper(iterator, 4)
        except (TypeError, ValueError) as e:
            assert "use it" in str(e) or "used up" in str(e), e
            continue
        raise AssertionError(iterator)


@case
def a_place_that_cannot_be_written_is_refused():
    os.environ["BENCHY_OUTPUT_FILE"] = "/proc/r.json"
    try:
        BenchmarkDataLoader(Bare(), 4)
    except prony.InputOutputError as e:
        assert "/proc/r.json" in str(e), e
        return
    raise AssertionError


@case
def loops_within_loops():
    loader = BenchmarkDataLoader(Bare(), 4)
    outer = []
    for batch in loader:
        outer.append(sum(1 for b in loader))
    assert len(outer) == TRIAL + 1 and set(outer) <= {TRIAL, TRIAL + 1}, outer


def as_a_script(f):
    """Runs it; the exit status, after what is done at exit."""
    status = 0
    try:
        f()
    except SystemExit as e:
        status = e.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def in_a_child(f, config):
    """(status, stdout, stderr, result) of a case in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="prony-torch.")
    os.chdir(folder)
    with open("benchy.yaml", "w", encoding="utf-8") as file:
        file.write(config)
    os.environ["BENCHY_CONFIG_FILE"] = os.path.join(folder, "benchy.yaml")
    pid = os.fork()
    if pid == 0:
        for fd, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), fd)
        os._exit(as_a_script(f))
    status = os.waitpid(pid, 0)[1]
    texts = [open(name, encoding="utf-8").read() if os.path.exists(name)
             else None for name in ("out", "err", "benchy_result.json")]
    os.chdir("/")
    shutil.rmtree(folder)
    return [os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1] + texts


if __name__ == "__main__":
    configs = json.loads(sys.argv[1])
    ended = {name: in_a_child(f, configs.get(name, configs[""]))
             for name, f in CASES.items()}
    print(json.dumps([torch.__version__, ended]))
