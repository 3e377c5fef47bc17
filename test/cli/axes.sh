#!/bin/sh
# Tests of the warning of directions along wrong axes: axes.sh TOOL WORK_DIR. Needs a device (a software renderer will do).
. "$(dirname "$0")/common.sh"

# doubts WORDS ARGUMENTS...: one warning of directions, which holds the words; no words: none
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

# the same of a crop says nothing of the axes
"$tool" phantom small --shape 18 20 18 -q || note "phantom small"
awk 'NR == 1 { for (i = 1; i <= NF; i++) $i = -$i } { print }' small/dwi.bvec > small.bvec
doubts "" small/dwi.nii.gz small/dwi.bval small.bvec small/mask.nii.gz small/roi.nii.gz --model opdt --dg det

finish "axes of directions"
