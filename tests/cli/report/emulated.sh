# What emulated experiments found is shown after the table.
cat > lines <<'END'
__results.verdict__= "storage keeps all 2 accelerators busy\u001b[31m"
__results.utilisation__= 0.951
__results.samples_per_second__= 1234.5
__results.bytes_read__= 123456789
__results.wait_ms_p50__= 1.25
__results.by_accelerator__= {"utilisation": [0.95, 0.952], "samples": [100, 100]}
__results.by_epoch__= [{"epoch": 1, "phase": "train", "seconds": 1.5, "utilisation": 0.94}, {"epoch": 2, "phase": "train", "seconds": 1.4, "utilisation": 0.96, "wait_ms_p50": 1.5}]
__results.dlio.train_au_mean_percentage__= 95.5
END
prony run -q -P exp.command='["cat", "lines"]' -V n='[1, 2]' -o out | tail -4
prony report out | tail -n +6
prony report out --format json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(list(d), [(e["id"], e["results"]["utilisation"]) for e in d["emulated"]])'
prony report out/experiments/0001-* --format csv | tr -d '\r'
prony report out/experiments/0001-* --format md | head -20
prony report out/experiments/0001-* --format json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(list(d), d["status"], d["results"]["by_epoch"][1]["utilisation"])'
# By accelerator, when there are too many of them.
sed -i 's/^__results.by_accelerator.*/__results.by_accelerator__= {"utilisation": {"min": 0.5, "mean": 0.75, "max": 1}}/' lines
prony run -q -P exp.command='["cat", "lines"]' -o many > many.txt
prony report many | grep -A3 'By accelerator'
