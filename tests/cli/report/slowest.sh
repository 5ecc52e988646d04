# tags: valgrind
# A mean above p99 is that of a few slow ones: the median and the slowest are
# named, in reports of what was emulated and of what was probed.
say() { # FOLDER LINE…: an experiment that prints these
    dir=$1; shift
    printf '__results.%s\n' "$@" >lines
    prony run -q -o "$dir" -P monitor.frequency=0 \
        -P exp.command='["cat", "'"$PWD"'/lines"]' >out.txt
    prony report "$dir" | grep 'slowest' || echo "$dir: nothing"
    prony report "$dir" --format md | grep -c 'slowest' || :
}
epochs='by_epoch__= [{"epoch": 1}]'
say even "$epochs" 'time__= 2.1' 'step_ms_p50__= 2' 'step_ms_p99__= 5' \
    'step_ms_max__= 9'
say uneven "$epochs" 'time__= 5.1' 'step_ms_p50__= 2' 'step_ms_p99__= 2.5' \
    'step_ms_max__= 3000'
say part "$epochs" 'time__= 5.1' 'step_ms_p99__= 2.5' 'step_ms_max__= 3000'
say probed 'bound__= "balanced"' 'full__= 100' 'full_fetch_ms__= 4' \
    'full_fetch_p50_ms__= 1' 'full_fetch_p99_ms__= 2' \
    'full_fetch_max_ms__= 800' 'full_step_ms__= 1' 'full_step_p50_ms__= 1' \
    'full_step_p99_ms__= 2' 'full_step_max_ms__= 800'
