// The walk along a streamline; see walk.glsl. The file that includes this one defines VERTEX(i), RATIO (pieces of a
// segment), PIECE (1 / RATIO) and VISIT().

// Calls VISIT(voxel, entry, leave, length) for all visits of n >= 2 points, in order: the voxel, where the streamline
// enters and leaves it, and the length in between, mm. Each segment is cut into RATIO pieces of its cubic; p0 .. p3 are
// four successive positions of the upsampled streamline, of which p1 to p2 is walked. Behind both ends the streamline
// goes on by mirrored points.
FUNCTION void walk_along(WALK_PARAMETERS uint n)
{
    // v0 .. v3: four successive points of the streamline; `through`: the cubic between v1 and v2.
    const uint pieces = (n - 1u) * RATIO;
    uint segment = 0u, k = 0u;
    Spot v1 = VERTEX(0u), v2 = VERTEX(1u), v0 = mirrored(v1, v2), v3 = mirrored(v2, v1);
    if (n > 2u) v3 = VERTEX(2u);
    Curve through = curve_of(GRID v0, v1, v2, v3);
    Spot p0 = v0, p1 = v1, p2 = v1, p3 = v1, entry = v1;
    Cell cell = cell_of(v1);
    double length_in = D(0.0);
    for (uint made = 0u; made <= pieces; made++) {
        // Next position p3: behind the end, on the cubic, or at the next point, where a new cubic begins.
        if (made == pieces) {
            p3 = mirrored(p2, p1);
        } else if (++k < RATIO) {
            p3 = spot_at(through, DOUBLE(k) * PIECE);
        } else {
            k = 0u;
            segment++;
            v0 = v1;
            v1 = v2;
            v2 = v3;
            v3 = mirrored(v2, v1);
            if (segment + 2u < n) v3 = VERTEX(segment + 2u);
            through = curve_of(GRID v0, v1, v2, v3);
            p3 = v1;
        }
        // At the start: the position before the first point is the mirror image of the first new position.
        if (made == 0u) {
            p0 = mirrored(p2, p3);
            p1 = p2;
            p2 = p3;
            continue;
        }
        // Pass from voxel to voxel until the voxel of p2 is reached.
        Cell last = cell_of(p2);
        Spot from = p1;
        if (!same_cell(cell, last)) {
            Curve curve = curve_of(GRID p0, p1, p2, p3);
            double at = D(0.0);
            while (!same_cell(cell, last)) {
                Exit e = find_exit(GRID curve, p2, cell, last, from, at);
                VISIT(cell, entry, e.leave, length_in + distance_of(GRID from, e.leave));
                length_in = D(0.0);
                entry = e.leave;
                from = e.leave;
                cell = e.next;
                at = e.at;
            }
        }
        length_in += distance_of(GRID from, p2);
        p0 = p1;
        p1 = p2;
        p2 = p3;
    }
    VISIT(cell, entry, p1, length_in);
}
