"""torch_checkpoint.py HOW FOLDER OUT: the files of FOLDER, which torch.load
reads, by one process each, all at once. HOW is load; save, of what was loaded,
to files in OUT; or sync, the same with fsync. With a 1 behind it one file comes
after another, as a script that saves all of a model does it. Answers with the
seconds until the last one was done. Where this Python has no torch, the one beside
DLIO's program is asked."""

import multiprocessing
import os
import sys
import time

import _peer


try:
    import torch
except ImportError as e:
    _peer.ask_dlios(e)

HOW, FOLDER, OUT = sys.argv[1:]
ONE = HOW.endswith("1")
HOW = HOW.rstrip("1")


def save(state, name):
    torch.save(state, name)  # by name: a file of Python's would be slower
    if HOW == "sync":
        fd = os.open(name, os.O_RDWR)
        os.fsync(fd)
        os.close(fd)


def rank(pipe, name):
    """Does it once for each message, and says when it is done."""
    state = None if HOW == "load" else torch.load(name)
    out = os.path.join(OUT, os.path.basename(name))
    pipe.send("ready")
    while pipe.recv():
        loaded = torch.load(name) if HOW == "load" else save(state, out)
        pipe.send("done")
        del loaded
        if state is not None:
            os.remove(out)
        pipe.send("ready")


def start(name):
    """The end of a pipe to a process."""
    ours, theirs = context.Pipe()
    process = context.Process(target=rank, args=(theirs, name), daemon=True)
    process.start()
    theirs.close()
    if ours.recv() != "ready":
        sys.exit("%s: it does not start" % name)
    return ours


def work():
    begin = time.perf_counter()
    for pipe in pipes:
        pipe.send(True)
        if ONE:
            pipe.recv()
    for pipe in pipes if not ONE else ():
        pipe.recv()
    seconds = time.perf_counter() - begin
    for pipe in pipes:
        pipe.recv()
    return (seconds,)


context = multiprocessing.get_context("fork")
os.makedirs(OUT, exist_ok=True)
pipes = [start(name) for name in _peer.files(FOLDER)]
_peer.serve(work)
for pipe in pipes:
    pipe.send(False)
