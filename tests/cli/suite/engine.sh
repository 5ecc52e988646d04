# milarun itself runs its functions where Python finds it; its result becomes
# part of ours, also when it says that it failed.
export PRONY_NVML= PYTHONPATH="$TMP/lib"
mkdir -p lib/milarun
cat > lib/milarun/__init__.py </dev/null
cat > lib/milarun/cli.py <<'END'
import json, os, sys
def main():
    print(sys.argv[1:3], sys.argv[sys.argv.index("--") + 1:],
          os.environ["CUDA_VISIBLE_DEVICES"])
    again = os.path.exists("begun")
    if "--once" in sys.argv and again:
        sys.exit(0) # and leaves no result
    open("begun", "w").close()
    bad = ("--crash" in sys.argv or "--once" in sys.argv
           or "--quietly" in sys.argv and not again)
    out = sys.argv[sys.argv.index("--out") + 1]
    json.dump({"success": not bad, "error": "Traceback: boom" if bad else None,
               "gpu": "A GPU", "device_count": 1, "metrics": {"loss": float("nan")},
               "timings": {"train": {"rates": [3.5]}},
               "gpu_monitor": {"0": {"load": {"min": 0}}}}, open(out, "w"))
    sys.exit(bad and "--quietly" not in sys.argv)
END
cat > mine.json <<'END'
{"*": {"experiment": "milarun.models.atari:main", "partition_scheme": {"type": "per-gpu"}},
 "a": {"arguments": {"--x": 1}}, "b": {"arguments": {"--crash": true}}}
END
prony run -q mine.json -o out -P runtime.python="$(command -v python3)" \
    --no-isolation -d data -- --y >/dev/null 2>&1 || echo "status $?"
cat out/experiments/0001*/log.txt
python3 - <<'END'
import glob, json
for name in sorted(glob.glob("out/mine.*")):
    r = json.load(open(name))
    print(r["success"], r["error"], r["gpu"], r["metrics"],
          {k: v for k, v in r["timings"].items() if k != "program"},
          r["gpu_monitor"], r["prony"]["engine"])
END
prony run -q mine.json -o other -P suite.engine=native >/dev/null 2>&1 || echo "status $?"
grep -h '"reason"' other/mine.a*
# What an attempt left is not the result of the next one.
rm begun
cat > once.json <<'END'
{"a": {"experiment": "milarun.models.atari:main", "arguments": {"--once": true},
       "partition_scheme": {"type": "per-gpu"}}}
END
prony run -q once.json -o once -P runtime.python="$(command -v python3)" \
    --no-isolation --retry 1 -d data >/dev/null 2>&1 || echo "status $?"
grep -h -e '"attempts"' -e '"status"' -e boom once/experiments/*/result.json
ls once/experiments/* | grep milarun
# A failure that only its result tells of is tried again like any other.
rm -f begun
echo '{"q": {"experiment": "milarun.models.atari:main", "arguments": {"--quietly": true}, "partition_scheme": {"type": "per-gpu"}}}' > quiet.json
prony run -q quiet.json -o quiet -P runtime.python="$(command -v python3)" \
    --retry 1 --no-isolation -d data >/dev/null 2>&1 || echo "status $?"
grep -ho '"event": "[a-z]*_retry".*"reason": "[^"]*"' quiet/events.ndjson | sed 's/"id.*"reason"/"reason"/'
python3 -c 'import glob, json; r = json.load(open(glob.glob("quiet/quiet.q*")[0])); print(r["success"], r["prony"]["attempts"])'
