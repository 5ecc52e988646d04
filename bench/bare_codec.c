/* bare_codec FOLDER FORMAT THREADS: files a second that the bare codec decodes,
 * for bench_python.py. The second of two rounds counts. */
#include "decoding.h"

int main(int argc, char **argv)
{
    struct bench_decoding *d;

    if (argc != 4)
        bench_die("usage: bare_codec FOLDER FORMAT THREADS");
    d = bench_decoding_new(argv[1], argv[2],
                           (unsigned)strtoul(argv[3], NULL, 10));
    if (!d)
        return 77; /* a build without it */
    (void)bench_decoding_once(d);
    printf("%.1f\n", 1 / bench_decoding_once(d));
    return 0;
}
