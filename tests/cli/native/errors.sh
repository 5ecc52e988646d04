# What is refused before anything runs.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
try() { prony run exp.framework=native "$@" -o out && exit 99; echo "status $?" >&2; }
try
try exp.model=lenett
try exp.model=lenet exp.dtype=int8
try exp.model=lenet exp.replica_batch=0
try exp.model=lenet exp.num_batches=0
try exp.model=lenet exp.model_opts='[1]'
try exp.model=acoustic_model nn.data=digits
try exp.model=lenet nn.data=digits nn.samples=3
try exp.model=lenet nn.optimizer=rmsprop
try exp.model=lenet --max-count 0
try exp.model=lenet nn.learning_rate=-0.5
try exp.model=lenet exp.data=real dataset.format=synthetic
[ ! -e out ]
