#!/bin/sh
# Gradients that deviate from voxel to voxel: every command that reads a series says that it does not use them: deviations.sh TOOL WORK_DIR.
. "$(dirname "$0")/common.sh"

# warns COMMAND ARGUMENTS...: checks that the command warns, also in the sidecar if there is one
warns() {
    echo "$1" >> walked
    expect 0 "$@"
    contains stderr "grad_dev.nii.gz is not used"
    [ -z "$sidecar" ] || contains "$sidecar" "grad_dev.nii.gz is not used"
}

: > walked
"$tool" phantom p --shape 18 20 18 --bvals 700 2000 --directions 16 -q || note "phantom"
"$tool" track --phantom --nseeds 100 -o lines.tck -q || note "lines"
"$tool" phantom raw --bids 01 --directions 16 --shape 18 20 18 -q || note "phantom --bids"
awk '{ for (i = 1; i <= NF; i++) v[NR, i] = $i; n = NF } END { for (i = 1; i <= n; i++) print v[1, i], v[2, i], v[3, i], v[4, i] }' p/dwi.bvec p/dwi.bval > scheme
set -- p/dwi.nii.gz p/dwi.bval p/dwi.bvec p/mask.nii.gz
"$tool" fit "$@" given --model csd --sh-order 4 --shells 2000 -q || note "fit"
: > p/grad_dev.nii.gz
find raw -name dwi -type d -exec touch '{}/grad_dev.nii.gz' ';'

sidecar=out.json
warns track "$@" p/roi.nii.gz out.tck --nseeds 20 --force
warns track "$@" p/roi.nii.gz out.tck --nseeds 20 --dg tensordet --force
warns track "$@" p/roi.nii.gz out.tck --nseeds 20 --sh given_sh.nii.gz --fa given_fa.nii.gz --force
warns track p/dwi.nii.gz out.tck --nseeds 20 --model opdt --shells 700 --force
sidecar=fitted.json
for model in opdt csa csd msmt; do
    shell=
    [ $model = msmt ] || shell="--shells 2000"
    warns fit "$@" fitted --model $model $shell --force
done
for algorithm in dhollander tournier fa; do
    sidecar=$algorithm.json
    warns response "$@" $algorithm --algorithm $algorithm
done
sidecar=weights.json
set -- weights lines.tck p/dwi.nii.gz -o weights.txt --method commit --kernel life --max-iters 2 --force
warns "$@"
warns "$@" --bval p/dwi.bval --bvec p/dwi.bvec
warns "$@" --scheme scheme
sidecar=
warns bids raw derivatives participant --raw -- --nseeds 20

# none is forgotten but anat, which takes volumes without weighting alone
list_commands
for command in $commands; do
    "$tool" "$command" --help | tr '\n' ' ' | grep -qiE "diffusion +series|preproc_dwi +series" && echo "$command"
done | grep -vx anat | sort > readers
sort -u walked > asked
same readers asked
rm p/grad_dev.nii.gz
expect 0 fit p/dwi.nii.gz fitted --model opdt --shells 700 --force
! grep -q grad_dev stderr || note "a warning without grad_dev"

finish "deviations of gradients"
