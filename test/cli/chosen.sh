#!/bin/sh
# Choices about a series, --shells foremost, are obeyed by all that is computed from it: chosen.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
# The folder `alone` has a series of b = 0 and one shell; `among` has the same volumes, in other conventions, among those of two shells that are spoilt. Each command of the table gives the same bytes in
# both, where the options of `among` choose the volumes and name the conventions.
. "$(dirname "$0")/common.sh"
"$tool" phantom source --shape 16 18 16 --directions 30 --bvals 700 1000 3000 -q || { echo "FAIL: no phantom"; exit 1; }
python3 - <<'PYTHON'
import gzip, os, random, struct
random.seed(1)
# the voxel axes are those of the scanner: FSL's rule then negates x
def read(name):
    data = bytearray(gzip.open("source/%s.nii.gz" % name).read())
    struct.pack_into("<h", data, 252, 0)
    struct.pack_into("<f", data, 280, -struct.unpack_from("<f", data, 280)[0])
    return data
head = read("dwi")
start = int(struct.unpack_from("<f", head, 108)[0])
kind = {4: "h", 8: "i", 16: "f", 512: "H"}[struct.unpack_from("<h", head, 70)[0]]
b = [float(v) for v in open("source/dwi.bval").read().split()]
vector = [[float(v) for v in line.split()] for line in open("source/dwi.bvec")]
size = (len(head) - start) // len(b)
volume = [head[start + t * size:start + (t + 1) * size] for t in range(len(b))]
count = size // struct.calcsize(kind)
# spoilt volumes have noise and, if the type allows it, voxels that are not finite
def spoil():
    values = [random.randrange(1, 9000) for _ in range(count)]
    if kind == "f":
        for k in random.sample(range(count), 400): values[k] = float("nan")
    return struct.pack("<%d%s" % (count, kind), *values)
def write(folder, chosen, bval, bvec, data):
    os.makedirs(folder + "/data/sub-1/dwi", exist_ok=True)
    out = bytearray(head[:start])
    struct.pack_into("<h", out, 48, len(chosen))
    for name in ("mask", "roi"): open("%s/%s.nii" % (folder, name), "wb").write(read(name))
    open(folder + "/dwi.nii", "wb").write(bytes(out) + b"".join(data[t] for t in chosen))
    print(*(bval(t) for t in chosen), file=open(folder + "/dwi.bval", "w"))
    with open(folder + "/dwi.bvec", "w") as f:
        for axis in range(3): print(*("%.17g" % bvec(axis, t) for t in chosen), file=f)
    print('{"Name": "test", "BIDSVersion": "1.10.0", "DatasetType": "derivative", "GeneratedBy": [{"Name": "test"}]}', file=open(folder + "/data/dataset_description.json", "w"))
low = lambda t: b[t] or 60      # b = 0 with a little weighting, which only --b0-threshold 60 counts as b = 0
one = [t for t in range(len(b)) if b[t] in (0, 1000)]
write("alone", one, low, lambda a, t: vector[a][t], volume)
write("lowest", [t for t in range(len(b)) if b[t] in (0, 700)], low, lambda a, t: vector[a][t], volume)
spoilt = [spoil() if b[t] > 1000 else volume[t] for t in range(len(b))]
# vectors along the voxel axes as they are, and of length 2
write("among", range(len(b)), low, lambda a, t: (-2 if a == 0 else 2) * vector[a][t], spoilt)
PYTHON
for folder in alone lowest among; do
    for suffix in nii bval bvec; do cp "$folder/dwi.$suffix" "$folder/data/sub-1/dwi/sub-1_desc-preproc_dwi.$suffix"; done
    cp $folder/mask.nii $folder/data/sub-1/dwi/sub-1_desc-brain_mask.nii
    printf 'bundle\tinclude\nall\t0,0,0,200\n' >$folder/rules.tsv
done
conventions="--b0-threshold 60"
others="--bvec-frame image --bvalue-scaling off"

