// Constrained fit of a voxel by a work group (MSMT-CSD, Jeurissen et al. 2014): the dual active set method of
// src/dwi/nonneg_active.h, step by step, in double precision, which OpenGL ES does not have. Each invocation handles
// some rows of the constraints B, and a row and a column of the square root V of the inverse of B B' over the active
// rows. A voxel that needs too many rows or iterations gets NaN, and the host solves it. Sums are taken by fours, with
// zeros at their ends, because CPU renderers stop an invocation after 65535 loop iterations. Dispatched by
// src/dwi/msmt.c.
//
// Defined outside: GROUP, number of invocations; K, number of unknowns, and WIDE, K rounded up to a multiple of 4;
// ROWS, number of constraints, and STRIDE, ROWS rounded up to a multiple of GROUP; MAX_ACTIVE, largest number of active
// rows.
layout(local_size_x = GROUP) in;

layout(location = 0) uniform uint n; // number of measurements of a voxel
layout(location = 1) uniform uint turns; // maximum number of iterations

// The matrices of the plan, one after the other: projection (n x WIDE), B (ROWS x WIDE), L^-1 (WIDE x WIDE), B
// transposed (WIDE x STRIDE), B B' (ROWS x STRIDE).
layout(std430, binding = 0) readonly buffer Plan { double plan[]; };
layout(std430, binding = 1) readonly buffer Columns { float column[]; };    // B transposed: WIDE x STRIDE
layout(std430, binding = 2) readonly buffer Signal { float signal[]; };     // in blocks of 128 voxels: n x 128
layout(std430, binding = 3) writeonly buffer Result { float result[]; };    // in blocks of 128 voxels: K x 128

#define BLOCK 128u
#define SOFTNESS 1e-10lf    // these three: SOFTNESS, MIN_ACTIVE_PIVOT, FLOAT_NOISE of src/dwi/nonneg_kernel.c
#define MIN_PIVOT 1e-11lf
#define FLOAT_NOISE 2e-7lf
#define PER_LANE (STRIDE / GROUP)
#define LINE (MAX_ACTIVE + 1) // distance of successive rows of V; odd, so that a column lies in different banks

shared double root[MAX_ACTIVE * LINE]; // needs MAX_ACTIVE <= GROUP
// lambda: multipliers of the active rows; aim: their target; product, part: work space of sums.
shared double lambda[MAX_ACTIVE], aim[MAX_ACTIVE], product[MAX_ACTIVE], part[MAX_ACTIVE];
// start: the solution without constraints; y, y_float: the current solution, in double and single precision.
shared double start[WIDE], y[WIDE];
shared vec4 y_float[WIDE / 4];
// row_of: the constraint of each active row; number, value_of, index_of: work space, an element for each invocation.
shared uint row_of[MAX_ACTIVE];
shared double number[GROUP];
shared float value_of[GROUP];
shared uint index_of[GROUP];

uint lane, count, held; // count: of active rows; bit q of held: row lane + q * GROUP is active
// Indices in plan[] at which B B', B, L^-1 and B transposed begin; set by main().
uint products, rows, inverse, columns;

// Waits until all invocations have arrived and their writes to shared memory are visible.
void meet()
{
    memoryBarrierShared();
    barrier();
}

// Sum of x over all invocations of the work group, in a tree of pairs; every invocation gets the sum.
double total(double x)
{
    number[lane] = x;
    meet();
    for (uint s = GROUP / 2u; s > 0u; s /= 2u) {
        if (lane < s) number[lane] += number[lane + s];
        meet();
    }
    double sum = number[0];
    meet();
    return sum;
}

// Finds the lowest value of all lanes, and among equals the lowest index.
void lowest_of(inout double x, inout uint at)
{
    number[lane] = x;
    index_of[lane] = at;
    meet();
    for (uint s = GROUP / 2u; s > 0u; s /= 2u) {
        if (lane < s && (number[lane + s] < number[lane] ||
                         (number[lane + s] == number[lane] && index_of[lane + s] < index_of[lane]))) {
            number[lane] = number[lane + s];
            index_of[lane] = index_of[lane + s];
        }
        meet();
    }
    x = number[0];
    at = index_of[0];
    meet();
}

