# bash completion for prony. Written by "prony __complete bash"; do not
# edit.

_prony_verbs='demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor'
_prony_sections='exp runtime run null storage dataset.hdf5 dataset reader train evaluation workflow output.metric output metric profiling emulate model.parallelism model.transformer model checkpoint nn mlperf probe monitor container suite task sys.plan_builder'
_prony_names='exp.workload
exp.command
exp.args
exp.cwd
exp.name
exp.timeout
exp.grace
exp.retry
exp.status
exp.status_msg
exp.id
exp.proj
exp.framework
exp.framework_title
exp.framework_family
exp.framework_ver
exp.framework_commit
exp.model
exp.model_title
exp.model_opts
exp.phase
exp.dtype
exp.use_tensor_core
exp.num_warmup_batches
exp.num_batches
exp.replica_batch
exp.effective_batch
exp.gpus
exp.num_local_gpus
exp.num_gpus
exp.num_local_replicas
exp.num_replicas
exp.accelerators
exp.num_nodes
exp.device_type
exp.device_title
exp.node_id
exp.node_nic
exp.cuda
exp.cudnn
exp.data_dir
exp.data
exp.data_store
exp.docker
exp.docker_image
exp.docker_launcher
exp.docker_args
exp.log_file
exp.rerun
exp.ignore_past_errors
exp.sys_info
runtime.launcher
runtime.cuda_cache
runtime.visible_gpus
runtime.EXPORT_CUDA_VISIBLE_DEVICES
runtime.EXPORT_CUDA_CACHE_PATH
runtime.python
run.fsync
null.steps
null.sleep
storage.engine
storage.storage_type
storage.storage_root
storage.storage_options
storage.block_size
storage.request_size
storage.queue_depth
storage.throttle
storage.latency
storage.fault
storage.trace
dataset.hdf5.num_dset_per_record
dataset.hdf5.chunk_dims
dataset.hdf5.max_shape
dataset.format
dataset.data_folder
dataset.num_files_train
dataset.num_files_eval
dataset.num_samples_per_file
dataset.record_length_bytes
dataset.record_length_bytes_stdev
dataset.record_length_bytes_resize
dataset.payload
dataset.record_dims
dataset.record_element_type
dataset.record_element_bytes
dataset.num_subfolders_train
dataset.num_subfolders_eval
dataset.file_prefix
dataset.compression
dataset.compression_level
dataset.enable_chunking
dataset.chunk_size
dataset.generation_buffer_size
dataset.keep_files
dataset.labels
dataset.num_classes
dataset.seed
reader.data_loader
reader.batch_size
reader.batch_size_eval
reader.read_threads
reader.computation_threads
reader.prefetch_size
reader.file_shuffle
reader.sample_shuffle
reader.shuffle_size
reader.drop_last
reader.read_type
reader.file_access
reader.transfer_size
reader.odirect
reader.preprocess_time
reader.preprocess_time_stdev
reader.decode
reader.checksum
reader.hold
reader.on_error
reader.io_timeout
reader.transformed_record_dims
reader.transformed_record_element_type
reader.pin_memory
reader.dont_use_mmap
reader.multiprocessing_context
reader.data_loader_classname
reader.data_loader_sampler
reader.reader_classname
train.epochs
train.computation_time
train.computation_time_stdev
train.total_training_steps
train.total_training_steps_of
train.seed
train.seed_change_epoch
train.barrier
evaluation.eval_time
evaluation.eval_time_stdev
evaluation.eval_after_epoch
evaluation.epochs_between_evals
workflow.generate_data
workflow.train
workflow.evaluation
workflow.checkpoint
workflow.profiling
output.metric.exclude_start_steps
output.metric.exclude_end_steps
output.folder
output.log_file
metric.au
profiling.profiler
profiling.iostat_devices
emulate.framework
emulate.compat
emulate.io_threads
emulate.drop_cache
emulate.drop_all
emulate.check_files
emulate.trace
emulate.tensorboard
model.parallelism.tensor
model.parallelism.pipeline
model.parallelism.data
model.parallelism.zero_stage
model.transformer.vocab_size
model.transformer.hidden_size
model.transformer.ffn_hidden_size
model.transformer.num_attention_heads
model.transformer.num_kv_heads
model.name
model.type
model.model_size_bytes
model.model_datatype
model.optimizer_datatype
model.optimization_groups
model.num_layers
model.layer_parameters
checkpoint.checkpoint_folder
checkpoint.checkpoint_after_epoch
checkpoint.epochs_between_checkpoints
checkpoint.steps_between_checkpoints
checkpoint.type
checkpoint.mode
checkpoint.fsync
checkpoint.rank_sync
checkpoint.recovery_rank_shift
checkpoint.rank_shift
checkpoint.time_between_checkpoints
checkpoint.num_checkpoints_write
checkpoint.num_checkpoints_read
checkpoint.recovery_after_steps
checkpoint.randomize_tensor
checkpoint.checkpoint_mechanism_classname
checkpoint.ksm
checkpoint.layout
checkpoint.verify
checkpoint.keep
checkpoint.writers
checkpoint.block_size
checkpoint.engine
checkpoint.first_rank
checkpoint.seed
nn.tiny
nn.threads
nn.optimizer
nn.learning_rate
nn.momentum
nn.weight_decay
nn.seed
nn.dropout
nn.data
nn.samples
nn.augment
nn.rnn
nn.batches
nn.max_count
nn.sample_duration
nn.steady
nn.min_time
nn.max_time
nn.evaluate
nn.mpi
nn.mpi_args
nn.profile
nn.peak
nn.load
nn.save
nn.save_gradients
nn.channels_last
nn.compile
nn.amp
mlperf.division
mlperf.hosts
mlperf.host_memory
probe.run
probe.config
probe.batches
probe.trials
probe.warmup
probe.phases
monitor.frequency
monitor.timeseries
monitor.pid_folder
monitor.backend_pid_folder
monitor.launcher
container.mounts
container.network
container.user
container.workdir
container.shm_size
container.memory
container.cpus
suite.name
suite.job
suite.experiment
suite.arguments
suite.engine
suite.prepare
suite.prepare_timeout
suite.exec_prefix
suite.scheme
suite.group
suite.device
suite.devices
suite.slot
suite.slots
suite.cgroup
suite.isolate
suite.run
suite.entry
suite.extra
task.name
task.system
task.results
task.global_batch
task.gpus
task.repeat
task.workspace
task.data_root
task.data
sys.plan_builder.var_order'

