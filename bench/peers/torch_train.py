"""torch_train.py MODEL.json training|inference BATCH THREADS HOW BLOCK
BATCHES: steps of the network that `prony model NAME --format json` describes,
in PyTorch. HOW is "eager", or words joined by +: channels_last, compile, fused
(the optimiser), batched (episodes are learned from at once), frozen
(TorchScript, for inference), folded (compile, with constant weights, for
inference). "tuned" is what the environment says, and does nothing here. BLOCK:
milliseconds that are measured together, 0 for single steps. BATCHES: a file of
them, or nothing for noise."""

import json
import math
import sys

import _contend

MODEL, PHASE, BATCH, THREADS, HOW, BLOCK, BATCHES = sys.argv[1:]
HOW = HOW.split("+")
RATE = 1e-4  # small, so that no network on noise blows up

try:
    import torch
except ImportError as e:
    _contend.cannot("import torch: %s" % e)
_contend.find_prony()
from prony.backends import torch_data  # noqa: E402
from prony.backends.torch_net import Net  # noqa: E402
from prony.backends.torch_turns import Trainer, may_be_sparse  # noqa: E402


def version():
    lines = torch.__config__.show().split("\n")
    dnn = [line.split()[3] for line in lines if "MKL-DNN" in line]
    return "PyTorch %s, oneDNN %s, %d threads" % (
        torch.__version__, " ".join(dnn) or "none", torch.get_num_threads())


def make_net(spec, training):
    torch.manual_seed(1)
    # PyTorch's own initial weights do.
    net = Net(spec, sparse=may_be_sparse(spec["optimizer"]))
    if not training:
        with torch.no_grad():
            _contend.random_norms(net)
    if "channels_last" in HOW:
        net.to(memory_format=torch.channels_last)
    return net.train(training)


def make_batches(spec):
    if BATCHES:
        from prony.tensors import load
        found = torch_data.from_batches(spec["inputs"], load(BATCHES),
                                        int(BATCH), BATCHES)
    else:
        found = [torch_data.noise(spec, int(BATCH),
                                  torch.Generator().manual_seed(1))]
    if "channels_last" in HOW:
        found = [{name: x.contiguous(memory_format=torch.channels_last)
                  if x.dim() == 4 else x for name, x in batch.items()}
                 for batch in found]
    return torch_data.Cycle(found)


def compiled(net):
    if not hasattr(torch, "compile"):
        _contend.cannot("compile: this is PyTorch %s" % torch.__version__)
    if "folded" in HOW:
        from torch._inductor import config
        config.freezing = True
    return torch.compile(net)


def frozen(net, batch):
    with torch.no_grad():
        traced = torch.jit.trace(net, tuple(batch[n] for n in net.wanted))
        return torch.jit.optimize_for_inference(torch.jit.freeze(traced))


def make_trainer(spec, net):
    how = {"fused": True} if "fused" in HOW else {}
    return Trainer(net, dict(spec["optimizer"], learning_rate=RATE),
                   wrap=compiled if "compile" in HOW else None, **how)


def training_step(trainer, batches):
    def step():
        _, losses = trainer.step(batches.next())
        loss = sum(map(float, losses))
        if not math.isfinite(loss):
            sys.exit("the loss is %s" % loss)
    return step


def inference_step(net, batches):
    batch = batches.next()
    if "frozen" in HOW:
        call = frozen(net, batch)
    elif "compile" in HOW or "folded" in HOW:
        call = compiled(net)
    else:
        call = net
    # What is frozen or folded cannot be made under inference_mode.
    guard = torch.no_grad if call is not net else torch.inference_mode

    x = [batch[n] for n in net.wanted]

    def step():
        with guard():
            call(*x)
    return step


def main():
    torch.set_num_threads(int(THREADS))
    torch.set_num_interop_threads(1)
    with open(MODEL, encoding="utf-8") as f:
        spec = json.load(f)
    training = PHASE == "training"
    net = make_net(spec, training)
    if spec["data"] == "cartpole":
        import _cart
        step = _cart.episodes(make_trainer(spec, net), "batched" in HOW,
                              compiled(net) if "compile" in HOW else net)
    elif training:
        step = training_step(make_trainer(spec, net), make_batches(spec))
    else:
        step = inference_step(net, make_batches(spec))
    _contend.say("about", version())
    _contend.say("params", sum(p.numel() for p in net.parameters()))
    _contend.serve(step, int(BLOCK) / 1e3)


main()
