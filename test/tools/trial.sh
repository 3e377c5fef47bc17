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

# --- what made a user wrong, or lost his run
nothing=
# shellcheck disable=SC2086
{
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
--device metal|--device gpu
--device webgpu|--device gpu
--model default|--model opdt
--use-fast-write|not needed here: files are written
--npv 2|--seeds-per-voxel
--stopping_thr 0.2|--fa-threshold
END
    finding "B1: --select, --include, --act are here" 0 'include.*|select' "$program" help track
    finding "B2: what opens a TRX file" 0 'mrview' cat "$readme"
    finding "B3: streamlines of one seed" 0 'directions' grep -- '--max-directions-per-seed' "$manual/options.md"

    # --- files and pipelines
    "$program" track $series $cheap -o a.tck -q
    if command -v tckinfo > /dev/null; then lines=20 finding "B4: keys of TCK files" 0 'stop_map_threshold: *0.1' tckinfo a.tck; fi
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
}
echo
[ $failures -eq 0 ] && echo "all findings are answered" || echo "$failures findings without their answer"
[ $failures -eq 0 ]
