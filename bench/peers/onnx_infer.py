"""onnx_infer.py MODEL.json BATCH THREADS FOLDER: inference of the network that
`prony model NAME --format json` describes in ONNX Runtime. PyTorch writes the
file, to FOLDER; a file that is there is taken as it is."""

import json
import os
import sys

import _contend

MODEL, BATCH, THREADS, FOLDER = sys.argv[1:]
FILE = os.path.join(FOLDER, "model.onnx")


def export(spec):
    """In a process of its own: what PyTorch takes is not ours."""
    import torch
    _contend.find_prony()
    from prony.backends import torch_data
    from prony.backends.torch_net import Net
    torch.manual_seed(1)
    net = Net(spec, in_place=False).eval()
    net.reset(torch.Generator().manual_seed(1))
    with torch.no_grad():
        _contend.random_norms(net)
        x = torch_data.noise(spec, int(BATCH),
                             torch.Generator().manual_seed(1))
        # Without dynamo it needs neither onnx nor onnxscript.
        how = {"dynamo": False} if torch.__version__ >= "2.5" else {}
        torch.onnx.export(net, tuple(x[n] for n in net.wanted), FILE,
                          input_names=net.wanted, opset_version=17,
                          do_constant_folding=True, **how)


def in_process(function, *args):
    pid = os.fork()
    if pid == 0:
        try:
            function(*args)
        except ImportError as e:
            print("import: %s" % e, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        _contend.cannot("export the network with PyTorch")


def make_batch(spec, session, rng):
    """What the file takes: numbers between -1 and 1, ids from 1 on."""
    names = {i.name for i in session.get_inputs()}
    return {i["name"]: rng.integers(1, i["ids"], [int(BATCH)] + i["shape"])
            if i["ids"] else
            rng.random([int(BATCH)] + i["shape"], dtype="float32") * 2 - 1
            for i in spec["inputs"] if i["name"] in names}


def main():
    with open(MODEL, encoding="utf-8") as f:
        spec = json.load(f)
    if not os.path.exists(FILE):
        in_process(export, spec)
    try:
        import numpy
        import onnxruntime
    except ImportError as e:
        _contend.cannot("import onnxruntime: %s" % e)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(THREADS)
    options.inter_op_num_threads = 1
    # Its threads would look for work while it is the turn of others.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(
        FILE, options, providers=["CPUExecutionProvider"])
    x = make_batch(spec, session, numpy.random.default_rng(1))
    _contend.say("about ONNX Runtime %s, %s threads"
                 % (onnxruntime.__version__, THREADS))
    _contend.serve(lambda: session.run(None, x))


main()
