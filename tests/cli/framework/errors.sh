# What cannot be started is refused before anything runs.
# tags: valgrind
try() { prony run "$@" -o out || echo "status $?"; }
try -P exp.framework=pytorch
try -P exp.framework=pytorch -P exp.model=lenett
try -P exp.framework=pytorch -P exp.model=lenet -P exp.model_opts=3
try -P exp.framework=pytorch -P exp.model=lenet -P exp.model_opts='{"class": 3}'
try -P exp.framework=mxnett -P exp.model=lenet
try -P exp.workload=framework -P exp.framework=my_own_thing -P exp.model=lenet
try -P exp.workload=framework -P exp.model=lenet
try -P exp.workload=framework -P exp.framework=native -P exp.model=lenet
try -P exp.framework=onnxruntime -P exp.model=lenet
try -P exp.framework=nvcnn -P exp.model=lenet -P exp.phase=inference
try -P exp.framework=nvtfcnn -P exp.model=lenet
mkdir workloads
ln -s "$SRC/frameworks" .
cp "$SRC/models/lenet.yaml" .
export PRONY_SHARE="$TMP"
try -P exp.framework=pytorch -P exp.model=./lenet.yaml
