#!/bin/sh
# Tests of the warning of directions along wrong axes: axes.sh TOOL WORK_DIR. Needs a device (a software renderer will do).
. "$(dirname "$0")/common.sh"

# doubts WORDS ARGUMENTS...: checks that there is one warning about directions, which has the words; no words: no warning
doubts() {
    words=$1
    shift
    "$tool" track "$@" --nseeds 20 -o out.tck --force > /dev/null 2> stderr || note "track $*: $(tail -1 stderr)"
    grep "fit together better" stderr > doubt
    if [ -z "$words" ]; then
        [ ! -s doubt ] || note "track $*: $(cat doubt)"
    else
        [ "$(wc -l < doubt)" -eq 1 ] && grep -qF -e "$words" doubt || note "track $*: not '$words' but $(cat doubt)"
    fi
}

"$tool" phantom p -q || note "phantom"
awk 'NR == 1 { for (i = 1; i <= NF; i++) $i = -$i } { print }' p/dwi.bvec > mirrored.bvec
awk '{ row[NR] = $0 } END { print row[1]; print row[3]; print row[2] }' p/dwi.bvec > exchanged.bvec
set -- p/mask.nii.gz p/roi.nii.gz --model opdt --dg det
doubts "" p/dwi.nii.gz p/dwi.bval p/dwi.bvec "$@"
doubts "with x mirrored" p/dwi.nii.gz p/dwi.bval mirrored.bvec "$@"
doubts "with y and z exchanged" p/dwi.nii.gz p/dwi.bval exchanged.bvec "$@"

"$tool" fit p/dwi.nii.gz p/dwi.bval p/dwi.bvec p/mask.nii.gz f --model csd --sh-order 6 --sh-basis tournier07 --sh-frame world -q || note "fit"
set -- --sh f_sh.nii.gz --fa f_fa.nii.gz --mask p/mask.nii.gz --roi p/roi.nii.gz --dg det --sh-frame world
doubts "" "$@" --sh-basis tournier07
doubts "better as tournier07" "$@" --sh-basis descoteaux07_legacy
doubts "better as tournier07" "$@" --sh-basis descoteaux07

# peaks: the right axes are world axes; on this grid, LAS, x is mirrored in FSL's axes and in those of the image
"$tool" peaks f_sh.nii.gz -o peaks.nii.gz --sh-basis tournier07 -q || note "peaks"
cp peaks.nii.gz dyads1.nii.gz
set -- --mask p/mask.nii.gz --roi p/roi.nii.gz
for dg in fact eudx; do
    doubts "" --peaks peaks.nii.gz "$@" --dg $dg
    doubts "peaks.nii.gz: directions of neighbouring voxels fit together better with x mirrored" --peaks peaks.nii.gz --peaks-frame image "$@" --dg $dg
    grep -qF "they were read along image axes: if these are wrong, give --peaks-frame fsl or world" doubt || note "no remedy: $(cat doubt)"
done
doubts "give --peaks-frame image or world" --peaks dyads1.nii.gz "$@"
doubts "" --peaks dyads1.nii.gz --peaks-frame world "$@"
doubts "" --peaks p/peaks.nii.gz "$@" --cutoff 0.3
doubts "" --peaks peaks.nii.gz --peaks-frame image "$@" --dg seedtest

# right axes give longer streamlines; so do they with samples of bedpostX, and with peaks that all have one length
mean() {
    "$tool" track "$@" --nseeds 300 -o out.tck --force -q > /dev/null 2> stderr || note "track $*: $(tail -1 stderr)"
    sed -n 's/.*"mean_mm":[^0-9]*\([0-9.]*\).*/\1/p' out.json | head -1
}
right=$(mean --peaks peaks.nii.gz "$@") wrong=$(mean --peaks dyads1.nii.gz "$@")
checks=$((checks + 1))
awk "BEGIN { exit !($right > 1.1 * $wrong && $wrong > 0) }" || note "mean lengths: $right mm along right axes, $wrong mm along wrong ones"
python3 - << 'END' || note "the samples were not written"
import gzip, math, os, shutil, struct

whole = gzip.open("peaks.nii.gz").read()
head, n = bytearray(whole[:352]), struct.unpack_from("<3h", whole, 42)
n = n[0] * n[1] * n[2]
x, y, z = (struct.unpack_from("<%df" % n, whole, 352 + 4 * k * n) for k in range(3))


def write(name, *volumes):
    struct.pack_into("<h", head, 48, len(volumes))
    struct.pack_into("<h", head, 40, 4 if len(volumes) > 1 else 3)
    with open(name, "wb") as f:
        f.write(head)
        for v in volumes:
            f.write(struct.pack("<%df" % n, *v))


length = [math.sqrt(a * a + b * b + c * c) for a, b, c in zip(x, y, z)]
there = [not math.isnan(l) and l > 0 for l in length]
write("unit.nii", *([a / l if t else 0 for a, l, t in zip(v, length, there)] for v in (x, y, z)))
for folder, sign in ("right", -1), ("wrong", 1):
    os.mkdir(folder)
    shutil.copy("p/mask.nii.gz", folder + "/nodif_brain_mask.nii.gz")
    write(folder + "/merged_th1samples.nii", [math.acos(max(-1, min(1, c / l))) if t else 0 for c, l, t in zip(z, length, there)])
    write(folder + "/merged_ph1samples.nii", [math.atan2(b, sign * a) if t else 0 for a, b, t in zip(x, y, there)])
    write(folder + "/merged_f1samples.nii", [.5 if t else 0 for t in there])
END
doubts "" --peaks unit.nii "$@"
doubts "unit.nii: directions" --peaks unit.nii --peaks-frame image "$@"
doubts "" --bedpostx right --roi p/roi.nii.gz
doubts "wrong: directions of neighbouring voxels fit together better with x mirrored" --bedpostx wrong --roi p/roi.nii.gz
grep -qF "bedpostX writes FSL's axes" doubt || note "no remedy: $(cat doubt)"
right=$(mean --bedpostx right --roi p/roi.nii.gz) wrong=$(mean --bedpostx wrong --roi p/roi.nii.gz)
checks=$((checks + 1))
awk "BEGIN { exit !($right > 1.1 * $wrong && $wrong > 0) }" || note "mean lengths along samples: $right mm, wrong $wrong mm"

# a crop of the same data is too small to judge the axes
"$tool" phantom small --shape 18 20 18 -q || note "phantom small"
awk 'NR == 1 { for (i = 1; i <= NF; i++) $i = -$i } { print }' small/dwi.bvec > small.bvec
doubts "" small/dwi.nii.gz small/dwi.bval small.bvec small/mask.nii.gz small/roi.nii.gz --model opdt --dg det

finish "axes of directions"
