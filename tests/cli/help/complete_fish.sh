# Completion in fish, as fish itself does it.
command -v fish >/dev/null || { echo "no fish; install it"; exit 77; }
prony __complete fish >prony.fish
fish --no-config -n prony.fish
: >sweep.yaml
mkdir folder
for line in 'prony pl' 'prony plan --form' 'prony plan --format ' \
    'prony run --format ' 'prony plan -P exp.pha' 'prony plan exp.phase=t' \
    'prony plan --explain exp.tim' 'prony help sys' 'prony report ' \
    'prony plan sw' 'prony plan --set-file exp.model=sw'; do
    echo "$line:" $(fish --no-config -c "source prony.fish
        complete -C '$line'" | cut -f 1)
done
