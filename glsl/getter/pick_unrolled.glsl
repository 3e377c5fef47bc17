// Choice of a vertex, written out for one invocation: generated rows visit the vertices in order. CONE(w) loads word w
// of the cone around vertex `from`; VERTEX(v, b) handles vertex v, whose bit in that word is b.
#define CONE(w) cone = MODEL_UINT(MODEL_CONE + int(from) * CONE_WORDS + w);

// Chooses a vertex in the cone around vertex `from` whose value is above 0 and reaches the thresholds; -1 if there is
// none.
int pick_vertex(uint from, Draw draw)
{
    uint cone;
    float level = params.pmf_threshold * odf_max;
#if CUTOFF
    level = max(level, params.fod_cutoff);
#endif
#if DETERMINISTIC
    int best = -1;
    float largest = 0.0;
#define VERTEX(v, b)                                                        \
    {                                                                       \
        float x = odf[v];                                                   \
        bool better = x >= level && x > largest && (cone & b) != 0u;        \
        largest = better ? x : largest;                                     \
        best = better ? v : best;                                           \
    }
#include <vertex_rows>
#undef VERTEX
    return best;
#else
    // First visit: the sum of the weights.
    float scale = PICK_ONE / odf_max;
    uint total = 0u;
#define VERTEX(v, b)                                                        \
    {                                                                       \
        float x = odf[v];                                                   \
        total += x >= level && (cone & b) != 0u ? uint(int(x * scale)) : 0u; \
    }
#include <vertex_rows>
#undef VERTEX
    // Second visit: the chosen vertex is the first at which the running sum passes the target; `vertex` counts
    // the vertices before it.
    uint target, low, sum = 0u;
    int vertex = 0;
    umulExtended(draw_block(draw, 0u).x, total, target, low);
#define VERTEX(v, b)                                                        \
    {                                                                       \
        float x = odf[v];                                                   \
        sum += x >= level && (cone & b) != 0u ? uint(int(x * scale)) : 0u;  \
        vertex += sum <= target ? 1 : 0;                                    \
    }
#include <vertex_rows>
#undef VERTEX
    return total > 0u ? vertex : -1;
#endif
}
#undef CONE

#if GUIDE_AMPLITUDE
// ODF at a vertex. An index that is not constant would move the whole ODF into memory.
float amplitude_of(int vertex)
{
    float amplitude = 0.0;
#define CONE(w)
#define VERTEX(v, b) amplitude = v == vertex ? odf[v] : amplitude;
#include <vertex_rows>
#undef VERTEX
#undef CONE
    return amplitude;
}
#endif
