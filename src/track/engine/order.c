/* Sorts the streamlines of a round along a Morton curve, so that neighbours in the list read the same part of a field.
 */
#include "track/engine/schedule.h"

/* A Morton code has ten bits for each axis. Voxel coordinates above LAST_VOXEL count as LAST_VOXEL. */
#define LAST_VOXEL 1023
#define DIGITS 1024

/* Spreads the ten lowest bits: bit i moves to bit 3 i. */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
}

static uint32_t voxel_of(float p)
{
    return p < 0.5f ? 0 : p < LAST_VOXEL ? (uint32_t)(p + 0.5f) : LAST_VOXEL;
}

static uint32_t key_of(const gls_line_record *line)
{
    return spread(voxel_of(line->x)) | spread(voxel_of(line->y)) << 1 | spread(voxel_of(line->z)) << 2;
}

/* One pass of a radix sort: stable, by the digit of the key that begins at bit `shift`. */
static void sort_by_digit(const gls_order_entry *from, size_t n, int shift, gls_order_entry *to)
{
    size_t start[DIGITS + 1] = {0};
    for (size_t i = 0; i < n; i++) start[(from[i].key >> shift & (DIGITS - 1)) + 1]++;
    for (size_t d = 0; d < DIGITS; d++) start[d + 1] += start[d];
    for (size_t i = 0; i < n; i++) to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void gls_order_lines(const gls_line_record *line, size_t n, gls_order_entry *entry)
{
    gls_order_entry *other = entry + n;
    for (size_t i = 0; i < n; i++) other[i] = (gls_order_entry){key_of(&line[i]), (uint32_t)i};
    sort_by_digit(other, n, 0, entry);
    sort_by_digit(entry, n, 10, other);
    sort_by_digit(other, n, 20, entry);
}
