/* Arrays with sentinels and other helpers that the tests of computing share. Include after cmocka.h. */
#ifndef GLS_TEST_COMPUTE_H
#define GLS_TEST_COMPUTE_H

#include <glslines/compute.h>
#include <glslines/log.h>

#include "gpu.h"
#include "compute/array.h"

#define assert_refused(status, part)                \
    do {                                            \
        assert_int_equal(status, GLS_ERR_ARGUMENT); \
        assert_message(part);                       \
    } while (0)

/* Number of elements behind the end of every output whose bits nothing may change. */
#define N_SENTINELS 61
#define SENTINEL 0x7fa5c3e1u /* a NaN, if it is taken for a float */

/* Makes an array of n elements, with room behind them for sentinels, of which calls do not know. */
static inline gls_array *guarded(gls_device *device, gls_type type, size_t n)
{
    gls_array *array = NULL;
    uint32_t sentinels[N_SENTINELS];
    for (int i = 0; i < N_SENTINELS; i++) sentinels[i] = SENTINEL;
    assert_ok(gls_array_create(device, type, n + N_SENTINELS, "guarded", &array));
    assert_ok(gls_buffer_write(gls_array_buffer(array), 4 * n, sizeof sentinels, sentinels));
    array->length = n;
    return array;
}

/* Fails if a sentinel has changed. Reads the n elements to data, with sentinels on both sides there, too. */
static inline void read_guarded(gls_array *array, size_t n, void *data, gls_type type)
{
    uint32_t sentinels[N_SENTINELS];
    size_t bytes = n * gls_type_size(type);
    uint8_t *room = malloc(bytes + 32);
    memset(room, 0x6b, bytes + 32);
    assert_ok(gls_array_read(array, 0, n, room + 16, type));
    for (int i = 0; i < 16; i++) assert_true(room[i] == 0x6b && room[16 + bytes + (size_t)i] == 0x6b);
    memcpy(data, room + 16, bytes);
    free(room);
    assert_ok(gls_buffer_read(gls_array_buffer(array), 4 * n, sizeof sentinels, sentinels));
    for (int i = 0; i < N_SENTINELS; i++) assert_int_equal(sentinels[i], SENTINEL);
}

/* Collects the messages of the library's log. */
typedef struct log_lines {
    char text[4096];
    int n;
    gls_log_level worst;
} log_lines;

static inline void collect_line(void *user, gls_log_level level, const char *line)
{
    log_lines *lines = user;
    if (lines->n == 0 || level < lines->worst) lines->worst = level;
    size_t length = strlen(lines->text);
    snprintf(lines->text + length, sizeof lines->text - length, "%s\n", line);
    lines->n++;
}

#endif
