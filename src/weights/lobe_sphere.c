/* Makes the sphere of samples: an icosahedron whose triangles are split in four, four times. These are the directions
 * of MRtrix3 without its rounding. */
#include "weights/lobe_sphere.h"
#include "weights/fixel_parts.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Sizes of the whole sphere: 12 corners, 10 * 4^4 + 2 vertices, 20 * 4^4 triangles; each edge of the icosahedron has 16
 * parts. */
enum { N_CORNERS = 12, N_VERTICES = 2562, N_TRIANGLES = 20 * 256, PARTS = 16 };

/* Weights of a quadrature that is exact for all even harmonics up to order 50, with the smallest sum of squares. They
 * have the symmetry of the icosahedron: a vertex with barycentric coordinates (PARTS - b - c, b, c) / PARTS, in
 * descending order, has the weight rule[b][c]. */
static const double rule[9][6] = {
    {0.01029550943399376},
    {0.008473519809810986, 0.009420964752422132},
    {0.009911869595222878, 0.008883852528849653, 0.00947468505546658},
    {0.008159335020050038, 0.00993906616619768, 0.009522466509130125, 0.010257390066366844},
    {0.010017117461171867, 0.00898635686883497, 0.00973557692391575, 0.00887080869887261, 0.01051840509842653},
    {0.008435709077435707, 0.009882900613586883, 0.008729986880701528, 0.010207675920671264, 0.011647184387906524,
     0.01195037284527398},
    {0.009883340693862094, 0.00852003191905122, 0.010441226863769745, 0.011195993814543673, 0.011011059660441745},
    {0.00872236223185799, 0.010507913689303148, 0.011515526278866794},
    {0.009852354748989496},
};

/* The whole sphere while it is made. */
typedef struct mesh {
    /* numbers of vertices and triangles so far */
    int n, n_triangles;
    /* unit vectors */
    double vertex[N_VERTICES][3];
    uint8_t part[N_VERTICES]
                [N_CORNERS]; /* barycentric coordinates, times PARTS: share of each corner of the icosahedron */
    uint16_t triangle[N_TRIANGLES][3];
    struct {
        uint16_t other[12], middle[12];
        int n;
    } edge[N_VERTICES]; /* split edges from a vertex to vertices of higher index, each with the vertex in its middle */
} mesh;

/* Scales a vector to length 1. */
static void normalise(double v[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++) v[a] /= length;
}

/* Makes the 12 corners and 20 triangles of an icosahedron. */
static void make_icosahedron(mesh *m)
{
    const double golden = (1 + sqrt(5)) / 2;
    for (int s = 1; s >= -1; s -= 2)
        for (int t = 1; t >= -1; t -= 2)
            for (int k = 0; k < 3; k++) {
                double *v = m->vertex[m->n];
                v[k == 0 ? 0 : k == 1 ? 2 : 1] = s * golden;
                v[k == 0 ? 1 : k == 1 ? 0 : 2] = t;
                m->part[m->n][m->n] = PARTS;
                normalise(m->vertex[m->n++]);
            }
    /* corners at the smallest distance of any pair are neighbours */
    double near = 4;
    for (int i = 1; i < N_CORNERS; i++) {
        double d = 0;
        for (int a = 0; a < 3; a++) d += (m->vertex[i][a] - m->vertex[0][a]) * (m->vertex[i][a] - m->vertex[0][a]);
        near = fmin(near, d);
    }
    bool joined[N_CORNERS][N_CORNERS];
    for (int i = 0; i < N_CORNERS; i++)
        for (int j = 0; j < N_CORNERS; j++) {
            double d = 0;
            for (int a = 0; a < 3; a++) d += (m->vertex[i][a] - m->vertex[j][a]) * (m->vertex[i][a] - m->vertex[j][a]);
            joined[i][j] = d < near * 1.02;
        }
    /* every three mutual neighbours are a triangle */
    for (int i = 0; i < N_CORNERS; i++)
        for (int j = i + 1; j < N_CORNERS; j++)
            for (int k = j + 1; k < N_CORNERS; k++)
                if (joined[i][j] && joined[j][k] && joined[i][k]) {
                    const uint16_t t[3] = {(uint16_t)i, (uint16_t)j, (uint16_t)k};
                    memcpy(m->triangle[m->n_triangles++], t, sizeof t);
                }
}

