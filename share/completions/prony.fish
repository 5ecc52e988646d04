# fish completion for prony. Written by "prony __complete fish"; do not
# edit.

# The verb that was typed, if it is one of the arguments.
function __prony_verb
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

function __prony_no_verb
    test (count (commandline -opc)) -eq 1
end

function __prony_bundled
    prony plan --list 2>/dev/null | awk '{print $1}'
end

function __prony_names
    printf '%s\t%s\n' \
        exp.workload 'What the experiment executes: command runs exp.command, null does nothing, emulate reads a data set as training would, native trains exp.model here, framework trains it in exp.framework, loader loads images as training does, suite runs what suite.experiment says.' \
        exp.command 'The program to run: a list of arguments, or text that is split into arguments at blanks, with \'...\', "..." and \\ as in a shell.' \
        exp.args 'Arguments appended to those of exp.command; what stands after -- on the command line goes here.' \
        exp.cwd 'Folder the program starts in.' \
        exp.name 'A name for the experiment, shown in reports and used by --name.' \
        exp.timeout 'Time after which the experiment is stopped: SIGTERM, then SIGKILL to its whole process group.' \
        exp.grace 'Time between SIGTERM and SIGKILL when an experiment is stopped.' \
        exp.retry 'How often a failed experiment is tried again.' \
        exp.status 'disabled or inactive: the experiment is planned but not run.' \
        exp.status_msg 'Why the experiment has its status.' \
        exp.id 'Identifier of the experiment.' \
        exp.proj 'Project the experiment belongs to; a free tag.' \
        exp.framework 'Framework under test: native for the engine that is built in, pytorch, tensorflow, onnxruntime, or one that a launcher of yours runs; \'prony help --frameworks\' lists them.' \
        exp.framework_title 'Name of the framework as reports show it.' \
        exp.framework_family 'Framework whose parameters and launcher are used; caffe for all forks of Caffe.' \
        exp.framework_ver 'Version of the framework.' \
        exp.framework_commit 'Commit of the framework.' \
        exp.model 'Neural network: a bundled name, for example resnet50, or the file of a definition.' \
        exp.model_title 'Name of the model as reports show it.' \
        exp.model_opts 'Options of the model, as JSON: {"input": [3, 64, 64], "classes": 10} change those of its definition.' \
        exp.phase 'What is measured.' \
        exp.dtype 'Type of the numbers computed with; float is float32.' \
        exp.use_tensor_core 'Use tensor cores where the device has them.' \
        exp.num_warmup_batches 'Batches before measuring starts.' \
        exp.num_batches 'Batches measured.' \
        exp.replica_batch 'Samples in a batch of one replica.' \
        exp.effective_batch 'Samples in a batch over all replicas.' \
        exp.gpus 'GPUs to use: replicas are separated by \',\', GPUs of one replica by \':\'.' \
        exp.num_local_gpus 'GPUs used on one node.' \
        exp.num_gpus 'GPUs used on all nodes.' \
        exp.num_local_replicas 'Replicas of the model on one node.' \
        exp.num_replicas 'Replicas of the model on all nodes.' \
        exp.accelerators 'Accelerators that are emulated, all in one process.' \
        exp.num_nodes 'Machines taking part.' \
        exp.device_type 'Kind of the device that computes.' \
        exp.device_title 'Name of the device as reports show it.' \
        exp.node_id 'Name of the machine; a free tag.' \
        exp.node_nic 'Network between the machines; a free tag.' \
        exp.cuda 'Version of CUDA; a free tag.' \
        exp.cudnn 'Version of cuDNN; a free tag.' \
        exp.data_dir 'Folder of the data set.' \
        exp.data 'Whether real or synthetic data is used.' \
        exp.data_store 'Where the data lies, for example local-ssd; a free tag.' \
        exp.docker 'Run in a container instead of on bare metal.' \
        exp.docker_image 'Container image.' \
        exp.docker_launcher 'Program that starts containers.' \
        exp.docker_args 'Arguments for the container program.' \
        exp.log_file 'A second place for the experiment\'s log: log.txt is copied there when the experiment has ended, launchers append to it themselves.' \
        exp.rerun 'Whether an experiment whose exp.log_file exists is run again.' \
        exp.ignore_past_errors 'Run even when a smaller batch failed before.' \
        exp.sys_info 'What to add to the log about the machine, separated by commas: cpuinfo, meminfo, lscpu, dmi, nvidiasmi.' \
        runtime.launcher 'Words put before the command, for example \'OMP_NUM_THREADS=4 numactl --physcpubind=0-3\'.' \
        runtime.cuda_cache 'Folder of CUDA\'s compile cache.' \
        runtime.visible_gpus 'GPUs the experiment may see, separated by \',\'.' \
        runtime.EXPORT_CUDA_VISIBLE_DEVICES 'The assignment as DLBS\'s launchers take it.' \
        runtime.EXPORT_CUDA_CACHE_PATH 'The assignment as DLBS\'s launchers take it.' \
        runtime.python 'Python interpreter for back-ends written in it.' \
        run.fsync 'Have results, logs and data sets on stable storage before they are called done, so that a power cut takes nothing back.' \
        null.steps 'How often nothing is done.' \
        null.sleep 'Time slept in each step.' \
        storage.engine 'How files are read and written: pread through the page cache, direct past it (O_DIRECT), mmap as mapped memory, io_uring with a queue of requests, memory in the process itself, null nowhere (writes vanish, reads give zeros).' \
        storage.storage_type 'Kind of storage.' \
        storage.storage_root 'Folder that relative data folders are in.' \
        storage.storage_options 'Options of the kind of storage, as a map.' \
        storage.block_size 'Size of one request to the kernel, where an engine splits large reads and writes.' \
        storage.request_size 'Largest single read that pread and direct ask the kernel for; direct rounds it to 4096.' \
        storage.queue_depth 'Requests that io_uring keeps under way for one thread.' \
        storage.throttle 'Slows all reads and writes together down to this many bytes a second, to emulate slower storage: the threads of an experiment share it.' \
        storage.latency 'Time added to every open, read and write, to emulate storage that is far away.' \
        storage.fault 'Errors to make up, for tests: a list such as \'eio:read:0.01,short:read:3,enospc:write:100\'; each is kind:operation:when, when being a probability below 1 or the number of the call, counted over all threads of an experiment.' \
        storage.trace 'File to append one line of JSON to for every operation: what, name, offset, bytes, start, duration.' \
        dataset.hdf5.num_dset_per_record 'HDF5 data sets that a sample is split over; record_dims[0] must be a multiple of it.' \
        dataset.hdf5.chunk_dims 'Shape of a chunk, the axis of samples first.' \
        dataset.hdf5.max_shape 'Largest shape that a sample may grow to.' \
        dataset.format 'Format of the files.' \
        dataset.data_folder 'Folder of the data set, in storage.storage_root unless it is absolute.' \
        dataset.num_files_train 'Files to train with.' \
        dataset.num_files_eval 'Files to evaluate with.' \
        dataset.num_samples_per_file 'Samples in each file.' \
        dataset.record_length_bytes 'Mean size of a sample: a square array of the largest whole side whose square is not above it, as in DLIO.' \
        dataset.record_length_bytes_stdev 'Spread of the sizes, file by file.' \
        dataset.record_length_bytes_resize 'Size of a sample after it was loaded and resized.' \
        dataset.payload 'What record_length_bytes is of a jpeg or png file.' \
        dataset.record_dims 'Shape of a sample.' \
        dataset.record_element_type 'Type of the elements, by numpy\'s name: uint8, int64, float32 and so on.' \
        dataset.record_element_bytes 'Not used: the type of the elements has a size.' \
        dataset.num_subfolders_train 'Folders that training files are spread over, one after another.' \
        dataset.num_subfolders_eval 'The same for evaluation files.' \
        dataset.file_prefix 'What names of files start with.' \
        dataset.compression 'Compression: zip for npz, gzip for csv, gzip and zlib for tfrecord, gzip and lzf for hdf5.' \
        dataset.compression_level '1 is fast, 9 is small.' \
        dataset.enable_chunking 'hdf5: store samples in chunks of chunk_size bytes.' \
        dataset.chunk_size 'hdf5: about the size of a chunk; 0: one sample.' \
        dataset.generation_buffer_size 'Not used: data is made as it is written.' \
        dataset.keep_files 'Keep the data set after the run that made it.' \
        dataset.labels 'Where labels go: inside the file where the format has a place for them (npz, hdf5, tfrecord), separate into a npy file for each file, in the folder labels, or none.' \
        dataset.num_classes 'Labels are whole numbers below this.' \
        dataset.seed 'Where the contents of all files come from: the same seed gives the same bytes.' \
        reader.data_loader 'Loader to behave like.' \
        reader.batch_size 'Samples in a batch of one accelerator.' \
        reader.batch_size_eval 'The same when evaluating.' \
        reader.read_threads 'Threads that read for one accelerator.' \
        reader.computation_threads 'Threads that preprocess for one accelerator, with the tensorflow loader; with the others the reading threads do.' \
        reader.prefetch_size 'Batches read ahead for one accelerator.' \
        reader.file_shuffle 'Visit files in another order each epoch: seed by train.seed, random by chance.' \
        reader.sample_shuffle 'Visit samples in another order each epoch: seed by train.seed, random by chance.' \
        reader.shuffle_size 'Samples are shuffled within a window of so many: read in order, delivered shuffled, as a buffer would.' \
        reader.drop_last 'Leave out the samples that do not fill a batch for every accelerator.' \
        reader.read_type 'memory: samples stay in memory once read, so that later epochs read nothing.' \
        reader.file_access 'multi: each accelerator has files of its own, as far as possible.' \
        reader.transfer_size 'Size of one read: storage.request_size, and storage.block_size of io_uring.' \
        reader.odirect 'Read past the page cache: storage.engine=direct.' \
        reader.preprocess_time 'Time that preparing a sample takes once it was read: a number, or a distribution such as {type: normal, mean: 0.1, stdev: 0.01}.' \
        reader.preprocess_time_stdev 'Spread of preprocess_time when that is a number.' \
        reader.decode 'Decode samples as a real loader must.' \
        reader.checksum 'Check the checksums that a format has.' \
        reader.hold 'Keep the bytes of batches in memory until they are consumed, as a real loader does.' \
        reader.on_error 'What happens when a sample cannot be read: the run stops, or the sample is counted and skipped.' \
        reader.io_timeout 'A storage call that takes longer ends the run with an error.' \
        reader.transformed_record_dims 'Shape of a sample as it is delivered; with reader.hold it decides how much is kept.' \
        reader.transformed_record_element_type 'Type of the elements of such a sample.' \
        reader.pin_memory 'Not used: there is no device to copy to.' \
        reader.dont_use_mmap 'Not used: storage.engine says how files are read.' \
        reader.multiprocessing_context 'Not used: reading needs no processes.' \
        reader.data_loader_classname 'A Python class, which is refused: readers are native.' \
        reader.data_loader_sampler 'Not used: it tells DLIO how to call a Python class.' \
        reader.reader_classname 'A Python class, which is refused: readers are native.' \
        train.epochs 'How often the data set is visited.' \
        train.computation_time 'Time that an accelerator computes in a step: a number, or a distribution such as {type: normal, mean: 0.3, stdev: 0.01}, {type: uniform, min: 0.1, max: 0.2}, {type: gamma, shape: 2, scale: 0.1}, {type: exponential, scale: 0.1}, {type: poisson, lam: 1}.' \
        train.computation_time_stdev 'Spread of computation_time when that is a number.' \
        train.total_training_steps 'No more steps than this; -1 and 0: all that the data allows.' \
        train.total_training_steps_of 'What total_training_steps limits: each epoch, as DLIO does, or all epochs together, as its first documentation says.' \
        train.seed 'Where shuffled orders and drawn times come from.' \
        train.seed_change_epoch 'Another order each epoch; false: the same one.' \
        train.barrier 'Accelerators wait for each other after every step, as they do to exchange gradients.' \
        evaluation.eval_time 'Time that an accelerator computes in a step of evaluation; takes what train.computation_time takes.' \
        evaluation.eval_time_stdev 'Spread of eval_time when that is a number.' \
        evaluation.eval_after_epoch 'First epoch that is followed by an evaluation.' \
        evaluation.epochs_between_evals 'Epochs from one evaluation to the next.' \
        workflow.generate_data 'Make the data set first.' \
        workflow.train 'Read the training data, epoch by epoch.' \
        workflow.evaluation 'Evaluate between epochs.' \
        workflow.checkpoint 'Write checkpoints, as section checkpoint says: while training, or, without training, some to be written and then read.' \
        workflow.profiling 'Watch the system meanwhile, as section profiling says.' \
        output.metric.exclude_start_steps 'Steps at the start of an epoch that are not counted.' \
        output.metric.exclude_end_steps 'Steps at its end that are not counted.' \
        output.folder 'A second folder for DLIO\'s result files.' \
        output.log_file 'Name of the log in DLIO\'s form.' \
        metric.au 'Accelerator utilisation that counts as success, 1 being always busy.' \
        profiling.profiler 'iostat: figures of block devices, in iostat.json.' \
        profiling.iostat_devices 'Block devices to watch, a name or a list: sda or [sda, nvme0n1].' \
        emulate.framework 'Framework that the emulated training would use: the key framework of a DLIO file.' \
        emulate.compat 'dlio: read in DLIO\'s own order, which is not always shuffled and may visit a sample twice or never, and take its figures for the main ones.' \
        emulate.io_threads 'Threads that read for all accelerators together.' \
        emulate.drop_cache 'When the data set\'s pages are dropped from the page cache, file by file: after the data was made, also before the first epoch (start), or before each epoch.' \
        emulate.drop_all 'Drop the whole page cache of the machine instead, which needs root.' \
        emulate.check_files 'Whether the files are looked for before training: some of them, all, or none.' \
        emulate.trace 'Write trace.json: every fetch, step and sample, for ui.perfetto.dev.' \
        emulate.tensorboard 'Write event files for TensorBoard: throughput, utilisation and waits by step.' \
        model.parallelism.tensor 'Ranks that share each layer (tensor parallelism).' \
        model.parallelism.pipeline 'Stages that the layers are divided into (pipeline parallelism).' \
        model.parallelism.data 'Copies of the model (data parallelism).' \
        model.parallelism.zero_stage 'What ZeRO divides among the copies: 0 nothing, 1 the optimiser, 2 gradients as well, 3 parameters as well.' \
        model.transformer.vocab_size 'Words that it knows.' \
        model.transformer.hidden_size 'Length of the vector of a word.' \
        model.transformer.ffn_hidden_size 'Length of the vector inside a feed-forward block.' \
        model.transformer.num_attention_heads 'Heads that attend.' \
        model.transformer.num_kv_heads 'Heads with keys and values of their own.' \
        model.name 'Name of the model, for reports.' \
        model.type 'Kind of the model.' \
        model.model_size_bytes 'Size of the state that a model of another kind than transformer has, in every checkpoint of a rank.' \
        model.model_datatype 'Type of the model\'s parameters in a checkpoint.' \
        model.optimizer_datatype 'Type of the optimiser\'s state in a checkpoint.' \
        model.optimization_groups 'Sizes of the optimiser\'s groups in bytes; empty: they follow from the transformer.' \
        model.num_layers 'Layers; below 1: a checkpoint has no layers and no optimiser state.' \
        model.layer_parameters 'Sizes of the tensors of each layer in bytes; empty: they follow from the transformer.' \
        checkpoint.checkpoint_folder 'Folder of the checkpoints; a relative one is in the working folder, or in that of -d.' \
        checkpoint.checkpoint_after_epoch 'First epoch that is followed by a checkpoint.' \
        checkpoint.epochs_between_checkpoints 'Epochs from one checkpoint to the next.' \
        checkpoint.steps_between_checkpoints 'Steps from one checkpoint to the next within an epoch; -1: checkpoints go by epochs.' \
        checkpoint.type 'Read for DLIO\'s sake.' \
        checkpoint.mode 'subset: the accelerators are some of the ranks of a larger job, whose number model.parallelism gives.' \
        checkpoint.fsync 'Have every file on stable storage before a checkpoint counts as written.' \
        checkpoint.rank_sync 'Each rank\'s file of DLIO\'s has the time until the slowest rank was done, not that rank\'s own.' \
        checkpoint.recovery_rank_shift 'A rank reads what another one wrote, rank_shift further, so that no machine reads its own pages.' \
        checkpoint.rank_shift 'How far recovery_rank_shift shifts.' \
        checkpoint.time_between_checkpoints 'Without training: seconds to wait before each checkpoint is written or read.' \
        checkpoint.num_checkpoints_write 'Without training: how many are written.' \
        checkpoint.num_checkpoints_read 'Without training: how many are read afterwards.' \
        checkpoint.recovery_after_steps 'Without training: after every so many writes the last one is read at once, as older files of DLIO\'s ask.' \
        checkpoint.randomize_tensor 'Contents that do not compress, the same for the same seed; false: ones.' \
        checkpoint.checkpoint_mechanism_classname 'A Python class of DLIO\'s; cannot be used.' \
        checkpoint.ksm 'DLIO\'s way to keep equal pages of checkpoints once in memory.' \
        checkpoint.layout 'What is in a file: plain tensors one after another behind a header as in safetensors, or the zip archive that torch.load reads.' \
        checkpoint.verify 'Compare every byte that is read with what was written.' \
        checkpoint.keep 'Newest checkpoints of a run that are kept, older ones are removed.' \
        checkpoint.writers 'Threads that write and read for all ranks.' \
        checkpoint.block_size 'Size of one write or read, rounded down to a multiple of 4096.' \
        checkpoint.engine 'How checkpoints are written and read; same: as storage.engine says.' \
        checkpoint.first_rank 'With mode=subset: the first rank that is run here; those after it follow.' \
        checkpoint.seed 'Seed of the contents.' \
        nn.tiny 'The model\'s own small size, to try things.' \
        nn.threads 'Threads that compute.' \
        nn.optimizer 'How weights are updated.' \
        nn.learning_rate 'Step size of the optimiser.' \
        nn.momentum 'Momentum of sgd.' \
        nn.weight_decay 'Weight decay of the optimiser.' \
        nn.seed 'Where initial weights, synthetic data and what dropout keeps come from.' \
        nn.dropout 'Drop values where the model says so; false: keep them all, to compare with another engine.' \
        nn.data 'Synthetic data: noise is one random batch used again and again, digits are drawn figures of ten classes that can be learned.' \
        nn.samples 'Size of the set of digits; training visits it in another order each epoch.' \
        nn.augment 'Crop and flip images of a data set at random when training; false: the middle of each.' \
        nn.rnn 'How the native engine computes recurrent layers: row by row, by the recurrent primitives of oneDNN, or as is faster.' \
        nn.batches 'File of batches (safetensors, INPUT.NUMBER) that a framework goes through.' \
        nn.max_count 'Stop after this many samples were measured, as milarun\'s --max-count.' \
        nn.sample_duration 'Length of the slices of time whose rates the steady state comes from, as milarun\'s --sample-duration.' \
        nn.steady 'Stop when the rate is known this well: half of its 95 % interval as a share of it, for example 0.02.' \
        nn.min_time 'Measure at least this long before nn.steady may stop.' \
        nn.max_time 'Stop after measuring this long.' \
        nn.evaluate 'After training, samples that were not trained with and whose accuracy is measured.' \
        nn.mpi 'Start replicas with mpirun (Open MPI) instead of forking them; exp.num_replicas of them, on the machines that mpirun knows.' \
        nn.mpi_args 'Further arguments of mpirun, such as --host a:2,b:2.' \
        nn.profile 'Measure each layer and add a table of their times to the results.' \
        nn.peak 'Measure how fast this machine multiplies and adds at most, to compare with.' \
        nn.load 'File of tensors (safetensors) to begin with: weights by name, and input and labels as the batch of every step if they are there.' \
        nn.save 'File of tensors (safetensors) that is written at the end: weights, the last output and, with save_gradients, the last gradients as grad.NAME.' \
        nn.save_gradients 'Keep the gradients of the last step for nn.save.' \
        nn.channels_last 'PyTorch: keep images with their channels last.' \
        nn.compile 'Frameworks: compile the model first (PyTorch: torch.compile, TensorFlow: XLA).' \
        nn.amp 'Frameworks: automatic mixed precision, float16 on a GPU and bfloat16 on a processor.' \
        mlperf.division 'Check the experiment against the rules of MLPerf Storage for this division, and report it.' \
        mlperf.hosts 'Client machines that would take part, for the size of the data set.' \
        mlperf.host_memory 'Memory of each client machine.' \
        probe.run 'Measure throughput with data alone (IO), computing alone (SYNTHETIC) and both (FULL) instead of training, and say what is the limit.' \
        probe.config 'A configuration file of benchy\'s; the parameters of this section are stronger.' \
        probe.batches 'Batches timed in a trial.' \
        probe.trials 'Trials that are recorded of each phase.' \
        probe.warmup 'Trials before these that are not.' \
        probe.phases 'Which of io, synthetic and full.' \
        monitor.frequency 'Time between two looks at the machine, for example 0.1 or 2.' \
        monitor.timeseries 'Series to write to the experiment\'s log as results.use.NAME, as DLBS has them: NAME:TYPE:INDEX[:[COUNT]], separated by commas, by place in \'pid time virt res shrd cpu mem power gpu0 gpu1 ...\'.' \
        monitor.pid_folder 'Accepted for DLBS\'s sake: processes are found without a file.' \
        monitor.backend_pid_folder 'Accepted for DLBS\'s sake: processes are found without a file.' \
        monitor.launcher 'Accepted for DLBS\'s sake: the monitor is built in.' \
        container.mounts 'More folders to see inside: a list of \'HOST:INSIDE\' or \'HOST:INSIDE:ro\'.' \
        container.network 'Network of the container: none, host, or what the container program knows.' \
        container.user 'User inside: a name, or UID:GID.' \
        container.workdir 'Folder the program starts in, inside.' \
        container.shm_size 'Size of /dev/shm inside.' \
        container.memory 'Most memory the container may take.' \
        container.cpus 'Most processors the container may keep busy.' \
        suite.name 'The suite: the name of the profile without its ending.' \
        suite.job 'The job of the suite.' \
        suite.experiment 'What the job runs: a function of milarun\'s as module:function, or \'command\' for exp.command.' \
        suite.arguments 'Arguments of the job, as words.' \
        suite.engine 'Who runs a function of milarun\'s: milarun itself, or the equivalent in Prony.' \
        suite.prepare 'Commands before the job starts, once for all its copies, each split into arguments and run without a shell.' \
        suite.prepare_timeout 'Time after which a command of suite.prepare is killed, which is a warning; exp.timeout counts as well when it is shorter.' \
        suite.exec_prefix 'Words in front of the job\'s program, for example nocache.' \
        suite.scheme 'How the job uses the machine: one copy on all of it; one for each GPU, all at once; on 1, 2, … GPUs in turn; one for each slot, all at once.' \
        suite.group 'Experiments that follow one another with the same group start together.' \
        suite.device 'Number of the GPU or slot that this copy has.' \
        suite.devices 'Numbers of all GPUs that the experiment may use: CUDA_VISIBLE_DEVICES and its like.' \
        suite.slot 'Which of the equal parts of the machine this copy runs in, from 0.' \
        suite.slots 'Devices of all equal parts that cores and memory are split into, in their order.' \
        suite.cgroup 'Control group to run in, as milarun\'s profiles name it: cpuset,memory:student{CUDA_VISIBLE_DEVICES}.' \
        suite.isolate 'Keep copies apart: processors and memory of their own.' \
        suite.run 'Which repeat this is, from 0: what stands after J in the name of the result file.' \
        suite.entry 'The job as the profile has it, its defaults merged: \'job\' of the result file.' \
        suite.extra 'More keys for the result file, after outdir: milarun\'s --extra.' \
        task.name 'Name of a task in systems/lambda-tasks.yaml, for example PyTorch_SSD_FP32: its log is read by the rules there, and without a figure the experiment has failed.' \
        task.system 'Name of the system: the folder that results are also put in, SYSTEM/TASK/DATE.txt, for \'prony gather\'.' \
        task.results 'Folder that task.system lies in.' \
        task.global_batch 'Batch over all GPUs, for benchmark.para.' \
        task.gpus 'GPUs that the task is started for.' \
        task.repeat 'Which of several runs of a task this is.' \
        task.workspace 'Folder that the folders of tasks lie in; in a container it is inside.' \
        task.data_root 'Folder of the tasks\' data.' \
        task.data 'Where a task finds its data.' \
        sys.plan_builder.var_order 'Names of variables, the slowest first.'
