# Source this before benchmarks: ". environment.sh". It says where Prony's
# files are, by the names that DLBS has for them, so that configs and launchers
# written for DLBS find what they look for. Works in sh, bash and zsh.
#
#   DLBS_ROOT    the folder of this file, which holds scripts/
#   DLBS_NAME    a title
#   BENCH_ROOT   where logs and results go; the current folder unless it is set
#   PATH         gets the folder of prony, if it is not there already

if [ -n "${BASH_SOURCE:-}" ]; then
    _prony_root=$(cd "$(dirname "${BASH_SOURCE}")" && pwd -P)
elif [ -n "${ZSH_VERSION:-}" ]; then
    # shellcheck disable=SC2296
    eval '_prony_root=$(cd "$(dirname "${(%):-%x}")" && pwd -P)'
elif [ -f ./environment.sh ] && [ -d ./scripts ]; then
    _prony_root=$(pwd -P) # sh does not tell where it reads from
else
    _prony_root=${PRONY_SHARE:-${DLBS_ROOT:-}}
fi

if [ -f "$_prony_root/scripts/utils.sh" ]; then
    DLBS_NAME="Deep Learning Benchmarking Suite"
    DLBS_ROOT=$_prony_root
    BENCH_ROOT=${BENCH_ROOT:-$(pwd)}
    export DLBS_NAME DLBS_ROOT BENCH_ROOT
    # PREFIX/share/prony -> PREFIX/bin, or a source tree and its build folder.
    for _prony_dir in "$DLBS_ROOT/../../bin" "$DLBS_ROOT/build"; do
        if [ -x "$_prony_dir/prony" ] && ! command -v prony >/dev/null 2>&1; then
            PATH=$(cd "$_prony_dir" && pwd -P):$PATH
            export PATH
        fi
    done
    . "$DLBS_ROOT/scripts/utils.sh"
    unset _prony_dir _prony_root
else
    echo "environment.sh: cannot tell where it is: go to its folder, or use bash" >&2
    unset _prony_root
    # shellcheck disable=SC2317
    return 1 2>/dev/null || exit 1
fi
