# Models with several inputs, losses and turns.
prony model translator --tiny
prony model dcgan --tiny | grep -v 'batch_norm\|relu'
prony model bert --tiny --format json > bert.json
python3 - <<'END'
import json
m = json.load(open("bert.json"))
print(m["format"] if "format" in m else m.get("schema"), m["data"], m["items"], m["turns"], m["output"])
for i in m["inputs"]:
    print(i["name"], i["shape"], i["ids"])
for l in m["losses"]:
    print(l["name"], l["kind"], l["of"], l["target"])
print([(l["name"], l["like"]) for l in m["layers"] if "like" in l])
END
prony plan exp.framework=native -V exp.model='["wlm", "bert", "dcgan", "cart"]' exp.replica_batch=2 nn.tiny=true
prony plan exp.framework=native exp.model=gpt nn.tiny=true exp.num_local_replicas=2
