/* Arithmetic on points for one instruction set, see util/each_level.h. */

TARGET static void NAME(gaps)(const float *restrict x, const float *restrict y, const float *restrict z, size_t n,
                              const float q[3], float *restrict square)
{
    const float qx = q[0], qy = q[1], qz = q[2];
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        const float dx = x[i] - qx, dy = y[i] - qy, dz = z[i] - qz;
        square[i] = dx * dx + dy * dy + dz * dz;
    }
}

TARGET static size_t NAME(near)(const float *restrict x, const float *restrict y, const float *restrict z, size_t n,
                                const float q[3], float limit, uint32_t *restrict hit, float *restrict square)
{
    enum { STRIP = 64, WORD = 8 };
    float gap[STRIP];
    uint8_t near[STRIP] = {0};
    size_t count = 0;
    for (size_t from = 0; from < n; from += STRIP) {
        const size_t size = n - from < STRIP ? n - from : STRIP;
        NAME(gaps)(x + from, y + from, z + from, size, q, gap);
#pragma omp simd
        for (size_t k = 0; k < size; k++) near[k] = gap[k] <= limit;
        for (size_t k = 0; k < size; k += WORD) {
            uint64_t any;
            memcpy(&any, near + k, sizeof any);
            for (size_t l = k; any && l < k + WORD && l < size; l++) {
                hit[count] = (uint32_t)(from + l);
                square[count] = gap[l];
                count += near[l];
            }
        }
    }
    return count;
}

TARGET static void NAME(both)(const float *restrict a, const float *restrict b, const float *restrict c, size_t points,
                              size_t pad, float *ab, float *ac)
{
    float s[GLS_MAX_POINTS], t[GLS_MAX_POINTS];
    lanes direct = {0}, turned = {0}, one, other;
    for (size_t from = 0; from < pad; from += GLS_POINT_LANES) {
#pragma omp simd
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            const size_t p = from + l;
            const float x = a[p], y = a[pad + p], z = a[2 * pad + p];
            const float bx = x - b[p], by = y - b[pad + p], bz = z - b[2 * pad + p];
            const float cx = x - c[p], cy = y - c[pad + p], cz = z - c[2 * pad + p];
            s[p] = sqrtf(bx * bx + by * by + bz * bz);
            t[p] = sqrtf(cx * cx + cy * cy + cz * cz);
        }
        memcpy(&one, s + from, sizeof one);
        memcpy(&other, t + from, sizeof other);
        direct += one;
        turned += other;
    }
    float sum[2] = {0};
    for (int l = 0; l < GLS_POINT_LANES; l++) {
        sum[0] += direct[l];
        sum[1] += turned[l];
    }
    *ab = sum[0] / (float)points;
    *ac = sum[1] / (float)points;
}

TARGET static float NAME(parts)(const float *restrict a, const float *restrict b)
{
    float s[GLS_POINT_LANES];
#pragma omp simd
    for (size_t l = 0; l < GLS_POINT_LANES; l++) {
        const float x = a[l] - b[l], y = a[GLS_POINT_LANES + l] - b[GLS_POINT_LANES + l],
                    z = a[2 * GLS_POINT_LANES + l] - b[2 * GLS_POINT_LANES + l];
        s[l] = sqrtf(x * x + y * y + z * z);
    }
    const float direct = s[0] + s[1] + s[2] + s[3], turned = s[4] + s[5] + s[6] + s[7];
    return direct < turned ? direct : turned;
}

/* Mean and largest of the roots of some squares; their padding becomes 0. */
TARGET static void NAME(roots)(float *restrict square, size_t points, size_t pad, float root[2])
{
    float s[GLS_MAX_POINTS], most[GLS_POINT_LANES] = {0};
    lanes sum = {0}, one;
    for (size_t p = points; p < pad; p++) square[p] = 0;
    for (size_t from = 0; from < pad; from += GLS_POINT_LANES) {
#pragma omp simd
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            s[from + l] = sqrtf(square[from + l]);
            most[l] = square[from + l] > most[l] ? square[from + l] : most[l];
        }
        memcpy(&one, s + from, sizeof one);
        sum += one;
    }
    root[0] = 0;
    for (int l = 0; l < GLS_POINT_LANES; l++) {
        root[0] += sum[l];
        most[0] = most[l] > most[0] ? most[l] : most[0];
    }
    root[0] /= (float)points;
    root[1] = sqrtf(most[0]);
}

