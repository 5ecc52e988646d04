"""onnx_infer.py MODEL.json BATCH THREADS FOLDER: inference of the network that
`prony model NAME --format json` describes in ONNX Runtime. The file that it
reads is written to FOLDER, by the back-end's own writer: PyTorch's exporter
wants packages of its own. A file that is there is taken as it is."""

import json
import os
import sys

import _contend

MODEL, BATCH, THREADS, FOLDER = sys.argv[1:]
FILE = os.path.join(FOLDER, "model.onnx")


def export(spec, rng):
    from prony.backends.onnx_net import Writer
    from prony.model import Model
    model = Model(spec, training=False)
    Writer(model, model.first_tensors({}, rng), int(BATCH)).graph.write(FILE)


def make_batch(spec, session, rng):
    """What the file takes: numbers between -1 and 1, ids from 1 on."""
    names = {i.name for i in session.get_inputs()}
    return {i["name"]: rng.integers(1, i["ids"], [int(BATCH)] + i["shape"], "int32")
            if i["ids"] else
            rng.random([int(BATCH)] + i["shape"], dtype="float32") * 2 - 1
            for i in spec["inputs"] if i["name"] in names}


def main():
    with open(MODEL, encoding="utf-8") as f:
        spec = json.load(f)
    _contend.find_prony()
    try:
        import numpy
        import onnxruntime
    except ImportError as e:
        _contend.cannot("import onnxruntime: %s" % e)
    if not os.path.exists(FILE):
        export(spec, numpy.random.default_rng(1))
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

    def step():
        session.run(None, x)
    _contend.serve(step)


main()
