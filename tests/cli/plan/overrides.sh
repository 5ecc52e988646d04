prony plan --no-defaults a.b=1 +a.c=text ++workload.a.d='[1, two]' a.e="'quoted, text'" '~a.b' --format json
