# One run each: slices tell what lies within it, and whether it drifts.
slices() { # FACTOR SLOPE
    awk -v f="$1" -v s="$2" 'BEGIN {
        printf "[{\"exp.model\": \"m\", \"results.throughput\": %g, \"results.timings.train\": {\"rates\": [", f * 100
        for (i = 0; i < 80; i++)
            printf "%s%g", i ? ", " : "", f * (100 + (i * 7) % 5 - 2 - s * (i - 40))
        print "]}}]" }'
}
slices 1 0 >a.json
slices 1.2 0 >b.json
slices 1 0.3 >c.json
prony compare a.json b.json
prony compare a.json c.json
prony compare a.json b.json --noise 10% | sed -n 5p
