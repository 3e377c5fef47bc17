// Peaks of an ODF from SH coefficients, written out for one invocation. odf, odf_max and odf_min come from
// odf/sh_unrolled.glsl.
const int PEAK_WORDS = (N_VERTICES + 31) / 32;
uint is_peak[PEAK_WORDS];

// Macros of the generated rows of find_peaks(), which mark the peaks in is_peak, a word for 32 vertices.
#define PEAK_WORD(w) bits = 0u;
#define PEAK_WORD_END(w) is_peak[w] = bits; total += bitCount(bits);
#define VERTEX3(v, b, n0, n1, n2) \
    bits |= odf[v] >= larger(level, larger(larger(odf[n0], odf[n1]), odf[n2])) ? b : 0u;
#define VERTEX4(v, b, n0, n1, n2, n3) \
    bits |= odf[v] >= larger(larger(level, odf[n0]), larger(larger(odf[n1], odf[n2]), odf[n3])) ? b : 0u;
#define VERTEX5(v, b, n0, n1, n2, n3, n4) \
    bits |= odf[v] >= larger(larger(larger(level, odf[n0]), odf[n1]), \
                             larger(larger(odf[n2], odf[n3]), odf[n4])) ? b : 0u;
#define VERTEX6(v, b, n0, n1, n2, n3, n4, n5) \
    bits |= odf[v] >= larger(larger(larger(level, odf[n0]), larger(odf[n1], odf[n2])), \
                             larger(larger(odf[n3], odf[n4]), odf[n5])) ? b : 0u;
#define VERTEX7(v, b, n0, n1, n2, n3, n4, n5, n6) \
    bits |= odf[v] >= larger(larger(larger(level, odf[n0]), larger(odf[n1], odf[n2])), \
                             larger(larger(odf[n3], odf[n4]), larger(odf[n5], odf[n6]))) ? b : 0u;
#define VERTEX_MORE(v, b) { float above = level;
#define MORE(n) above = larger(above, odf[n]);
#define VERTEX_MORE_END(v, b) bits |= odf[v] >= above ? b : 0u; }

// Marks the peaks in is_peak and returns their number. A vertex is a peak if its value reaches `level` and the value of
// each neighbour. level: the larger of pmf_threshold x maximum and of lowest + peak_threshold x (maximum - lowest),
// DIPY's relative peak threshold; with SEED_CUTOFF at least the cutoff of seeds. lowest: the smallest value of the ODF,
// or 0 if that is below pmf_threshold x maximum.
uint find_peaks()
{
    float floor_value = params.pmf_threshold * odf_max;
    float lowest = odf_min < floor_value ? 0.0 : max(odf_min, 0.0);
    float level = max(floor_value, lowest + params.peak_threshold * (odf_max - lowest));
#if SEED_CUTOFF
    level = max(level, params.seed_cutoff);
#endif
    int total = 0;
    uint bits;
#include <peak_rows>
    // an ODF that is flat or nowhere positive has no peak
    return odf_max > max(odf_min, 0.0) ? uint(total) : 0u;
}

// Reads odf at a variable index by comparing all indices, because an index that is not constant would move the array
// into memory.
float odf_value(int vertex)
{
    float value = 0.0;
#define CONE(w)
#define VERTEX(v, b) value = v == vertex ? odf[v] : value;
#include <vertex_rows>
#undef VERTEX
#undef CONE
    return value;
}

vec4 candidate[MAX_CANDIDATES]; // direction and value; -1 once the candidate is used or dropped
uint candidate_vertex[MAX_CANDIDATES];
int n_candidates = 0;
#define CANDIDATE(i) candidate_vertex[i]
#define CANDIDATE_DIRECTION(i) candidate[i].xyz

// Returns the first vertex that is marked in is_peak, and removes its mark. Words of is_peak are indexed by constants,
// so that they stay in registers.
int take_marked()
{
    int word = 0;
    uint bits = 0u;
    for (int w = PEAK_WORDS - 1; w >= 0; w--) {
        bool marked = is_peak[w] != 0u;
        word = marked ? w : word;
        bits = marked ? is_peak[w] : bits;
    }
    for (int w = 0; w < PEAK_WORDS; w++) is_peak[w] = w == word ? bits & (bits - 1u) : is_peak[w];
    return word * 32 + findLSB(bits);
}

// Lists the n marked vertices, at most MAX_CANDIDATES, by ascending vertex. There is one iteration for each of them,
// because invocations that a CPU renderer runs side by side wait for the one with most iterations.
void list_candidates(uint n)
{
    int n_listed = min(int(n), MAX_CANDIDATES);
    for (n_candidates = 0; n_candidates < n_listed; n_candidates++) {
        int v = take_marked();
        candidate[n_candidates] = vec4(vertex_direction(uint(v)), 0.0);
        candidate_vertex[n_candidates] = uint(v);
    }
    // values are needed only to compare candidates
    for (int i = 0; n_candidates > 1 && i < n_candidates; i++) candidate[i].w = odf_value(int(candidate_vertex[i]));
}

// Takes the strongest remaining candidate and drops the candidates too near to it. Returns -1 if none remains.
int take_strongest()
{
    int best = -1;
    float value = -1.0;
    for (int i = 0; i < n_candidates; i++) {
        if (candidate[i].w > value) {
            value = candidate[i].w;
            best = i;
        }
    }
    vec3 direction = candidate[max(best, 0)].xyz;
    for (int i = 0; i < n_candidates; i++) {
        if (separation_cosine(dot(candidate[i].xyz, direction)) > params.cos_separation) candidate[i].w = -1.0;
    }
    if (best >= 0) candidate[best].w = -1.0;
    return best;
}
