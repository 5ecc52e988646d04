#!/bin/sh
# The program of the demo: checksums MB megabytes of zeros with TOOL, and says
# how fast it was, in a line that Prony reads.
tool=$1
mb=$2
start=$(date +%s%N)
head -c "${mb}000000" /dev/zero | "$tool" > /dev/null || exit 1
end=$(date +%s%N)
ms=$(((end - start) / 1000000))
echo "$tool: $mb MB in $ms ms"
echo "__results.throughput_mb_per_s__= $((mb * 1000 / (ms > 0 ? ms : 1)))"