TARGET static void NAME(nearest)(const float *restrict a, const float *restrict b, size_t points, size_t pad,
                                 float there[2], float back[2])
{
    float own[GLS_MAX_POINTS], other[GLS_MAX_POINTS];
    for (size_t q = 0; q < pad; q++) other[q] = INFINITY;
    for (size_t p = 0; p < points; p++) {
        const float ax = a[p], ay = a[pad + p], az = a[2 * pad + p];
        float least[GLS_POINT_LANES];
        for (int l = 0; l < GLS_POINT_LANES; l++) least[l] = INFINITY;
        for (size_t from = 0; from < pad; from += GLS_POINT_LANES) {
#pragma omp simd
            for (size_t l = 0; l < GLS_POINT_LANES; l++) {
                const size_t q = from + l;
                const float x = ax - b[q], y = ay - b[pad + q], z = az - b[2 * pad + q], square = x * x + y * y + z * z;
                other[q] = square < other[q] ? square : other[q];
                least[l] = square < least[l] ? square : least[l];
            }
        }
        for (int half = GLS_POINT_LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++) least[l] = least[l + half] < least[l] ? least[l + half] : least[l];
        own[p] = least[0];
    }
    NAME(roots)(own, points, pad, there);
    NAME(roots)(other, points, pad, back);
}

TARGET static double NAME(from_nearest)(const float *restrict a, const float *restrict b, size_t points, size_t pad,
                                        bool largest)
{
    double sum = 0, most = 0;
    for (size_t p = 0; p < points; p++) {
        const double ax = (double)a[p], ay = (double)a[pad + p], az = (double)a[2 * pad + p];
        double least = INFINITY;
#pragma omp simd reduction(min : least)
        for (size_t q = 0; q < points; q++) {
            const double x = ax - (double)b[q], y = ay - (double)b[pad + q], z = az - (double)b[2 * pad + q];
            const double square = x * x + y * y + z * z;
            least = square < least ? square : least;
        }
        least = sqrt(least);
        sum += least;
        most = least > most ? least : most;
    }
    return largest ? most : sum / (double)points;
}

TARGET static void NAME(outside)(const float *restrict a, const float low[3], const float high[3], size_t points,
                                 size_t pad, float gap[2])
{
    float square[GLS_MAX_POINTS];
    const float *x = a, *y = a + pad, *z = a + 2 * pad;
    for (size_t from = 0; from < pad; from += GLS_POINT_LANES) {
#pragma omp simd
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            const size_t p = from + l;
            float dx = low[0] - x[p], dy = low[1] - y[p], dz = low[2] - z[p];
            dx = x[p] - high[0] > dx ? x[p] - high[0] : dx;
            dy = y[p] - high[1] > dy ? y[p] - high[1] : dy;
            dz = z[p] - high[2] > dz ? z[p] - high[2] : dz;
            dx = dx > 0 ? dx : 0;
            dy = dy > 0 ? dy : 0;
            dz = dz > 0 ? dz : 0;
            square[p] = dx * dx + dy * dy + dz * dz;
        }
    }
    NAME(roots)(square, points, pad, gap);
}

TARGET static double NAME(exact)(const float *restrict a, const float *restrict b, size_t points, size_t pad)
{
    double s[GLS_MAX_POINTS], sum = 0;
    for (size_t from = 0; from < pad; from += GLS_POINT_LANES) {
#pragma omp simd
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            const size_t p = from + l;
            const double x = (double)(a[p] - b[p]), y = (double)(a[pad + p] - b[pad + p]),
                         z = (double)(a[2 * pad + p] - b[2 * pad + p]);
            s[p] = sqrt(x * x + y * y + z * z);
        }
    }
    for (size_t p = 0; p < points; p++) sum += s[p];
    return sum / (double)points;
}

TARGET static void NAME(senses)(const double *restrict a, const double *restrict b, const double *restrict c,
                                size_t points, size_t pad, double sum[2])
{
    double s[GLS_MAX_POINTS], t[GLS_MAX_POINTS], direct = 0, turned = 0;
    for (size_t from = 0; from < pad; from += GLS_POINT_LANES) {
#pragma omp simd
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            const size_t p = from + l;
            const double x = a[p], y = a[pad + p], z = a[2 * pad + p];
            const double bx = b[p] - x, by = b[pad + p] - y, bz = b[2 * pad + p] - z;
            const double cx = c[p] - x, cy = c[pad + p] - y, cz = c[2 * pad + p] - z;
            s[p] = sqrt(bx * bx + by * by + bz * bz);
            t[p] = sqrt(cx * cx + cy * cy + cz * cz);
        }
    }
    for (size_t p = 0; p < points; p++) {
        direct += s[p];
        turned += t[p];
    }
    sum[0] = direct;
    sum[1] = turned;
}

