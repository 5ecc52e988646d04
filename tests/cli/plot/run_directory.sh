# Over time, of a run directory: rates that a program told, and the monitor.
cat >train.sh <<'END'
for i in 1 2 3; do
    echo '{"task": "train", "rate": '$(($1 * 100 + i))', "units": "img/s"}' >&3
done
sleep 0.3
END
prony run -q -P exp.command='sh train.sh ${n}' -V n='[1, 2]' -o out \
    monitor.frequency=0.05 >/dev/null
prony plot out --chart-type rate --chart-file rate.svg | grep '"[n123]'
grep -c '>n=[12]</text>' rate.svg
prony plot out --chart-type rate-box --chart-file box.svg >/dev/null
grep -c '<rect class="bar l0 hollow"' box.svg
prony plot out --chart-type monitor --yparam 'cpu,cpu.0' --query '{"n": 2}' \
    --chart-file cpu.svg | grep -c '"column"'
grep -c '>100 %</text>' cpu.svg
prony plot out --chart-type monitor --yparam 'cpu,mem.used_bytes' \
    --chart-file two.svg >/dev/null
grep -c 'class="y-axis"' two.svg
prony plot out --chart-type rate --yparam eval || echo "exit $?"
