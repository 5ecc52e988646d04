# What launchers written for DLBS call. To be sourced; works in sh and bash.
# Functions that answer a question do so by their status: 0 is yes.

# ---- words
timestamp() { date +'%m-%d-%y %H:%M:%S'; }
loginfo() { echo "$(timestamp) [INFO]    $1"; }
logwarn() { echo "$(timestamp) [WARNING] $1"; }
logerr() { echo "$(timestamp) [ERROR]   $1"; }
logfatal() {
    echo "$(timestamp) [FATAL]   $1"
    exit 1
}

# Names of variables: their values, a line each.
echo_vars() {
    for _var in "$@"; do
        eval "echo \"$_var=\${$_var-}\""
    done
}
logvars() {
    for _var in "$@"; do
        eval "loginfo \"$_var=\${$_var-}\""
    done
}

# ---- files and folders
file_exists() { [ -f "$1" ]; }
dir_exists() { [ -d "$1" ]; }
dir_empty() { [ -z "$(ls -A "$1" 2>/dev/null)" ]; }
remove_files() { rm -f -- "$@"; }
create_dirs() { mkdir -p -- "$@"; }
assert_files_exist() {
    for _path in "$@"; do
        [ -f "$_path" ] || logfatal "there is no file '$_path'"
    done
}
assert_dirs_exist() {
    for _path in "$@"; do
        [ -d "$_path" ] || logfatal "there is no folder '$_path'"
    done
}
assert_funcs_exist() {
    for _name in "$@"; do
        command -v "$_name" >/dev/null 2>&1 ||
            logfatal "there is no function or program '$_name'"
    done
}

# assert_docker_img_exists IMAGE [PROGRAM]
assert_docker_img_exists() {
    "${2:-docker}" inspect --type=image "$1" >/dev/null 2>&1 ||
        logfatal "image '$1' is not on this machine, or ${2:-docker} does not run"
}

assert_singularity_img_exists() {
    [ -e "$1" ] || logfatal "there is no image '$1'"
}
assert_not_docker_and_singularity() {
    [ "${exp_docker:-}" != true ] || [ "${exp_singularity:-}" != true ] ||
        logfatal "exp.docker and exp.singularity are both true"
}

# get_value_by_key FILE KEY: of the first line KEY: "VALUE"
get_value_by_key() {
    sed -n "s/^[[:space:]]*$2[[:space:]]*:[[:space:]]*\"\(.*\)\".*\$/\1/p" "$1" |
        head -n 1
}

# ---- the end of an experiment
# report_status STATUS MESSAGE LOG: skipped, failure; as the log has it
report_status() {
    _words=$(printf '%s' "$2" | tr '\001-\037' ' ' | sed 's/["\\]/\\&/g')
    {
        echo "__exp.status__= \"$1\""
        printf '__exp.status_msg__= "%s"\n' "$_words"
    } >>"$3"
}
# report_and_exit STATUS MESSAGE LOG
report_and_exit() {
    report_status "$@"
    logwarn "$2"
    exit 1
}

# Whether a log lacks a results.time above 0.
no_results() {
    ! awk -F= '/^[ \t]*__results\.time__[ \t]*=/ { t = $2 + 0 }
        END { exit !(t > 0) }' "$1"
}
mxnet_error() { no_results "$1"; }
caffe2_error() { no_results "$1"; }
pytorch_error() { no_results "$1"; }
# TensorFlow's results come later, from another program.
tf_error() {
    [ ! -f "$1" ] ||
        grep -q -e ResourceExhaustedError -e 'core dumped' -e std::bad_alloc "$1"
}
caffe_error() {
    [ ! -f "$1" ] || grep -qF '*** Check failure stack trace: ***' "$1"
}

# ---- batches that were too large before
# is_batch_good FILE BATCH: whether BATCH is below the smallest that failed
is_batch_good() {
    [ -s "$1" ] || return 0
    [ "$2" -lt "$(head -n 1 "$1")" ]
}
# update_error_file FILE BATCH: BATCH failed
update_error_file() {
    if is_batch_good "$1" "$2"; then
        echo "$2" >"$1"
    fi
}

# ---- Caffe
# caffe_time LOG PHASE BATCHES: milliseconds a batch took; nothing: no such log
caffe_time() {
    awk -v phase="$2" -v batches="$3" '
        function seconds(text, parts) {
            split(text, parts, ":")
            return parts[1] * 3600 + parts[2] * 60 + parts[3]
        }
        /Average Forward pass:/ { forward = $8 }
        /Solving / { start = seconds($2) }
        /Optimization Done/ { end = seconds($2); done = 1 }
        END {
            if (phase == "inference" && forward != "")
                print forward
            else if (phase == "training" && done && batches > 0) {
                if (end < start)
                    end += 86400
                printf "%.6f\n", 1000 * (end - start) / batches
            }
        }' "$1"
}

# caffe_postprocess_log LOG FILE PHASE REPLICA_BATCH EFFECTIVE_BATCH BATCHES
caffe_postprocess_log() {
    _time=$(caffe_time "$1" "$3" "$6")
    if caffe_error "$1" || [ -z "$_time" ]; then
        logwarn "Caffe failed with a replica batch of $4; see '$1'"
        update_error_file "$2" "$4"
        _words=$(grep -o 'Check failed: .*' "$1" | head -n 1)
        report_status failure "Caffe: ${_words:-no times in its log}" "$1"
        return 1
    fi
    {
        echo "__results.time__= $_time"
        awk -v t="$_time" -v n="$5" 'BEGIN {
            if (t > 0) print "__results.throughput__= " 1000 * n / t }'
    } >>"$1"
}

if [ -n "${BASH_VERSION:-}" ]; then
    # shellcheck disable=SC3045
    export -f timestamp loginfo logwarn logerr logfatal echo_vars logvars \
        file_exists dir_exists dir_empty remove_files create_dirs \
        assert_files_exist assert_dirs_exist assert_funcs_exist \
        assert_docker_img_exists assert_singularity_img_exists \
        assert_not_docker_and_singularity get_value_by_key report_status \
        report_and_exit no_results \
        mxnet_error caffe2_error tf_error pytorch_error caffe_error \
        is_batch_good update_error_file caffe_time caffe_postprocess_log
fi
