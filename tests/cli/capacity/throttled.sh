# A storage that keeps 4 busy (and 5 at 81 %): the number, what limits, the
# parts of the JSON.
prony capacity exp.workload=emulate storage.engine=null dataset.format=npy \
    dataset.record_length_bytes=90000 reader.data_loader=pytorch \
    reader.batch_size=2 train.computation_time=0.05 storage.throttle=14600k \
    --steps 20 -o out -q --format json | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert 3 <= d["capacity"] <= 4, d["points"]
print(d["schema"], d["done"], d["at_least"], d["threshold"], d["steps"])
# A machine that is busy with other things says so instead.
print(d["limit"] == {"kind": "throttle",
                     "why": "storage.throttle lets 14.6 MB/s through"}
      or d["limit"]["kind"] == "disturbance" and d["disturbed"])
p = d["points"]
print(p[0]["accelerators"], p[0]["meets"], p[-1]["meets"])
print(all(1 < d["knee"]["accelerators"] <= q["accelerators"]
          for q in p if not q["meets"]))
print(sum(q["repeats"] + q.get("discarded", 0) for q in p)
      == sum(t["kind"] == "trial" for t in d["trials"]))
print(json.load(open("out/capacity.json")) == d)'
grep -c '<svg' out/capacity.svg
