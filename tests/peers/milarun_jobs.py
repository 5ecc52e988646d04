#!/usr/bin/python3
"""milarun's profiles as plans, and result files beside milarun's own.

The program is $PRONY. The reference data are looked for in $PRONY_PEERS, else
in ../shared/peers beside the project ($SRC). Every profile there must plan, with
the jobs in its order, the arguments as milarun passes them (but for `false`,
which milarun sends as well), and so many copies. The results that milarun wrote
for a profile of four jobs have the keys, in the order, that ours have. Exit
status 1 after a difference, 77 when the reference data are not there.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _tap import check, end  # noqa: E402

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
PEERS = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "milarun")
ENV = dict(os.environ, PRONY_NVML="")

# A stand-in for what the profile of the reference runs use.
FAKE = """
import sys, time
if "--crash" in sys.argv:
    raise SystemExit("boom")
print('__timings.train__= {"type": "milabench.experiment.RateLogger", '
      '"start": "s", "end": "e", "wall_time": 1.0, "time": 1.0, '
      '"overhead": 0.0, "sample_duration": 0.5, "rates": [1.0, 2.0], '
      '"metrics": {"loss": 0.5}}')
"""


def words_of(arguments):
    words = []
    for key, value in arguments.items():
        if value is None or value is False:
            continue
        words.append(key)
        if value is not True:
            words.append(str(value))
    return words


def plan_of(path, devices):
    got = subprocess.run([PRONY, "plan", path, "--devices", str(devices),
                          "--format", "json"], capture_output=True, env=ENV)
    return json.loads(got.stdout) if got.returncode == 0 else got.stderr


def check_profile(path, devices):
    with open(path) as f:
        profile = json.load(f)
    shared = profile.pop("*", {})
    plan = plan_of(path, devices)
    name = os.path.basename(path)
    if not check(isinstance(plan, dict), "%s plans" % name, str(plan)) and \
            not isinstance(plan, dict):
        return
    got = [e["params"] for e in plan["experiments"]]
    want = []
    for job, own in profile.items():
        entry = dict(shared, **own)
        kind = entry.get("partition_scheme", {}).get("type", "normal")
        for i in range(1 if kind == "normal" else devices):
            used = None if kind == "normal" else [i] if kind == "per-gpu" \
                else list(range(i + 1))
            want.append((job, entry["experiment"], words_of(entry["arguments"]),
                         used, entry))
    mine = [(p["suite.job"], p["suite.experiment"],
             p.get("suite.arguments", []), p.get("suite.devices"),
             p["suite.entry"]) for p in got]
    check(mine == want, "%s: jobs, arguments and devices of %d copies"
          % (name, devices),
          "\n".join("%s\n%s" % two for two in zip(mine, want)
                    if two[0] != two[1]))


def shape(value):
    """Keys in their order, all the way down; numbers and texts are alike."""
    if isinstance(value, dict):
        return [(k, shape(v)) for k, v in value.items()]
    return "list" if isinstance(value, list) else ""


def check_results(scratch):
    with open(os.path.join(PEERS, "real_results", "profile_used.json")) as f:
        profile = json.load(f)
    profile["*"]["prepare"] = ["true"]
    for job, entry in profile.items():
        if job != "*":
            entry.update(experiment="command",
                         command=[sys.executable, "-c", FAKE])
    path = os.path.join(scratch, "prof.json")
    with open(path, "w") as f:
        json.dump(profile, f)
    out = os.path.join(scratch, "out")
    # As on the machine of the reference: two devices.
    got = subprocess.run([PRONY, "run", "-q", path, "-o", out, "--devices", "2",
                          "--no-isolation", "-d", scratch, "--",
                          "--batch-size", "16"], capture_output=True, env=ENV)
    check(got.returncode == 6, "the run ends with 6: one job failed",
          got.stderr.decode())
    for real in sorted(glob.glob(os.path.join(PEERS, "real_results",
                                              "prof.*.json"))):
        name = os.path.basename(real)
        start = re.sub(r"\d{8}-\d{6}-\d{6}\.json$", "", name)
        ours = glob.glob(os.path.join(out, start + "*"))
        check(len(ours) == 1, "%s: one file called so" % name, str(ours))
        if len(ours) != 1:
            continue
        check(re.fullmatch(r"\d{8}-\d{6}-\d{6}\.json",
                           os.path.basename(ours[0])[len(start):]),
              "%s: its time" % name, ours[0])
        with open(real) as f:
            r = json.load(f)
        with open(ours[0]) as f:
            text = f.read()
        o = json.loads(text)
        check(text == json.dumps(o, indent=4, ensure_ascii=False) + "\n",
              "%s: laid out as milarun does" % name)
        del o["prony"]
        job = o.pop("job")
        r.pop("job", None)  # milarun leaves it out of the scheme 'normal'
        check(job["arguments"] == profile[o["name"][5:]]["arguments"],
              "%s: the job in it" % name)
        for key in ("gpu_monitor", "environ"):
            r.pop(key), o.pop(key)
        for key in ("argv", "arguments"):
            if name.startswith("prof.n"):  # made without arguments after --
                r["call"].pop(key), o["call"].pop(key)
        check(shape(r) == shape(o), "%s: the same keys" % name,
              "%s\n%s" % (shape(r), shape(o)))
        for key in ("name", "job_id", "device", "devices", "success"):
            check(r.get(key) == o.get(key), "%s: %s" % (name, key),
                  "%r %r" % (r.get(key), o.get(key)))
        check({k: v for k, v in r["call"].items() if k != "function"} ==
              {k: v for k, v in o["call"].items() if k != "function"},
              "%s: call" % name, "%s\n%s" % (r["call"], o["call"]))


def main():
    if not os.path.isdir(PEERS):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        return 77
    for path in sorted(glob.glob(os.path.join(PEERS, "profiles", "*.json"))):
        for devices in (1, 8):
            check_profile(path, devices)
    with tempfile.TemporaryDirectory() as scratch:
        check_results(scratch)
    return end()


if __name__ == "__main__":
    sys.exit(main())
