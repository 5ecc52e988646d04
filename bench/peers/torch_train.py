"""torch_train.py MODEL.json training|inference BATCH THREADS HOW: steps of the
network that `prony model NAME --format json` describes, in PyTorch. HOW is
"eager", or words joined by +: channels_last, compile, frozen (TorchScript,
for inference), folded (compile, with constant weights, for inference). "tuned"
is what the environment says, and does nothing here."""

import json
import sys

import _contend

MODEL, PHASE, BATCH, THREADS, HOW = sys.argv[1:]
HOW = HOW.split("+")
RATE = 1e-4  # small, so that no network on noise blows up

try:
    import torch
except ImportError as e:
    _contend.cannot("import torch: %s" % e)
_contend.find_prony()
from prony.backends.torch_net import Net  # noqa: E402


def version():
    lines = torch.__config__.show().split("\n")
    dnn = [line.split()[3] for line in lines if "MKL-DNN" in line]
    return "PyTorch %s, oneDNN %s, %d threads" % (
        torch.__version__, " ".join(dnn) or "none", torch.get_num_threads())


def make_net(spec, training):
    torch.manual_seed(1)
    net = Net(spec)  # PyTorch's own initial weights do
    if not training:
        with torch.no_grad():
            _contend.random_norms(net)
    if "channels_last" in HOW:
        net.to(memory_format=torch.channels_last)
    return net.train(training)


def make_batch(spec):
    x = torch.rand([int(BATCH)] + spec["input"]) * 2 - 1
    if "channels_last" in HOW:
        x = x.contiguous(memory_format=torch.channels_last)
    return x, torch.arange(int(BATCH)) % spec["classes"]


def compiled(net):
    if not hasattr(torch, "compile"):
        _contend.cannot("compile: this is PyTorch %s" % torch.__version__)
    if "folded" in HOW:
        from torch._inductor import config
        config.freezing = True
    return torch.compile(net)


def frozen(net, x):
    with torch.no_grad():
        traced = torch.jit.trace(net, x)
        return torch.jit.optimize_for_inference(torch.jit.freeze(traced))


def make_optimizer(net, spec):
    o = spec["optimizer"]
    if o["name"] == "adam":
        return torch.optim.Adam(net.parameters(), lr=RATE,
                                weight_decay=o["weight_decay"])
    return torch.optim.SGD(net.parameters(), lr=RATE, momentum=o["momentum"],
                           weight_decay=o["weight_decay"])


def training_step(spec, net, x, labels):
    optimizer = make_optimizer(net, spec)
    call = compiled(net) if "compile" in HOW else net

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(call(x), labels)
        loss.backward()
        optimizer.step()
        if not loss.isfinite():
            sys.exit("the loss is %s" % float(loss))
    return step


def inference_step(net, x):
    if "frozen" in HOW:
        call = frozen(net, x)
    elif "compile" in HOW or "folded" in HOW:
        call = compiled(net)
    else:
        call = net
    # What is frozen or folded cannot be made under inference_mode.
    guard = torch.no_grad if call is not net else torch.inference_mode

    def step():
        with guard():
            call(x)
    return step


def main():
    torch.set_num_threads(int(THREADS))
    torch.set_num_interop_threads(1)
    with open(MODEL, encoding="utf-8") as f:
        spec = json.load(f)
    training = PHASE == "training"
    net = make_net(spec, training)
    x, labels = make_batch(spec)
    step = (training_step(spec, net, x, labels) if training
            else inference_step(net, x))
    _contend.say("about", version())
    _contend.say("params", sum(p.numel() for p in net.parameters()))
    _contend.serve(step)


main()
