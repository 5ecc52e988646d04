#!/usr/bin/python3
"""Compares our plans with those that DLBS itself made.

Usage: dlbs_golden.py [NAME…]      (NAME: part of the name of a case)

The program is $PRONY. The reference data are looked for in $PRONY_PEERS, else
in ../shared/peers beside the project ($SRC). Four sets of cases:

  more       in dlbs_vectors.json beside this file: configs of ours, and what
             DLBS made of them

  plans      the default configs of DLBS, then a config of a tutorial: number
             of experiments, those that are active, the rows in order, and
             every parameter of the first experiment
  vectors    small configs, one for each rule of expansion, declaration and
             plan building
  matches    conditions on a dictionary, as conditions of extensions (relaxed;
             the strict ones are in tests/unit/test_conf_query.c)

Values are compared with their types. Exit status 1 after a difference, 77
when the reference data are not there (and "more" is all that was compared).

Where we differ from DLBS on purpose:

  BUG-5   a pattern on a value that is no text ended DLBS with a TypeError;
          we match the value as text, so {"b": "16"} matches 16
  BUG-6   $(${${k}.v}*2)$ was evaluated before the inner name was known and
          ended with a SyntaxError; we evaluate it when the name is known
  BUG-4   a condition on a parameter that begins with $( is refused, too
  CAPTURE what an extension captured is plain text for the conditions of later
          ones; DLBS refused it as computed
  PYTHON  runtime.python is the interpreter that ran DLBS; we have another
"""
import json
import os
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
PEERS = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "dlbs")
GOLDEN = os.path.join(PEERS, "golden")

# A matcher of ours gives what DLBS would have, had it not crashed.
BUG_5 = {'{"b": "16"}': True, '{"t": "true"}': True}
BUG_6 = {'$(${${k}.v}*2)$': "6"}
OF_THE_MACHINE = {"runtime.python"}

compared = 0
wrong = 0


def differs(case, text):
    global wrong
    wrong += 1
    if wrong <= 40:
        print("%s: %s" % (case, text))


def canon(v):
    """A text that is equal only for values equal in type and content."""
    return json.dumps(v, sort_keys=True)


