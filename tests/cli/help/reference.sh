# Every parameter and every option has its place in the reference.
prony __reference parameters.md >parameters.md
prony __reference commands.md >commands.md
prony help --params | sed -n 's/^\([^ ]*\) = .*/\1/p' |
    while read -r name; do
        grep -qxF "### $name" parameters.md || echo "$name is missing"
    done
for verb in $(prony __verbs); do
    grep -qxF "## prony $verb" commands.md || echo "$verb is missing"
    prony "$verb" --help |
        sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' >options
    test -s options
    while read -r option; do
        grep -qF -- "\`$option" commands.md || echo "$option is missing"
    done <options
done
