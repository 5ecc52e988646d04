# The man pages are man(7) without a warning, in ASCII, and say what help says.
command -v groff >/dev/null || { echo "no groff; install it"; exit 77; }
show() { groff -man -Tutf8 -P-c -P-b -P-u "$1"; }
for page in $(prony __man); do
    prony __man "$page" >"$page"
    groff -man -ww -z "$page"
    LC_ALL=C grep -n '[^ -~]' "$page" && echo "$page: not ASCII"
    # Signs that groff would make typographic, so that no example can be pasted.
    grep -n "['^~\`]" "$page" && echo "$page: not escaped"
    show "$page" | grep -q '^SEE ALSO' || echo "$page: no SEE ALSO"
done
show prony-run.1 >run
prony run --help | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' |
    while read -r option; do
        grep -q -e "$option" run || echo "prony-run.1: no $option"
    done
grep -F "exp.command='\"sleep \${t}\"' -V t='[0.1, 0.2]'" run
show prony-options.7 >options
prony help --params | sed -n 's/^\([^ ]*\) = .*/\1/p' |
    while read -r name; do
        grep -qE "^       $name( |\$)" options || echo "prony-options.7: no $name"
    done
show prony.1 | sed -n '/^EXIT STATUS/,/^ENVIRONMENT/p'
