/* Finds where blocks begin in deflate data (RFC 1951) that are entered in the middle, so that several threads can
 * unpack a member that was packed in one piece. A block with codes of its own begins with the lengths of these codes,
 * which have to fill each code exactly: other bits hardly ever do. A wrong place harms nothing, because the block
 * before it then does not end there. */

#include <string.h>
#include <zlib.h>

#include "image/deflate_blocks.h"

/* A block begins with 3 bits: not the last one (0), with codes of its own (2). */
#define HEAD_BITS 3
#define HEAD 4
#define MAX_LITERALS 286
#define MAX_DISTANCES 30
#define END_OF_BLOCK 256
#define LENGTH_CODES 19  /* number of codes for lengths of codes */
#define LONGEST_LENGTH 7 /* bits of the longest of them */
#define LONGEST_CODE 15  /* bits of the longest code of literals or distances */
/* Bits of deflate data, the lowest of a byte first. */
typedef struct bits {
    const unsigned char *data;
    uint64_t at; /* next bit */
} bits;

/* The next 57 bits or more, which are not taken. */
static uint64_t look(const bits *b)
{
    uint64_t word;
    memcpy(&word, b->data + b->at / 8, sizeof word);
    return word >> b->at % 8;
}

static unsigned take(bits *b, unsigned n)
{
    const unsigned value = (unsigned)(look(b) & ((1u << n) - 1));
    b->at += n;
    return value;
}

/* Whether n codes of these lengths, of which 0 means no code, fill all words of LONGEST_CODE bits. single: a single
 * code of one bit, or none, is right, too. */
static bool is_whole(const unsigned char *length, unsigned n, bool single)
{
    unsigned sum = 0, n_codes = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += length[i] > 0 ? 1u << (LONGEST_CODE - length[i]) : 0;
        n_codes += length[i] > 0;
    }
    return sum == 1u << LONGEST_CODE || (single && n_codes <= 1 && sum <= 1u << (LONGEST_CODE - 1));
}

/* Fills the table by which the next 7 bits of the data give a code's symbol, with its length in the upper bits. */
static void fill_table(const unsigned char length[LENGTH_CODES], unsigned char table[1 << LONGEST_LENGTH])
{
    unsigned code = 0;
    for (unsigned n = 1; n <= LONGEST_LENGTH; n++, code <<= 1)
        for (unsigned s = 0; s < LENGTH_CODES; s++) {
            if (length[s] != n) continue;
            unsigned turned = 0; /* codes stand in the data with their first bit lowest */
            for (unsigned k = 0; k < n; k++) turned |= (code >> k & 1u) << (n - 1 - k);
            for (unsigned w = turned; w < 1u << LONGEST_LENGTH; w += 1u << n) table[w] = (unsigned char)(s | n << 5);
            code++;
        }
}

/* Whether the header of a block begins at bit `at`, where may_be_header() is true. */
static bool is_header(const unsigned char *data, uint64_t at)
{
    static const unsigned char order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char length[LENGTH_CODES] = {0}, table[1 << LONGEST_LENGTH], all[MAX_LITERALS + MAX_DISTANCES];
    bits b = {data, at + HEAD_BITS};
    const unsigned n_literals = take(&b, 5) + 257, n_distances = take(&b, 5) + 1, n_lengths = take(&b, 4) + 4;
    for (unsigned i = 0; i < n_lengths; i++) length[order[i]] = (unsigned char)take(&b, 3);
    fill_table(length, table);
    for (unsigned n = 0; n < n_literals + n_distances;) {
        const unsigned code = table[look(&b) & ((1u << LONGEST_LENGTH) - 1)], symbol = code & 31;
        unsigned times = 1, value = symbol;
        b.at += code >> 5;
        if (symbol == 16 && n == 0) return false;
        if (symbol == 16) times = 3 + take(&b, 2), value = all[n - 1];
        if (symbol == 17) times = 3 + take(&b, 3), value = 0;
        if (symbol == 18) times = 11 + take(&b, 7), value = 0;
        if (n + times > n_literals + n_distances) return false;
        memset(all + n, (int)value, times);
        n += times;
    }
    return all[END_OF_BLOCK] > 0 && is_whole(all, n_literals, false) && is_whole(all + n_literals, n_distances, true);
}

