/* The note, a line of text, by which a file says which shard of which run it is; and which seeds a shard has. */
#include <glslines/shard.h>

#include "tractogram/shard_note.h"
#include "util/file.h"
#include "util/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

gls_status gls_shard_init(uint32_t index, uint32_t count, uint64_t total_seeds, gls_shard *shard)
{
    GLS_REQUIRE(shard);
    GLS_REQUIRE(count >= 1 && count <= GLS_MAX_SHARDS);
    GLS_REQUIRE(index >= 1 && index <= count);
    /* the first total_seeds % count shards have one seed more */
    uint64_t each = total_seeds / count, longer = total_seeds % count, before = index - 1;
    *shard = (gls_shard){.index = index, .count = count, .total_seeds = total_seeds};
    shard->first_seed = before * each + (before < longer ? before : longer);
    shard->n_seeds = each + (before < longer);
    return GLS_OK;
}

uint32_t gls_shard_crc_begun(uint32_t crc, uint64_t n_begun)
{
    char digits[32];
    if (n_begun == 0) return crc;
    return gls_crc32(crc, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n_begun));
}

/* Writes the note. crc NULL: without a checksum. text has space for the largest note. */
static void print(const gls_shard *s, const char *version, const uint32_t *crc, char text[GLS_SHARD_TEXT])
{
    int n = snprintf(text, GLS_SHARD_TEXT,
                     "index=%" PRIu32 " count=%" PRIu32 " first_seed=%" PRIu64 " n_seeds=%" PRIu64
                     " total_seeds=%" PRIu64 " parameters=%016" PRIx64 " inputs=%016" PRIx64,
                     s->index, s->count, s->first_seed, s->n_seeds, s->total_seeds, s->parameters, s->inputs);
    if (s->select > 0) n += snprintf(text + n, GLS_SHARD_TEXT - (size_t)n, " select=%" PRIu64, s->select);
    n += snprintf(text + n, GLS_SHARD_TEXT - (size_t)n, " version=%s", version);
    if (crc) snprintf(text + n, GLS_SHARD_TEXT - (size_t)n, " crc32=%08" PRIx32, *crc);
}

void gls_shard_print(const gls_shard *shard, const uint32_t *crc, char text[GLS_SHARD_TEXT])
{
    print(shard, gls_version(), crc, text);
}

bool gls_shard_parse(const char *text, gls_shard *shard, uint32_t *crc, char version[32])
{
    /* expected: seeds that a shard of these numbers must have */
    char again[GLS_SHARD_TEXT];
    gls_shard s = {.index = 0}, expected;
    uint32_t sum = 0;
    int end = 0,
        n = sscanf(text,
                   "index=%" SCNu32 " count=%" SCNu32 " first_seed=%" SCNu64 " n_seeds=%" SCNu64 " total_seeds=%" SCNu64
                   " parameters=%" SCNx64 " inputs=%" SCNx64 "%n",
                   &s.index, &s.count, &s.first_seed, &s.n_seeds, &s.total_seeds, &s.parameters, &s.inputs, &end);
    if (n != 7) return false;
    const char *rest = text + end;
    /* parts that not every note has */
    if (sscanf(rest, " select=%" SCNu64 "%n", &s.select, &end) == 1) rest += end;
    if (sscanf(rest, " version=%31s crc32=%" SCNx32, version, &sum) != (crc ? 2 : 1)) return false;
    /* Refuse numbers that contradict each other, and what sscanf() tolerates: the note must be the text that print()
     * makes of these numbers. */
    if (s.count < 1 || s.count > GLS_MAX_SHARDS || s.index < 1 || s.index > s.count) return false;
    gls_shard_init(s.index, s.count, s.total_seeds, &expected);
    if (s.first_seed != expected.first_seed || s.n_seeds != expected.n_seeds) return false;
    print(&s, version, crc ? &sum : NULL, again);
    if (strcmp(text, again) != 0) return false;
    *shard = s;
    if (crc) *crc = sum;
    return true;
}