/* Index of the vertex in the middle of the edge from a to b. The first call for an edge makes this vertex. part[] holds
 * the barycentric coordinates over the corners of the icosahedron, times PARTS. */
static uint16_t middle(mesh *m, uint16_t a, uint16_t b)
{
    uint16_t low = a < b ? a : b, high = a < b ? b : a;
    for (int k = 0; k < m->edge[low].n; k++)
        if (m->edge[low].other[k] == high) return m->edge[low].middle[k];
    uint16_t v = (uint16_t)m->n++;
    for (int k = 0; k < 3; k++) m->vertex[v][k] = m->vertex[low][k] + m->vertex[high][k];
    for (int k = 0; k < N_CORNERS; k++) m->part[v][k] = (uint8_t)((m->part[low][k] + m->part[high][k]) / 2);
    normalise(m->vertex[v]);
    m->edge[low].other[m->edge[low].n] = high;
    m->edge[low].middle[m->edge[low].n++] = v;
    return v;
}

/* Splits every triangle of the mesh into four. */
static void split(mesh *m)
{
    static uint16_t old[N_TRIANGLES][3];
    const int n = m->n_triangles;
    memcpy(old, m->triangle, sizeof old);
    memset(m->edge, 0, sizeof m->edge);
    m->n_triangles = 0;
    for (int i = 0; i < n; i++) {
        uint16_t a = old[i][0], b = old[i][1], c = old[i][2];
        uint16_t ab = middle(m, a, b), bc = middle(m, b, c), ac = middle(m, a, c);
        const uint16_t four[4][3] = {{a, ab, ac}, {b, ab, bc}, {c, bc, ac}, {ab, bc, ac}};
        memcpy(m->triangle[m->n_triangles], four, sizeof four);
        m->n_triangles += 4;
    }
}

/* Whether to keep this one of two antipodes: z > 0; if z = 0, y > 0; if both are 0, x > 0. */
static bool upper(const double v[3])
{
    for (int a = 2; a >= 0; a--)
        if (fabs(v[a]) > 1e-9) return v[a] > 0;
    return false;
}

/* Weight of a vertex in an integral over the sphere, from its position in its triangle of the icosahedron: vertices
 * that symmetry maps to each other have the same weight. */
static double weight_of(const uint8_t part[N_CORNERS])
{
    int most = 0, least = PARTS, n = 0;
    for (int k = 0; k < N_CORNERS; k++) {
        if (part[k] == 0) continue;
        if (part[k] > most) most = part[k];
        if (part[k] < least) least = part[k];
        n++;
    }
    if (n < 3) least = 0;
    return rule[PARTS - most - least][least];
}

/* Adds b to the neighbours of vertex a, which stay in ascending order; nothing changes if it is there already. */
static void join(gls_lobe_sphere *s, int count[], uint16_t a, uint16_t b)
{
    int k = 0;
    while (k < count[a] && s->neighbour[a][k] < b) k++;
    if (k < count[a] && s->neighbour[a][k] == b) return;
    for (int i = count[a]++; i > k; i--) s->neighbour[a][i] = s->neighbour[a][i - 1];
    s->neighbour[a][k] = b;
}