/* Fills a table: of six bits, which are the lengths of two codes for lengths, the share in 128ths of all words of bits
 * that these codes take. */
static void fill_shares(unsigned char share[64])
{
    static const unsigned char one[8] = {0, 64, 32, 16, 8, 4, 2, 1};
    for (unsigned i = 0; i < 64; i++) share[i] = one[i & 7] + one[i >> 3];
}

/* Whether the bits from `at` on may be a header: its first three bits, the numbers of codes, and the lengths of the
 * codes for lengths, which take all words. Rejects nearly all bits that are none, fast. */
static bool may_be_header(const unsigned char *data, uint64_t at, const unsigned char share[64])
{
    const uint64_t head = look(&(bits){data, at});
    if ((head & 7) != HEAD || (head >> 3 & 31) > MAX_LITERALS - 257 || (head >> 8 & 31) > MAX_DISTANCES - 1)
        return false;
    const unsigned n_lengths = (unsigned)(head >> 13 & 15) + 4;
    uint64_t lengths = look(&(bits){data, at + 17}) & (((uint64_t)1 << 3 * n_lengths) - 1);
    unsigned sum = 0;
    for (; lengths > 0; lengths >>= 6) sum += share[lengths & 63];
    return sum == 128;
}

uint64_t gls_deflate_find_block(const unsigned char *data, size_t n)
{
    unsigned char share[64];
    if (n < GLS_DEFLATE_HEADER) return UINT64_MAX;
    fill_shares(share);
    for (uint64_t at = 0; at <= 8 * (uint64_t)(n - GLS_DEFLATE_HEADER); at++)
        if (may_be_header(data, at, share) && is_header(data, at)) return at;
    return UINT64_MAX;
}

/* Appends the lowest n bits of a value. */
static void put(unsigned char *out, unsigned *at, unsigned value, unsigned n)
{
    for (unsigned k = 0; k < n; k++, ++*at) out[*at / 8] |= (unsigned char)((value >> k & 1u) << *at % 8);
}

unsigned gls_deflate_fill(unsigned rest, unsigned char out[GLS_DEFLATE_FILLING])
{
    unsigned at = 0;
    memset(out, 0, GLS_DEFLATE_FILLING);
    /* A block of 91 bits, which leave 3: literals have two codes of one bit, 0 for the byte 0 and 1 for the end;
     * lengths have two codes of one bit, 0 for the length 1 and 1 for a run of zeros. */
    if (rest % 2 == 1) {
        put(out, &at, HEAD, 3);
        put(out, &at, 0, 5 + 5);
        put(out, &at, 14, 4);
        for (unsigned i = 0; i < 18; i++) put(out, &at, i == 2 || i == 17, 3); /* places of 18, zeros, and of 1 */
        put(out, &at, 0, 1);
        put(out, &at, 1 | (138 - 11) << 1, 8);
        put(out, &at, 1 | (117 - 11) << 1, 8);
        put(out, &at, 0, 2);
        put(out, &at, 1, 1);
    }
    /* blocks of 10 bits, which leave 2: with the codes that RFC 1951 fixes, and no byte */
    while (at % 8 != rest) put(out, &at, 2, 10);
    return at;
}

bool gls_deflate_find_end(const unsigned char *data, size_t n, uint64_t *end)
{
    static const unsigned char before[GLS_DEFLATE_WINDOW];
    unsigned char out[16384];
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)n};
    int result = inflateInit2(&z, -15);
    if (result != Z_OK) return false;
    inflateSetDictionary(&z, before, sizeof before);
    /* with Z_BLOCK zlib stops behind each block: data_type is then 128 + the bits that it left of the last byte, and 64
     * more behind the last block */
    while (result == Z_OK && (z.data_type & 192) != 192) {
        z.next_out = out;
        z.avail_out = sizeof out;
        result = inflate(&z, Z_BLOCK);
    }
    *end = 8 * (uint64_t)(n - z.avail_in) - (uint64_t)(z.data_type & 7);
    inflateEnd(&z);
    return result == Z_OK;
}
