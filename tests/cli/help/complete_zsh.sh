# The completion for zsh can be read by it and loads.
command -v zsh >/dev/null || { echo "no zsh; install it"; exit 77; }
mkdir functions
prony __complete zsh >functions/_prony
zsh -f -n functions/_prony
zsh -f -c 'fpath=($PWD/functions $fpath)
autoload -Uz compinit && compinit -u -D
print $_comps[prony]
_arguments() { print -r -- ${(M)@:#*--format*} }
words=(prony plan "") CURRENT=3
source functions/_prony
words=(prony report "") CURRENT=3
source functions/_prony
print $_prony_values[exp.phase]
print -l ${(M)_prony_params:#exp.timeout:*}'
prony __verbs | while read -r verb; do
    grep -q "^_prony_$verb() {" functions/_prony || echo "no $verb"
done