// Returns the lowest value of B y below 0 among the rows that are not active, and its row; 0 if there is none. Single
// precision is precise enough for a choice.
double lowest_float(out uint row)
{
    float sum[PER_LANE];
    for (uint q = 0u; q < PER_LANE; q++) sum[q] = 0.0;
    for (uint j = 0u; j < WIDE; j += 4u) {
        vec4 v = y_float[j / 4u];
        for (uint q = 0u; q < PER_LANE; q++) {
            uint at = j * STRIDE + q * GROUP + lane;
            sum[q] += column[at] * v.x;
            sum[q] += column[at + STRIDE] * v.y;
            sum[q] += column[at + 2u * STRIDE] * v.z;
            sum[q] += column[at + 3u * STRIDE] * v.w;
        }
    }
    float least = 0.0;
    uint at = 0u;
    for (uint q = 0u; q < PER_LANE; q++)
        if (sum[q] < least && (held >> q & 1u) == 0u) {
            least = sum[q];
            at = q * GROUP + lane;
        }
    value_of[lane] = least;
    index_of[lane] = at;
    meet();
    for (uint s = GROUP / 2u; s > 0u; s /= 2u) {
        if (lane < s && (value_of[lane + s] < value_of[lane] ||
                         (value_of[lane + s] == value_of[lane] && index_of[lane + s] < index_of[lane]))) {
            value_of[lane] = value_of[lane + s];
            index_of[lane] = index_of[lane + s];
        }
        meet();
    }
    double value = double(value_of[0]);
    row = index_of[0];
    meet();
    return value;
}

// Like lowest_float(), in double precision, for when single precision finds no row that is clearly violated.
double lowest(out uint row)
{
    double least = 0.0lf;
    row = 0u;
    for (uint q = 0u; q < PER_LANE; q++) {
        double sum = 0.0lf;
        for (uint j = 0u; j < WIDE; j += 4u) {
            uint at = columns + j * STRIDE + q * GROUP + lane;
            sum += plan[at] * y[j];
            sum += plan[at + STRIDE] * y[j + 1u];
            sum += plan[at + 2u * STRIDE] * y[j + 2u];
            sum += plan[at + 3u * STRIDE] * y[j + 3u];
        }
        if (sum < least && (held >> q & 1u) == 0u) {
            least = sum;
            row = q * GROUP + lane;
        }
    }
    lowest_of(least, row);
    return least;
}

// Product of row `lane` of V and the vector `product`.
double row_sum()
{
    double sum = 0.0lf, more = 0.0lf;
    for (uint j = 0u; j < count; j += 4u) {
        uint at = lane * LINE + j;
        sum += root[at] * product[j];
        more += root[at + 1u] * product[j + 1u];
        sum += root[at + 2u] * product[j + 2u];
        more += root[at + 3u] * product[j + 3u];
    }
    return sum + more;
}

// Product of column `lane` of V and the vector `part`.
double column_sum()
{
    double sum = 0.0lf, more = 0.0lf;
    for (uint i = 0u; i < count; i += 4u) {
        uint at = i * LINE + lane;
        sum += root[at] * part[i];
        more += root[at + LINE] * part[i + 1u];
        sum += root[at + 2u * LINE] * part[i + 2u];
        more += root[at + 3u * LINE] * part[i + 3u];
    }
    return sum + more;
}