# Values of a parameter.
_prony_values()
{
    case $1 in
    exp.workload) echo  command null emulate native framework loader suite ;;
    exp.phase) echo training inference ;;
    exp.dtype) echo float float32 float16 bfloat16 int8 ;;
    exp.use_tensor_core) echo true false ;;
    exp.device_type) echo gpu cpu ;;
    exp.data) echo synthetic real ;;
    exp.docker) echo true false ;;
    exp.rerun) echo never always onfail ;;
    exp.ignore_past_errors) echo true false ;;
    run.fsync) echo true false ;;
    storage.engine) echo pread direct mmap io_uring memory null ;;
    storage.storage_type) echo local_fs parallel_fs direct_fs s3 aistore ;;
    dataset.format) echo npz npy hdf5 tfrecord csv jpeg jpg png indexed_binary mmap_indexed_binary synthetic ;;
    dataset.payload) echo pixels file raw ;;
    dataset.compression) echo none zip gzip zlib lzf ;;
    dataset.enable_chunking) echo true false ;;
    dataset.keep_files) echo true false ;;
    dataset.labels) echo inside separate none ;;
    reader.data_loader) echo tensorflow pytorch dali native_dali synthetic none custom ;;
    reader.file_shuffle) echo off seed random on ;;
    reader.sample_shuffle) echo off seed random on ;;
    reader.drop_last) echo true false ;;
    reader.read_type) echo on_demand memory ;;
    reader.file_access) echo multi shared collective mpio posix ;;
    reader.odirect) echo true false ;;
    reader.decode) echo true false ;;
    reader.checksum) echo true false ;;
    reader.hold) echo true false ;;
    reader.on_error) echo stop skip ;;
    reader.pin_memory) echo true false ;;
    reader.dont_use_mmap) echo true false ;;
    reader.multiprocessing_context) echo fork spawn forkserver None ;;
    reader.data_loader_sampler) echo  iterative index iter none ;;
    train.total_training_steps_of) echo epoch run ;;
    train.seed_change_epoch) echo true false ;;
    train.barrier) echo true false ;;
    workflow.generate_data) echo true false ;;
    workflow.train) echo true false ;;
    workflow.evaluation) echo true false ;;
    workflow.checkpoint) echo true false ;;
    workflow.profiling) echo true false ;;
    profiling.profiler) echo none iostat darshan tensorboard ;;
    emulate.framework) echo tensorflow pytorch ;;
    emulate.compat) echo none dlio ;;
    emulate.drop_cache) echo never generate start epoch ;;
    emulate.drop_all) echo true false ;;
    emulate.check_files) echo sampled all none ;;
    emulate.trace) echo true false ;;
    emulate.tensorboard) echo true false ;;
    model.model_datatype) echo fp16 bf16 fp32 fp64 int8 uint8 ;;
    model.optimizer_datatype) echo fp16 bf16 fp32 fp64 int8 uint8 ;;
    checkpoint.type) echo rank_zero all_ranks ;;
    checkpoint.mode) echo default subset ;;
    checkpoint.fsync) echo true false ;;
    checkpoint.rank_sync) echo true false ;;
    checkpoint.recovery_rank_shift) echo true false ;;
    checkpoint.randomize_tensor) echo true false ;;
    checkpoint.layout) echo plain torch ;;
    checkpoint.verify) echo true false ;;
    checkpoint.engine) echo same pread direct mmap io_uring memory null ;;
    nn.tiny) echo true false ;;
    nn.optimizer) echo  sgd adam ;;
    nn.dropout) echo true false ;;
    nn.data) echo  noise digits ;;
    nn.augment) echo true false ;;
    nn.rnn) echo auto unrolled onednn ;;
    nn.mpi) echo true false ;;
    nn.profile) echo true false ;;
    nn.peak) echo true false ;;
    nn.save_gradients) echo true false ;;
    nn.channels_last) echo true false ;;
    nn.compile) echo true false ;;
    nn.amp) echo true false ;;
    mlperf.division) echo none closed open ;;
    probe.run) echo true false ;;
    suite.engine) echo auto milarun native ;;
    suite.scheme) echo normal per-gpu gpu-progression per-slot ;;
    suite.isolate) echo true false ;;
    esac
}

