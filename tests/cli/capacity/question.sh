# At a terminal a large amount of data is asked about; no is the default, and
# nothing was written. Ctrl-C ends the question, too.
cat > ask.py <<'P'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp("prony", ["prony", "capacity", "-o", sys.argv[2], "-d", ".",
              "exp.workload=emulate", "dataset.format=npy",
              "dataset.record_length_bytes=500000000",
              "train.computation_time=1", "--steps", "40"])
seen = b""
while b"[y/N]" not in seen:
    seen += os.read(fd, 4096)
os.write(fd, sys.argv[1].encode().decode("unicode_escape").encode())
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
python3 ask.py 'n\n' no
python3 ask.py '\x03' stopped
find . -name '*.npy'
