"""probe_loop.py WHO WHAT [FOLDER [WORKERS SHARE]]: what bench_python.py asks for.

WHO: bare, prony, benchy, torch, make. WHAT: cost (seconds a batch takes in a
loop that does nothing), numbers (the three throughputs of a script); samples a
second from a folder: jpeg (pictures made ready to train with), decode (pictures
as they are), npz. PyTorch reads a share of the samples: 0.5 is a half. Answers
with JSON."""

import itertools
import json
import os
import shutil
import sys
import time

WHO, WHAT = sys.argv[1:3]
FOLDER = sys.argv[3] if len(sys.argv) > 3 else None
BATCHES = 100000  # of cost
BATCH = 64  # pictures


def stub_cuda(torch):
    """What benchy calls of torch.cuda, on a machine without a GPU."""
    import torch.cuda.nvtx
    import torch.cuda.profiler
    torch.cuda.synchronize = lambda *a: None
    torch.cuda.nvtx.range_push = lambda *a: 0
    torch.cuda.nvtx.range_pop = lambda *a: 0
    torch.cuda.profiler.start = lambda: None


class StandIn:
    """Does for each batch what benchy is documented to do: synchronise, close
    and open named ranges, read the clock, compute and keep the rate."""

    def __init__(self, iterator, batch_size):
        self.iterator, self.batch_size, self.results = iterator, batch_size, {}
        self.turn = 0
        if WHAT == "numbers":
            self.trial("IO_WARMUP_0", 20)
            self.trial("IO_0", 20)

    def trial(self, label, count):
        for _ in self.batches(label, count):
            pass

    def batches(self, label, count, cached=False):
        import torch
        push = torch.cuda.nvtx.range_push
        pop = torch.cuda.nvtx.range_pop
        source = itertools.chain.from_iterable(
            iter(self.iterator) for _ in itertools.count())
        batch = next(source) if cached else None
        rates = []
        torch.cuda.synchronize()
        start = last = time.time()
        push("::%s" % label)
        for i in range(count):
            push("::%s::STEP_%d" % (label, i))
            if not cached:
                push("::%s::DATA_%d" % (label, i))
                batch = next(source)
                pop()
            yield batch
            torch.cuda.synchronize()
            pop()
            now = time.time()
            rates.append(self.batch_size / (now - last))
            last = now
        pop()
        self.results[label.split("_")[0]] = {
            "trial_throughput": [count * self.batch_size / (last - start)]}

    def __iter__(self):
        self.turn += 1
        if WHAT == "cost":
            return self.batches("FULL_0", BATCHES)
        phase = "SYNTHETIC" if self.turn <= 2 else "FULL"
        return self.batches(phase + "_0", 20, phase == "SYNTHETIC")


def wrapper():
    """Iterable and batch size to a measured iterable."""
    import torch
    stub_cuda(torch)
    if WHO == "bare":
        return lambda iterator, size: iterator
    if WHO == "prony":
        from prony.torch import BenchmarkGenericIteratorWrapper
        return BenchmarkGenericIteratorWrapper
    checkout = os.environ.get("PRONY_BENCHY")
    if not checkout:
        return StandIn
    sys.path.insert(0, checkout)
    from benchy.torch import BenchmarkGenericIteratorWrapper
    return BenchmarkGenericIteratorWrapper


class Repeat:
    def __init__(self, batch, count):
        self.batch, self.count = batch, count

    def __iter__(self):
        return itertools.repeat(self.batch, self.count)


def cost():
    import torch
    loader = wrapper()(Repeat((torch.zeros(64, 8), torch.zeros(64)), BATCHES),
                       64)
    best = 1e9
    for _ in range(2):
        start = time.perf_counter()
        for _ in loader:
            pass
        best = min(best, time.perf_counter() - start)
    return best / BATCHES


def numbers():
    """Sleeping stands for reading and computing: it is the same for both."""
    class Source:
        def __iter__(self):
            for _ in range(100):
                time.sleep(.003)
                yield [0] * 16

    loader = wrapper()(Source(), 16)
    for _ in range(4):
        for _ in loader:
            time.sleep(.005)
    results = loader.results
    return {phase: results[phase]["trial_throughput"][0]
            for phase in ("IO", "SYNTHETIC", "FULL")}