# Options of a verb.
_prony_options()
{
    case $1 in
    demo) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --output ;;
    plan) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --param \
        --variable \
        --extension \
        --config \
        --set-file \
        --no-defaults \
        --name \
        --devices \
        --isolation \
        --repeat \
        --format \
        --print-config \
        --full \
        --list \
        --explain \
        --output \
        --validate \
        --data \
        --image ;;
    run) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --param \
        --variable \
        --extension \
        --config \
        --set-file \
        --no-defaults \
        --name \
        --devices \
        --isolation \
        --repeat \
        --output \
        --plan \
        --no-validation \
        --image \
        --data \
        --timeout \
        --max-count \
        --tiny \
        --retry \
        --resume \
        --fail-fast \
        --dry-run \
        --launcher \
        --format \
        --strict ;;
    rerun) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --output \
        --param \
        --data ;;
    generate) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --param \
        --variable \
        --extension \
        --config \
        --set-file \
        --no-defaults \
        --name \
        --repeat \
        --threads \
        --verify \
        --force \
        --resume \
        --data \
        --format ;;
    capacity) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --param \
        --variable \
        --extension \
        --config \
        --set-file \
        --no-defaults \
        --name \
        --repeat \
        --output \
        --au \
        --confidence \
        --min \
        --max \
        --steps \
        --repeats \
        --no-generate \
        --yes \
        --data \
        --resume \
        --format ;;
    probe) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --param \
        --variable \
        --extension \
        --config \
        --set-file \
        --no-defaults \
        --name \
        --repeat \
        --output \
        --no-validation \
        --data \
        --timeout \
        --tiny \
        --retry \
        --fail-fast \
        --dry-run \
        --format \
        --probe-config \
        --batches \
        --trials \
        --warmup ;;
    report) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --format \
        --html \
        --weights \
        --compare \
        --price \
        --penalize-variance \
        --compare-gpus \
        --title \
        --strict \
        --system ;;
    summary) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --output ;;
    parse) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --recursive \
        --query \
        --select \
        --threads \
        --ignore-errors \
        --output-file \
        --output-params \
        --overwrite \
        --filter-query \
        --filter-params \
        --failed-benchmarks \
        --param \
        --benchmarks-per-file \
        --num-output-files \
        --report \
        --format ;;
    scaling) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --recursive \
        --query \
        --select \
        --threads \
        --ignore-errors \
        --summary-file \
        --type \
        --target-variable \
        --report-file \
        --format ;;
    compare) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --fail-if \
        --measure \
        --skip-first \
        --confidence \
        --least \
        --same \
        --noise \
        --format ;;
    plot) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --recursive \
        --query \
        --select \
        --threads \
        --ignore-errors \
        --xparam \
        --yparam \
        --series \
        --aggregation \
        --chart-type \
        --chart-file \
        --chart-opts \
        --series-file \
        --baseline-xvalue \
        --baseline-series ;;
    gather) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --precision \
        --system \
        --metric \
        --dialect \
        --systems \
        --output-file \
        --threads \
        --format ;;
    model) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --input \
        --classes \
        --tiny \
        --format ;;
    help) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --params \
        --text \
        --frameworks \
        --format ;;
    doctor) echo \
        --help \
        --log-level \
        --verbose \
        --quiet \
        --color \
        --progress \
        --format \
        --sys-info ;;
    esac
}

