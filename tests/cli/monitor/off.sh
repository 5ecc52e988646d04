# Nothing is watched with 0, and one that is over at once leaves no file.
prony run -q -P exp.command='["sleep","0.3"]' monitor.frequency=0 -o off >/dev/null
prony run -q -P exp.command='["true"]' monitor.frequency=20 -o short >/dev/null
ls off/experiments/*/ short/experiments/*/ | grep -c monitor || true
grep -c '"monitor"' off/experiments/*/result.json || true
grep -c '"monitor"' short/experiments/*/result.json || true
