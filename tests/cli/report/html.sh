# tags: valgrind
# A page of a suite and one of a run directory; hostile names, errors and logs
# are text; a page that cannot be written leaves what was there.
child() { # REPEAT DEVICE RATE ERROR
    cat >"s/t.J$1.$2.$([ "$4" = null ] || echo FAIL.)2020061$1-12000$2-000000.json" <<END
{"name": "s.<script>alert(1)</script>\u202e\u0000", "job_id": "$1.$2",
 "device": $2, "devices": [$2], "gpu": "\"onmouseover=\"x", "hostname": "</title>",
 "job": {"partition_scheme": {"type": "per-gpu"}},
 "success": $([ "$4" = null ] && echo true || echo false), "error": $4,
 "environ": {"CUDA_VISIBLE_DEVICES": "$2"}, "device_count": 1, "metrics": {},
 "timings": {"program": {"time": 5}, "train": {"rates": [$3, $3, $3, 1, 1]}},
 "gpu_monitor": {"$2": {"memory": {"max": 10}}}}
END
}
mkdir s
child 0 0 100 null
child 0 1 200 null
child 1 0 101 null
child 1 1 5 '"Traceback\n<img src=x>\n</pre></style>boom"'
prony report s --html page.html -q >/dev/null
grep -c '<script>' page.html # the one of ours
grep -o 's\.&lt;script&gt;alert(1)&lt;/script&gt;[^<]*<' page.html | sort -u
grep -o '&quot;onmouseover=&quot;x' page.html | sort -u
grep -o '&lt;/title&gt;' page.html | sort -u
sed -n '/<pre/,/<\/pre>/p' page.html
grep -c 'GPU comparison (mean)' page.html
grep -E -o '(src|href)="[^#][^"]*"' page.html | sort -u
prony run -P exp.command='"sh -c \"echo hello \\<b\\>; exit 3\""' -P monitor.frequency=0 -o run -q >/dev/null && exit 9
prony report run --html run.html -q >/dev/null
grep -c 'hello &lt;b&gt;' run.html
prony report run --html run.html --title '<T>' -q >/dev/null
grep -E -o '<title>.*</title>|<h1>.*</h1>' run.html
sed -n '/<pre/,/<\/pre>/p' run.html
grep -c 'FAIL' run.html
prony report run/experiments/* --html one.html >/dev/null && exit 9
echo old >kept.html
prony report nowhere --html kept.html && exit 9
cat kept.html
prony report s --html no/such/folder/x.html >/dev/null
