/* R_per_epoch_stats.json: when epochs, blocks and checkpoints were. */
#include "emulate/dlio/emulate_dlio_impl.h"

#include <inttypes.h>
#include <stdio.h>

void pr_dlio_put_time(struct pr_json_writer *jb, const char *key,
                      uint64_t wall_ns)
{
    char text[32];

    pr_json_put_str(jb, key, pr_dlio_format_time(text, wall_ns));
}

static void put_duration(struct pr_json_writer *jb, uint64_t start_ns,
                         uint64_t end_ns)
{
    char text[32];

    snprintf(text, sizeof text, "%.2f",
             end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0);
    pr_json_put_str(jb, "duration", text);
}

/* Of a block, or of an evaluation as if it were one. */
static void dlio_put_block_times(struct pr_json_writer *jb, const char *key,
                                 const struct pr_emulate_block *b)
{
    pr_json_open_object(jb, key);
    pr_dlio_put_time(jb, "start", b->start_wall_ns);
    pr_dlio_put_time(jb, "end", b->end_wall_ns);
    put_duration(jb, b->start_ns, b->end_ns);
    pr_json_close(jb);
}

const char *pr_dlio_block_name(const struct pr_emulate_block *b,
                               char out[static 32])
{
    snprintf(out, 32, "block%" PRIu64, b->number);
    return out;
}

static void put_blocks(struct pr_json_writer *jb,
                       const struct pr_emulate_phase *p, uint64_t r,
                       const struct pr_checkpoint_op **ops)
{
    struct pr_emulate_block b = {0};
    char name[32];

    while (pr_emulate_phase_next_block(p, &b)) {
        dlio_put_block_times(jb, pr_dlio_block_name(&b, name), &b);
        pr_dlio_put_checkpoint_ops(ops, p->epoch, b.number, r, jb);
    }
}

void pr_dlio_begin_epoch(struct pr_json_writer *jb,
                         const struct pr_dlio_epoch_phases *x)
{
    char key[16];

    snprintf(key, sizeof key, "%u", pr_dlio_first_phase(x)->epoch);
    pr_json_open_object(jb, key);
}

/* As in DLIO the end is that of the epoch, the duration that of training. */
static void put_epoch_times(struct pr_json_writer *jb,
                            const struct pr_dlio_epoch_phases *x, uint64_t r,
                            const struct pr_checkpoint_op **ops)
{
    const struct pr_emulate_phase *first = pr_dlio_first_phase(x);

    pr_dlio_begin_epoch(jb, x);
    pr_dlio_put_time(jb, "start", first->start_wall_ns);
    if (x->train)
        put_blocks(jb, x->train, r, ops);
    pr_dlio_put_checkpoint_ops(ops, first->epoch, 0, r, jb);
    pr_dlio_put_time(jb, "end", pr_dlio_last_phase(x)->end_wall_ns);
    put_duration(jb, first->start_ns, first->end_ns);
    if (x->eval) {
        struct pr_emulate_block b = {0};

        pr_emulate_phase_next_block(x->eval, &b);
        dlio_put_block_times(jb, "eval", &b);
    }
    pr_json_close(jb);
}

void pr_dlio_put_epoch_stats(const struct pr_emulate_stats *s, uint64_t r,
                             struct pr_buf *out)
{
    const struct pr_emulate_phase *cursor = s->first;
    const struct pr_checkpoint_op *ops = s->checkpoints.first;
    struct pr_dlio_epoch_phases x;
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 4);
    pr_json_open_object(&jb, NULL);
    while (pr_dlio_next_epoch(&cursor, &x))
        put_epoch_times(&jb, &x, r, &ops);
    if (!s->first && ops) { /* checkpoints alone are epoch 1 */
        pr_json_open_object(&jb, "1");
        pr_dlio_put_time(&jb, "start", s->start_wall_ns);
        pr_dlio_put_checkpoint_ops(&ops, 1, 0, r, &jb);
        pr_dlio_put_time(&jb, "end", s->end_wall_ns);
        pr_json_close(&jb);
    }
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
}
