#!/bin/sh
# Commands on tractograms lose nothing, overwrite no input and come to an end: kept.sh TOOL WORK_DIR. Needs python3, and no device.
. "$(dirname "$0")/common.sh"

python3 - "$here" << 'END' || note "the files of the test"
import struct
import sys

sys.path.insert(0, sys.argv[1])
import trx

LINES = [[(1, 1, 1), (2, 2, 2)]] * 10
NAMES = [f"n{i}" for i in range(1000)]
ROWS = {name: list(range(10)) for name in NAMES}
trx.write("many.trx", LINES, dps=ROWS)
trx.write("many_groups.trx", LINES, dps=ROWS, groups={name: [0] for name in NAMES})
trx.write("group_x.trx", LINES, groups={"x": [1]})
trx.write("both_x.trx", LINES, groups={"x": [1]}, dps={"x": [5] * 10})
trx.write("x_y.trx", LINES, dps={"x": [1] * 10, "y": [2] * 10})
trx.write("y_x.trx", LINES, dps={"y": [2] * 10, "x": [1] * 10})
trx.write("own.trx", LINES, groups={"own": [1]})
trx.write("huge.trx", LINES, dim=(4194304, 2097152, 2097152))  # 2^64 voxels
trx.write("ends.trx", [[(1, 1, 1), (2, 2, 2), (3, 3, 3)], [(4, 4, 4)]], dpv={"v": [0.5, float("nan"), float("inf"), 1]})
trx.write("whole.trx", [[(1, 1, 1)]] * 2, dps={"i.int64": [2**53 + 1, -(2**63)], "u.uint64": [2**64 - 1, 0], "f": [0.5, 1]})
trx.write("labels.trx", [[(1, 1, 1), (2, 2, 2)]], dpv={"l.int32": [16777217, 5]})
trx.write("same.trx", [[(1, 1, 1)]] * 4)


def tck(path, values, lines=(), data=None):
    head = "".join(f"{line}\n" for line in ("mrtrix tracks", *lines, "datatype: Float32LE", "count: 2"))
    text = head + (f"file: {data} 0\nEND\n" if data else f"file: . {len(head) + 40}\nEND\n".ljust(40, " "))
    body = struct.pack(f"<{len(values)}f", *values)
    with open(path, "wb") as file:
        file.write(text.encode() + (b"" if data else body))
    if data:
        with open(data, "wb") as file:
            file.write(body)


NAN, INF = float("nan"), float("inf")
two = (1, 1, 1, 2, 2, 2, NAN, NAN, NAN, 5, 5, 5, 6, 6, 6, NAN, NAN, NAN, INF, INF, INF)
tck("apart.tck", two, data="apart.json")
tck("apart_trx.tck", two, data="data.trx")
tck("apart_txt.tck", two, data="data.tsv")
tck("empty.tck", (1, 1, 1, 2, 2, 2, NAN, NAN, NAN, NAN, NAN, NAN, 5, 5, 5, 6, 6, 6, NAN, NAN, NAN, INF, INF, INF), ("timestamp: 7",))
tck("odd.tck", two, ["step_size: 0.5", ": no key", "tab: a\tb"] + [f"roi: {i}" for i in range(300)])
tck("far.tck", (1, 1, 1, 3e15, 3e15, 3e15, 7, 7, 7, NAN, NAN, NAN, 1, 1, 1, -3e38, 3e38, 3e38, 7, 7, 7, NAN, NAN, NAN, INF, INF, INF))


def nifti(path, dim, value):
    head = struct.pack("<i36xhhhhhhhh", 348, 3, *dim, 1, 1, 1, 1) + bytes(14) + struct.pack("<hhh8f", 16, 32, 0, 1, 1, 1, 1, 1, 1, 1, 1)
    head += struct.pack("<fff", 352, 1, 0) + bytes(132) + struct.pack("<hh6f", 0, 1, *[0] * 6)
    head += struct.pack("<12f", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0) + bytes(16) + b"n+1\0" + bytes(4)
    n = dim[0] * dim[1] * dim[2]
    with open(path, "wb") as file:
        file.write(head + struct.pack(f"<{n}f", *(value(i % dim[0]) for i in range(n))))


nifti("small.nii", (3, 9, 9), lambda x: 1 + x)
nifti("head.nii", (9, 9, 9), lambda x: x < 3)
nifti("tail.nii", (9, 9, 9), lambda x: x > 5)
END

