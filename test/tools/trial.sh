#!/bin/sh
# Walks what people who tried the program for the first time stumbled over, and shows what it says and does today. Each
# line is a finding, the command, and what has to be in its answer; an answer without it is a failure. Read the answers,
# too: they are what a new user sees.
# Usage: sh test/tools/trial.sh PROGRAM WORK_FOLDER
set -u
case $1 in /*) program=$1 ;; *) program=$PWD/$1 ;; esac
manual=$(cd "$(dirname "$0")/../../src/doc" && pwd)
readme=$manual/../../README.md
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
failures=0
"$program" phantom data --shape 30 36 30 --voxel-size 3 -q || exit 1
series="data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz"
"$program" phantom few --shape 24 24 20 --voxel-size 4 --directions 30 -q || exit 1
sparse="few/dwi.nii.gz few/dwi.bval few/dwi.bvec few/mask.nii.gz few/roi.nii.gz"
cheap="--sphere small --nseeds 200 --device llvmpipe"

# finding WHAT CODE TEXT COMMAND...: the command ends with CODE, and its answer has TEXT (an extended expression)
finding() {
    what=$1 code=$2 text=$3
    shift 3
    "$@" > answer 2>&1
    got=$?
    printf '\n== %s\n   $ %s\n' "$what" "$(printf '%s ' "$@" | sed "s|$program|glslines|g" | cut -c1-200)"
    if [ "$(wc -l < answer)" -le "${lines:-6}" ]; then sed 's/^/   | /' answer; else grep -E -e "$text" answer | head -n 4 | sed 's/^/   | ... /'; fi
    if [ $got -ne "$code" ] || ! grep -qE -e "$text" answer; then
        failures=$((failures + 1))
        echo "   FAIL: exit code $got, expected $code and '$text'"
    fi
}

# changed FROM TO EXPRESSION: writes a mask whose voxels v are changed
changed() {
    python3 -c "import gzip, sys; d = gzip.open(sys.argv[1]).read(); open(sys.argv[2], 'wb').write(d[:352] + bytes($3 for v in d[352:]))" "$1" "$2"
}
changed data/roi.nii.gz labels.nii '2 * v'
changed data/mask.nii.gz all.nii 1
few="data/dwi.nii.gz data/dwi.bval data/dwi.bvec"

# --- what made a user wrong, or lost his run
nothing=
# shellcheck disable=SC2086
{
    finding "A1: an angle, a threshold and lengths that suit a brain, with their reasons" 0 'max-angle 25 .*corticospinal' "$program" track $series --model csd --dry-run
    finding "A1: those of before are a preset" 0 'max-angle 60|60 degrees' sh -c "\"$program\" track $series $cheap --model csd --preset gpustreamlines -o before.tck && grep max_angle before.json | sed 's/:.60/: 60 degrees/;s/:	60/: 60 degrees/'"
    finding "A1: streamlines that are cut" 0 'cut at --max-length 30 mm' "$program" track $series $cheap --max-length 30 -o cut.tck
    finding "A1: figures for a brain" 0 'tckgen iFOD2' grep 'tckgen iFOD2' "$manual/presets.md"
    finding "A2: what --boot-retry does to lengths" 0 'which makes streamlines longer' sh -c "\"$program\" help track | tr -s ' \\n' ' ' | grep -oE 'boot: when to draw.{190}'"
    finding "A2: DIPY's rules in one word" 0 'boot-retry peak' "$program" track $series --preset dipy --dry-run
    finding "A7: a response that contradicts itself" 0 'raise --response-fa' "$program" track $series $cheap --model csd --response-fa 0 --response-radius 0 -o response.tck
    finding "A4: an empty variable" 2 'no input files; usage' "$program" track $nothing -o sub-01.trx --nseeds 1000
    finding "A4: the phantom is asked for" 0 'built-in phantom' "$program" track --phantom $cheap -o phantom.trx
    finding "A5: a GPU is demanded" 5 'no GPU offers compute' env CUDA_VISIBLE_DEVICES= "$program" track $series --device gpu -o no.trx
    finding "A5: or the CPU" 0 'software renderer' "$program" track $series $cheap --device cpu -o cpu.trx
    finding "A5: the variables of schedulers" 0 'CUDA_VISIBLE_DEVICES' cat "$manual/clusters.md"
    lines=60 finding "A6: what it has run on" 0 'has been tested on|not been tested on' "$program" devices --doctor
    # A3: a run that was killed, in a container whose process always has the same number
    if unshare -pf --kill-child true 2> /dev/null; then
        unshare -pf --kill-child sh -c "exec \"$program\" track $series --nseeds 20000000 --device llvmpipe -o q.trx -q" &
        unshared=$!
        sleep 3
        kill -KILL $unshared 2> /dev/null
        wait $unshared 2> /dev/null
        finding "A3: the run after one that was killed" 0 'q.trx' unshare -pf --kill-child sh -c "exec \"$program\" track $series $cheap -o q.trx"
    fi
    "$program" track $series --nseeds 20000000 --device llvmpipe -o term.trx -q 2> term.err &
    running=$!
    sleep 4
    kill -TERM $running
    wait $running
    finding "B15: SIGTERM" 143 ended sh -c "echo ended; exit $?"
    finding "B15: nothing is left behind" 0 '^0$' sh -c 'ls -a | grep -c term.trx || true'

    # --- options of other programs
    while IFS='|' read -r given text; do
        finding "B1, B11: $given" 2 "$text" "$program" track $series $given
    done << 'END'
-seed_image x.nii|--roi IMAGE
--lmax 8|--sh-order
-angle 45|--max-angle
-cutoff 0.1|--cutoff
-minlength 20|--min-length
-algorithm iFOD2|--dg
--npv 2|--seeds-per-voxel
--stopping_thr 0.2|--fa-threshold
END
    finding "B11: the first command of run_gpu_streamlines.py" 0 'model default: taken as opdt' "$program" track $series $cheap --model default --dg boot --write-method trx --output-prefix gpu
    finding "B11: --model default with another getter" 0 'model +csd' "$program" track $series --model default --dg prob --dry-run -q
    finding "B11: --device numba" 0 'numba: taken as cpu' "$program" track $series --device numba --dry-run
    finding "B11: --device metal, where there is no GPU" 5 'metal: taken as gpu' env CUDA_VISIBLE_DEVICES= "$program" track $series --device metal --dry-run
    finding "B11: --use-fast-write" 0 'not needed here' "$program" track $series --use-fast-write --dry-run
    finding "B11: --model csd has the order that the directions allow" 0 'model +csd, order 8' "$program" track $series --model csd --dry-run -q
    finding "B11: and says where they allow less" 0 'CSD of order 6' "$program" track $sparse --model csd --dry-run
    finding "B1: --select, --include, --act are here" 0 'include.*|select' "$program" help track
    finding "B2: what opens a TRX file" 0 'mrview' cat "$readme"
    finding "B3: streamlines of one seed" 0 'directions' grep -- '--max-directions-per-seed' "$manual/options.md"

    # --- files and pipelines
    "$program" track $series $cheap -o a.tck -q
    if command -v tckinfo > /dev/null; then lines=20 finding "B4: keys of TCK files" 0 'stop_map_threshold: *0.1' tckinfo a.tck; fi
    finding "B5: a seed mask that is none" 0 'neither 0 nor 1' "$program" track $few data/mask.nii.gz labels.nii $cheap -o w.trx
    finding "B5: a mask of the whole grid" 0 'covers the whole grid' "$program" track $few all.nii data/roi.nii.gz $cheap -o w2.trx
    finding "B5: seeds outside of what is tracked" 0 'of the seed mask are at or below' "$program" track $few data/mask.nii.gz data/mask.nii.gz $cheap -o w3.trx
    finding "B6: mask and seed region are made where none are given" 0 'mask|seed' "$program" track $few $cheap --model csd -o made.tck
    finding "B6: another grid, and its remedy" 3 'regrid|grid' "$program" track $few few/mask.nii.gz data/roi.nii.gz $cheap -o no.trx
    finding "B7: a container" 0 'dev/dri' cat "$manual/installation.md"
    finding "B12: --dg ptt has an angle of its own" 0 'max-angle 35' "$program" track $series --model csd --dg ptt --dry-run
    finding "B7: threads" 0 'threads|streamlines' "$program" track $series $cheap --nthreads 1 -o b.tck
    finding "B8: one number for the scheduler" 0 'request [0-9]+ MiB' sh -c "\"$program\" track $series --dry-run | grep request"
    finding "B9: provenance" 0 'absolute_path' grep -A4 -m1 '"dwi":' a.json
    finding "B9: the format as written" 0 '"tck"' grep write_method a.json
    finding "B9: mask and roi" 0 'mask.nii.gz' grep -E '^.."?	*"(mask|roi)":	"' a.json
    finding "B10: lines of a log have the time" 0 '^\[[0-9:]{8}\]' "$program" track $series --sphere small --nseeds 3000 --device llvmpipe --dg ptt -o c.tck
    finding "B10: the plan for programs" 0 '"request_mib"' "$program" track $series --dry-run --json -q
    finding "B13: arrays of Slurm" 0 'SLURM_ARRAY_TASK_ID' cat "$manual/clusters.md"
    finding "B14: a rerun over many subjects" 0 'nothing to do' "$program" track $series $cheap -o a.tck --skip-existing
    finding "B14: outputs of another run" 4 'another nseeds' "$program" track $series --sphere small --nseeds 201 --device llvmpipe -o a.tck --skip-existing

    # --- words
    finding "B16: help help" 0 'Usage: glslines help' "$program" help help
    finding "B16: --version" 0 'glslines --version' "$program" help
    finding "B16: the doctor for programs" 0 '"to_fix"' "$program" devices --doctor --json
    lines=30 finding "B17: the GPU of a small board" 0 'in the processor|part of the processor|PCI|graphics device' "$program" devices --doctor
    finding "B18: fitted voxels and mask" 0 'fit: [0-9,]+ of the [0-9,]+ voxels of the mask' "$program" track $series $cheap --model csd -o d.tck
    lines=40 finding "B19: the summary" 0 'ends .*two for each streamline' "$program" track $series $cheap -o e.tck
    finding "B19: its words" 0 'half-streamline' "$program" help glossary
    finding "What to cite" 0 'Tournier' "$program" cite d.tck

    # --- the 25 worst sentences: what stands there now
    "$program" help track > track.txt
    for command in fit bench merge score; do "$program" help $command; done > others.txt
    tr -s ' \n' ' ' < track.txt > track.line
    tr -s ' \n' ' ' < others.txt > others.line
    while IFS='|' read -r number old new; do
        lines=0 finding "sentence $number" 0 "$new" grep -h -oE -e "$new" track.line others.line
        if grep -qF -e "$old" track.line others.line; then
            failures=$((failures + 1))
            echo "   FAIL: the old words are there: $old"
        fi
    done << 'END'
1|has the default name, .json is appended|Where tracks.json is the sidecar of another tractogram
2|where wanted --mask name the other images|MASK and ROI may be left out
3|what the argument MASK is otherwise|Brain mask, in place of the argument MASK
4|what the argument ROI is otherwise|Seed mask, in place of the argument ROI
5|362 points, or those of a text file|default: 724 points. small: 362 points
6|that the model uses, b = 0 besides|b-value of the one shell to fit
7|text with l1 l2 l2 S0|one row 'l1 l2 l2 S0'
8|Smaller values of the signal are raised|signals below S count as S
9|of which one is the smallest side of a voxel|Length of a step, such as 0.5mm or 0.5vox
10|Longer streamlines are cut, and counted.|A streamline stops growing at this length; it is kept
11|Streamlines from one seed, strongest peak first|Largest number of streamlines that start from one seed
12|Repeat a bootstrap sample without a peak|when to draw another bootstrap sample, up to five
13|or (newer DIPY's rule) from the fit|sample: from one bootstrap sample
14|auto: coefficients where there are some|auto: coefficients, except with --odf
15|on which the threads of the probe lie|radius of the circle on which the --probe-count curves of the probe lie
16|Threads of the probe|number of parallel curves in the probe
17|Samples along the probe besides its start|number of sampling points along the probe
18|the largest bend between two samples of the probe|smallest radius of the curves; units as for --step-size. Without it the radius is
19|about a whole number of them make a step|rounded so that a whole number of substeps makes a step
20|devices that share the work|A comma-separated list, without blanks, shares the work
21|On equal devices the result is that of one|Identical GPUs write the same file as one
22|One invocation or one subgroup|Expert setting: what works on one streamline on the GPU
23|messages for developers, the driver's|-vv also prints messages of the driver
24|Of the files to write|Output prefix: PREFIX_fa.nii.gz
25|as many seeds from the front of the list|Number of random seeds in white matter
END
    # --- README: its order
    finding "README: at most 170 lines" 0 '^ok' sh -c "[ \$(wc -l < \"$readme\") -le 170 ] && echo ok"
    finding "README: a picture, install, own data, limits come before speed" 0 '^ok' sh -c "grep -n '^## ' \"$readme\" | awk -F'## ' '/Try it/ { t = NR } /Your own data/ { o = NR } /cannot do/ { l = NR } /Speed/ { s = NR } END { if (t && t < o && o < l && l < s) print \"ok\" }'"
    finding "README: on what it has run" 0 'has not yet been run on AMD' grep 'has not yet been run on AMD' "$readme"
}
echo
[ $failures -eq 0 ] && echo "all findings are answered" || echo "$failures findings without their answer"
[ $failures -eq 0 ]