end

function __prony_variables
    __prony_names | string replace \t =\t
end

function __prony_settings
    __prony_variables
    printf '%s\n' \
        exp.workload=command \
        exp.workload=null \
        exp.workload=emulate \
        exp.workload=native \
        exp.workload=framework \
        exp.workload=loader \
        exp.workload=suite \
        exp.phase=training \
        exp.phase=inference \
        exp.dtype=float \
        exp.dtype=float32 \
        exp.dtype=float16 \
        exp.dtype=bfloat16 \
        exp.dtype=int8 \
        exp.use_tensor_core=true \
        exp.use_tensor_core=false \
        exp.device_type=gpu \
        exp.device_type=cpu \
        exp.data=synthetic \
        exp.data=real \
        exp.docker=true \
        exp.docker=false \
        exp.rerun=never \
        exp.rerun=always \
        exp.rerun=onfail \
        exp.ignore_past_errors=true \
        exp.ignore_past_errors=false \
        run.fsync=true \
        run.fsync=false \
        storage.engine=pread \
        storage.engine=direct \
        storage.engine=mmap \
        storage.engine=io_uring \
        storage.engine=memory \
        storage.engine=null \
        storage.storage_type=local_fs \
        storage.storage_type=parallel_fs \
        storage.storage_type=direct_fs \
        storage.storage_type=s3 \
        storage.storage_type=aistore \
        dataset.format=npz \
        dataset.format=npy \
        dataset.format=hdf5 \
        dataset.format=tfrecord \
        dataset.format=csv \
        dataset.format=jpeg \
        dataset.format=jpg \
        dataset.format=png \
        dataset.format=indexed_binary \
        dataset.format=mmap_indexed_binary \
        dataset.format=synthetic \
        dataset.payload=pixels \
        dataset.payload=file \
        dataset.payload=raw \
        dataset.compression=none \
        dataset.compression=zip \
        dataset.compression=gzip \
        dataset.compression=zlib \
        dataset.compression=lzf \
        dataset.enable_chunking=true \
        dataset.enable_chunking=false \
        dataset.keep_files=true \
        dataset.keep_files=false \
        dataset.labels=inside \
        dataset.labels=separate \
        dataset.labels=none \
        reader.data_loader=tensorflow \
        reader.data_loader=pytorch \
        reader.data_loader=dali \
        reader.data_loader=native_dali \
        reader.data_loader=synthetic \
        reader.data_loader=none \
        reader.data_loader=custom \
        reader.file_shuffle=off \
        reader.file_shuffle=seed \
        reader.file_shuffle=random \
        reader.file_shuffle=on \
        reader.sample_shuffle=off \
        reader.sample_shuffle=seed \
        reader.sample_shuffle=random \
        reader.sample_shuffle=on \
        reader.drop_last=true \
        reader.drop_last=false \
        reader.read_type=on_demand \
        reader.read_type=memory \
        reader.file_access=multi \
        reader.file_access=shared \
        reader.file_access=collective \
        reader.file_access=mpio \
        reader.file_access=posix \
        reader.odirect=true \
        reader.odirect=false \
        reader.decode=true \
        reader.decode=false \
        reader.checksum=true \
        reader.checksum=false \
        reader.hold=true \
        reader.hold=false \
        reader.on_error=stop \
        reader.on_error=skip \
        reader.pin_memory=true \
        reader.pin_memory=false \
        reader.dont_use_mmap=true \
        reader.dont_use_mmap=false \
        reader.multiprocessing_context=fork \
        reader.multiprocessing_context=spawn \
        reader.multiprocessing_context=forkserver \
        reader.multiprocessing_context=None \
        reader.data_loader_sampler=iterative \
        reader.data_loader_sampler=index \
        reader.data_loader_sampler=iter \
        reader.data_loader_sampler=none \
        train.total_training_steps_of=epoch \
        train.total_training_steps_of=run \
        train.seed_change_epoch=true \
        train.seed_change_epoch=false \
        train.barrier=true \
        train.barrier=false \
        workflow.generate_data=true \
        workflow.generate_data=false \
        workflow.train=true \
        workflow.train=false \
        workflow.evaluation=true \
        workflow.evaluation=false \
        workflow.checkpoint=true \
        workflow.checkpoint=false \
        workflow.profiling=true \
        workflow.profiling=false \
        profiling.profiler=none \
        profiling.profiler=iostat \
        profiling.profiler=darshan \
        profiling.profiler=tensorboard \
        emulate.framework=tensorflow \
        emulate.framework=pytorch \
        emulate.compat=none \
        emulate.compat=dlio \
        emulate.drop_cache=never \
        emulate.drop_cache=generate \
        emulate.drop_cache=start \
        emulate.drop_cache=epoch \
        emulate.drop_all=true \
        emulate.drop_all=false \
        emulate.check_files=sampled \
        emulate.check_files=all \
        emulate.check_files=none \
        emulate.trace=true \
        emulate.trace=false \
        emulate.tensorboard=true \
        emulate.tensorboard=false \
        model.model_datatype=fp16 \
        model.model_datatype=bf16 \
        model.model_datatype=fp32 \
        model.model_datatype=fp64 \
        model.model_datatype=int8 \
        model.model_datatype=uint8 \
        model.optimizer_datatype=fp16 \
        model.optimizer_datatype=bf16 \
        model.optimizer_datatype=fp32 \
        model.optimizer_datatype=fp64 \
        model.optimizer_datatype=int8 \
        model.optimizer_datatype=uint8 \
        checkpoint.type=rank_zero \
        checkpoint.type=all_ranks \
        checkpoint.mode=default \
        checkpoint.mode=subset \
        checkpoint.fsync=true \
        checkpoint.fsync=false \
        checkpoint.rank_sync=true \
        checkpoint.rank_sync=false \
        checkpoint.recovery_rank_shift=true \
        checkpoint.recovery_rank_shift=false \
        checkpoint.randomize_tensor=true \
        checkpoint.randomize_tensor=false \
        checkpoint.layout=plain \
        checkpoint.layout=torch \
        checkpoint.verify=true \
        checkpoint.verify=false \
        checkpoint.engine=same \
        checkpoint.engine=pread \
        checkpoint.engine=direct \
        checkpoint.engine=mmap \
        checkpoint.engine=io_uring \
        checkpoint.engine=memory \
        checkpoint.engine=null \
        nn.tiny=true \
        nn.tiny=false \
        nn.optimizer=sgd \
        nn.optimizer=adam \
        nn.dropout=true \
        nn.dropout=false \
        nn.data=noise \
        nn.data=digits \
        nn.augment=true \
        nn.augment=false \
        nn.rnn=auto \
        nn.rnn=unrolled \
        nn.rnn=onednn \
        nn.mpi=true \
        nn.mpi=false \
        nn.profile=true \
        nn.profile=false \
        nn.peak=true \
        nn.peak=false \
        nn.save_gradients=true \
        nn.save_gradients=false \
        nn.channels_last=true \
        nn.channels_last=false \
        nn.compile=true \
        nn.compile=false \
        nn.amp=true \
        nn.amp=false \
        mlperf.division=none \
        mlperf.division=closed \
        mlperf.division=open \
        probe.run=true \
        probe.run=false \
        suite.engine=auto \
        suite.engine=milarun \
        suite.engine=native \
        suite.scheme=normal \
        suite.scheme=per-gpu \
        suite.scheme=gpu-progression \
        suite.scheme=per-slot \
        suite.isolate=true \
        suite.isolate=false