# --- integers beyond 2^53 as text ---
expect 0 convert whole.trx whole.tck
printf 'i\tu\tf\n9007199254740993\t18446744073709551615\t0.5\n-9223372036854775808\t0\t1\n' | cmp - whole_dps.tsv || note "whole numbers"

# --- columns of several files ---
expect 0 edit many.trx many_groups.trx common.trx --fields common --group-by-file
expect 0 info common.trx
says "n999: 1 x float32"
says "group        many_groups: 10 streamlines"
expect 0 edit group_x.trx both_x.trx common.tck --fields common
[ -e common_dps.tsv ] && note "a column that one of the files has"
expect 3 edit group_x.trx both_x.trx other.trx
expect 0 edit x_y.trx y_x.trx ordered.trx
expect 0 info ordered.trx --count
says "x: min 1, mean 1, max 1"
# a name that comes twice would make an unreadable file
expect 2 edit own.trx out.trx --group-by-file
says 'the name "own"'

# --- a grid of 2^64 voxels is none ---
expect 3 info huge.trx
says "VOXEL_TO_RASMM of header.json: grid of"
expect 3 density huge.trx map.nii
expect 3 score huge.trx --against huge.trx
expect 0 score same.trx --against same.trx
says "density_correlation	nan"

# --- an affine in a header that cannot be used is refused, whatever command reads it ---
expect 0 convert same.trx own_grid.trk --force
python3 - << 'END'
import json, struct, zipfile
nan, inf = float("nan"), float("inf")
good = [[2, 0, 0, 1], [0, 2, 0, 2], [0, 0, 2, 3], [0, 0, 0, 1]]
bad = {"nan": (1, 1, nan), "inf": (0, 3, inf), "huge": (0, 0, 1e30), "tiny": (0, 0, 1e-30), "singular": (2, 2, 0), "transposed": (3, 0, 9), "scaled": (3, 3, 2)}
head = open("own_grid.trk", "rb").read()
source = zipfile.ZipFile("same.trx")
for name, (row, column, value) in bad.items():
    rows = [list(r) for r in good]
    rows[row][column] = value
    with open("bad_%s.trk" % name, "wb") as file:
        file.write(head[:440] + struct.pack("<16f", *sum(rows, [])) + head[504:])
    with zipfile.ZipFile("bad_%s.trx" % name, "w") as file:
        for part in source.namelist():
            text = source.read(part)
            if part == "header.json":
                text = json.dumps({**json.loads(text), "VOXEL_TO_RASMM": rows})
            file.writestr(part, text)
END
for name in nan inf huge tiny singular transposed scaled; do
    for suffix in trk trx; do
        expect 3 info bad_$name.$suffix
        says "bad_$name.$suffix: damaged: "
        expect 3 edit bad_$name.$suffix unbad.tck
        expect 3 connectome bad_$name.$suffix head.nii unbad.csv
    done
done
[ ! -e unbad.tck ] && [ ! -e unbad.csv ] || note "an affine that cannot be used is used"

# --- track scalars have the timestamp by which MRtrix3 finds their tractogram ---
expect 0 convert ends.trx ends.tck
says "2 of 4 values are not finite"
expect 0 convert ends.tck back.trx --tsf ends_v.tsf=v --reference head.nii
expect 0 sample ends.tck small.nii --tsf outside.tsf
says "values are not finite and are written as 0"
expect 0 convert labels.trx labels.tck
says "integers above 16777216 are rounded"
expect 0 edit empty.tck plain.tck
# rows belong to the same streamlines, also if a copy leaves out streamlines without points
expect 0 sample empty.tck small.nii --tsf rows.tsf --output rows.tsv --trx rows.trx --reference head.nii
says "leaves out 1 streamline without points"
python3 - << 'END' || note "track scalar files"
import math
import re
import struct


def read(path):
    data = open(path, "rb").read()
    at = int(re.search(rb"file: \. (\d+)", data).group(1))
    return data[:at].decode().rstrip("\0"), struct.unpack(f"<{(len(data) - at) // 4}f", data[at:])


def stamp(path):
    (found,) = re.findall(r"^timestamp: (\S+)$", read(path)[0], re.M)
    return found


head, values = read("ends_v.tsf")
assert values[:3] == (0.5, 0, 0) and math.isnan(values[3]) and values[4] == 1 and values[6] == math.inf, values
assert stamp("ends_v.tsf") == stamp("ends.tck") == stamp("outside.tsf")
assert stamp("plain.tck") != "7" == stamp("rows.tsf")
outside = read("outside.tsf")[1]
assert sum(map(math.isnan, outside)) == 2 and outside[4] == 0, outside
assert sum(map(math.isnan, read("rows.tsf")[1])) == 3
assert len(open("rows.tsv").readlines()) == 4
END

