#!/bin/sh
# Tests of weights --method commit: signal.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

# check WHAT PYTHON: checks that an expression is true; w(FILE): its numbers; j(FILE): its JSON
check() {
    python3 -c "
import json, sys
def w(path): return [float(x) for l in open(path) if l[0] != '#' for x in l.replace(',', ' ').split()]
def once(pairs):
    assert len(pairs) == len(dict(pairs)), 'a key twice'
    return dict(pairs)
def j(path): return json.load(open(path), object_pairs_hook=once)
sys.exit(not ($2))" || note "$1"
}

expect 0 phantom data --shape 18 20 18 --directions 20 -q
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz
expect 0 fit "$@" fod --model csd --sh-order 6 -q
expect 0 track "$@" data/roi.nii.gz --sh fod_sh.nii.gz --nseeds 150 --dg prob --step-size 1mm --device llvmpipe -q -o t.tck
expect 0 peaks fod_sh.nii.gz -o peaks.nii.gz -q
n=$(grep -a '^count:' t.tck | tr -dc 0-9 | sed 's/^0*//')
dwi=data/dwi.nii.gz

# --- weights, maps, table, sidecar ---
expect 0 weights t.tck $dwi -o w.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --maps m --csv it.csv
says "ended by: relative change of the objective"
check "weights" "len(w('w.txt')) == $n and min(w('w.txt')) >= 0 and sum(x > 0 for x in w('w.txt')) == j('w.json')['counts']['weights_above_0']"
check "the sidecar" "(lambda m: m['objective'] < 0.1 * m['objective_first'] and m['stopped_by'] == 'relative change of the objective'
    and m['tol_fun'] == 1e-3)(j('w.json')['model'])"
check "the curve" "(lambda c, t: [t[i] for i in c['iteration']] == c['objective'] and c['iteration'][0] == 0 and
    c['iteration'][-1] == j('w.json')['model']['iterations'] and len(c['iteration']) <= 101)(
    j('w.json')['model']['curve'], [float(l.split(',')[1]) for l in list(open('it.csv'))[1:]])"
check "the table" "len(open('it.csv').readlines()) == j('w.json')['model']['iterations'] + 2"
for map in ic ec iso rmse nrmse; do [ -s m_$map.nii.gz ] || note "no m_$map.nii.gz"; done
OMP_NUM_THREADS=1 expect 0 weights t.tck $dwi -o w1.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz -q
same w.txt w1.txt
# a device: the weights of the CPU but for rounding, and the same bytes for any memory and number of devices
expect 0 weights t.tck $dwi -o gpu.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --device llvmpipe -q
check "a device" "max(abs(a - b) for a, b in zip(w('w.txt'), w('gpu.txt'))) < 1e-5 * max(w('w.txt'))"
expect 0 weights t.tck $dwi -o sent.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --device llvmpipe --device-memory 1 --ngpus 2 -q
same gpu.txt sent.txt
# blocks of entries on two devices, which send each other the sums of their bins
expect 0 track data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 2500 --dg eudx --device llvmpipe -q -o many.tck
for words in "one.txt --ngpus 1" "two.txt --ngpus 2 --device-memory 1"; do
    # shellcheck disable=SC2086
    expect 0 weights many.tck $dwi --method commit --mask data/mask.nii.gz --device llvmpipe --max-iters 6 -o $words
done
says "blocks of entries stay"
same one.txt two.txt
# a lower tolerance takes more iterations
expect 0 weights t.tck $dwi -o more.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --tol-fun 1e-5 -q
check "a long curve" "(lambda c, n: n > 100 and len(c) <= 101 and c[0] == 0 and c[-1] == n and c[2] == 2 * c[1] > 2)(
    j('more.json')['model']['curve']['iteration'], j('more.json')['model']['iterations'])"
check "a lower tolerance" "j('more.json')['model']['objective'] < j('w.json')['model']['objective'] and
    j('more.json')['model']['iterations'] > j('w.json')['model']['iterations']"
