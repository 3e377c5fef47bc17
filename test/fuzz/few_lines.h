/* Three streamlines, for readers whose result is used on some. */
#ifndef GLS_FUZZ_FEW_LINES_H
#define GLS_FUZZ_FEW_LINES_H

#include <glslines/streamlines.h>

static inline gls_status fuzz_append_lines(const gls_sink *sink)
{
    static const uint64_t offset[] = {0, 1, 3, 7};
    static const float point[7][3] = {{0, 0, 0}, {1, 1, 1}, {2, 1, 1}, {-3, 0, 2}, {0, 0, 0}, {4, 4, 4}, {90, 0, 0}};
    static const float seed[3][3] = {{0, 0, 0}, {1, 1, 1}, {0, 0, 0}};
    const gls_column dps[] = {{GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, seed}};
    const gls_streamlines s = {.n = 3, .offset = offset, .point = point, .n_dps = 1, .dps = dps};
    return gls_sink_append(sink, &s);
}

#endif
