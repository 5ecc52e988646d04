# DLBS has its environment.sh here; ours is one folder up.
if [ -n "${BASH_SOURCE:-}" ]; then
    . "$(dirname "${BASH_SOURCE}")/../environment.sh"
else
    . "${DLBS_ROOT:?is not set}/environment.sh"
fi
