# A file that a killed run did not come to is written by the resumed one; one
# of an experiment that is run again goes.
export PRONY_NVML=
cat > mine.json <<'END'
{"a": {"experiment": "command", "command": "true", "arguments": {}},
 "b": {"experiment": "command", "command": ["test", "-e", "ready"],
       "arguments": {}}}
END
prony run -q mine.json -o out >/dev/null 2>&1 || echo "status $?"
names() { ls out | grep mine | sed 's/[0-9]*-[0-9]*-[0-9]*/TIME/'; }
names
before=$(ls out/mine.a*)
rm out/mine.a*
prony run -q --resume out >/dev/null 2>&1 || echo "status $?"
test "$before" = "$(ls out/mine.a*)"
touch ready
prony run -q --resume out --retry 0 >/dev/null
names
# It looks for data where the first one did.
cat > where.json <<'END'
{"w": {"experiment": "command", "arguments": {},
       "command": ["sh", "-c", "test -e again && echo $PRONY_DATA"]}}
END
prony run -q where.json -d data -o w >/dev/null 2>&1 || echo "status $?"
touch again
prony run -q --resume w --retry 0 >/dev/null
cat w/experiments/*/log.txt
