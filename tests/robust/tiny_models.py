"""Every model that is no classifier of images learns, at its tiny size: the
loss becomes smaller by as much as is stated here, the pole on the cart stays up
longer, and a second training has the same losses, bit by bit. Needs oneDNN;
skipped loudly without."""

import glob
import json
import os
import sys

from _robust import Scratch, run

# Batch, steps, and what is left of the loss at most: the mean of the last tenth
# of the steps in parts of that of the first. More parameters, if any.
MODELS = {
    "toy_reg": (16, 3000, 0.05),
    "toy_lstm": (8, 400, 0.1, "nn.optimizer=adam", "nn.learning_rate=0.01"),
    "vae": (16, 150, 0.8),
    "reso": (4, 60, 0.8),
    "wlm": (16, 200, 0.75, "nn.dropout=false"),
    "translator": (16, 200, 0.75, "nn.learning_rate=0.005"),
    "recom": (64, 200, 0.8, "nn.learning_rate=0.005"),
    "ssd": (4, 50, 0.6),
    "fast_style": (2, 120, 0.85),
    "deep_speech2": (8, 80, 0.6),
    "bert": (16, 200, 0.85, "nn.learning_rate=0.003"),
    "gpt": (16, 200, 0.8, "nn.learning_rate=0.003"),
}
AGAIN = 20  # steps of the second training


def train(t, name, model, batch, steps, *words):
    where = t.path(name)
    code, _, err = run(
        ["run", "-q", "--tiny", "-o", where, "exp.framework=native",
         "exp.model=" + model, "exp.replica_batch=%d" % batch,
         "exp.num_warmup_batches=0", "exp.num_batches=%d" % steps,
         "nn.threads=1", "nn.peak=false", *words])
    found = glob.glob(os.path.join(where, "experiments", "*", "result.json"))
    if not t.check(code == 0 and found, "%s: %d %s" % (model, code, err)):
        return {}
    with open(found[0], encoding="utf-8") as f:
        return json.load(f)["results"]


def mean(values):
    return sum(values) / max(1, len(values))


def learns(t, model, batch, steps, left, *words):
    losses = train(t, model, model, batch, steps, *words).get("loss_data", [])
    again = train(t, model + "-2", model, batch, AGAIN, *words)
    some = max(1, steps // 10)
    share = mean(losses[-some:]) / (mean(losses[:some]) or 1)
    print("%-12s loss %.4g to %.4g (%.2f)" % (
        model, mean(losses[:some]), mean(losses[-some:]), share))
    t.check(len(losses) == steps, "%s: %d losses" % (model, len(losses)))
    t.check(share <= left, "%s: %.3f of its loss is left" % (model, share))
    t.check(again.get("loss_data") == losses[:AGAIN],
            "%s: a second training is another one" % model)


def plays(t):
    """Two networks against each other: the one that tells pictures of the set
    from made ones gets better than guessing, which has a loss of 2 ln 2."""
    words = ["nn.learning_rate=0.001"]
    first = train(t, "dcgan", "dcgan", 8, 100, *words)
    again = train(t, "dcgan-2", "dcgan", 8, AGAIN, *words)
    told = first.get("loss.real", 9) + first.get("loss.fake", 9)
    print("dcgan        loss of telling apart %.3g" % told)
    t.check(told < 1.1, "dcgan: %s" % first)
    t.check(again.get("loss_data") == first.get("loss_data", [])[:AGAIN],
            "dcgan: a second training is another one")


def balances(t):
    """Who pushes at random ends an episode after about 20 steps."""
    words = ["cart", 1, 400, "nn.learning_rate=0.005"]
    random = train(t, "cart-0", "cart", 1, 100, "nn.learning_rate=0")
    first, again = train(t, "cart", *words), train(t, "cart-2", *words)
    before, after = random.get("reward", 1e9), first.get("reward", 0)
    print("cart         reward %.3g at random, %.3g after 400 episodes" % (
        before, after))
    t.check(after > 100 and after > 3 * before,
            "cart: %s after %s" % (after, before))
    t.check(first.get("items", 0) > 50 * 400, "cart: it learned late")
    t.check(first.get("loss_data") == again.get("loss_data") and
            after == again.get("reward"), "cart: another game")


def main():
    _, out, _ = run(["doctor"])
    row = [line for line in out.splitlines() if line.startswith("oneDNN")]
    if not row or " ok " not in row[0]:
        print("SKIP: no oneDNN; install libdnnl-dev")
        sys.exit(77)
    t = Scratch()
    for model, rest in MODELS.items():
        learns(t, model, *rest)
    plays(t)
    balances(t)
    t.finish("tiny models: done")


main()
