// The disc of curvatures and the search for a curve, for one invocation without shared memory.
float support_of_vertex[N_DISC_VERTICES];
float upto_face[N_DISC_FACES];
#define SUPPORT(v) support_of_vertex[v]
#define UPTO(f) upto_face[f]

void disc_support(vec3 p, vec3 t, vec3 n, Draw draw, bool first, float start)
{
    for (int v = 0; v < N_DISC_VERTICES; v++) {
        mat3 frame = frame_of(t, first ? disc_normal(t, draw, v) : n);
        float total = start;
        for (int q = 0; q < PROBE_SAMPLES; q++) total += disc_sample(p, frame, q * N_DISC_VERTICES + v);
        SUPPORT(v) = enough(total);
    }
}

// The first of up to PTT_TRIES drawn curves with enough support.
bool first_supported(vec3 p, vec3 d, vec3 n, Draw draw, uint total, float start, out vec2 curvature)
{
    for (int c = 0; c < PTT_TRIES; c++) {
        curvature = draw_curvature(draw_block(draw, uint(c)), total);
        if (probe_support(p, frame_of(d, n), curvature, start) >= least_support()) return true;
    }
    return false;
}