/* Keeps one direction of each antipodal pair, with its weight and its neighbours. */
static void take_half(gls_lobe_sphere *s, const mesh *m)
{
    uint16_t index_of[N_VERTICES];
    int count[GLS_LOBE_DIRECTIONS] = {0}, n = 0;
    /* one vertex of each antipodal pair becomes a direction, in the order in which vertices were made */
    for (int i = 0; i < N_VERTICES; i++) {
        if (!upper(m->vertex[i])) continue;
        memcpy(s->direction[n], m->vertex[i], sizeof s->direction[n]);
        s->weight[n] = weight_of(m->part[i]);
        index_of[i] = (uint16_t)n++;
    }
    /* the other vertex of a pair maps to its antipode: the direction with the largest absolute cosine */
    for (int i = 0; i < N_VERTICES; i++) {
        if (upper(m->vertex[i])) continue;
        double best = 0;
        for (int k = 0; k < n; k++) {
            const double *v = m->vertex[i], *d = s->direction[k];
            double dot = fabs(v[0] * d[0] + v[1] * d[1] + v[2] * d[2]);
            if (dot > best) best = dot, index_of[i] = (uint16_t)k;
        }
    }
    /* edges of all triangles, in both senses */
    for (int t = 0; t < N_TRIANGLES; t++)
        for (int k = 0; k < 6; k++)
            join(s, count, index_of[m->triangle[t][k % 3]], index_of[m->triangle[t][(k + 1 + k / 3) % 3]]);
    /* vertices with five neighbours repeat the last, so that loops have a fixed length */
    for (int i = 0; i < n; i++)
        for (int k = count[i]; k < GLS_LOBE_NEIGHBOURS; k++) s->neighbour[i][k] = s->neighbour[i][k - 1];
}

/* Walks along the mesh from the direction `from` to the one nearest to the line along v: because the mesh is a Delaunay
 * triangulation, it is enough to move to a nearer neighbour while there is one. */
static uint16_t walk(const gls_lobe_sphere *s, const double v[3], uint16_t from)
{
    double best = -1;
    /* best: cosine at `at`, -1: not computed yet; equal cosines choose the lower index, so that ties do not depend on
     * the start */
    for (uint16_t at = from;;) {
        const double *d = s->direction[at];
        if (best < 0) best = fabs(v[0] * d[0] + v[1] * d[1] + v[2] * d[2]);
        uint16_t next = at;
        for (int k = 0; k < GLS_LOBE_NEIGHBOURS; k++) {
            uint16_t i = s->neighbour[at][k];
            d = s->direction[i];
            double dot = fabs(v[0] * d[0] + v[1] * d[1] + v[2] * d[2]);
            if (dot > best || (dot == best && i < next)) best = dot, next = i;
        }
        if (next == at) return at;
        at = next;
    }
}

/* The sphere, which is read-only after the first call of gls_lobe_sphere_get(). */
static gls_lobe_sphere sphere;

/* Makes the mesh, keeps one vertex of each antipodal pair, and finds for each cell of the cube a direction from which a
 * search may begin. */
static void make_sphere(void)
{
    /* the mesh is static, because 250 kB are much for the stack of a thread */
    static mesh m;
    make_icosahedron(&m);
    for (int k = 0; k < 4; k++) split(&m);
    take_half(&sphere, &m);
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < GLS_LOBE_CELLS; i++)
            for (int k = 0; k < GLS_LOBE_CELLS; k++) {
                double v[3];
                v[f] = 1;
                v[(f + 1) % 3] = (2 * i + 1.0) / GLS_LOBE_CELLS - 1;
                v[(f + 2) % 3] = (2 * k + 1.0) / GLS_LOBE_CELLS - 1;
                sphere.start[f][i][k] = walk(&sphere, v, 0);
            }
}

const gls_lobe_sphere *gls_lobe_sphere_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_sphere);
    return &sphere;
}

/* Index of the cell of a coordinate from -1 to 1 on a face of the cube. */
static int cell(double x)
{
    int i = (int)((x + 1) * (GLS_LOBE_CELLS / 2));
    return i < 0 ? 0 : i >= GLS_LOBE_CELLS ? GLS_LOBE_CELLS - 1 : i;
}

uint16_t gls_lobe_sphere_nearest(const gls_lobe_sphere *s, const double v[3])
{
    /* the face of the cube that the line through v meets, and the cell in that face */
    int f = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(v[a]) > fabs(v[f])) f = a;
    int i = cell(v[(f + 1) % 3] / v[f]), k = cell(v[(f + 2) % 3] / v[f]);
    return walk(s, v, s->start[f][i][k]);
}
