#!/bin/sh
# Records what the program writes, so that two versions of it can be compared: a checksum for each of many combinations of getter, model,
# mapping, precision, interface, format, shards and forced limits. A change of structure must leave every line as it was.
# Usage: sh test/tools/record_bytes.sh PROGRAM WORK_FOLDER > RECORD
#        diff RECORD_BEFORE RECORD_AFTER
# All runs have the defaults of --preset gpustreamlines; GLS_RECORD_PRESET=none records a program that has no presets.
# The record depends on the machine's renderer: compare records of one machine only. WORK_FOLDER/data is kept, the rest is made anew.
# GLS_RECORD_DEVICE: the device (llvmpipe); GLS_RECORD_MAPPINGS: the mappings of the first part ("single").
set -eu
case $1 in /*) program=$1 ;; *) program=$PWD/$1 ;; esac
mkdir -p "$2"
cd "$2"
device=${GLS_RECORD_DEVICE:-llvmpipe}
mappings=${GLS_RECORD_MAPPINGS:-single}
rm -rf out && mkdir out
[ -e data/dwi.nii.gz ] || "$program" phantom data --shape 30 36 30 --voxel-size 3 > /dev/null
files="data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz"

sum() { sha256sum "$1" | cut -c1-64; }

# record NAME OUTPUT ARGUMENTS...: runs the program once, and prints the checksum of its output
record() {
    name=$1 output=$2
    shift 2
    if "$program" "$@" > out/log 2>&1; then
        printf '%s  %s\n' "$(sum "$output")" "$name"
    else
        printf 'exit code %s  %s\n' $? "$name"
    fi
}

# track NAME SUFFIX OPTIONS...: tracks the phantom from its files
track() {
    name=$1 suffix=$2
    shift 2
    # shellcheck disable=SC2086
    record "$name" "out/t.$suffix" track ${from:-$files} --device "$device" ${seeds---nseeds 400} -o "out/t.$suffix" --force --sidecar none --mask-stop interpolated $preset "$@"
}

case ${GLS_RECORD_PRESET-gpustreamlines} in none) preset="" ;; *) preset="--preset ${GLS_RECORD_PRESET-gpustreamlines}" ;; esac
few="--sphere small"
for mapping in $mappings; do
    m="--mapping $mapping"
    # shellcheck disable=SC2086
    for precision in half float; do
        p="--precision $precision"
        track "$mapping $precision boot opdt" trx $m $p $few
        track "$mapping $precision prob opdt" trx $m $p $few --dg prob
        track "$mapping $precision det opdt" trx $m $p $few --dg det
        seeds="--nseeds 60" track "$mapping $precision ptt csd" trx $m $p $few --dg ptt --model csd --max-angle 20 --ptt-substep 0.1
    done
    # shellcheck disable=SC2086
    {
        track "$mapping boot csa, whole sphere" trx $m --model csa
        track "$mapping boot order 6, DIPY's rules" trx $m $few --sh-order 6 --boot-retry peak --boot-start fit --pmf-threshold 0
        track "$mapping boot order 8" trx $m $few --sh-order 8 --max-directions-per-seed 3
        track "$mapping boot, angular weight" trx $m $few --angular-weight 0.5
        track "$mapping prob csd" trx $m $few --model csd
        track "$mapping prob csd order 6, amplitudes" trx $m $few --model csd --sh-order 6 --odf-interpolation amplitudes
        track "$mapping prob csa, amplitudes, whole sphere" trx $m --model csa --dg prob --odf-interpolation amplitudes
        track "$mapping det csd, angular weight" trx $m $few --model csd --dg det --angular-weight 0.3
        seeds="--nseeds 40" track "$mapping ptt, three threads" trx $m $few --dg ptt --model csd --probe-count 3 --probe-radius 0.5 --probe-length 1vox \
            --ptt-substep 0.1 --min-radius-of-curvature 1.5
        track "$mapping gles prob" trx $m $few --dg prob --api gles
        track "$mapping gles boot" trx $m $few --api gles
    }
done

# formats, seeds, rules: in the mapping that the device takes by itself
# shellcheck disable=SC2086
{
    track "tck" tck $few --dg prob
    track "trk" trk $few --dg prob
    track "trx, half" trx $few --dg prob --output-precision half
    seeds="" track "seeds per voxel" tck $few --dg det --seeds-per-voxel 1 --seed-seed 7
    awk 'BEGIN { for (i = 0; i < 60; i++) print 8 + i % 15, 10 + i % 17, 10 + i % 11 }' > out/seeds.txt
    seeds="" track "seeds from a file" tck $few --dg det --seeds out/seeds.txt
    track "another random seed" tck $few --dg prob --rng-seed 12345678901
    track "lengths" tck $few --dg prob --min-length 20 --max-length 60 --keep-single-points
    track "step in mm, wide angle" tck $few --dg prob --step-size 1mm --max-angle 90
    track "thresholds" tck $few --dg prob --fa-threshold 0.25 --pmf-threshold 0.2 --relative-peak-threshold 0.5 --min-separation-angle 25
    track "chunks of 37" trx $few --dg prob --chunk-size 37
    track "two contexts" trx $few --dg prob --chunk-size 37 --ngpus 2
    track "b-vectors as voxel axes, shell" tck $few --dg prob --bvec-frame image --model csd --shells 2000
    track "smoothing and smallest signal" tck $few --dg prob --sm-lambda 0.02 --min-signal 20
    seeds="--nseeds 100" from="--phantom" track "the built-in phantom" tck $few --dg det
}
GLSLINES_FORCE_LIMITS=storage_bytes=2097152 track "small buffers" trx $few --dg prob
GLSLINES_FORCE_LIMITS=texture_3d=64 track "small textures" trx $few --dg prob
GLSLINES_FORCE_LIMITS=gles31 track "limits of OpenGL ES 3.1" trx $few --dg prob

# fits, and tracking from files
if "$program" fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz out/fit --model csd --sh-order 4 > out/log 2>&1; then
    for file in fit_fa.nii.gz fit_tensor.nii.gz fit_sh.nii.gz fit_response.txt; do printf '%s  %s\n' "$(sum "out/$file")" "fit: $file"; done
fi
for getter in prob det ptt; do
    # shellcheck disable=SC2086
    seeds="--nseeds 60" from="--sh out/fit_sh.nii.gz --fa out/fit_fa.nii.gz --mask data/mask.nii.gz --roi data/roi.nii.gz" \
        track "SH from a file, $getter" tck $few --dg $getter --max-angle 30
done

# shards, merged
for part in 1 2 3; do
    # shellcheck disable=SC2086
    "$program" track $files --device "$device" --nseeds 400 $few $preset --dg prob --shard $part/3 -o out/s.trx > out/log 2>&1
    printf '%s  %s\n' "$(sum out/s_shard-${part}of3.trx)" "shard $part of 3"
done
record "merged shards" out/s.trx merge out/s_shard-1of3.trx out/s_shard-2of3.trx out/s_shard-3of3.trx -o out/s.trx
record "the phantom's series" out/p/dwi.nii.gz phantom out/p --shape 20 22 20
"$program" score --nseeds 200 $preset --model csd --dg prob --json out/score.json --device "$device" --force > out/log 2>&1
grep -v -e seconds -e command_line -e started out/score.json > out/score.txt
printf '%s  %s\n' "$(sum out/score.txt)" scores
