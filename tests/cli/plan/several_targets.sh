echo 'exp.name: one' > a.yaml
echo 'exp: {name: two}' > b.yaml
prony plan a.yaml b.yaml -P exp.command=true