expect 0 weights t.tck $dwi -o few.txt --method commit --max-iters 3
says "ended after 3 iterations"
# a length times a weight is a signal fraction: maps of fractions add up
expect 0 weights t.tck $dwi -o area.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --units area --normalise-maps --maps norm -q
check "an area" "all(abs(a - 8 * b) <= 1e-5 * a for a, b in zip(w('area.txt'), w('w.txt')))"
python3 - << 'END' || note "maps that are normalised add up to 1"
import gzip, struct, sys
def values(name):
    raw = gzip.open(name).read()
    return struct.unpack("<%df" % ((len(raw) - 352) // 4), raw[352:])
sums = [sum(v) for v in zip(*(values("norm_%s.nii.gz" % k) for k in ("ic", "ec", "iso")))]
sys.exit(not all(s == 0 or abs(s - 1) < 1e-5 for s in sums) or max(sums) == 0)
END
# the column equals the text
expect 0 convert t.tck t.trx --reference data/mask.nii.gz -q
expect 0 weights t.trx $dwi -o weighted.trx --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz -q
expect 0 info weighted.trx
says "commit_weights: 1 x float32"
# --walk visits has fewer entries
expect 0 weights t.tck $dwi -o visits.txt --method commit --mask data/mask.nii.gz --walk visits -q
check "visits" "j('visits.json')['counts']['entries'] < 0.8 * j('w.json')['counts']['entries']"
# other tables of gradients
python3 - << 'END'
b = open("data/dwi.bval").read().split()
g = [l.split() for l in open("data/dwi.bvec")]
rows = [" ".join([g[a][i] for a in range(3)] + [b[i]]) for i in range(len(b))]
open("dwi.scheme", "w").write("VERSION: BVECTOR\n" + "\n".join(rows) + "\n")
open("short.scheme", "w").write("\n".join(rows[1:]) + "\n")
open("wide.scheme", "w").write("\n".join(r + " 1" for r in rows) + "\n")
# G is chosen so that the b-value is the same: b = (gamma G delta)^2 (Delta - delta / 3)
seven = []
for r in rows:
    x = r.split()
    G = (float(x[3]) * 1e6 / (0.04 - 0.02 / 3)) ** 0.5 / (2.675987e8 * 0.02)
    seven.append(" ".join(x[:3] + ["%.12g" % G, "0.04", "0.02", "0.08"]))
open("seven.scheme", "w").write("\n".join(seven) + "\n")
END
expect 0 weights t.tck $dwi -o scheme.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --scheme dwi.scheme -q
same w.txt scheme.txt
expect 0 weights t.tck $dwi -o seven.txt --method commit --mask data/mask.nii.gz --peaks peaks.nii.gz --scheme seven.scheme -q
check "a scheme of seven columns" "sum(abs(a - b) for a, b in zip(w('w.txt'), w('seven.txt'))) < 1e-3 * sum(w('w.txt'))"

# --- groups ---
python3 - << END
open("groups.txt", "w").write("\n".join(str(i % 5) for i in range($n)))
open("negative.txt", "w").write("\n".join(str(i % 5 - 1) for i in range($n)))
open("other.txt", "w").write("\n".join(str(i % 5) for i in range($n + 1)))
END
expect 0 weights t.tck $dwi -o g0.txt --method commit --groups groups.txt -q
expect 0 weights t.tck $dwi -o g1.txt --method commit --groups groups.txt --lambda 1e-3 --tol-fun 1e-4 -q
check "groups" "j('g1.json')['model']['groups'] == 5 and j('g1.json')['model']['lambda'] > 0 and sum(w('g1.txt')) < sum(w('g0.txt'))"
expect 0 weights t.tck $dwi -o g2.txt --method commit --groups groups.txt --lambda 1e-3 --tol-fun 1e-4 --group-rule peer -q
expect 0 weights t.tck $dwi -o g3.txt --method commit --groups groups.txt --lambda 1e-3 --tol-fun 1e-4 --debias -q
check "debiasing" "sum(w('g3.txt')) > sum(w('g1.txt'))"
expect 0 weights t.tck $dwi -o g4.txt --method commit --groups groups.txt --lambda 2
says "all weights are 0: lower --lambda"
expect 0 weights t.tck $dwi -o g5.txt --method commit --groups edges:data/mask.nii.gz --lambda 1e-4 -q
check "edges" "1 <= j('g5.json')['model']['groups'] <= 3"

# --- LiFE, and a map ---
expect 0 weights t.tck $dwi -o life.txt --method commit --kernel life -q
check "LiFE" "j('life.json')['counts']['columns'] == $n and j('life.json')['model']['objective'] < j('life.json')['model']['objective_first']"
expect 0 weights t.tck fod_fa.nii.gz -o scalar.txt --method commit --kernel scalar -q
check "a map" "j('scalar.json')['counts']['volumes'] == 1"

# --- cylinders: a series of their signal gives the weights that it was made of ---
python3 - << 'END'
import gzip, math, random, struct
def bessel(n, x):
    return sum(math.cos(n * t - x * math.sin(t)) for t in (math.pi * (k + 0.5) / 100 for k in range(100))) / 100
def zeros(count):
    slope, found, x = lambda x: (bessel(0, x) - bessel(2, x)) / 2, [], 1.0
    while len(found) < count:
        if slope(x) * slope(x + 0.5) < 0:
            low, high = x, x + 0.5
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (middle, high) if slope(low) * slope(middle) > 0 else (low, middle)
            found.append(low)
        x += 0.5
    return found
Z = zeros(20)
def cylinder(b, along, D, radius, short, long):  # m2/s, m, s, b in s/m2
    gamma_g2 = b / (short**2 * (long - short / 3))
    total = 0
    for z in Z:
        rate = D * (z / radius) ** 2
        total += (2 * rate * short - 2 + 2 * math.exp(-rate * short) + 2 * math.exp(-rate * long) - math.exp(-rate * (long - short)) - math.exp(-rate * (long + short))) / (
            D**2 * (z / radius) ** 6 * (z**2 - 1))
    return math.exp(-b * D * along**2 - 2 * gamma_g2 * total * (1 - along**2))
random.seed(3)
bval, g = [0.0, 0.0], [(0.0, 0.0, 0.0)] * 2
for b in (2000, 6000):
    for _ in range(15):
        v = [random.gauss(0, 1) for _ in range(3)]
        bval.append(b)
        g.append(tuple(x / math.sqrt(sum(y * y for y in v)) for x in v))
raw = gzip.open("data/mask.nii.gz").read()
head, affine = bytearray(raw[:352]), [struct.unpack("<4f", raw[280 + 16 * a : 296 + 16 * a]) for a in range(3)]
shape, side = struct.unpack("<3h", raw[42:48]), abs(struct.unpack("<f", raw[80:84])[0])
head[40:50], head[70:74] = struct.pack("<5h", 4, *shape, len(bval)), struct.pack("<2h", 16, 32)
n = shape[0] * shape[1] * shape[2]
series = [[0.0] * n for _ in bval]
K = [cylinder(b * 1e6, u[0], 1.7e-9, 4e-6, 0.03, 0.06) if b else 1 for b, u in zip(bval, g)]
for k, share in enumerate((0.6, 0.4, 0.25)):
    for i in range(2, 15):
        part = share / 2 if i in (2, 14) else share
        for t, b in enumerate(bval):
            series[t][(9 * shape[1] + 5 + 3 * k) * shape[0] + i] = 100 * (part * K[t] + (1 - part) * math.exp(-b * 0.003))
open("tubes.nii", "wb").write(bytes(head) + b"".join(struct.pack(f"<{n}f", *v) for v in series))
open("tubes.bval", "w").write(" ".join(map(str, bval)))
open("tubes.bvec", "w").write("\n".join(" ".join(str(u[a]) for u in g) for a in range(3)))
strength = lambda b: math.sqrt(b * 1e6 / (0.06 - 0.01)) / (2.675987e8 * 0.03)
open("tubes.scheme", "w").writelines(f"{u[0]} {u[1]} {u[2]} {strength(b)!r} {0.06 if b else 0} {0.03 if b else 0} 0.1\n" for b, u in zip(bval, g))
open("tubes_wrong.scheme", "w").writelines(f"{u[0]} {u[1]} {u[2]} {strength(b)!r} 0.02 0.03 0.1\n" for b, u in zip(bval, g))
open("axis.txt", "w").write("1 0 0\n0 1 0\n")
points = b""
for k in range(3):
    for x in range(2, 15):
        points += struct.pack("<3f", *(r[0] * x + r[1] * (5 + 3 * k) + r[2] * 9 + r[3] for r in affine))
    points += struct.pack("<3f", *[math.nan] * 3)
tck = b"mrtrix tracks\ndatatype: Float32LE\ncount: 3\nfile: . 128\nEND\n".ljust(128, b"\0")
open("tubes.tck", "wb").write(tck + points + struct.pack("<3f", *[math.inf] * 3))
open("side.txt", "w").write(str(side))
END
cylinders() { # OUT WORDS
    out=$1
    shift
    expect 0 weights tubes.tck tubes.nii -o "$out" --method commit --bval tubes.bval --bvec tubes.bvec --d-iso 0.003 --directions axis.txt --device "$device" --max-iters 5000 -q "$@"
}
device=cpu
true="all(abs(a * w('side.txt')[0] / b - 1) < X for a, b in zip(w('FILE.txt'), (0.6, 0.4, 0.25)))"
cylinders tubes.txt --kernel cylinder --radii 4 --pulse-duration 30 --pulse-separation 60 --tol-fun 1e-8 --maps tubes
check "cylinders" "$(echo "$true" | sed 's/X/1e-3/; s/FILE/tubes/') and j('tubes.json')['model']['rmse_mean'] < 1e-4"
cylinders sticks.txt
check "sticks are no cylinders" "j('sticks.json')['model']['rmse_mean'] > 3e-3"
cylinders several.txt --kernel cylinder --radii 1,4,9 --pulse-duration 30 --pulse-separation 60
check "several radii" "$(echo "$true" | sed 's/X/0.05/; s/FILE/several/') and len(w('several.txt')) == 3 and j('several.json')['counts']['columns'] == 9 + 39"
# columns that are nearly alike: rounding does not make steps small, and momentum that rises begins anew, down to the minimum
for tolerance in 1e-4 1e-8; do
    cylinders fine.txt --kernel cylinder --radii 1,4,9 --pulse-duration 30 --pulse-separation 60 --tol-fun $tolerance --force
    check "several radii at $tolerance" "(lambda m: m['back_tracks'] < 50 and m['objective'] < 1e-2 * j('several.json')['model']['objective'] and
        m['stopped_by'] == 'relative change of the objective')(j('fine.json')['model'])"
done
expect 0 weights tubes.tck tubes.nii -o least.txt --method commit --bval tubes.bval --bvec tubes.bvec --d-iso 0.003 --directions axis.txt --device cpu -q \
    --kernel cylinder --radii 1,2,3,4 --pulse-duration 30 --pulse-separation 60 --tol-fun 0 --tol-x 0 --max-iters 20000
check "the minimum of several radii" "$(echo "$true" | sed 's/X/1e-4/; s/FILE/least/') and j('least.json')['model']['restarts'] == 1 and
    j('least.json')['model']['stopped_by'] == 'no change'"
device=llvmpipe
cylinders device.txt --kernel cylinder --radii 1,4,9 --pulse-duration 30 --pulse-separation 60
device=cpu
check "several radii on a device" "max(abs(a - b) for a, b in zip(w('several.txt'), w('device.txt'))) < 1e-2 * max(w('several.txt'))"
cylinders thin.txt --kernel cylinder --radii 0.05 --pulse-duration 30 --pulse-separation 60
check "a thin cylinder is a stick" "max(abs(a - b) for a, b in zip(w('sticks.txt'), w('thin.txt'))) < 1e-3 * max(w('sticks.txt'))"
expect 0 weights tubes.tck tubes.nii -o scheme7.txt --method commit --scheme tubes.scheme --kernel cylinder --radii 4 --d-iso 0.003 --directions axis.txt --device cpu --tol-fun 1e-8 --max-iters 5000 -q
check "timing of the scheme" "$(echo "$true" | sed 's/X/1e-3/; s/FILE/scheme7/')"
expect 3 weights tubes.tck tubes.nii -o e.txt --method commit --scheme tubes_wrong.scheme --kernel cylinder --radii 4
says "which is impossible"
for words in "--kernel cylinder" "--kernel cylinder --radii 4" "--radii 4" "--kernel cylinder --radii 0" "--pulse-duration 30 --pulse-separation 60" \
    "--kernel cylinder --radii 4 --pulse-duration 30" "--kernel cylinder --radii 4 --pulse-duration 30 --pulse-separation 20"; do
    # shellcheck disable=SC2086
    expect 2 weights tubes.tck tubes.nii -o e.txt --method commit $words
done

# --- bad input ---
refuses() { # CODE WORDS MESSAGE
    # shellcheck disable=SC2086
    expect "$1" weights t.tck $2 --method commit -o x.txt
    says "$3"
}
refuses 3 "$dwi --scheme short.scheme" "rows, but"
refuses 3 "$dwi --scheme wide.scheme" "a scheme has 4 (x y z b) or 7"
refuses 2 "$dwi --scheme dwi.scheme --bval data/dwi.bval --bvec data/dwi.bvec" "leave out one"
refuses 2 "$dwi --bval data/dwi.bval" "give both or none"
refuses 3 "fod_sh.nii.gz" "give --bval and --bvec, or --scheme"
refuses 2 "$dwi --d-perp 0.0005" "needs --peaks"
refuses 2 "$dwi --lambda 0.1" "needs --groups"
refuses 2 "$dwi --lambda -1 --groups groups.txt" "lambda"
refuses 2 "$dwi --debias --groups groups.txt" "needs --lambda"
refuses 2 "$dwi --normalise-maps" "needs --maps"
refuses 2 "$dwi --reg-tv 0.1" "only --method sift2"
refuses 2 "$dwi --act data/5tt.nii.gz" "only --method sift2, linear and sift"
refuses 2 "$dwi --coeffs" "only --method sift2"
refuses 3 "$dwi --groups other.txt --lambda 1e-3" "other.txt: has $((n + 1)) values"
refuses 3 "$dwi --groups negative.txt --lambda 1e-3" "not a whole number from 0 on"
refuses 3 "$dwi --groups dps:none --lambda 1e-3" "no column"
refuses 3 "$dwi --groups trx --lambda 1e-3" "has no groups"
refuses 6 "$dwi --min-length 10000 --max-length 20000" "no streamline is left"
expect 2 weights t.tck fod_sh.nii.gz -o x.txt --tol-fun 0.1
says "only --method commit"
# values, grids, weighted volumes
python3 - << 'END'
import gzip, struct
raw = bytearray(gzip.open("data/dwi.nii.gz").read())
code, bits = struct.unpack_from("<hh", raw, 70)
x, y, z, t = struct.unpack_from("<4h", raw, 42)
offset = int(struct.unpack_from("<f", raw, 108)[0])
values = struct.unpack_from("<%d%s" % (x * y * z * t, {4: "h", 16: "f", 512: "H"}[code]), raw, offset)
values = [float(v) for v in values]
struct.pack_into("<hh", raw, 70, 16, 32)
def write(name, v, scale=raw): open(name, "wb").write(bytes(scale[:offset]) + struct.pack("<%df" % len(v), *v))
bad = list(values)
bad[x * y * z // 2 + x // 2] = float("nan")
write("bad.nii", bad)
# the b = 0 signal is 0 in half of the volume
b0 = [float(b) < 50 for b in open("data/dwi.bval").read().split()]
n = x * y * z
dark = [0.0 if b0[i // n] and i % x < x // 2 else v for i, v in enumerate(values)]
write("dark.nii", dark)
# a signal that float32 cannot hold relative to that of b = 0, and one whose gradient it cannot hold
for name, low in (("beyond", 1e-30), ("large", 1)):
    write(name + ".nii", [(low if b0[i // n] else 3e38) if v > 0 and i % n % 5 == 0 else v for i, v in enumerate(values)])
head = bytearray(raw)
struct.pack_into("<f", head, 280 + 12, struct.unpack_from("<f", raw, 292)[0] + 5)
write("moved.nii", values, head)
open("all0.bval", "w").write(" ".join("0" for _ in b0))
open("no0.bval", "w").write(" ".join("1000" for _ in b0))
g = [l.split() for l in open("data/dwi.bvec")]
open("no0.bvec", "w").write("\n".join(" ".join(("1" if a == 0 else "0") if b0[i] else g[a][i] for i in range(len(b0))) for a in range(3)))
END
table="--bval data/dwi.bval --bvec data/dwi.bvec"
refuses 3 "bad.nii $table" "has a value that is not finite"
# shellcheck disable=SC2086
expect 0 weights t.tck bad.nii $table --method commit --replace-bad 0 -o bad.txt -q
for name in beyond large; do
    # shellcheck disable=SC2086
    expect 8 weights t.tck $name.nii $table --method commit -o $name.txt --mask data/mask.nii.gz
    says "$name.txt: is written, but the objective was not finite"
    grep -q "explain the signal" stderr && note "$name: weights of 0 are told to be explained"
    check "$name" "j('$name.json')['model']['stopped_by'] == 'objective that is not finite' and set(w('$name.txt')) == {0}"
done
refuses 3 "$dwi --bval all0.bval --bvec data/dwi.bvec" "weighted"
# shellcheck disable=SC2086
expect 0 weights t.tck dark.nii $table --method commit -o dark.txt --mask data/mask.nii.gz
says "have no positive b = 0 signal and are left out"
expect 0 weights t.tck $dwi --bval no0.bval --bvec no0.bvec --method commit -o no0.txt
says "has no volume of b = 0"
refuses 3 "moved.nii $table --peaks peaks.nii.gz" "peaks.nii.gz"
refuses 3 "moved.nii $table --mask data/mask.nii.gz" "mask.nii.gz"
# a truncated file: its header counts more streamlines than it has
python3 - << 'END'
data = open("t.tck", "rb").read()
open("cut.tck", "wb").write(data[:len(data) - 1234])
END
expect 3 weights cut.tck $dwi --method commit -o x.txt
python3 - << 'END'
import struct
points = [(900, 900, 900), (901, 900, 900), (float("nan"),) * 3, (float("inf"),) * 3]
open("far.tck", "wb").write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 1\nfile: . 100\nEND\n".ljust(100, b"\n") + b"".join(struct.pack("<3f", *p) for p in points))
END
expect 6 weights far.tck $dwi --method commit -o x.txt
says "no streamline passes through the mask"
[ ! -e x.txt ] || note "x.txt after failures"
finish "weights by the signal"
