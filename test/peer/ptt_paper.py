"""Parallel transport tractography as Aydogan and Shi (2021) describe it, for trekker.py: double precision, curves drawn by rejection over the whole disc of curvatures, FODs that are
interpolated and evaluated along the direction itself. The voxels' FODs are sums of lobes of one shape round known fibres, so that an amplitude is a polynomial of the squared cosine."""
import numpy as np

FIRST, ROUND, MOST = 4, 64, 16384  # number of curves that are tried for a step: at first, at least, and at most
TOGETHER = 8192  # number of curves for all places together, when few places are left


class Field:
    """FODs with known fibres. fibres: (x, y, z, 2, 3), zeros where there is no fibre; scale: (x, y, z), factor of the sum of
    lobes; lobe: polynomial of the squared cosine, highest power first."""

    def __init__(self, fibres, scale, lobe, affine):
        self.fibres, self.scale, self.lobe = np.pad(fibres, ((1, 1),) * 3 + ((0, 0),) * 2), np.pad(scale, 1), lobe
        self.inverse = np.linalg.inv(affine)
        self.shape = np.array(fibres.shape[:3])

    def locate(self, place):
        """Returns voxel coordinates, and whether they lie in the grid. place: (..., 3) world mm."""
        v = place @ self.inverse[:3, :3].T + self.inverse[:3, 3]
        return v, ((v >= -0.5) & (v < self.shape - 0.5)).all(-1)

    def amplitude(self, place, direction):
        """Returns the amplitudes at places; 0 outside the grid. place: (..., 3) world mm."""
        v, inside = self.locate(place)
        v = np.clip(v, 0, self.shape - 1)
        low = np.minimum(np.floor(v).astype(int), self.shape - 2)
        part = v - low
        total = 0
        for corner in np.ndindex(2, 2, 2):
            weight = np.where(corner, part, 1 - part).prod(-1)
            at = tuple(np.moveaxis(low + corner + 1, -1, 0))
            fibres = self.fibres[at]
            cosine = (fibres * direction[..., None, :]).sum(-1)
            value = (np.polyval(self.lobe, cosine**2) * (np.abs(fibres).sum(-1) > 0)).sum(-1)
            total = total + weight * np.maximum(value * self.scale[at], 0)
        return total * inside


def arc(k, length):
    """Returns the points of a curve: coordinates along the tangent and across it."""
    angle = k * length
    small = angle < 1e-4
    safe = np.where(small, 1, k)
    return np.where(small, length, np.sin(angle) / safe), np.where(small, angle * length / 2, (1 - np.cos(angle)) / safe)


def draw(field, p, d, n, start, o, rng):
    """Draws a curve for each of the places. Returns its curvature and the unit vector towards its centre (curvature -1: none
    was found), and the amplitude at the end of its probe. start: the amplitude at the start of the probe."""
    samples = o["quality"] - 1
    chosen, towards, end = np.full(len(p), -1.0), np.zeros((len(p), 3)), np.zeros(len(p))
    open_ = np.arange(len(p))
    tried, together = 0, FIRST
    while len(open_) and tried < MOST:
        k = np.sqrt(rng.random((len(open_), together))) / o["radius"]
        turn = 2 * np.pi * rng.random((len(open_), together, 1))
        m = np.cos(turn) * n[open_, None] + np.sin(turn) * np.cross(d[open_], n[open_])[:, None]
        support = np.repeat(start[open_, None], together, 1)
        for q in range(1, samples + 1):
            length = q * o["probe"] / samples
            along, across = arc(k, length)
            tangent = np.cos(k * length)[..., None] * d[open_, None] + np.sin(k * length)[..., None] * m
            last = field.amplitude(p[open_, None] + along[..., None] * d[open_, None] + across[..., None] * m, tangent)
            support += last
        bound = start[open_, None] + samples
        taken = (support >= samples * o["threshold"]) & (rng.random(k.shape) * bound < support)
        found = taken.any(1)
        first = taken.argmax(1)
        rows = np.flatnonzero(found)
        chosen[open_[rows]] = k[rows, first[rows]]
        towards[open_[rows]] = m[rows, first[rows]]
        end[open_[rows]] = last[rows, first[rows]]
        open_ = open_[~found]
        tried += together
        together = min(2 * together, max(ROUND, TOGETHER // max(len(open_), 1)), MOST - tried)
    return chosen, towards, end


def half(field, seeds, directions, o, rng, trekker):
    """Returns the points of one half for each seed, every step mm, without the seed. trekker: at the start of a probe, use the
    amplitude at the end of the probe before."""
    p, d = seeds.copy(), directions.copy()
    n = np.cross(d, np.where(np.abs(d[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    going, each = np.arange(len(p)), round(o["step"] / o["substep"])
    points = [[] for _ in p]
    start = field.amplitude(p, d)
    for step in range(1, round(500 / o["substep"])):
        k, m, end = draw(field, p[going], d[going], n[going], start[going], o, rng)
        going, k, m, end = going[k >= 0], k[k >= 0], m[k >= 0], end[k >= 0]
        if len(going) == 0:
            break
        along, across = arc(k, o["substep"])
        t, u, angle = d[going], n[going], (k * o["substep"])[:, None]
        p[going] += along[:, None] * t + across[:, None] * m
        u = u + (u * m).sum(1, keepdims=True) * ((np.cos(angle) - 1) * m - np.sin(angle) * t)
        t = np.cos(angle) * t + np.sin(angle) * m
        t /= np.linalg.norm(t, axis=1, keepdims=True)
        u -= (u * t).sum(1, keepdims=True) * t
        d[going], n[going] = t, u / np.linalg.norm(u, axis=1, keepdims=True)
        inside = field.locate(p[going])[1]
        start[going] = end if trekker else field.amplitude(p[going], d[going])
        if step % each == 0:
            for i in going[inside]:
                points[i].append(p[i].copy())
        going = going[inside]
    return points


def track(field, seeds, directions, o, seed, trekker=False):
    rng = np.random.default_rng(seed)
    seeds, directions = np.array(seeds, float), np.array(directions, float)
    back, forth = (half(field, seeds, sign * directions, o, rng, trekker) for sign in (-1, 1))
    return [np.array(b[::-1] + [s] + f) for b, s, f in zip(back, seeds, forth)]