// Makes a row active: extends V by a row and a column, and moves the target of the multipliers. value: that of the
// row's constraint at the current solution, below 0.
void append(uint row, double value)
{
    bool mine = lane < count;
    if (lane < MAX_ACTIVE) product[lane] = mine ? plan[products + row * STRIDE + row_of[lane]] : 0.0lf;
    meet();
    double of_lane = mine ? row_sum() : 0.0lf;
    if (lane < MAX_ACTIVE) part[lane] = of_lane;
    // pivot: the squared length of the new row, without the part that the active rows explain. 1 / sqrt(pivot) is the
    // new diagonal element of V.
    double pivot = plan[products + row * STRIDE + row] + SOFTNESS - total(of_lane * of_lane);
    double scale = 1.0lf / sqrt(max(pivot, MIN_PIVOT)), way = -value * scale;
    if (lane <= count) {
        double added = mine ? -column_sum() * scale : scale, here = mine ? lambda[lane] : 0.0lf;
        root[count * LINE + lane] = added;
        if (mine) root[lane * LINE + count] = 0.0lf;
        aim[lane] = here + way * added;
    }
    if (lane == 0u) row_of[count] = row;
    if (row % GROUP == lane) held |= 1u << row / GROUP;
    count++;
    meet();
}

// Releases the active row at position q. A reflection of V leaves a single element in column q, in the last row; column
// and row are then dropped.
void remove(uint q)
{
    // The reflection (Householder) makes column q of V a multiple of the last unit vector.
    uint last = count - 1u, row = row_of[q];
    double of_lane = lane <= last ? root[lane * LINE + q] : 0.0lf, square = total(of_lane * of_lane),
           before = root[last * LINE + q], size = sqrt(square), factor = 1.0lf / (square + abs(before) * size);
    if (lane == last) of_lane += before < 0.0lf ? -size : size;
    if (lane < MAX_ACTIVE) part[lane] = of_lane;
    meet();
    if (lane <= last) {
        double sum = column_sum() * factor;
        for (uint i = 0u; i <= last; i += 4u) {
            uint at = i * LINE + lane;
            root[at] -= sum * part[i];
            root[at + LINE] -= sum * part[i + 1u];
            root[at + 2u * LINE] -= sum * part[i + 2u];
            root[at + 3u * LINE] -= sum * part[i + 3u];
        }
    }
    meet();
    // Move the target so that the multiplier of the dropped row becomes 0, then move the last column into the gap.
    double way = aim[q] / root[last * LINE + q];
    meet();
    if (lane <= last) aim[lane] -= way * root[last * LINE + lane];
    meet();
    if (lane < last) {
        root[lane * LINE + q] = root[lane * LINE + last];
        root[lane * LINE + last] = 0.0lf;
    }
    if (lane == 0u) {
        row_of[q] = row_of[last];
        lambda[q] = lambda[last];
        lambda[last] = 0.0lf;
        aim[q] = aim[last];
    }
    if (row % GROUP == lane) held &= ~(1u << row / GROUP);
    count = last;
    meet();
}

// Moves the multipliers towards the target, releasing rows whose multipliers would turn negative on the way.
void follow()
{
    for (;;) {
        bool mine = lane < count && aim[lane] < 0.0lf;
        // Share of the way to the target at which this lane's multiplier reaches 0; lowest_of() finds the lowest share.
        double way = mine ? lambda[lane] / (lambda[lane] - aim[lane]) : 2.0lf;
        uint at = mine ? lane : GROUP;
        lowest_of(way, at);
        if (at == GROUP) break;
        if (lane < count) lambda[lane] = max(lambda[lane] + way * (aim[lane] - lambda[lane]), 0.0lf);
        meet();
        remove(at);
    }
    if (lane < count) lambda[lane] = aim[lane];
    meet();
}

// Computes the solution from the multipliers: y = start + sum over active rows of lambda times the row of B.
void solve_primal()
{
    if (lane < WIDE) {
        double sum = start[lane], more = 0.0lf;
        for (uint j = 0u; j < count; j += 4u) {
            uint at = rows + lane;
            sum += plan[at + row_of[j] * WIDE] * lambda[j];
            more += plan[at + row_of[j + 1u] * WIDE] * lambda[j + 1u];
            sum += plan[at + row_of[j + 2u] * WIDE] * lambda[j + 2u];
            more += plan[at + row_of[j + 3u] * WIDE] * lambda[j + 3u];
        }
        sum += more;
        y[lane] = sum;
        y_float[lane / 4u][lane % 4u] = float(sum);
    }
    meet();
}