end

function __prony_set_file
    set -l name (string match -r '^[^=]+=' -- (commandline -ct))
    test -z "$name"; and __prony_variables; and return
    for file in (string replace -- $name '' (commandline -ct))*
        echo $name$file
    end
end

function __prony_topics
    printf '%s\t%s\n' \
        demo 'a tour on this machine in about a minute' \
        plan 'show the experiments that run would run, and their cost' \
        run 'run a plan and record every result' \
        rerun 'one experiment again, from its result' \
        generate 'make the data set of an experiment, and nothing else' \
        capacity 'the most accelerators that this storage keeps busy' \
        probe 'what holds a training back: data or computing' \
        report 'the results of a run or a suite' \
        summary 'the results of a suite in one JSON' \
        parse 'numbers out of logs' \
        scaling 'how time changes with devices and batches' \
        compare 'faster, slower, or the same?' \
        plot 'series of figures, and charts of them' \
        gather 'tables of GPU systems and their tasks' \
        model 'the networks there are, and their layers' \
        help 'parameters, verbs and what they mean' \
        doctor 'what this machine and this build have and lack' \
        exp 'one experiment' \
        runtime 'the surroundings of an experiment\'s process' \
        run 'how a run keeps what it finds out' \
        null 'the workload that does nothing' \
        storage 'where data sets live and how they are reached' \
        dataset.hdf5 'what only HDF5 files have' \
        dataset 'the files of a data set' \
        reader 'how training reads its data set' \
        train 'the training that is emulated' \
        evaluation 'looking at held-out data between epochs' \
        workflow 'which parts of an emulated training are done' \
        output.metric 'steps that the measures leave out' \
        output 'where DLIO\'s result files go' \
        metric 'what a run should reach' \
        profiling 'what is watched while training is emulated' \
        emulate 'how training is emulated' \
        model.parallelism 'how the model is spread over ranks' \
        model.transformer 'what the sizes of a transformer follow from' \
        model 'the model that is trained' \
        checkpoint 'when checkpoints are written and read, where and how' \
        nn 'training and inference of a network' \
        mlperf 'the rules of MLPerf Storage' \
        probe 'finding out what holds a training back' \
        monitor 'watching the machine' \
        container 'containers of experiments' \
        suite 'jobs of a suite, one copy a device' \
        task 'tasks of GPU systems' \
        sys.plan_builder 'how the plan is built'
    __prony_names
