# Every bundled model, with what was published about the best known.
prony model | grep -E '^(model|alexnet_owt|resnet50|vgg16|inception3) '
prony model --format json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], len(d["models"]) >= 24)
for m in d["models"]:
    assert m["params"] > 0 and m["flops"] > 0 and m["input"] and m["title"]'
prony model resnet50 vgg11 --format json | grep -c '"schema": "prony.model/2"'
prony model resnet50 | tail -2
prony model resnet18 lenet | grep -c '^reference: '