# compare FOLDER FILE...: checks that the files of this folder and of `among` are the same
compare() {
    against=$1
    shift
    for file in "$@"; do
        checks=$((checks + 1))
        [ -s "$against/$file" ] || note "$row: $against/$file is not there"
        same "$against/$file" "among/$file"
    done
}

# work_in FOLDER OPTIONS...: runs the command of the row in the folder
work_in() {
    folder=$1
    shift
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    (cd $folder && "$tool" $command "$@") >stdout 2>stderr || note "$row in $folder: $(tail -n 1 stderr)"
    # only `among` gets a warning, because its vectors have the length 2
    grep '^glslines: warning: ' stderr | grep -v 'vectors are not of length 1' | sort >warnings_$folder
}

few="--nseeds 200 --precision float --device llvmpipe"
n=0
while IFS='|' read -r row files command; do
    case $row in "" | "#"*) continue ;; esac
    n=$((n + 1))
    work_in alone $conventions
    work_in among $conventions $others --shells 1000
    # shellcheck disable=SC2086
    compare alone $files
    same warnings_alone warnings_among
done <<TABLE
# what | files that it writes | command
made mask, tensor, csd, its response|c_mask.nii.gz c_fa.nii.gz c_tensor.nii.gz c_sh.nii.gz c_response.txt|fit dwi.nii c --model csd
tensor maps|t_fa.nii.gz t_md.nii.gz t_v1.nii.gz t_evals.nii.gz|fit dwi.nii dwi.bval dwi.bvec mask.nii t --no-model --tensor-maps --tensor mrtrix
several tissues, dhollander's responses|m_mask.nii.gz m_fa.nii.gz m_wm.nii.gz m_csf.nii.gz m_wm.txt|fit dwi.nii m --model msmt
q-ball|q_fa.nii.gz q_sh.nii.gz|fit dwi.nii dwi.bval dwi.bvec mask.nii q --model csa
response by FA|ra_response.txt ra_voxels.nii.gz ra_mask.nii.gz|response dwi.nii ra --algorithm fa --erode 1
response of tournier|rt_response.txt rt_voxels.nii.gz|response dwi.nii dwi.bval dwi.bvec mask.nii rt --algorithm tournier
responses of dhollander|rd_wm.txt rd_csf.txt rd_voxels.nii.gz rd_mask.nii.gz|response dwi.nii rd
response of given voxels|rm_response.txt|response dwi.nii dwi.bval dwi.bvec roi.nii rm --algorithm manual
stop map, seed region, mask, picture, profile|s.tck s.nii.gz s.png s.csv|track dwi.nii --model csd --dg det $few -o s.tck --write-mask s.nii.gz --picture s.png --profile rules.tsv:s.csv
FA for pictures where tissue ends streamlines|i.tck i.png i.csv|track dwi.nii $few -o i.tck --picture i.png --profile rules.tsv:i.csv
bootstrap|b.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --dg boot --model opdt $few -o b.tck
tensors|d.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --dg tensordet $few -o d.tck
bootstrap of tensors|p.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --dg tensorprob $few -o p.tck
axes of tensors|e.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --dg eudx $few -o e.tck
given FODs: the stop map|g.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --sh c_sh.nii.gz --dg det $few -o g.tck
fits that are kept|k.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --model csd --cache-dir kept $few -o k.tck
fits that are kept, again|k2.tck|track dwi.nii dwi.bval dwi.bvec mask.nii roi.nii --model csd --cache-dir kept $few -o k2.tck
data set, seeds where FA is high|out/sub-1/dwi/sub-1_tract-wholebrain_track-detcsd_tractogram.trx out/sub-1/dwi/sub-1_desc-seed_mask.nii.gz|bids data out participant --no-report -- --model csd --dg det $few
TABLE
[ $n -eq 18 ] || note "$n rows"

