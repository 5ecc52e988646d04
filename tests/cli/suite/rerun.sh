# One experiment again, from milarun's file or from ours.
# tags: valgrind
export PRONY_NVML=
cat > mine.json <<'END'
{"j": {"experiment": "command", "command": ["sh", "-c", "echo $0 $@"],
       "arguments": {"--n": 5}, "partition_scheme": {"type": "per-slot"}}}
END
prony run -q mine.json -o out --repeat 2 --no-isolation -- --a >/dev/null
prony rerun -q out/mine.j.J1.0.*.json -o again -- --n 6 >/dev/null
ls again | sed 's/[0-9]*-[0-9]*-[0-9]*/TIME/' | grep mine
cat again/experiments/*/log.txt
prony rerun -q out/experiments/0002*/result.json -o third -- --b >/dev/null
cat third/experiments/*/log.txt
prony rerun out/env.json || echo "status $?"
prony rerun || echo "status $?"
prony rerun out || echo "status $?"
