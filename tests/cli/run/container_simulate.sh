# The command that would start a container, one word a line. Paths and the
# container's name are another one each time.
words()
{
    sed 's/" "/"\n"/g' out/experiments/*/log.txt |
        sed "s|$(cd out/experiments/* && pwd -P)|EXPERIMENT|g
             s|prony-0001-[^\"]*|NAME|; s|\"[^\"]*:ro\"|\"SHARE\"|
             s|0001-[0-9a-f]*|ID|"
    rm -rf out
}
prony run -q -o out --image some/image:1 -P exp.status=simulate \
    -P exp.command='["prog", "a b"]' -P runtime.env.X=1 -P exp.gpus=0:1,2 \
    -P exp.docker_launcher='"sudo docker"' >/dev/null
words
echo
prony run -q -o out --image some/image:1 -P exp.status=simulate \
    -P exp.workload=null -P exp.docker_launcher='"podman --root x"' \
    -P container.network=none -P container.memory=1GiB >/dev/null
words
