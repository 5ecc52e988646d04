# Each says what is wrong, and leaves nothing behind.
try() { prony capacity "$@" && exit 99; echo "status $?" >&2; }
e="exp.workload=emulate storage.engine=null"
try
try exp.command=true
try $e
try $e train.computation_time=0.1 reader.data_loader=none
try $e train.computation_time=0.1 workflow.train=false workflow.generate_data=true
try $e train.computation_time=0.1 -V reader.batch_size='[1, 2]'
try $e train.computation_time=0.1 --repeat 2
try $e train.computation_time=0.1 --au 90
try $e train.computation_time=0.1 --confidence 0.4
try $e train.computation_time=0.1 --min 5 --max 4
try $e train.computation_time=0.1 --max 2000000
try $e train.computation_time=0.1 --repeats 1
try $e train.computation_time=0.1 --steps 0
try --resume nowhere
mkdir used && touch used/file
try $e train.computation_time=0.1 -o used
rm -r used
ls