end

complete -c prony -f
complete -c prony -n __prony_no_verb -l version -d 'show the version'
complete -c prony -n __prony_no_verb -l help -s h -d 'show an overview'
complete -c prony -n __prony_no_verb -a demo -d 'a tour on this machine in about a minute'
complete -c prony -n __prony_no_verb -a plan -d 'show the experiments that run would run, and their cost'
complete -c prony -n __prony_no_verb -a run -d 'run a plan and record every result'
complete -c prony -n __prony_no_verb -a rerun -d 'one experiment again, from its result'
complete -c prony -n __prony_no_verb -a generate -d 'make the data set of an experiment, and nothing else'
complete -c prony -n __prony_no_verb -a capacity -d 'the most accelerators that this storage keeps busy'
complete -c prony -n __prony_no_verb -a probe -d 'what holds a training back: data or computing'
complete -c prony -n __prony_no_verb -a report -d 'the results of a run or a suite'
complete -c prony -n __prony_no_verb -a summary -d 'the results of a suite in one JSON'
complete -c prony -n __prony_no_verb -a parse -d 'numbers out of logs'
complete -c prony -n __prony_no_verb -a scaling -d 'how time changes with devices and batches'
complete -c prony -n __prony_no_verb -a compare -d 'faster, slower, or the same?'
complete -c prony -n __prony_no_verb -a plot -d 'series of figures, and charts of them'
complete -c prony -n __prony_no_verb -a gather -d 'tables of GPU systems and their tasks'
complete -c prony -n __prony_no_verb -a model -d 'the networks there are, and their layers'
complete -c prony -n __prony_no_verb -a help -d 'parameters, verbs and what they mean'
complete -c prony -n __prony_no_verb -a doctor -d 'what this machine and this build have and lack'
complete -c prony -n '__prony_verb demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor' -l help -s h -d 'show this help'
complete -c prony -n '__prony_verb demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor' -l log-level -x -a 'critical error warning info debug' -d 'how much to say on stderr (default: info)'
complete -c prony -n '__prony_verb demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor' -l verbose -s v -d 'say more: --log-level debug'
complete -c prony -n '__prony_verb demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor' -l quiet -s q -d 'say less: only errors, no progress'
complete -c prony -n '__prony_verb demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor' -l color -x -a 'auto always never' -d 'colour in tables (default: auto)'
complete -c prony -n '__prony_verb demo plan run rerun generate capacity probe report summary parse scaling compare plot gather model help doctor' -l progress -x -a 'auto always never plain json' -d 'how progress is shown on stderr (default: auto)'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l param -s P -x -a '(__prony_settings)' -d 'set a parameter; what is not JSON is text'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l variable -s V -x -a '(__prony_variables)' -d 'one experiment for each value; several variables give their product, the last varies fastest'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l extension -s E -x -d 'change experiments that match a condition'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l config -r -F -d 'one more config, laid over the targets; may be repeated'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l set-file -x -a '(__prony_set_file)' -d 'set a parameter to the text of a file'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l no-defaults -d 'use none of Prony\'s own parameters, only what is given (also --discard-default-config)'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l name -x -d 'only experiments whose exp.name is one of these'
complete -c prony -n '__prony_verb plan run' -l devices -x -d 'devices that the jobs of a suite are spread over: auto, how many, or which (0,2 or 0-3); without a GPU they are equal parts of the machine (default: auto, the GPUs there are, else one)'
complete -c prony -n '__prony_verb plan run' -l isolation -d 'keep copies that run together apart, with processors and memory of their own (the default; --no-isolation, also --no-cgexec)'
complete -c prony -n '__prony_verb plan run generate capacity probe' -l repeat -x -d 'do everything N times; repeats are the outer loop'
complete -c prony -n '__prony_verb plan' -l format -x -a 'table json' -d 'how the plan is printed (default: table)'
complete -c prony -n '__prony_verb plan' -l print-config -d 'print the merged config instead: parameters, variables and extensions'
complete -c prony -n '__prony_verb plan' -l full -d 'with --format json: merge the defaults into each experiment'
complete -c prony -n '__prony_verb plan' -l list -d 'list what is bundled and can be named as a target'
complete -c prony -n '__prony_verb plan' -l explain -x -a '(__prony_names)' -d 'say who set a parameter, and over what'
complete -c prony -n '__prony_verb plan' -l output -s o -r -F -d 'write the plan as JSON to a file, to be run later (also --plan)'
complete -c prony -n '__prony_verb plan' -l validate -d 'print what the plan needs and this machine lacks instead, with remedies; so does the verb \'validate\''
complete -c prony -n '__prony_verb plan' -l data -s d -x -a '(__fish_complete_directories)' -d 'root of data sets, where room is looked for (also PRONY_DATA)'
complete -c prony -n '__prony_verb run probe' -l output -s o -x -a '(__fish_complete_directories)' -d 'run directory (default: runs/NAME.TIME)'
complete -c prony -n '__prony_verb run' -l plan -r -F -d 'run a finished plan as it stands; the same as naming it as the target'
complete -c prony -n '__prony_verb run probe' -l no-validation -d 'run also what this machine lacks something for'
complete -c prony -n '__prony_verb plan run' -l image -x -a '(__prony_names)' -d 'run in a container of this image: exp.docker=true, exp.docker_image=NAME'
complete -c prony -n '__prony_verb generate' -l threads -x -d 'threads that make files (default: one for each processor)'
complete -c prony -n '__prony_verb generate' -l verify -d 'read everything back and compare it with what the seed gives'
complete -c prony -n '__prony_verb generate' -l force -d 'replace what is there'
complete -c prony -n '__prony_verb generate' -l resume -d 'make only what is missing or not whole'
complete -c prony -n '__prony_verb generate' -l data -s d -x -a '(__fish_complete_directories)' -d 'root of data sets: storage.storage_root (also PRONY_DATA)'
complete -c prony -n '__prony_verb generate' -l format -x -a 'text json' -d 'how the outcome is printed (default: text)'
complete -c prony -n '__prony_verb run probe' -l data -s d -x -a '(__fish_complete_directories)' -d 'root of data sets; experiments see it as PRONY_DATA'
complete -c prony -n '__prony_verb run probe' -l timeout -x -d 'stop an experiment after this time: 90, 1.5s, 2m'
complete -c prony -n '__prony_verb run' -l max-count -x -d 'stop training after N samples were measured: nn.max_count'
complete -c prony -n '__prony_verb run probe' -l tiny -d 'the model\'s own small size, to try things: nn.tiny'
complete -c prony -n '__prony_verb run probe' -l retry -x -d 'try a failed experiment N more times; with --resume also those that failed before'
complete -c prony -n '__prony_verb run' -l resume -x -a '(__fish_complete_directories)' -d 'go on with the run in DIR; what has a result is not run again'
complete -c prony -n '__prony_verb run probe' -l fail-fast -d 'stop after the first experiment that fails'
complete -c prony -n '__prony_verb run probe' -l dry-run -d 'show the plan and its cost, run nothing'
complete -c prony -n '__prony_verb run' -l launcher -x -a 'local' -d 'how experiments become processes (default: local)'
complete -c prony -n '__prony_verb run probe' -l format -x -a 'text json' -d 'how results are printed (default: text)'
complete -c prony -n '__prony_verb rerun' -l output -s o -x -a '(__fish_complete_directories)' -d 'run directory (default: runs/NAME-again.TIME)'
complete -c prony -n '__prony_verb rerun' -l param -s P -x -a '(__prony_settings)' -d 'change a parameter of the experiment; what is not JSON is text'
complete -c prony -n '__prony_verb rerun' -l data -s d -x -a '(__fish_complete_directories)' -d 'root of data sets (default: the result\'s)'
complete -c prony -n '__prony_verb probe' -l probe-config -r -F -d 'a configuration of benchy\'s: batches, trials and warm-ups of each phase (also BENCHY_CONFIG_FILE)'
complete -c prony -n '__prony_verb probe' -l batches -x -d 'batches timed in a trial (default: 50)'
complete -c prony -n '__prony_verb probe' -l trials -x -d 'trials of each phase (default: 3)'
complete -c prony -n '__prony_verb probe' -l warmup -x -d 'trials before them that do not count (default: 1)'
complete -c prony -n '__prony_verb capacity' -l output -s o -x -a '(__fish_complete_directories)' -d 'folder of the search (default: runs/NAME-capacity.TIME)'
complete -c prony -n '__prony_verb capacity' -l au -x -d 'utilisation to keep, 1 being always busy (default: metric.au of the target)'
complete -c prony -n '__prony_verb capacity' -l confidence -x -d 'how sure the answer shall be (default: 0.95)'
complete -c prony -n '__prony_verb capacity' -l min -x -d 'accelerators to start with (default: 1)'
complete -c prony -n '__prony_verb capacity' -l max -x -d 'accelerators at most (default: 1000000)'
complete -c prony -n '__prony_verb capacity' -l steps -x -d 'steps of each accelerator that count in a trial (default: about 15 s of computing, from 20 to 500; 500 under MLPerf\'s rules)'
complete -c prony -n '__prony_verb capacity' -l repeats -x -d 'runs of one number of accelerators, at most (default: 8)'
complete -c prony -n '__prony_verb capacity' -l no-generate -d 'make no data: use what is there, several times if need be'
complete -c prony -n '__prony_verb capacity' -l yes -s y -d 'make data without asking, however much it is; nobody is asked but at a terminal'
complete -c prony -n '__prony_verb capacity' -l data -s d -x -a '(__fish_complete_directories)' -d 'root of data sets; experiments see it as PRONY_DATA'
complete -c prony -n '__prony_verb capacity' -l resume -x -a '(__fish_complete_directories)' -d 'go on with the search in DIR; trials that are done are not run again'
complete -c prony -n '__prony_verb capacity' -l format -x -a 'text json' -d 'how the answer is printed (default: text)'
complete -c prony -n '__prony_verb report' -l format -x -a 'text json csv md' -d 'how the report is printed (default: text)'
complete -c prony -n '__prony_verb report' -l html -r -F -d 'write the report as one HTML file, too, that needs nothing else'
complete -c prony -n '__prony_verb report' -l weights -r -F -d 'of a suite: what each test weighs in the score, {"standard.vae": {"weight": 8}}; a JSON, YAML or TOML file, JSON itself, or the name of a bundled suite'
complete -c prony -n '__prony_verb report' -l compare -r -F -d 'of a suite: a baseline beside it, a summary, a folder of results, or JSON itself; may be repeated'
complete -c prony -n '__prony_verb report' -l price -x -d 'of a suite: what the machine costs, for the price of a point of the score'
complete -c prony -n '__prony_verb report' -l penalize-variance -d 'of a suite: take the spread off the rate before scoring'
complete -c prony -n '__prony_verb report' -l compare-gpus -d 'of a suite: each device as a share of the best one'
complete -c prony -n '__prony_verb report' -l title -x -d 'of a suite: over the report (default: Benchmark results)'
complete -c prony -n '__prony_verb run report' -l strict -d 'exit with status 7 when an experiment missed its target (metric.au); of a suite with --weights: when a test that has a weight has no figure'
complete -c prony -n '__prony_verb report' -l system -x -a '(__prony_names)' -d 'of results of GPU systems: the one to report and score, by its folder or name'
complete -c prony -n '__prony_verb summary' -l output -s o -r -F -d 'write the summary to a file (also --out; default: stdout)'
complete -c prony -n '__prony_verb compare' -l fail-if -x -d 'end with status 7 when a rule is broken: slower:5%, faster, unclear, failed, missing; several with commas'
complete -c prony -n '__prony_verb compare' -l measure -x -d 'figures to compare, names or patterns such as \'time_*\'; \'all\' (default: the speed of each test)'
complete -c prony -n '__prony_verb compare' -l skip-first -d 'throw away the first repeat of each test'
complete -c prony -n '__prony_verb compare' -l confidence -x -d 'how often nothing is called a change when there is none (default: 0.95)'
complete -c prony -n '__prony_verb compare' -l least -x -d 'changes up to this are none (default: 1%)'
complete -c prony -n '__prony_verb compare' -l same -x -d 'how small all changes in the interval must be for \'same\' (default: 5%)'
complete -c prony -n '__prony_verb compare' -l noise -x -d 'how much runs of the same thing differ, where each was run once (default: 2.5%)'
complete -c prony -n '__prony_verb compare' -l format -x -a 'text json csv md' -d 'how the comparison is printed (default: text)'
complete -c prony -n '__prony_verb parse scaling plot' -l recursive -s r -d 'read folders inside folders, too'
complete -c prony -n '__prony_verb parse scaling plot' -l query -x -d 'only results that match: {"exp.framework": "caffe", "exp.num_gpus": [1, 2]}; text is a pattern that matches from the start, a list means one of these; may be repeated, and be a file'
complete -c prony -n '__prony_verb parse scaling plot' -l select -x -d 'the same as --query'
complete -c prony -n '__prony_verb parse scaling plot' -l threads -x -d 'threads that read files (default: one for each processor)'
complete -c prony -n '__prony_verb parse scaling plot' -l ignore-errors -d 'say nothing of what cannot be read'
complete -c prony -n '__prony_verb parse' -l output-file -s o -r -F -d 'write all results as {"data": […]}, .json or .json.gz (also --output)'
complete -c prony -n '__prony_verb parse' -l output-params -x -d 'write only these parameters, in this order'
complete -c prony -n '__prony_verb parse' -l overwrite -d 'replace an output file that is there (the default; --no-overwrite refuses)'
complete -c prony -n '__prony_verb parse' -l filter-query -x -d 'as --query, but a result that lacks a parameter passes'
complete -c prony -n '__prony_verb parse' -l filter-params -x -d 'only results that have all of these parameters'
complete -c prony -n '__prony_verb parse' -l failed-benchmarks -x -a 'keep discard keep_separately' -d 'what becomes of results without a throughput or time above zero (default: keep); separately: in FILE_failed.json'
complete -c prony -n '__prony_verb parse' -l param -s P -x -d 'add parameters to each result: {"exp.title": "${exp.model}, ${exp.gpus}"}; may be repeated, and be a file'
complete -c prony -n '__prony_verb parse' -l benchmarks-per-file -x -d 'write FILE_0.json, FILE_1.json, … with N results each'
complete -c prony -n '__prony_verb parse' -l num-output-files -x -d 'write the results to N files of that kind'
complete -c prony -n '__prony_verb parse' -l report -x -d 'print tables of times and throughputs: regular, weak-scaling, strong-scaling, exploration, or {"inputs": […], "output": "…"}'
complete -c prony -n '__prony_verb parse' -l format -x -a 'text json' -d 'how the summary is printed (default: text)'
complete -c prony -n '__prony_verb scaling' -l summary-file -r -F -d 'results to report on; the same as naming them'
complete -c prony -n '__prony_verb scaling' -l type -x -a 'weak-scaling strong-scaling exploration' -d 'the report (default: weak-scaling)'
complete -c prony -n '__prony_verb scaling' -l target-variable -x -a '(__prony_names)' -d 'the time of a batch in milliseconds (default: results.time)'
complete -c prony -n '__prony_verb scaling' -l report-file -r -F -d 'write the report as JSON, too'
complete -c prony -n '__prony_verb scaling' -l format -x -a 'text json' -d 'how the report is printed (default: text)'
complete -c prony -n '__prony_verb plot' -l xparam -x -a '(__prony_names)' -d 'parameter along x; none: the place in a list, or the number of the result'
complete -c prony -n '__prony_verb plot' -l yparam -x -a '(__prony_names)' -d 'figure along y, a number or a list of them; of rate: tasks, of monitor: columns, as \'cpu,disk.*.use\' (default: job.cpu)'
complete -c prony -n '__prony_verb plot' -l series -x -d 'filters, a series each: [{"exp.framework": "mxnet"}, …]; or the name of a parameter, each value of which is a series (default: all results are one)'
complete -c prony -n '__prony_verb plot' -l aggregation -x -a 'avg min max' -d 'what becomes of several results at one x (default: avg, with an error bar)'
complete -c prony -n '__prony_verb plot' -l chart-type -x -a 'line bar points box rate rate-box monitor monitor-box' -d 'the chart (default: line); box: how values spread; rate and monitor: of run directories, over time'
complete -c prony -n '__prony_verb plot' -l chart-file -r -F -d 'write the chart, .png, .svg or .pdf'
complete -c prony -n '__prony_verb plot' -l chart-opts -x -d 'how it looks: title, subtitle, xlabel, ylabel, legend, xscale, yscale, xunit, yunit, errors, width, height, scale'
complete -c prony -n '__prony_verb plot' -l series-file -r -F -d 'write the series as JSON'
complete -c prony -n '__prony_verb plot' -l baseline-xvalue -x -d 'divide each series by its value at X, if all have one'
complete -c prony -n '__prony_verb plot' -l baseline-series -x -d 'divide all series by this one, where it has every x: its number, from 0, or its filter'
complete -c prony -n '__prony_verb gather' -l precision -x -a 'fp32 fp16' -d 'tasks of this precision; fp16 has those with AMP, too (default: fp32; in the full table all)'
complete -c prony -n '__prony_verb gather' -l system -x -a '(__prony_names)' -d 'all, single, multiple, or the folder or name of one system (default: all)'
complete -c prony -n '__prony_verb gather' -l metric -x -a 'throughput bs' -d 'what cells hold: throughputs, or sizes of batches (default: throughput)'
complete -c prony -n '__prony_verb gather' -l dialect -x -a 'g1 v1 v2' -d 'which of Lambda\'s tables: g1 of 2022, v1, or v2, which has no prices (default: that of the first system that is known, else v2)'
complete -c prony -n '__prony_verb gather' -l systems -r -F -d 'a list of systems of yours, with names, watts and prices; may be repeated'
complete -c prony -n '__prony_verb gather' -l output-file -s o -r -F -d 'write there instead of to stdout'
complete -c prony -n '__prony_verb gather' -l threads -x -d 'threads that read logs (default: one for each processor)'
complete -c prony -n '__prony_verb gather' -l format -x -a 'csv text json md' -d 'csv: Lambda\'s table; else the full one, with runs, spread, failures and what a figure costs (default: csv)'
complete -c prony -n '__prony_verb model' -l input -x -d 'another input than the definition has: 3,64,64, or 540 for one that is not an image'
complete -c prony -n '__prony_verb model' -l classes -x -d 'another number of classes than the definition has'
complete -c prony -n '__prony_verb model' -l tiny -d 'the small size that the definition has, to try things'
complete -c prony -n '__prony_verb model' -l format -x -a 'text json' -d 'how models are printed (default: text)'
complete -c prony -n '__prony_verb demo' -l output -s o -x -a '(__fish_complete_directories)' -d 'run directory (default: runs/demo.TIME)'
complete -c prony -n '__prony_verb help' -l params -x -d 'parameters whose name matches one of the patterns; none: all'
complete -c prony -n '__prony_verb help' -l text -x -d 'of these, those whose description matches'
complete -c prony -n '__prony_verb help' -l frameworks -x -a '(__prony_names)' -d 'the frameworks there are; with a name, its page'
complete -c prony -n '__prony_verb help' -l format -x -a 'text json' -d 'how parameters and frameworks are printed (default: text)'
complete -c prony -n '__prony_verb doctor' -l format -x -a 'text json' -d 'how findings are printed (default: text)'
complete -c prony -n '__prony_verb doctor' -l sys-info -d 'print what DLBS\'s sysinfo prints, as JSON, and nothing else'
complete -c prony -n '__prony_verb plan' -F -a '(__prony_bundled; __prony_settings)'
complete -c prony -n '__prony_verb run' -F -a '(__prony_bundled; __prony_settings)'
complete -c prony -n '__prony_verb rerun' -r -F
complete -c prony -n '__prony_verb generate' -F -a '(__prony_bundled; __prony_settings)'
complete -c prony -n '__prony_verb capacity' -F -a '(__prony_bundled; __prony_settings)'
complete -c prony -n '__prony_verb probe' -F -a '(__prony_bundled; __prony_settings)'
complete -c prony -n '__prony_verb report' -a '(__fish_complete_directories)'
complete -c prony -n '__prony_verb summary' -a '(__fish_complete_directories)'
complete -c prony -n '__prony_verb parse' -r -F
complete -c prony -n '__prony_verb scaling' -r -F
complete -c prony -n '__prony_verb compare' -r -F
complete -c prony -n '__prony_verb plot' -r -F
complete -c prony -n '__prony_verb gather' -a '(__fish_complete_directories)'
complete -c prony -n '__prony_verb model' -r -F
complete -c prony -n '__prony_verb help' -a '(__prony_topics)'