# files as MRtrix3 writes them (blanks behind the first line, no mark at the end), and of other types
python3 - << 'END'
import re
import struct

data = open("ends_v.tsf", "rb").read()
stamp = re.search(rb"timestamp: (\S+)", data).group(1)
values = struct.unpack("<7f", data[256:])


def write(path, kind, letters, end=values, stamp=stamp, key=b"datatype"):
    head = b"mrtrix track scalars    \ntimestamp: " + stamp + b"\n# no pair\n" + key + b": " + kind + b"  \nfile: . 300\ncount: 2\nEND\n"
    open(path, "wb").write(head.ljust(300, b"\0") + struct.pack(letters[0] + str(len(end)) + letters[1], *end))


write("theirs.tsf", b"Float32LE", "<f", values[:-1])
write("big.tsf", b"float32be", ">f")
write("wide.tsf", b"FLOAT64LE", "<d", values[:-1], key=b"DataType")
write("wide_big.tsf", b"Float64BE", ">d")
write("less.tsf", b"Float32LE", "<f", values[:-2])
write("more.tsf", b"Float32LE", "<f", values[:-1] + values[:4])
write("stranger.tsf", b"Float32LE", "<f", stamp=b"7.0")
open("cut.tsf", "wb").write(open("theirs.tsf", "rb").read()[:-2])
END
expect 0 convert ends.tck v.tck --tsf ends_v.tsf=v
for kind in theirs big wide wide_big; do
    expect 0 convert ends.tck u.tck --tsf $kind.tsf=v --force
    same u_v.tsf v_v.tsf
    says "points"
    grep -q timestamp stderr && note "a warning of a timestamp that is right"
done
expect 0 convert ends.tck u.tck --tsf stranger.tsf=v --force
says "stranger.tsf: has the timestamp of another tractogram than ends.tck"
expect 3 convert ends.tck z.tck --tsf less.tsf=v
says "less.tsf: does not have one value for each point of streamline 1"
expect 3 convert ends.tck z.tck --tsf cut.tsf=v
says "the last whole one ends at byte 320; make the file again, as by 'glslines sample --tsf'"
expect 3 convert ends.tck z.tck --tsf more.tsf=v
says "more.tsf: has values for more than the 2 streamlines of the tractogram"
expect 3 convert ends.tck z.tck --tsf ends.tck=v
says "ends.tck: is no track scalar file"

# x and x_1 are separate columns; x_0 and x_1 are one column of two values
python3 -c "
print('x\\tx_1\\ty_0\\ty_1')
for i in range(10): print(f'{i}\\t1\\t2\\t3')" > table.tsv
expect 0 convert x_y.trx table.trx --dps table.tsv
expect 0 info table.trx
says "x: 1 x float64"
says "x_1: 1 x float64"
says "y: 2 x float64"

# --- headers of TCK files: the sidecar has the lines that another format cannot hold ---
expect 0 edit odd.tck header.tck
python3 - << 'END' || note "the header of a TCK file"
import json
left = json.load(open("header.json"))["header_of_input"]
text = open("header.tck", "rb").read().decode(errors="replace")
assert "step_size: 0.5\n" in text and set(left) == {"", "tab", "roi"} and left["roi"].count("\n") == 299, left
END

# --- limits of length are slack by a tenth of the step, or half a step after downsampling, as in tckedit ---
python3 - << 'END'
import struct

nan, inf = float("nan"), float("inf")
for name, lines in (("step", b"step_size: 1\n"), ("down", b"step_size: 1\ndownsample_factor: 2\n"), ("other", b"step_size: 2\n"), ("bare", b"")):
    data = b""
    for length in (8.7, 8.8, 8.95, 9.05, 10.95, 11.05, 11.2, 11.3):
        data += struct.pack("<9f", 0, 0, 0, length, 0, 0, nan, nan, nan)
    head = b"mrtrix tracks\ndatatype: Float32LE\n" + lines + b"file: . 128\nEND\n"
    open(name + ".tck", "wb").write(head.ljust(128, b"\0") + data + struct.pack("<3f", inf, inf, inf))
END
for case in bare:2 step:4 down:6 "step step:8" "step other:4" "bare step:8"; do
    tracks=
    for name in ${case%:*}; do tracks="$tracks $name.tck"; done
    expect 0 edit $tracks limits.tck --like mrtrix --minlength 9 --maxlength 11 --force
    expect 0 info limits.tck
    says "header       ${case#*:} streamlines"