# ---- loaders

def make():
    import numpy as np
    rng = np.random.default_rng(1)
    if WHAT == "npz":
        for i in range(16):
            np.savez(os.path.join(FOLDER, "%02d.npz" % i), x=rng.integers(
                0, 256, 20_000_000, np.uint8), y=np.array([i]))
        return None
    from PIL import Image
    folder = os.path.join(FOLDER, "train", "a")
    os.makedirs(folder)
    rough = rng.integers(0, 256, (12, 16, 3), np.uint8)
    picture = Image.fromarray(rough).resize((500, 375), Image.BICUBIC)
    pixels = np.asarray(picture).astype(np.int16)
    for i in range(250):  # each is there eight times, which reads the same
        noise = rng.integers(-12, 12, (375, 500, 1), np.int16)
        Image.fromarray((pixels + noise).clip(0, 255).astype("uint8")).save(
            os.path.join(folder, "%04d.jpg" % i), quality=90)
        for copy in range(1, 8):
            shutil.copyfile(os.path.join(folder, "%04d.jpg" % i),
                            os.path.join(folder, "%04d.jpg" % (250 * copy + i)))
    return None


def rate(loader, epochs=1):
    """Samples a second, of the fastest epoch."""
    best = 0
    for _ in range(epochs):
        start = time.perf_counter()
        seen = sum(len(batch[0]) for batch in loader)
        best = max(best, seen / (time.perf_counter() - start))
    return best


def prony_loader():
    """After an epoch to warm up, two for pictures, which are fast."""
    import prony
    more = {"npz": (1,), "decode": (BATCH,),
            "jpeg": (BATCH, (3, 224, 224))}[WHAT]
    loader = prony.Loader(FOLDER, *more, shuffle=WHAT == "jpeg",
                          augment=WHAT == "jpeg", output="torch")
    rate(loader)
    return rate(loader, 2)


class Some:
    """An order of samples, of as many as are wanted."""

    def __init__(self, count, shuffle):
        self.count, self.shuffle = count, shuffle
        self.wanted = count

    def __len__(self):
        return self.wanted

    def __iter__(self):
        import torch
        order = torch.randperm if self.shuffle else torch.arange
        return iter(order(self.count)[:self.wanted].tolist())


def torch_files():
    import numpy as np
    import torch
    from torch.utils.data import Dataset

    class Files(Dataset):
        def __init__(self):
            self.files = [os.path.join(FOLDER, n)
                          for n in sorted(os.listdir(FOLDER))]

        def __len__(self):
            return len(self.files)

        def __getitem__(self, i):
            with np.load(self.files[i]) as f:
                return torch.from_numpy(f["x"]), int(f["y"][0])

    return Files()


def torch_pictures():
    from prony.backends.torch_data import Images
    folder = os.path.join(FOLDER, "train", "a")
    files = [os.path.join(folder, n) for n in sorted(os.listdir(folder))]
    return Images((files, [0] * len(files)), [3, 224, 224], True)


def torch_loader():
    """Workers are there and have imported what they need before an epoch is
    timed: they had a few samples each."""
    import torch
    from torch.utils.data import DataLoader
    workers = int(sys.argv[4])
    torch.set_num_threads(1)
    pictures = WHAT == "jpeg"
    data = torch_pictures() if pictures else torch_files()
    order = Some(len(data), pictures)
    batch = BATCH if pictures else 1
    loader = DataLoader(data, batch, sampler=order, num_workers=workers,
                        persistent_workers=workers > 0)
    order.wanted = 2 * batch
    rate(loader)
    order.wanted = int(len(data) * float(sys.argv[5]))
    return rate(loader)


if WHAT in ("cost", "numbers"):
    answer = {"cost": cost, "numbers": numbers}[WHAT]()
else:
    answer = {"make": make, "prony": prony_loader,
              "torch": torch_loader}[WHO]()
print("\nANSWER " + json.dumps(answer), flush=True)
