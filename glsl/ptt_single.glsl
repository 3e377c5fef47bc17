// The disc of curvatures and the search for a curve, one invocation.
float support_of_vertex[N_DISC_VERTICES];
uint upto_face[N_DISC_FACES];
#define SUPPORT(v) support_of_vertex[v]
#define UPTO(f) upto_face[f]

// Support of disc vertex v. Its table of arcs is read once and the turn of a sample made from that of the one before: loads that differ between invocations are slow on software
// renderers.
float vertex_support(vec3 p, vec3 t, vec3 n, int v, float start)
{
    int at = MODEL_ARCS + 6 * (N_DISC_VERTICES + v);
    vec3 b = cross(t, n);
    vec2 bend = vec2(MODEL_FLOAT(at), MODEL_FLOAT(at + 1)), one = vec2(MODEL_FLOAT(at + 4), MODEL_FLOAT(at + 5)), turn = vec2(1.0, 0.0), gone = vec2(0.0);
    vec2 step = vec2(MODEL_FLOAT(at + 2), MODEL_FLOAT(at + 3));
    float total = start;
    for (int q = 0; q <= PROBE_STEPS; q++) {
        if (q >= FIRST_SAMPLE) total += sample_at(p, t, n, b, bend, gone.x, gone.y, turn.x, turn.y);
        // the arc from here on is the first one, turned
        gone += vec2(step.x * turn.x - step.y * turn.y, step.x * turn.y + step.y * turn.x);
        turn = vec2(turn.x * one.x - turn.y * one.y, turn.y * one.x + turn.x * one.y);
    }
    return total;
}

void disc_support(vec3 p, vec3 t, vec3 n, Draw draw, bool first, float start)
{
    for (int v = 0; v < N_DISC_VERTICES; v++) {
        float s = vertex_support(p, t, first ? disc_normal(t, draw, v) : n, v, start);
        SUPPORT(v) = s >= least_support() ? s : 0.0;
    }
}

// The first of up to PTT_TRIES drawn curves with enough support.
bool first_supported(vec3 p, vec3 d, vec3 n, Draw draw, uint total, float start, out vec2 curvature)
{
    for (int c = 0; c < PTT_TRIES; c++) {
        curvature = draw_curvature(draw_block(draw, uint(c)), total);
        if (probe_support(p, d, n, curvature, start) >= least_support()) return true;
    }
    return false;
}
