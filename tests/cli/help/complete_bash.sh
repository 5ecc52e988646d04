# Completion in bash, by calling its function as readline would: '=' breaks
# words there, so "exp.phase=t" comes as three.
command -v bash >/dev/null || { echo "no bash; install it"; exit 77; }
prony __complete bash >prony.bash
mkdir -p in/folder
: >in/sweep.yaml
: >in/exp_own.yaml
cat >try.bash <<'END'
source ../prony.bash
try()
{
    COMP_WORDS=(prony "$@")
    COMP_CWORD=$#
    _prony
    printf '%s:' "$*"
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ *$//; s/^/ /'
    echo
}
try p
try plan --fo
try plan --format ''
try run --format ''
try plan --format = j
try plan --format =
try run --log-level w
try plan --no
try help --te
try plan --te
echo ---- parameters
try plan -P exp.ph
try plan -P exp.phase =
try plan -P exp.phase = t
try plan -Pexp.ph
try plan -Pexp.phase = i
try plan --param = exp.phase = i
try plan -V exp.ph
try plan -V exp.phase =
try plan exp.ti
try plan exp.docker = f
try plan --explain exp.ti
try help exp.ti
try help sy
echo ---- files
try plan sw
try plan exp_
try plan --config sw
try plan --set-file exp.model = sw
try report ''
try run -o ''
try run -- ''
echo ---- where = breaks no words
COMP_WORDBREAKS=' '
try plan --format=j
try plan exp.phase=t
try plan -P exp.phase=t
try plan --param=exp.phase=t
END
cd in
bash --norc --noprofile ../try.bash
echo ---- every option of every verb
for verb in $(prony __verbs); do
    prony "$verb" --help |
        sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' | sort >want
    bash -c 'source ../prony.bash; COMP_WORDS=(prony '"$verb"' --)
        COMP_CWORD=2; _prony; printf "%s\n" "${COMPREPLY[@]}"' | sort |
        cmp - want
done
