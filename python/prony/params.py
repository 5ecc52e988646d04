"""Parameters of an experiment, by the names that prony has for them."""

import json

from .results import BAD_FILE, BAD_PARAMS, Refusal

# For a program that is started by hand: prony writes all of them.
DEFAULTS = {
    "exp.phase": "training", "exp.dtype": "float32", "exp.gpus": "",
    "exp.num_warmup_batches": 1, "exp.num_batches": 100,
    "exp.replica_batch": 16, "exp.num_replicas": 1,
    "exp.data_dir": "", "exp.data": "",
    "nn.threads": 0, "nn.optimizer": "", "nn.learning_rate": -1,
    "nn.momentum": -1, "nn.weight_decay": -1, "nn.seed": 1,
    "nn.dropout": True, "nn.data": "", "nn.batches": "", "nn.samples": 0,
    "nn.augment": True, "nn.max_count": 0, "nn.evaluate": 0,
    "nn.profile": False, "nn.peak": True, "nn.load": "", "nn.save": "",
    "nn.save_gradients": False, "nn.channels_last": False,
    "nn.compile": False, "nn.amp": False,
    "dataset.data_folder": "./data/", "dataset.format": "jpeg",
    "storage.storage_root": "./", "workflow.generate_data": False,
    "pytorch.cudnn_benchmark": True,
}


def read_json(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except OSError as e:
        raise Refusal(BAD_FILE, "%s: cannot read: %s"
                      % (path, e.strerror)) from e
    except ValueError as e:
        raise Refusal(BAD_FILE, "%s: no JSON: %s" % (path, e)) from e


def _value(name, text):
    """What a value on the command line means: JSON, else text."""
    if isinstance(DEFAULTS.get(name), str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return {"True": True, "False": False}.get(text, text)


def read(path, words):
    """Of a file (None: defaults), with words NAME=VALUE laid over."""
    params = dict(DEFAULTS, **(read_json(path) if path else {}))
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise Refusal(BAD_PARAMS, "'%s' is not NAME=VALUE" % word)
        if name.startswith("nn.") and name not in DEFAULTS:
            raise Refusal(BAD_PARAMS, "unknown parameter '%s'" % name)
        params[name] = _value(name, text)
    return params
