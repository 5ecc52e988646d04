/* A pole on a cart: its motion against figures worked out with Gym's
 * equations elsewhere, and when an episode ends. */
#include "native/native_source.h"

#include "torture.h"

#include <math.h>

struct motion {
    double at[4]; /* place, speed, angle, turning */
};

static struct pr_cartpole cart_at(const struct motion *m)
{
    return (struct pr_cartpole){.x = m->at[0],
                                .speed = m->at[1],
                                .angle = m->at[2],
                                .turning = m->at[3]};
}

static void it_moves_as_gyms(void **state)
{
    static const struct {
        struct motion from;
        const char *pushes;
        struct motion to;
    } rows[] = {
        {{{0.01, -0.02, 0.03, 0.04}},
         "1",
         {{0.0096, 0.174679195747555, 0.0308, -0.243068717960008}}},
        {{{0.01, -0.02, 0.03, 0.04}},
         "1011000111",
         {{0.025200122317152, 0.367307466424306, 0.0156034784400401,
           -0.480709173321313}}},
        {{{-0.7, 0.4, -0.15, 0.9}},
         "0",
         {{-0.692, 0.207194103114015, -0.132, 1.14202653079733}}},
        {{{-0.7, 0.4, -0.15, 0.9}},
         "00110",
         {{-0.675240940822384, 0.212173667205845, -0.045055551564032,
           1.02198378179552}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_cartpole c = cart_at(&rows[i].from);
        unsigned steps = 0;

        for (const char *p = rows[i].pushes; *p; p++, steps++)
            assert_true(pr_cartpole_push(&c, *p == '1'));
        assert_int_equal(c.steps, steps);
        assert_true(fabs(c.x - rows[i].to.at[0]) < 1e-12);
        assert_true(fabs(c.speed - rows[i].to.at[1]) < 1e-12);
        assert_true(fabs(c.angle - rows[i].to.at[2]) < 1e-12);
        assert_true(fabs(c.turning - rows[i].to.at[3]) < 1e-12);
    }
}

/* Pushed to one side alone, the pole falls to the other: at the ninth step it
 * is steeper than 12 degrees. */
static void an_episode_ends_when_the_pole_falls(void **state)
{
    (void)state;
    for (int right = 0; right < 2; right++) {
        struct pr_cartpole c = {.x = 0};

        while (pr_cartpole_push(&c, right))
            ;
        assert_int_equal(c.steps, 9);
        assert_true(fabs(c.angle - (right ? -1 : 1) * 0.21518604988500967) <
                    1e-12);
    }
}

static void an_episode_ends_at_the_edge(void **state)
{
    struct pr_cartpole in = {.x = 2.39, .speed = 0.4};
    struct pr_cartpole out = {.x = 2.39, .speed = 0.6};
    struct pr_cartpole left = {.x = -2.39, .speed = -0.6};

    (void)state;
    assert_true(pr_cartpole_push(&in, false));
    assert_false(pr_cartpole_push(&out, false));
    assert_false(pr_cartpole_push(&left, true));
}

static void an_episode_has_200_steps_at_most(void **state)
{
    struct pr_cartpole c = {.angle = 0.01};
    unsigned steps = 1;

    (void)state;
    /* A rule of thumb that balances for ever. */
    while (pr_cartpole_push(&c, c.angle + c.turning * 0.5 + 0.02 * c.x > 0))
        steps++;
    assert_int_equal(steps, 200);
    assert_int_equal(c.steps, 200);
    assert_true(fabs(c.angle) < 0.2 && fabs(c.x) < 2.4);
}

static void it_starts_nearly_upright_at_random(void **state)
{
    double least = 1, most = -1, last = 0;
    struct pr_rng rng;

    (void)state;
    pr_rng_seed(&rng, 1, 1);
    for (int i = 0; i < 500; i++) {
        struct pr_cartpole c;
        double at[4];

        c.steps = 9;
        pr_cartpole_start(&c, &rng);
        assert_int_equal(c.steps, 0);
        at[0] = c.x;
        at[1] = c.speed;
        at[2] = c.angle;
        at[3] = c.turning;
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(at[k]) <= 0.05);
            assert_true(at[k] != last);
            last = at[k];
            least = fmin(least, last);
            most = fmax(most, last);
        }
    }
    assert_true(least < -0.049 && most > 0.049);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_moves_as_gyms),
        cmocka_unit_test(an_episode_ends_when_the_pole_falls),
        cmocka_unit_test(an_episode_ends_at_the_edge),
        cmocka_unit_test(an_episode_has_200_steps_at_most),
        cmocka_unit_test(it_starts_nearly_upright_at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
