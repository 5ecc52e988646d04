#!/usr/bin/python3
"""Compares the parameters of frameworks with those of DLBS's configs.

Usage: dlbs_frameworks.py

The program is $PRONY. DLBS's configs are looked for in $PRONY_PEERS, else in
../shared/peers beside the project ($SRC). Every parameter that
frameworks/*.yaml and a config both have must have the same default, type and
choices, unless ELSEWHERE says why not; the frameworks of DLBS must all be
there, with DLBS's title and image. Exit status 1 after a difference, 77 when
the configs are not there.
"""
import glob
import json
import os
import subprocess
import sys

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
CONFIGS = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "dlbs", "configs")

# Folders below a user's home that only DLBS's authors have, and values that
# DLBS's extensions put in place of empty ones.
ELSEWHERE = {"tensorrt.cache", "tensorrt.host_path", "bvlc_caffe.host_path",
             "nvidia_caffe.host_path", "intel_caffe.host_path",
             "nvtfcnn.model_file", "nvtfcnn.model_args"}
# The ones that programs of ours run on have images of ours.
OWN_IMAGE = {"pytorch", "tensorflow"}

wrong = 0


def differs(text):
    global wrong
    wrong += 1
    print(text)


def dlbs():
    """All parameters of the configs, and the title of each framework."""
    params, titles = {}, {}
    for path in sorted(glob.glob(os.path.join(CONFIGS, "*.json"))):
        with open(path) as f:
            config = json.load(f)
        params.update(config["parameters"])
        for e in config.get("extensions", []):
            name = e["condition"].get("exp.framework")
            title = e["parameters"].get("exp.framework_title")
            if isinstance(name, str) and title:
                titles[name] = title
    return params, titles


def ours():
    done = subprocess.run([PRONY, "help", "--frameworks", "--format", "json"],
                          stdout=subprocess.PIPE, check=True)
    doc = json.loads(done.stdout)
    return {f["name"]: f for f in doc["frameworks"]}


def check_param(framework, p, theirs):
    name, default = p["name"], p.get("default")
    if name == "caffe.fork":  # an extension of theirs sets it
        return
    if default != theirs["val"]:
        differs("%s: %s is %r, DLBS has %r"
                % (framework, name, default, theirs["val"]))
    if p["type"] != theirs["type"]:
        differs("%s: %s is of type %s, DLBS has %s"
                % (framework, name, p["type"], theirs["type"]))
    if theirs.get("val_domain") and p.get("choices") != theirs["val_domain"]:
        differs("%s: %s may be %s, DLBS has %s"
                % (framework, name, p.get("choices"), theirs["val_domain"]))


def main():
    if not os.path.isdir(CONFIGS):
        print("no DLBS configs in " + CONFIGS)
        return 77
    (theirs, titles), mine, compared = dlbs(), ours(), 0
    for name, title in titles.items():
        f = mine.get(name)
        if not f:
            differs("there is no framework %s" % name)
            continue
        if f["title"] != title:
            differs("%s is called %s, DLBS has %s" % (name, f["title"], title))
        image = theirs["%s.docker_image" % name]["val"]
        if name not in OWN_IMAGE and f["image"] != image:
            differs("%s: image %s, DLBS has %s" % (name, f["image"], image))
    for name, f in mine.items():
        for p in f["parameters"]:
            if p["name"] in theirs and p["name"] not in ELSEWHERE:
                check_param(name, p, theirs[p["name"]])
                compared += 1
    if compared < 80:
        differs("only %d parameters were compared" % compared)
    print("%d frameworks, %d parameters compared, %d differences"
          % (len(titles), compared, wrong))
    return 1 if wrong else 0


sys.exit(main())