def plan(case, args, env):
    """Our experiments, or None and a message when we refuse."""
    done = subprocess.run(
        [PRONY, "plan", "--no-defaults", "--format", "json", "--full"] + args,
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    err = done.stderr.decode()
    if done.returncode not in (0, 3):
        differs(case, "exit status %d: %s" % (done.returncode, err[-2000:]))
    if done.returncode:
        if b"prony.plan" in done.stdout:
            differs(case, "refused, yet wrote a plan")
        return None, err
    doc = json.loads(done.stdout)
    if doc["schema"] != "prony.plan/1" or doc["defaults"] != {}:
        differs(case, "not the document that was asked for")
    if doc["count"] != len(doc["experiments"]):
        differs(case, "says %s experiments" % doc["count"])
    ids = [e["id"] for e in doc["experiments"]]
    if len(set(ids)) != len(ids):
        differs(case, "two experiments with one id")
    return [e["params"] for e in doc["experiments"]], err


def compare_params(case, want, got):
    for name in sorted(set(want) | set(got)):
        if name in OF_THE_MACHINE and got.get(name):
            continue
        if name not in got:
            differs(case, "lacks %s" % name)
        elif name not in want:
            differs(case, "has %s = %r too" % (name, got[name]))
        elif canon(want[name]) != canon(got[name]):
            differs(case, "%s is %s, want %s"
                    % (name, canon(got[name]), canon(want[name])))


def is_active(params):
    return params.get("exp.status") not in ("disabled", "inactive")


def args_of(golden):
    """The command line of the case, for our program and our folders."""
    args = []
    for a in golden["args"][1:]:
        if args and args[-1] == "--config":
            a = os.path.join(PEERS, a[len("dlbs_data/"):]
                             if a.startswith("dlbs_data/") else a)
        args.append(a)
    return args


def check_plan(case, golden):
    folder = os.path.join(PEERS, "configs")
    args = []
    for name in sorted(os.listdir(folder)):
        args += ["--config", os.path.join(folder, name)]
    ours, err = plan(case, args + args_of(golden), golden["env"])
    if ours is None:
        return differs(case, "refused: " + err)
    if len(ours) != golden["num_experiments"]:
        differs(case, "%d experiments, want %d"
                % (len(ours), golden["num_experiments"]))
    active = sum(map(is_active, ours))
    if active != golden["num_active"]:
        differs(case, "%d active, want %d" % (active, golden["num_active"]))
    for i, (want, got) in enumerate(zip(golden["rows"], ours)):
        compare_params("%s row %d" % (case, i + 1), want,
                       {k: got[k] for k in want if k in got})
    compare_params("%s first" % case, golden["first_experiment_all_params"],
                   ours[0])


def check_vector(case, vector, env, folder):
    path = os.path.join(folder, "config.json")
    with open(path, "w") as f:
        json.dump(vector["config"], f)
    ours, err = plan(case, ["--config", path], env)
    want = vector["result"].get("ok")
    for text, value in BUG_6.items():
        if text in vector["config"].get("parameters", {}).values():
            if not ours or ours[0]["b"] != value:
                differs(case, "BUG-6 is back: %s" % (ours or err))
            return
    if want is None:
        if ours is not None:
            differs(case, "%s: want %s, got %s" % (
                canon(vector["config"]), vector["result"]["error"], ours))
        elif not err.strip():
            differs(case, "refused without a word")
        return
    if ours is None:
        return differs(case, "%s: refused: %s" % (canon(vector["config"]),
                                                  err))
    if len(ours) != len(want):
        return differs(case, "%d experiments, want %d" % (len(ours),
                                                          len(want)))
    for w, o in zip(want, ours):
        compare_params(case, w, o)


def check_more(case, vector, env, folder):
    args = []
    for i, config in enumerate(vector["configs"]):
        path = os.path.join(folder, "config%d.json" % i)
        with open(path, "w") as f:
            json.dump(config, f)
        args += ["--config", path]
    for option, values in (("-P", "params"), ("-V", "variables")):
        for name, value in vector.get(values, {}).items():
            args += [option, "%s=%s" % (name, json.dumps(value))]
    ours, err = plan(case, args, env)
    case = "%s %s" % (case, canon(vector["configs"]))
    if "error" in vector:
        if ours is not None:
            differs(case, "want %s, got %s" % (vector["error"], ours))
        return
    if ours is None:
        return differs(case, "refused: " + err)
    if len(ours) != len(vector["plan"]):
        return differs(case, "%d experiments, want %d"
                       % (len(ours), len(vector["plan"])))
    for w, o in zip(vector["plan"], ours):
        compare_params(case, w, o)


def text_of(v):
    """What ${…} gives for a value."""
    return v if isinstance(v, str) else str(v)


def check_match(case, dictionary, vector, folder):
    """The condition with an extension that shows what it captured."""
    matches = vector["matches"]
    want = vector["result"]
    if isinstance(want, str):
        want = BUG_5[json.dumps(vector["query"])]
    added = {"hit": 1}
    if want:
        added.update({"got." + k: "${__condition.%s}" % k for k in matches})
    extension = {"parameters": added}
    if vector["query"] is not None:
        extension["condition"] = vector["query"]
    path = os.path.join(folder, "config.json")
    with open(path, "w") as f:
        json.dump({"parameters": dictionary, "extensions": [extension]}, f)
    ours, err = plan(case, ["--config", path], {})
    if ours is None:
        return differs(case, "refused: " + err)
    expected = dict(dictionary)
    if want:
        expected["hit"] = 1
        expected.update({"got." + k: text_of(v) for k, v in matches.items()})
    if len(ours) != 1:
        return differs(case, "%d experiments" % len(ours))
    compare_params(case, expected, ours[0])


def load(name):
    with open(os.path.join(GOLDEN, name)) as f:
        return json.load(f)


def cases(folder):
    """Every case: its name, and a function to call."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "dlbs_vectors.json")) as f:
        more = json.load(f)
    for i, v in enumerate(more["vectors"]):
        yield "more %d" % i, check_more, (v, more["env"], folder)
    if not os.path.isdir(GOLDEN):
        return
    for name in sorted(os.listdir(os.path.join(GOLDEN, "plans"))):
        golden = load(os.path.join("plans", name))
        yield "plan " + name, check_plan, (golden,)
    vectors = load("expansion_and_builder_vectors.json")
    for i, v in enumerate(vectors["vectors"]):
        yield "vector %d" % i, check_vector, (v, vectors["env"], folder)
    matches = load("match_vectors.json")
    for i, v in enumerate(matches["vectors"]):
        if v["policy"] == "relaxed" or v["query"] is None:
            yield "match %d" % i, check_match, (matches["dictionary"], v,
                                                folder)


def main():
    global compared
    with tempfile.TemporaryDirectory() as folder:
        for case, check, args in cases(folder):
            if sys.argv[1:] and not any(w in case for w in sys.argv[1:]):
                continue
            check(case, *args)
            compared += 1
    print("%d cases compared, %d differences" % (compared, wrong))
    if not compared:
        print("no case was compared")
        return 1
    if not wrong and not os.path.isdir(GOLDEN):
        print("SKIP: the plans of DLBS are not in %s; set PRONY_PEERS to the "
              "folder that has dlbs/golden" % PEERS)
        return 77
    return 1 if wrong else 0


sys.exit(main())
