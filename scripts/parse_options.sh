# Options of a launcher as variables: "--exp_model resnet50" sets exp_model.
# To be sourced: . "$DLBS_ROOT/scripts/parse_options.sh". Works in sh and bash.
#
# What comes after the options is left in "$@". A "-" in a name becomes "_".
# $unknown_params_action says what is done with an option whose variable is not
# set yet: "set" sets it, "ignore" (the default) leaves it out, "die" ends the
# script. A variable that is true or false accepts nothing else. --help prints
# $help_message.

unknown_params_action=${unknown_params_action:-ignore}

while [ "$#" -gt 0 ]; do
    case $1 in
    --help | -h)
        printf '%s\n' "${help_message:-no help}" >&2
        exit 0
        ;;
    --*=*)
        echo "$0: write '--name value', not '$1'" >&2
        exit 1
        ;;
    --?*) ;;
    *) break ;;
    esac
    if [ "$#" -lt 2 ]; then
        echo "$0: $1 has no value" >&2
        exit 1
    fi
    _name=${1#--}
    case $_name in
    *-*) _name=$(printf '%s' "$_name" | tr '-' '_') ;;
    esac
    case $_name in
    [0-9]* | *[!A-Za-z0-9_]*)
        _known=never # no variable can have that name
        ;;
    *)
        eval "_known=\${$_name+yes}"
        eval "_old=\${$_name-}"
        ;;
    esac
    if [ -z "$_known" ] && [ "$unknown_params_action" = die ]; then
        echo "$0: there is no option $1" >&2
        exit 1
    fi
    if [ "$_known" = yes ] && { [ "$_old" = true ] || [ "$_old" = false ]; } &&
        [ "$2" != true ] && [ "$2" != false ]; then
        echo "$0: $1 is true or false, not '$2'" >&2
        exit 1
    fi
    if [ "$_known" = yes ] ||
        { [ -z "$_known" ] && [ "$unknown_params_action" = set ]; }; then
        eval "$_name=\$2"
    fi
    shift 2
done
unset _name _known _old
true
