# Copies run at the same time, each in its slot, and leave milarun's files.
export PRONY_NVML=
cat > mine.json <<'END'
{"*": {"prepare": ["echo 'made ready'", "no-such-program-here"],
       "partition_scheme": {"type": "per-gpu"}},
 "meet": {"experiment": "command", "arguments": {"--cuda": true, "--n": 5},
          "command": ["sh", "meet.sh"]},
 "bad": {"experiment": "command", "command": ["sh", "-c", "echo oh no; exit 3"],
         "arguments": {}, "partition_scheme": {"type": "normal"}},
 "none": {"experiment": "milarun.models.atari:main", "arguments": {}}}
END
# Either copy waits for the other one.
cat > meet.sh <<'END'
touch here.$PRONY_SLOT
while [ ! -e here.0 ] || [ ! -e here.1 ]; do sleep 0.05; done
sleep 0.3
rm -f here.$PRONY_SLOT
echo "$CUDA_VISIBLE_DEVICES: $*"
echo '__timings.train__= {"rates": [1, 2.5], "metrics": {"loss": NaN}}'
END
prony run -q mine.json --devices 4,7 -o out -d data --no-isolation --repeat 2 \
    --timeout 50 -- --no-cuda >/dev/null 2>&1 || echo "status $?"
ls out | sed 's/[0-9]*-[0-9]*-[0-9]*/TIME/' | sort
cat out/experiments/0002*/log.txt out/experiments/0001*/prepare.txt
test ! -e out/experiments/0004*/prepare.txt # nothing was started for it
python3 - <<'END'
import glob, json
r = json.load(open(glob.glob("out/mine.meet.J1.7.*")[0]))
print(list(r))
print(r["call"], r["device"], r["devices"], r["environ"]["CUDA_VISIBLE_DEVICES"])
print(r["success"], r["error"], r["metrics"], r["timings"]["train"]["rates"],
      list(r["timings"]["program"]), r["job"]["command"])
print(r["prony"]["warnings"])
r = json.load(open(glob.glob("out/mine.bad.J0.FAIL.*")[0]))
print(r["success"], repr(r["error"]), r["prony"]["exit_status"], "device" in r)
r = json.load(open(glob.glob("out/mine.none.J0.4.FAIL.*")[0]))
print(r["success"], r["timings"], r["error"])
END