TARGET static double NAME(move)(const double *restrict from, const double m[3][3], const double shift[3], size_t points,
                                size_t pad, double *restrict to, float *restrict copy)
{
    double s[GLS_MAX_POINTS] = {0}, sum = 0;
    for (size_t k = 0; k < 3; k++, to += pad, copy += pad) {
        const double a = m[k][0], b = m[k][1], c = m[k][2], d = shift[k];
#pragma omp simd
        for (size_t p = 0; p < points; p++) {
            const double at = a * from[p] + b * from[pad + p] + c * from[2 * pad + p] + d, gap = at - to[p];
            s[p] += gap * gap;
            to[p] = at;
            copy[p] = (float)at;
        }
    }
#pragma omp simd reduction(+ : sum)
    for (size_t p = 0; p < points; p++) sum += sqrt(s[p]);
    return sum;
}

TARGET static void NAME(pull)(const double *restrict fixed, const double *restrict moved, const double *restrict from,
                              size_t points, size_t pad, double weight, double sum[4][4])
{
    double part[3][GLS_MAX_POINTS];
    const double n = (double)points;
    for (size_t first = 0; first < pad; first += GLS_POINT_LANES) {
#pragma omp simd
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            const size_t p = first + l;
            const double x = moved[p] - fixed[p], y = moved[pad + p] - fixed[pad + p],
                         z = moved[2 * pad + p] - fixed[2 * pad + p], root = sqrt(x * x + y * y + z * z),
                         length = root > 1e-12 ? root : 1e-12;
            part[0][p] = weight * x / length / n;
            part[1][p] = weight * y / length / n;
            part[2][p] = weight * z / length / n;
        }
    }
    four a[4];
    memcpy(a, sum, sizeof a);
    for (size_t p = 0; p < points; p++) {
        const four own = {part[0][p], part[1][p], part[2][p], 0};
        a[0] += own;
        a[1] += own * from[p];
        a[2] += own * from[pad + p];
        a[3] += own * from[2 * pad + p];
    }
    memcpy(sum, a, sizeof a);
}

TARGET static size_t NAME(within)(const float *restrict bound, const float *restrict total, const float *restrict reach,
                                  size_t n, float far, uint32_t *restrict hit)
{
    enum { STRIP = 64 };
    uint8_t near[STRIP + 8] = {0};
    size_t count = 0;
    for (size_t from = 0; from < n; from += STRIP) {
        const size_t size = n - from < STRIP ? n - from : STRIP;
        const float *own = bound + from, *moved = total + from, *most = reach + from;
#pragma omp simd
        for (size_t k = 0; k < size; k++) near[k] = (own[k] <= far + moved[k]) | (own[k] <= most[k]);
        for (size_t k = 0; k < size; k += 8) {
            uint64_t any;
            memcpy(&any, near + k, sizeof any);
            for (size_t l = k; any && l < k + 8 && l < size; l++) {
                hit[count] = (uint32_t)(from + l);
                count += near[l];
            }
        }
    }
    return count;
}

TARGET static void NAME(grow)(float *restrict c, const float *restrict x, float n, size_t count)
{
    const float next = n + 1;
#pragma omp simd
    for (size_t i = 0; i < count; i++) c[i] = (c[i] * n + x[i]) / next;
}

TARGET static void NAME(boxes)(const float *const mid[3], const float *const half[3], size_t n, const float own_mid[3],
                               const float own_half[3], float wide, uint8_t *hit)
{
    const float *mx = mid[0], *my = mid[1], *mz = mid[2], *hx = half[0], *hy = half[1], *hz = half[2];
    const double x = (double)own_mid[0], y = (double)own_mid[1], z = (double)own_mid[2];
    const float ox = own_half[0], oy = own_half[1], oz = own_half[2];
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        hit[i] = (fabs((double)mx[i] - x) <= (double)(hx[i] + ox + wide)) &
                 (fabs((double)my[i] - y) <= (double)(hy[i] + oy + wide)) &
                 (fabs((double)mz[i] - z) <= (double)(hz[i] + oz + wide));
}