// Reduces the rounding error in the equations of the active rows by one step of iterative refinement.
void refine()
{
    bool mine = lane < count;
    double sum = mine ? SOFTNESS * lambda[lane] : 0.0lf;
    for (uint i = 0u; i < WIDE && mine; i++) sum += plan[rows + row_of[lane] * WIDE + i] * y[i];
    if (lane < MAX_ACTIVE) product[lane] = sum;
    meet();
    double of_lane = mine ? row_sum() : 0.0lf;
    if (lane < MAX_ACTIVE) part[lane] = of_lane;
    meet();
    if (mine) lambda[lane] -= column_sum();
    meet();
    solve_primal();
}

// Value of the lowest active row: the ridge SOFTNESS leaves it below 0 by SOFTNESS times its multiplier. As in dwi2fod
// the search ends once no row is lower.
double lowest_active()
{
    double most = 0.0lf;
    for (uint j = 0u; j < count; j += 4u)
        most = max(max(max(lambda[j], lambda[j + 1u]), max(lambda[j + 2u], lambda[j + 3u])), most);
    return -SOFTNESS * most;
}

// Adds the most violated row until no row is violated more than the active rows. Returns false if there are too many
// rows or iterations. noise: largest error of a constraint in single precision. Once no violation clearly exceeds it,
// or none exceeds those of the active rows, double precision finds the row.
bool iterate(double noise)
{
    bool exact = false;
    for (uint turn = 0u; turn < turns && count < MAX_ACTIVE; turn++) {
        uint row;
        // Find the most violated row, in single precision as long as the violation is clear.
        double value = exact ? lowest(row) : lowest_float(row), end = lowest_active();
        if (exact) {
            if (value >= end) return true;
        } else {
            if (value < -noise) value = total(lane < WIDE ? plan[rows + row * WIDE + lane] * y[lane] : 0.0lf);
            exact = value > -noise || value > end;
            if (exact) continue;
        }
        append(row, value);
        follow();
        solve_primal();
    }
    return false;
}

void main()
{
    // A work group solves one voxel.
    uint voxel = gl_WorkGroupID.x, block = voxel / BLOCK, at = voxel % BLOCK;
    rows = n * WIDE;
    inverse = rows + ROWS * WIDE;
    columns = inverse + WIDE * WIDE;
    products = columns + WIDE * STRIDE;
    lane = gl_LocalInvocationID.x;
    count = 0u;
    held = 0u;
    for (uint i = lane; i < MAX_ACTIVE * LINE; i += GROUP) root[i] = 0.0lf;
    if (lane < MAX_ACTIVE) {
        row_of[lane] = 0u;
        lambda[lane] = 0.0lf;
    }
    double of_lane = 0.0lf;
    for (uint i = 0u; i < n && lane < WIDE; i++)
        of_lane += plan[i * WIDE + lane] * double(signal[(block * n + i) * BLOCK + at]);
    if (lane < WIDE) {
        start[lane] = of_lane;
        y[lane] = of_lane;
        y_float[lane / 4u][lane % 4u] = float(of_lane);
    }
    // Solve, then map the solution back by L^-1 and store it.
    double size = sqrt(total(of_lane * of_lane));
    bool converged = iterate(FLOAT_NOISE * size);
    if (converged) refine();
    double sum = 0.0lf;
    for (uint i = lane; i < WIDE; i++) sum += plan[inverse + i * WIDE + lane] * y[i];
    if (lane < K) result[(block * K + lane) * BLOCK + at] = converged ? float(sum) : uintBitsToFloat(0x7fc00000u);
}