# What follows an option ($2) of a verb ($1).
_prony_option()
{
    case "$1 $2" in
    'demo --log-level') echo 'choice critical error warning info debug' ;;
    'demo --color') echo 'choice auto always never' ;;
    'demo --progress') echo 'choice auto always never plain json' ;;
    'demo --output' | 'demo -o') echo 'dir' ;;
    'plan --log-level') echo 'choice critical error warning info debug' ;;
    'plan --color') echo 'choice auto always never' ;;
    'plan --progress') echo 'choice auto always never plain json' ;;
    'plan --param' | 'plan -P') echo 'set' ;;
    'plan --variable' | 'plan -V') echo 'var' ;;
    'plan --extension' | 'plan -E') echo 'any' ;;
    'plan --config') echo 'file' ;;
    'plan --set-file') echo 'set-file' ;;
    'plan --name') echo 'any' ;;
    'plan --devices') echo 'any' ;;
    'plan --repeat') echo 'any' ;;
    'plan --format') echo 'choice table json' ;;
    'plan --explain') echo 'name' ;;
    'plan --output' | 'plan -o') echo 'file' ;;
    'plan --data' | 'plan -d') echo 'dir' ;;
    'plan --image') echo 'name' ;;
    'run --log-level') echo 'choice critical error warning info debug' ;;
    'run --color') echo 'choice auto always never' ;;
    'run --progress') echo 'choice auto always never plain json' ;;
    'run --param' | 'run -P') echo 'set' ;;
    'run --variable' | 'run -V') echo 'var' ;;
    'run --extension' | 'run -E') echo 'any' ;;
    'run --config') echo 'file' ;;
    'run --set-file') echo 'set-file' ;;
    'run --name') echo 'any' ;;
    'run --devices') echo 'any' ;;
    'run --repeat') echo 'any' ;;
    'run --output' | 'run -o') echo 'dir' ;;
    'run --plan') echo 'file' ;;
    'run --image') echo 'name' ;;
    'run --data' | 'run -d') echo 'dir' ;;
    'run --timeout') echo 'any' ;;
    'run --max-count') echo 'any' ;;
    'run --retry') echo 'any' ;;
    'run --resume') echo 'dir' ;;
    'run --launcher') echo 'choice local' ;;
    'run --format') echo 'choice text json' ;;
    'rerun --log-level') echo 'choice critical error warning info debug' ;;
    'rerun --color') echo 'choice auto always never' ;;
    'rerun --progress') echo 'choice auto always never plain json' ;;
    'rerun --output' | 'rerun -o') echo 'dir' ;;
    'rerun --param' | 'rerun -P') echo 'set' ;;
    'rerun --data' | 'rerun -d') echo 'dir' ;;
    'generate --log-level') echo 'choice critical error warning info debug' ;;
    'generate --color') echo 'choice auto always never' ;;
    'generate --progress') echo 'choice auto always never plain json' ;;
    'generate --param' | 'generate -P') echo 'set' ;;
    'generate --variable' | 'generate -V') echo 'var' ;;
    'generate --extension' | 'generate -E') echo 'any' ;;
    'generate --config') echo 'file' ;;
    'generate --set-file') echo 'set-file' ;;
    'generate --name') echo 'any' ;;
    'generate --repeat') echo 'any' ;;
    'generate --threads') echo 'any' ;;
    'generate --data' | 'generate -d') echo 'dir' ;;
    'generate --format') echo 'choice text json' ;;
    'capacity --log-level') echo 'choice critical error warning info debug' ;;
    'capacity --color') echo 'choice auto always never' ;;
    'capacity --progress') echo 'choice auto always never plain json' ;;
    'capacity --param' | 'capacity -P') echo 'set' ;;
    'capacity --variable' | 'capacity -V') echo 'var' ;;
    'capacity --extension' | 'capacity -E') echo 'any' ;;
    'capacity --config') echo 'file' ;;
    'capacity --set-file') echo 'set-file' ;;
    'capacity --name') echo 'any' ;;
    'capacity --repeat') echo 'any' ;;
    'capacity --output' | 'capacity -o') echo 'dir' ;;
    'capacity --au') echo 'any' ;;
    'capacity --confidence') echo 'any' ;;
    'capacity --min') echo 'any' ;;
    'capacity --max') echo 'any' ;;
    'capacity --steps') echo 'any' ;;
    'capacity --repeats') echo 'any' ;;
    'capacity --data' | 'capacity -d') echo 'dir' ;;
    'capacity --resume') echo 'dir' ;;
    'capacity --format') echo 'choice text json' ;;
    'probe --log-level') echo 'choice critical error warning info debug' ;;
    'probe --color') echo 'choice auto always never' ;;
    'probe --progress') echo 'choice auto always never plain json' ;;
    'probe --param' | 'probe -P') echo 'set' ;;
    'probe --variable' | 'probe -V') echo 'var' ;;
    'probe --extension' | 'probe -E') echo 'any' ;;
    'probe --config') echo 'file' ;;
    'probe --set-file') echo 'set-file' ;;
    'probe --name') echo 'any' ;;
    'probe --repeat') echo 'any' ;;
    'probe --output' | 'probe -o') echo 'dir' ;;
    'probe --data' | 'probe -d') echo 'dir' ;;
    'probe --timeout') echo 'any' ;;
    'probe --retry') echo 'any' ;;
    'probe --format') echo 'choice text json' ;;
    'probe --probe-config') echo 'file' ;;
    'probe --batches') echo 'any' ;;
    'probe --trials') echo 'any' ;;
    'probe --warmup') echo 'any' ;;
    'report --log-level') echo 'choice critical error warning info debug' ;;
    'report --color') echo 'choice auto always never' ;;
    'report --progress') echo 'choice auto always never plain json' ;;
    'report --format') echo 'choice text json csv md' ;;
    'report --html') echo 'file' ;;
    'report --weights') echo 'file' ;;
    'report --compare') echo 'file' ;;
    'report --price') echo 'any' ;;
    'report --title') echo 'any' ;;
    'report --system') echo 'name' ;;
    'summary --log-level') echo 'choice critical error warning info debug' ;;
    'summary --color') echo 'choice auto always never' ;;
    'summary --progress') echo 'choice auto always never plain json' ;;
    'summary --output' | 'summary -o') echo 'file' ;;
    'parse --log-level') echo 'choice critical error warning info debug' ;;
    'parse --color') echo 'choice auto always never' ;;
    'parse --progress') echo 'choice auto always never plain json' ;;
    'parse --query') echo 'any' ;;
    'parse --select') echo 'any' ;;
    'parse --threads') echo 'any' ;;
    'parse --output-file' | 'parse -o') echo 'file' ;;
    'parse --output-params') echo 'any' ;;
    'parse --filter-query') echo 'any' ;;
    'parse --filter-params') echo 'any' ;;
    'parse --failed-benchmarks') echo 'choice keep discard keep_separately' ;;
    'parse --param' | 'parse -P') echo 'any' ;;
    'parse --benchmarks-per-file') echo 'any' ;;
    'parse --num-output-files') echo 'any' ;;
    'parse --report') echo 'any' ;;
    'parse --format') echo 'choice text json' ;;
    'scaling --log-level') echo 'choice critical error warning info debug' ;;
    'scaling --color') echo 'choice auto always never' ;;
    'scaling --progress') echo 'choice auto always never plain json' ;;
    'scaling --query') echo 'any' ;;
    'scaling --select') echo 'any' ;;
    'scaling --threads') echo 'any' ;;
    'scaling --summary-file') echo 'file' ;;
    'scaling --type') echo 'choice weak-scaling strong-scaling exploration' ;;
    'scaling --target-variable') echo 'name' ;;
    'scaling --report-file') echo 'file' ;;
    'scaling --format') echo 'choice text json' ;;
    'compare --log-level') echo 'choice critical error warning info debug' ;;
    'compare --color') echo 'choice auto always never' ;;
    'compare --progress') echo 'choice auto always never plain json' ;;
    'compare --fail-if') echo 'any' ;;
    'compare --measure') echo 'any' ;;
    'compare --confidence') echo 'any' ;;
    'compare --least') echo 'any' ;;
    'compare --same') echo 'any' ;;
    'compare --noise') echo 'any' ;;
    'compare --format') echo 'choice text json csv md' ;;
    'plot --log-level') echo 'choice critical error warning info debug' ;;
    'plot --color') echo 'choice auto always never' ;;
    'plot --progress') echo 'choice auto always never plain json' ;;
    'plot --query') echo 'any' ;;
    'plot --select') echo 'any' ;;
    'plot --threads') echo 'any' ;;
    'plot --xparam') echo 'name' ;;
    'plot --yparam') echo 'name' ;;
    'plot --series') echo 'any' ;;
    'plot --aggregation') echo 'choice avg min max' ;;
    'plot --chart-type') echo 'choice line bar points box rate rate-box monitor monitor-box' ;;
    'plot --chart-file') echo 'file' ;;
    'plot --chart-opts') echo 'any' ;;
    'plot --series-file') echo 'file' ;;
    'plot --baseline-xvalue') echo 'any' ;;
    'plot --baseline-series') echo 'any' ;;
    'gather --log-level') echo 'choice critical error warning info debug' ;;
    'gather --color') echo 'choice auto always never' ;;
    'gather --progress') echo 'choice auto always never plain json' ;;
    'gather --precision') echo 'choice fp32 fp16' ;;
    'gather --system') echo 'name' ;;
    'gather --metric') echo 'choice throughput bs' ;;
    'gather --dialect') echo 'choice g1 v1 v2' ;;
    'gather --systems') echo 'file' ;;
    'gather --output-file' | 'gather -o') echo 'file' ;;
    'gather --threads') echo 'any' ;;
    'gather --format') echo 'choice csv text json md' ;;
    'model --log-level') echo 'choice critical error warning info debug' ;;
    'model --color') echo 'choice auto always never' ;;
    'model --progress') echo 'choice auto always never plain json' ;;
    'model --input') echo 'any' ;;
    'model --classes') echo 'any' ;;
    'model --format') echo 'choice text json' ;;
    'help --log-level') echo 'choice critical error warning info debug' ;;
    'help --color') echo 'choice auto always never' ;;
    'help --progress') echo 'choice auto always never plain json' ;;
    'help --params') echo 'any' ;;
    'help --text') echo 'any' ;;
    'help --frameworks') echo 'name' ;;
    'help --format') echo 'choice text json' ;;
    'doctor --log-level') echo 'choice critical error warning info debug' ;;
    'doctor --color') echo 'choice auto always never' ;;
    'doctor --progress') echo 'choice auto always never plain json' ;;
    'doctor --format') echo 'choice text json' ;;
    esac
}