done
expect 0 edit step.tck limits.tck --minlength 9 --maxlength 11 --force
expect 0 info limits.tck
says "header       2 streamlines"

# --- inputs are never overwritten ---
expect 4 info apart.tck --json apart.json --force
expect 4 edit apart.tck apart.tck
says "apart.tck: is an input"
ln -s head.nii head.txt
expect 4 info ends.trx --json=head.txt --reference head.nii --force
expect 4 stats ends.trx --output head.txt --reference head.nii --force
rm head.txt
cp apart.json apart.copy
expect 0 edit apart.tck apart.trx --reference head.nii --force # its sidecar is apart.trx.json
cmp apart.json apart.copy || note "the data of apart.tck were replaced by a sidecar"
rm apart.trx apart.trx.json
expect 4 edit x_y.trx data.trx --orient apart_trx.tck --force
expect 4 stats apart_txt.tck --output data.tsv --force
python3 -c "import zipfile; zipfile.ZipFile('x_y.trx').extractall('folder.trx')"
expect 0 info folder.trx
expect 4 stats folder.trx --dump folder.trx/dps/x.float32 --force
expect 4 info folder.trx --json ./folder.trx/../folder.trx/new.json
printf 'bundle\tstart\tend\ttruth\na\thead.nii\ttail.nii\tapart.tck\n' > truth.tsv
expect 4 score ends.trx --truth truth.tsv --json apart.json --force
expect 0 segment ends.trx truth.tsv --table apart.tsv --force
cmp apart.json apart.copy || note "the data of a region were replaced by a sidecar"

# --- a command that is repeated uses the same name for its sidecar ---
for turn in first second; do
    expect 0 connectome ends.trx head.nii again.csv --nodes again_nodes.csv --force
    [ ! -e again.csv.json ] || note "a second sidecar: the $turn time"
done

# --- text does not take the name of an image, a tractogram or a page, even with --force ---
printf 'bundle\tinclude\na\t1,1,1,5\n' > bundles.tsv
while read -r line; do
    # shellcheck disable=SC2086
    expect 2 $line --force
    says "this output is text"
done << 'END'
stats same.trx -o small.nii
stats same.trx -o s.tsv --histogram many.trx
stats same.trx -o s.tsv --dump page.html
stats same.trx -o s.img.gz
stats same.trx -o s.tck.gz
stats same.trx -o s.png
info same.trx --json=small.nii
connectome same.trx head.nii -o c.nii.gz
connectome same.trx head.nii -o c.csv --nodes small.nii
connectome same.trx head.nii -o c.csv --edges e.mif
connectome same.trx head.nii -o c.csv --assignments a.TCK
sample same.trx head.nii -o small.nii
profile same.trx head.nii -o p.trk
search same.trx many.trx --radius 4 -o small.nii
cluster same.trx -o c.trx --table small.nii
similarity same.trx many.trx -o small.nii
segment same.trx bundles.tsv --table small.nii
segment same.trx bundles.tsv --counts small.nii
END

# --- an affine map with numbers that no image may have ---
printf '1 0 0 1e30\n0 1 0 0\n0 0 1 0\n' > far.txt
printf '1e-30 0 0 0\n0 1 0 0\n0 0 1 0\n' > flat.txt
for matrix in far flat; do
    expect 3 edit same.trx moved.trx --transform $matrix.txt
    says "1e+15"
    expect 3 transform small.nii -o moved.nii --template head.nii --transform $matrix.txt
    says "1e+15"
done

# --- numbers that make no sense ---
expect 2 stats ends.trx --histogram h.tsv --bin 1e-9
says "in bins of 1e-09 mm needs more than"

# --- a command ends, however far a streamline goes ---
printf '{"a": {"head": "head.nii", "tail": "tail.nii"}}\n' > far.json
checks=$((checks + 1))
timeout -k 5 120 "$tool" score far.tck --truth far.json --template head.nii > stdout 2> stderr || note "a streamline that goes far away"
says "2 streamlines: VS 100.0 %"
checks=$((checks + 1))
timeout -k 5 120 "$tool" density far.tck far.nii --template head.nii --mapping precise --step-size 1 > stdout 2> stderr || note "a map of a streamline that goes far away"
[ -s far.nii ] || note "its map"
expect 0 clean far.tck near.tck --method none --max-curvature 0.5
finish "what commands on tractograms keep"