# --tensor-shells: the tensor is fitted to these shells, the model to those of --shells
row="tensor of another shell"
few="$few -q"
(cd lowest && "$tool" fit dwi.nii dwi.bval dwi.bvec mask.nii c --no-model $conventions -q) || note "$row"
expect 0 fit among/dwi.nii among/dwi.bval among/dwi.bvec among/mask.nii apart --model csd --shells 0,1000 --tensor-shells 700 $conventions $others
same apart_fa.nii.gz lowest/c_fa.nii.gz
(cd alone && "$tool" fit dwi.nii dwi.bval dwi.bvec mask.nii a --model csd $conventions -q) || note "$row"
same apart_sh.nii.gz alone/a_sh.nii.gz
in="among/dwi.nii among/dwi.bval among/dwi.bvec among/mask.nii among/roi.nii"
# shellcheck disable=SC2086
{
    expect 0 track $in --model csd --shells 1000 --tensor-shells 700 $conventions $others $few -o apart.tck --cache-dir kept
    expect 0 track alone/dwi.nii alone/dwi.bval alone/dwi.bvec alone/mask.nii alone/roi.nii --model csd --fa lowest/c_fa.nii.gz $conventions $few -o given.tck
    same apart.tck given.tck
    for dg in tensordet tensorprob eudx; do
        expect 0 track $in --dg $dg --shells 1000 --tensor-shells 700 $conventions $others $few -o apart_$dg.tck
        expect 0 track lowest/dwi.nii lowest/dwi.bval lowest/dwi.bvec lowest/mask.nii lowest/roi.nii --dg $dg $conventions $few -o given_$dg.tck
        same apart_$dg.tck given_$dg.tck
    done
    # all shells, unless some are chosen
    expect 0 fit $(echo "$in" | sed 's/ [^ ]*$//') all --no-model --tensor-shells 700 1000 3000 $conventions $others -q
    expect 0 fit $(echo "$in" | sed 's/ [^ ]*$//') none --no-model $conventions $others -q
    same all_fa.nii.gz none_fa.nii.gz
    # the choice belongs to the identity of a run, and of fits that are kept
    expect 0 track $in --model csd --shells 1000 --tensor-shells 700 $conventions $others $few -o apart.tck --cache-dir kept --skip-existing
    expect 4 track $in --model csd --shells 1000 --tensor-shells 1000 $conventions $others $few -o apart.tck --skip-existing
    expect 4 track $in --model csd --shells 1000 $conventions $others $few -o apart.tck --skip-existing
    expect 0 track $in --model csd --shells 1000 $conventions $others $few -o k.tck --cache-dir kept
    same k.tck alone/k.tck
    expect 0 track $in --model csd --shells 1000 --tensor-shells 700 $conventions $others $few --shard 1/2 -o s.tck
    expect 0 track $in --model csd --shells 1000 $conventions $others $few --shard 2/2 -o s.tck
    expect 3 merge s_shard-1of2.tck s_shard-2of2.tck -o merged.tck -q
    # options that need a series, and shells that do not exist
    expect 2 track --sh alone/c_sh.nii.gz --roi alone/roi.nii --shells 1000 $few -o no.tck
    says "--shells: needs DWI"
    expect 3 fit $(echo "$in" | sed 's/ [^ ]*$//') no --no-model --tensor-shells 500 $conventions $others -q
    says "no shell has b = 500 s/mm2"
    expect 3 fit $(echo "$in" | sed 's/ [^ ]*$//') no --no-model --shells 0 $conventions $others -q
    says "no weighted shell"
}
contains apart.json '"tensor_shells_s_per_mm2"'
python3 - <<'PYTHON' || note "the sidecar does not say which shells are used"
import json
g = json.load(open("apart.json"))["gradients"]
used = {round(s["b_s_per_mm2"], -2): (s["used"], s["tensor"]) for s in g["shells"]}
assert used == {100: (True, True), 700: (False, True), 1000: (True, False), 3000: (False, False)}, used
assert g["used_volumes"] == g["tensor_volumes"] < g["volumes"]
PYTHON
finish "choices about a series ($checks checks)"