# What else a verb takes.
_prony_takes()
{
    case $1 in
    plan) echo target ;;
    run) echo target ;;
    rerun) echo file ;;
    generate) echo target ;;
    capacity) echo target ;;
    probe) echo target ;;
    report) echo dir ;;
    summary) echo dir ;;
    parse) echo file ;;
    scaling) echo file ;;
    compare) echo file ;;
    plot) echo file ;;
    gather) echo dir ;;
    model) echo file ;;
    help) echo topic ;;
    esac
}

# Offers the words of $1 that begin with $2, each with $3 in front.
_prony_offer()
{
    local word
    for word in $1; do
        [[ $word == "$2"* ]] && COMPREPLY+=("$3$word")
    done
}

_prony_files()
{
    local word
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do
        COMPREPLY+=("$3$word")
    done < <(compgen "-$1" -- "$2")
}

# NAME=, or after it the values of that parameter.
_prony_settings()
{
    case $1 in
    *=*) _prony_offer "$(_prony_values "${1%%=*}")" "${1#*=}" \
        "$2${1%%=*}=" ;;
    *)
        _prony_offer "${_prony_names//$'\n'/= }=" "$1" "$2"
        ((${#COMPREPLY[@]})) && compopt -o nospace 2>/dev/null ;;
    esac
}

# Bundled targets, files and settings. Readline would put a \ before
# the '=' of names it takes for files: so not both at once.
_prony_targets()
{
    [[ $1 ]] && _prony_settings "$1" "$2"
    [[ $1 == *=* ]] && return
    if ((${#COMPREPLY[@]})); then
        COMPREPLY+=($(compgen -f -- "$1"))
    else
        _prony_offer "$("${COMP_WORDS[0]}" plan --list 2>/dev/null |
            awk '{print $1}')" "$1" "$2"
        _prony_files f "$1" "$2"
    fi
}

# Words of kind $1 that begin with $2; $3 stands in front of them.
_prony_words()
{
    case $1 in
    file) _prony_files f "$2" "$3" ;;
    dir) _prony_files d "$2" "$3" ;;
    name) _prony_offer "$_prony_names" "$2" "$3" ;;
    set) _prony_settings "$2" "$3" ;;
    var) [[ $2 == *=* ]] || _prony_settings "$2" "$3" ;;
    set-file)
        case $2 in
        *=*) _prony_files f "${2#*=}" "$3${2%%=*}=" ;;
        *) _prony_settings "$2" "$3" ;;
        esac ;;
    target) _prony_targets "$2" "$3" ;;
    topic)
        _prony_offer "$_prony_verbs $_prony_sections" "$2" "$3"
        [[ $2 ]] && _prony_offer "$_prony_names" "$2" "$3" ;;
    esac
}

