prony plan -P exp.command=true -V n='[1, 2]' -o p.json
prony run p.json -o out
cmp p.json out/plan.json
