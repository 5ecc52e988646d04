#!/usr/bin/python3
"""The order of samples, computed again with numpy: what an emulated training
reports as order_hash of each epoch must be what this gives.

Usage: order_vs_python.py [--prony PROGRAM]
       order_vs_python.py --result FILE

The first runs a table of small trainings, one line of TAP for each. The second
checks a result.json that is there already, of any size: it prints the hashes
and the samples, and ends with 1 when they differ.

Written from the comments of src/loader/order.h, order.c and permute.c, with
whole arrays where those go index by index. Each order is also counted: every
sample comes once, but for those that drop_last leaves out.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIP: no numpy; install python3-numpy")
    sys.exit(77)

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
GOLDEN = 0x9e3779b97f4a7c15
WORD = (1 << 64) - 1
PIECE = 1 << 16  # indices at a time: what stays in the processor's cache


# ---- numbers of 64 bits, one or many


def u64(x):
    return np.uint64(x & WORD)


def finish(x):
    """The finaliser of splitmix64."""
    x = (x ^ (x >> u64(30))) * u64(0xbf58476d1ce4e5b9)
    x = (x ^ (x >> u64(27))) * u64(0x94d049bb133111eb)
    return x ^ (x >> u64(31))


def mix(x):
    return finish(x + u64(GOLDEN))


def finish_one(x):
    return int(finish(np.array([x & WORD], np.uint64))[0])


def mix_one(x):
    return finish_one(x + GOLDEN)


# ---- permutations


class Permutation:
    """Of 0 … n-1: a table up to 16, a Feistel network beyond."""

    def __init__(self, n, key):
        x = finish_one(key + GOLDEN)
        self.n = n
        self.table = None
        if n <= 16:
            self.table = self.shuffle(n, x)
            return
        self.bits = (n - 1).bit_length() // 2
        self.high = ((n - 1) >> self.bits) + 1
        self.keys = [finish_one(x + i) for i in range(10 if n < 512 else 6)]

    @staticmethod
    def shuffle(n, x):
        """Fisher and Yates, from the end."""
        table = list(range(n))
        for i in range(n - 1, 0, -1):
            j = (finish_one(x + i) >> 32) * (i + 1) >> 32
            table[i], table[j] = table[j], table[i]
        return np.array(table, np.uint64)

    @staticmethod
    def stir(x, key):
        x = (x ^ u64(key)) * u64(0xd6e8feb86659fd93)
        return (x ^ (x >> u64(32))) * u64(GOLDEN)

    def once(self, i):
        bits, high_count = u64(self.bits), u64(self.high)
        low, high = i & u64((1 << self.bits) - 1), i >> bits
        for one, two in zip(self.keys[::2], self.keys[1::2]):
            low = low ^ (self.stir(high, one) >> u64(64 - self.bits))
            high = high + ((self.stir(low, two) >> u64(32)) * high_count
                           >> u64(32))
            high = np.where(high >= high_count, high - high_count, high)
        return high << bits | low

    def at(self, i):
        if self.table is not None:
            return self.table[i.astype(np.int64)]
        i = self.once(i)
        while True:
            outside = np.nonzero(i >= u64(self.n))[0]
            if not outside.size:
                return i
            i[outside] = self.once(i[outside])


# ---- the order of an epoch


class Order:
    def __init__(self, p, epoch, evaluation=False):
        """p: the parameters of an experiment."""
        self.each = p.get("dataset.num_samples_per_file", 1)
        self.files = (p.get("dataset.num_files_eval", 0) if evaluation
                      else p.get("dataset.num_files_train", 8))
        self.accelerators = p.get("exp.accelerators", 1)
        self.batch = p.get("reader.batch_size_eval" if evaluation
                           else "reader.batch_size", 1)
        self.total = self.files * self.each
        self.used = self.total
        if p.get("reader.drop_last", True):
            self.used -= self.total % (self.batch * self.accelerators)
        self.shared = (p.get("reader.file_access", "multi")
                       in ("shared", "collective"))
        self.by_file = (not evaluation and
                        p.get("reader.file_shuffle", "off") != "off")
        self.by_sample = (not evaluation and
                          p.get("reader.sample_shuffle", "off") != "off")
        self.window = self.window_of(p)
        seed = p.get("train.seed", 123)
        if p.get("train.seed_change_epoch", True):
            seed += epoch
        key = mix_one(seed)
        self.file_order = Permutation(self.files, mix_one(key + 1))
        self.sample_order = Permutation(self.total, mix_one(key + 2))
        self.window_key = mix_one(key + 3)
        self.steps = (-1 if evaluation
                      else p.get("train.total_training_steps", -1))

    def window_of(self, p):
        size = p.get("reader.shuffle_size", 0)
        if not size and p.get("reader.data_loader",
                              "tensorflow") == "tensorflow":
            size = 1024
        if not self.by_sample or size >= self.total // self.accelerators:
            return 0
        return size

    def count(self, a):
        share, extra = divmod(self.used, self.accelerators)
        return share + (a < extra)

    def first(self, a):
        share, extra = divmod(self.used, self.accelerators)
        return share * a + min(a, extra)

    def read_count(self, a):
        """Those that are read when steps are limited: whole windows."""
        count = self.count(a)
        if self.steps <= 0:
            return count
        need = min(count, self.steps * self.batch)
        if self.window:
            need = -(-need // self.window) * self.window
        return min(count, need)

    def samples(self, a, q):
        """Which samples accelerator a reads as its q-th."""
        at = (q * u64(self.accelerators) + u64(a) if self.shared
              else q + u64(self.first(a)))
        if self.by_sample and not self.window:
            return self.sample_order.at(at)
        if not self.by_file:
            return at
        each = u64(self.each)
        return self.file_order.at(at // each) * each + at % each

    def places(self, a, start, count):
        """Where the samples read from start on are delivered."""
        q = np.arange(start, start + count, dtype=np.uint64)
        if not self.window:
            return q
        for low in range(start, start + count, self.window):
            n = min(self.window, self.count(a) - low)
            shuffle = Permutation(n, mix_one(self.window_key + a) + low)
            part = np.arange(n, dtype=np.uint64)
            q[low - start:low - start + n] = u64(low) + shuffle.at(part)
        return q

    def pieces(self):
        """(accelerator, samples, places) of all that is read, in arrays."""
        whole = self.window or 1  # windows are not cut
        size = max(PIECE // whole, 1) * whole
        for a in range(self.accelerators):
            end = self.read_count(a)
            for start in range(0, end, size):
                n = min(size, end - start)
                q = np.arange(start, start + n, dtype=np.uint64)
                yield a, self.samples(a, q), self.places(a, start, n)


def check_places(order, places, a):
    """Every place of an accelerator is filled once."""
    got = np.sort(np.concatenate(places)) if places else np.array([])
    if not np.array_equal(got, np.arange(order.read_count(a))):
        return ["accelerator %d: a place is filled twice or never" % a]
    return []


def epoch_hash(order, wrong):
    """The hash and the number of samples of one epoch."""
    total = count = 0
    seen = np.zeros(order.total, np.uint8)
    by_accelerator = {a: [] for a in range(order.accelerators)}
    with np.errstate(over="ignore"):
        for a, samples, places in order.pieces():
            total += int(mix(mix(u64(a << 40) ^ places) ^ samples).sum(
                dtype=np.uint64))
            count += samples.size
            seen[samples.astype(np.int64)] += 1
            by_accelerator[a].append(places)
    for a, places in by_accelerator.items():
        wrong += check_places(order, places, a)
    if seen.max(initial=0) > 1 or int(np.count_nonzero(seen)) != count:
        wrong.append("a sample comes twice")
    return "%016x" % (total & WORD), count


def check_epoch(p, row):
    """What is wrong with an epoch, the hash it should have and its samples."""
    wrong = []
    order = Order(p, row["epoch"], row["phase"] == "eval")
    want, count = epoch_hash(order, wrong)
    if row.get("order_hash") != want:
        wrong.append("epoch %d (%s): order_hash is %s, wanted %s" % (
            row["epoch"], row["phase"], row.get("order_hash"), want))
    return wrong, want, count


def check(p, results):
    """The same for the results of an experiment, hashes in a list."""
    wrong, hashes, count = [], [], 0
    rows = results["by_epoch"]
    trained = [row for row in rows if row["phase"] == "train"]
    if len(trained) != p.get("train.epochs", 1):
        wrong.append("%d epochs" % len(trained))
    for row in rows:
        bad, want, n = check_epoch(p, row)
        wrong += bad
        hashes.append(want)
        count += n if row["phase"] == "train" else 0
    if p.get("train.total_training_steps", -1) <= 0 and \
            results["samples"] != count:
        wrong.append("%s samples, wanted %d" % (results["samples"], count))
    return wrong, hashes, count


# ---- trainings

BASE = {"exp.workload": "emulate", "storage.engine": "null",
        "dataset.format": "npz", "dataset.record_length_bytes": 64,
        "reader.data_loader": "pytorch"}


def case(name, files, each, accelerators, batch, **more):
    """A keyword reader_batch_size is the parameter reader.batch_size."""
    p = dict(BASE)
    p.update({"dataset.num_files_train": files,
              "dataset.num_samples_per_file": each,
              "exp.accelerators": accelerators, "reader.batch_size": batch})
    p.update({k.replace("_", ".", 1): v for k, v in more.items()})
    return name, p


FULL = {"reader_sample_shuffle": "seed"}
FILES = {"reader_file_shuffle": "seed"}
SHARED = {"reader_file_access": "shared"}
ALL = {"reader_drop_last": False}


def window(size):
    return {"reader_sample_shuffle": "seed", "reader_shuffle_size": size}


CASES = [
    case("in order", 100, 1, 1, 1),
    case("in order, pieces", 100, 3, 7, 2),
    case("in order, pieces, the rest too", 100, 3, 7, 2, **ALL),
    case("in order, shared", 100, 3, 7, 2, **SHARED),
    case("in order, shared, the rest too", 101, 3, 7, 2, **SHARED, **ALL),
    case("all shuffled", 1000, 1, 1, 10, **FULL),
    case("all shuffled, another seed", 1000, 1, 1, 10, **FULL, train_seed=7),
    case("all shuffled, same in each epoch", 1000, 1, 1, 10, **FULL,
         train_epochs=3, train_seed_change_epoch=False),
    case("all shuffled, other in each epoch", 1000, 1, 1, 10, **FULL,
         train_epochs=3),
    case("all shuffled, 1 sample", 1, 1, 1, 1, **FULL),
    case("all shuffled, 2 samples", 2, 1, 1, 1, **FULL),
    case("all shuffled, 16 samples", 16, 1, 1, 1, **FULL),
    case("all shuffled, 17 samples", 17, 1, 1, 1, **FULL),
    case("all shuffled, 511 samples", 511, 1, 1, 1, **FULL),
    case("all shuffled, 512 samples", 512, 1, 1, 1, **FULL),
    case("all shuffled, 65,537 samples", 65537, 1, 1, 64, **FULL, **ALL),
    case("all shuffled, pieces", 500, 4, 7, 3, **FULL),
    case("all shuffled, pieces, the rest too", 501, 4, 7, 3, **FULL, **ALL),
    case("all shuffled, shared", 501, 4, 7, 3, **FULL, **SHARED),
    case("all shuffled, several threads", 5000, 1, 3, 8, **FULL,
         reader_read_threads=4),
    case("all shuffled, batch shared by threads", 5000, 1, 2, 8, **FULL,
         reader_read_threads=4, reader_data_loader="tensorflow",
         reader_shuffle_size=100000),
    case("all shuffled, steps limited", 5000, 1, 2, 8, **FULL,
         train_total_training_steps=9),
    case("files shuffled", 100, 8, 1, 4, **FILES),
    case("files shuffled, one sample a file", 700, 1, 1, 4, **FILES),
    case("files shuffled, pieces", 100, 8, 6, 4, **FILES),
    case("files shuffled, shared", 100, 8, 6, 4, **FILES, **SHARED, **ALL),
    case("files and samples shuffled", 100, 8, 6, 4, **FILES, **FULL),
    case("window", 2000, 1, 1, 10, **window(100)),
    case("window, not of whole batches", 2000, 1, 1, 8, **window(33)),
    case("window smaller than a batch", 2000, 1, 1, 64, **window(5)),
    case("window, last one cut", 1999, 1, 3, 8, **window(100), **ALL),
    case("window, pieces", 300, 7, 5, 4, **window(64)),
    case("window, shared", 300, 7, 5, 4, **window(64), **SHARED, **ALL),
    case("window, files shuffled", 300, 7, 5, 4, **window(64), **FILES),
    case("window, several threads", 3000, 1, 2, 8, **window(64),
         reader_read_threads=4),
    case("window of the tensorflow loader", 5000, 1, 2, 8, **FULL,
         reader_data_loader="tensorflow", reader_read_threads=2),
    # Not a window and limited steps together: what of the last window has
    # been read when the last step ends is a matter of chance.
    case("window as large as a share", 1000, 1, 2, 8, **window(500)),
    case("64 accelerators, 4 epochs", 900, 5, 64, 3, **FULL, train_epochs=4),
    case("evaluation is in order", 500, 1, 2, 8, **FULL, train_epochs=2,
         workflow_evaluation=True, dataset_num_files_eval=99,
         reader_batch_size_eval=4),
]


def run(prony, p, folder):
    """Results of a training, or a text that says why there are none."""
    argv = [prony, "run", "-q", "--format", "json", "-o", folder]
    for name, value in p.items():
        argv += ["-P", "%s=%s" % (name, json.dumps(value))]
    argv += ["--timeout", "60"]
    got = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, timeout=120, check=False,
                         env=dict(os.environ, PRONY_SHARE=SRC))
    shutil.rmtree(folder, ignore_errors=True)
    if got.returncode:
        return "status %d: %s%s" % (got.returncode, got.stdout, got.stderr)
    return json.loads(got.stdout)["experiments"][0]["results"]


def check_run(prony, p, folder):
    results = run(prony, p, folder)
    return [results] if isinstance(results, str) else check(p, results)[0]


def table(prony):
    failed = 0
    with tempfile.TemporaryDirectory() as temp:
        folder = os.path.join(temp, "run")
        for number, (name, p) in enumerate(CASES, 1):
            wrong = check_run(prony, p, folder)
            failed += bool(wrong)
            print("%sok %d - %s" % ("not " if wrong else "", number, name))
            for text in wrong:
                print("# " + text)
    print("1..%d" % len(CASES))
    return bool(failed)


def check_file(path):
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    wrong, hashes, count = check(result["params"], result["results"])
    print("order hash %s of %d samples%s" % (
        " ".join(hashes), count, "".join("; " + text for text in wrong)))
    return bool(wrong)


def self_test():
    """A hash that does not see a difference would let everything pass."""
    p = dict(CASES[5][1])
    row = {"epoch": 1, "phase": "train"}
    want = check_epoch(p, row)[1]
    assert not check_epoch(p, dict(row, order_hash=want))[0]
    for change in ({"train.seed": 124}, {"reader.sample_shuffle": "off"},
                   {"exp.accelerators": 2}, {"dataset.num_files_train": 990}):
        assert check_epoch(dict(p, **change), row)[1] != want, change


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prony", default=os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
    parser.add_argument("--result")
    args = parser.parse_args()
    if args.result:
        return check_file(args.result)
    self_test()
    return table(args.prony)


if __name__ == "__main__":
    sys.exit(main())