# The argument of option $2 of verb $1, so far $3; $4 in front.
_prony_argument()
{
    local kind
    kind=$(_prony_option "$1" "$2")
    case $kind in
    '') return 1 ;;
    choice*) _prony_offer "${kind#choice}" "$3" "$4" ;;
    *) _prony_words "$kind" "$3" "$4" ;;
    esac
    return 0
}

_prony()
{
    local words=() word glue= i verb cur prev head
    COMPREPLY=()
    # Where '=' breaks words, put together again what it broke.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ($word == = || $glue) && ${#words[@]} -gt 2 ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        glue=
        [[ $word == = ]] && glue=yes
    done
    verb=${words[1]} cur=${words[${#words[@]} - 1]}
    prev=${words[${#words[@]} - 2]}
    if ((${#words[@]} <= 2)); then
        _prony_offer "$_prony_verbs --help --version" "$cur" ''
        return
    fi
    for word in "${words[@]:2:${#words[@]}-3}"; do
        [[ $word == -- ]] && { _prony_files f "$cur" ''; return; }
    done
    head=${cur%%=*}
    if [[ $cur == --*=* ]]; then
        _prony_argument "$verb" "$head" "${cur#*=}" "$head="
    elif [[ $cur == -[A-Za-z]?* ]]; then
        head=${cur:0:2} cur=${cur:2}
        _prony_argument "$verb" "$head" "$cur" "$head"
        cur=$head$cur
    elif [[ $prev == -* && $prev != *=* ]] &&
        _prony_argument "$verb" "$prev" "$cur" ''; then
        :
    elif [[ $cur == -* ]]; then
        _prony_offer "$(_prony_options "$verb")" "$cur" ''
    else
        _prony_words "$(_prony_takes "$verb")" "$cur" ''
    fi
    # Readline replaces only what stands after the last '='.
    if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
        head=${cur%"${cur##*=}"}
        COMPREPLY=("${COMPREPLY[@]#"$head"}")
    fi
}

complete -F _prony prony
