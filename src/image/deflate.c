#include "image/deflate.h"

#include <string.h>

#define MAX_LENGTHS (286 + 30)
#define PRECODE_BITS 7

/* 57 bits or more from a bit on; bytes are least significant bit first, as deflate counts. */
static uint64_t peek(const unsigned char *data, uint64_t bit)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) word |= (uint64_t)data[bit / 8 + i] << (8 * i);
    return word >> (bit % 8);
}

/* A prefix code that leaves nothing unused; a single code of one bit is allowed where lone says so, and none at all. */
static bool complete(const uint8_t *length, size_t n, bool lone)
{
    uint32_t used = 0, codes = 0;
    for (size_t i = 0; i < n; i++) {
        used += length[i] ? 32768u >> length[i] : 0;
        codes += length[i] > 0;
    }
    return used == 32768 || (lone && (codes == 0 || (codes == 1 && used == 16384)));
}

/* For every PRECODE_BITS bits of input the symbol << 3 | length. False if the code is not complete. */
static bool make_precode(const uint8_t length[19], uint8_t table[1 << PRECODE_BITS])
{
    uint32_t code = 0;
    if (!complete(length, 19, false)) return false;
    for (unsigned bits = 1; bits <= PRECODE_BITS; bits++, code <<= 1)
        for (unsigned symbol = 0; symbol < 19; symbol++) {
            if (length[symbol] != bits) continue;
            uint32_t reversed = 0;
            for (unsigned i = 0; i < bits; i++) reversed |= (code >> i & 1u) << (bits - 1 - i);
            for (uint32_t at = reversed; at < 1u << PRECODE_BITS; at += 1u << bits)
                table[at] = (uint8_t)(symbol << 3 | bits);
            code++;
        }
    return true;
}

/* The lengths of the codes for literals and distances. False if they are more than n. */
static bool read_lengths(const unsigned char *data, uint64_t bit, const uint8_t table[1 << PRECODE_BITS],
                         uint8_t *length, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint64_t word = peek(data, bit);
        unsigned entry = table[word & ((1u << PRECODE_BITS) - 1)], symbol = entry >> 3, bits = entry & 7u;
        word >>= bits;
        bit += bits;
        if (symbol < 16) {
            length[i++] = (uint8_t)symbol;
            continue;
        }
        static const struct {
            uint8_t bits, least;
        } repeats[] = {{2, 3}, {3, 3}, {7, 11}};
        unsigned extra = repeats[symbol - 16].bits,
                 count = repeats[symbol - 16].least + (unsigned)(word & ((1u << extra) - 1));
        if ((symbol == 16 && i == 0) || count > n - i) return false;
        memset(length + i, symbol == 16 ? length[i - 1] : 0, count);
        i += count;
        bit += extra;
    }
    return true;
}

/* A header takes up to this many bits. */
#define HEADER_BITS (17 + 19 * 3 + MAX_LENGTHS * 14)

static bool is_block(const unsigned char *data, uint64_t bit)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint64_t word = peek(data, bit);
    if ((word & 7) != 4) return false; /* not last, codes of its own */
    unsigned n_literals = 257 + (unsigned)(word >> 3 & 31), n_distances = 1 + (unsigned)(word >> 8 & 31),
             n_precodes = 4 + (unsigned)(word >> 13 & 15);
    if (n_literals > 286 || n_distances > 30) return false;
    uint8_t precode[19] = {0}, table[1 << PRECODE_BITS], length[MAX_LENGTHS];
    word = peek(data, bit + 17);
    for (unsigned i = 0; i < n_precodes; i++) precode[order[i]] = (uint8_t)(word >> (3 * i) & 7);
    if (!make_precode(precode, table) ||
        !read_lengths(data, bit + 17 + 3 * n_precodes, table, length, n_literals + n_distances))
        return false;
    return length[256] > 0 && complete(length, n_literals, false) && complete(length + n_literals, n_distances, true);
}

uint64_t gls_deflate_find_block(const unsigned char *data, size_t n, uint64_t first, uint64_t last)
{
    uint64_t end = 8 * (uint64_t)n;
    end = end > HEADER_BITS ? end - HEADER_BITS : 0;
    for (uint64_t bit = first; bit < last && bit < end; bit++)
        if (is_block(data, bit)) return bit;
    return last;
}
