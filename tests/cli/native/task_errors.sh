# Data that a model cannot learn from are refused before anything runs.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
try() { prony run -q exp.framework=native nn.peak=false exp.num_batches=2 "$@" -o out && exit 99; echo "status $?" >&2; }
try exp.model=wlm --tiny nn.data=digits
try exp.model=wlm --tiny workflow.generate_data=true
try exp.model=cart --tiny nn.data=digits
sed 's/shape: \[4\]/shape: [5]/; s/^model: cart/model: mine/' "$SRC/models/cart.yaml" > mine.yaml
try exp.model=./mine.yaml --tiny
sed 's/^data: text/data: texts/; s/^model: wlm/model: mine/' "$SRC/models/wlm.yaml" > mine.yaml
try exp.model=./mine.yaml --tiny
sed 's/^data: text/data: sine/; s/^model: wlm/model: mine/' "$SRC/models/wlm.yaml" > mine.yaml
try exp.model=./mine.yaml --tiny
sed 's/next: {shape: \[$rows\], ids: $words}/next: {shape: [$rows], ids: $words - 1}/; s/^model: wlm/model: mine/' "$SRC/models/wlm.yaml" > mine.yaml
try exp.model=./mine.yaml --tiny
[ ! -e out ]
# Noise is of any shape.
prony run -q exp.framework=native nn.peak=false exp.num_batches=2 nn.threads=1 exp.model=./mine.yaml --tiny nn.data=noise \
    -o noise > said
grep -c 'ok' said
