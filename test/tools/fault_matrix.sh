#!/bin/sh
# Each kind of fault of the driver at each of the first calls of its kind, one by one, and from there on: the same bytes, or one line of an error with its exit code and nothing
# left behind. By hand: about half an hour of two cores. Usage: sh test/tools/fault_matrix.sh build/test/glslines_faults WORK_FOLDER [CALLS [JOBS]]
# GLS_PROOF_DEVICE: on which device, else llvmpipe. GLS_PROOF_ONLY: some of boot prob ptt map counted weighed weights fit.
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
calls=${3:-40} jobs=${4:-2}
device=${GLS_PROOF_DEVICE:-llvmpipe}
unset GLSLINES_INJECT
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
work=$PWD
export work program device
"$program" phantom in --shape 18 20 18 --directions 30 -q || exit 1

cat > one.sh <<'ONE'
# one.sh GETTER RULE DEVICES: prints "GETTER KIND same|error|FAIL ..."
getter=$1 rule=$2 devices=$3
kind=${rule%%:*}
series="$work/in/dwi.nii.gz $work/in/dwi.bval $work/in/dwi.bvec $work/in/mask.nii.gz"
few="$series $work/in/roi.nii.gz --sphere small --nseeds 120 --chunk-size 30"
track="track $few -o a.trx"
case $getter in
boot) command="$track --dg boot" ;;
prob) command="$track --dg prob --model csa" ;;
ptt) command="$track --dg ptt --model csa --max-angle 30" ;;
map) command="$track --dg prob --model csa --density d.nii" ;;
counted) command="track $few --dg prob --model csa -o none --density d.nii --connectome $work/in/mask.nii.gz:c.csv --sidecar a.json" ;;
weighed) command="$track --dg prob --model csd --weights" ;;
weights) command="weights $work/in/t.tck $work/in/s_sh.nii.gz -o a.txt --csv a.csv" ;;
fit) command="fit $work/in2/dwi.nii.gz $work/in2/dwi.bval $work/in2/dwi.bvec $work/in2/few.nii.gz a --model msmt --sh-order 4 --response-wm $work/in2/s_wm.txt --response-gm $work/in2/s_gm.txt --response-csf $work/in2/s_csf.txt" ;;
esac
case $getter in fit) at=--fit-device ;; *) at=--device ;; esac
export GLSLINES_MAP=device # for map and counted
folder=$work/run-$getter-$rule-$(echo "$devices" | tr -cd ,)
[ "$rule" != none ] || folder=$work/$getter
mkdir "$folder" && cd "$folder" || exit 1
if [ "$rule" = none ]; then
    "$program" $command -q $at "$device" && rm -f a.json
    exit
fi
start=$(date +%s)
GLSLINES_INJECT=$rule timeout 120 "$program" $command -q $at "$devices" > out 2> err
code=$?
files=$(find . -type f ! -name out ! -name err | wc -l)
lines=$(grep -vc '^glslines: warning: ' err)
if [ $code -eq 0 ]; then
    same=yes
    for file in "$work/$getter"/*; do cmp -s "$(basename "$file")" "$file" || same=no; done
    if [ $same = yes ] && [ -s a.json ] && [ "$lines" -eq 0 ]; then result=same; else result="FAIL: exit code 0 with other bytes"; fi
elif [ $code -eq 5 ]; then
    if [ "$files" -eq 0 ] && [ "$lines" -eq 1 ]; then result=error; else result="FAIL: exit code 5, $files files, $lines lines"; fi
elif [ "$kind" = crash ] && [ $code -gt 128 ] && [ "$files" -eq 0 ]; then
    result=error # faults of the driver that end the process
else
    result="FAIL: exit code $code: $(head -n 1 err)"
fi
echo "$getter $kind $devices $rule $result $(($(date +%s) - start))s"
rm -rf "$folder"
ONE
"$program" phantom in2 --shape 16 18 16 --directions 20 --bvals 1000,2500 -q || exit 1
# the voxels of a few streamlines, because a software renderer takes long for each
"$program" track in2/dwi.nii.gz in2/dwi.bval in2/dwi.bvec in2/mask.nii.gz in2/roi.nii.gz --dg det --model csa --sphere small --nseeds 3 --device "$device" --density in2/few.nii.gz -o in2/few.tck -q || exit 1
"$program" response in2/dwi.nii.gz in2/dwi.bval in2/dwi.bvec in2/mask.nii.gz in2/s -q || exit 1
"$program" fit in/dwi.nii.gz in/dwi.bval in/dwi.bvec in/mask.nii.gz in/s --sh-order 4 --model csd -q || exit 1
"$program" track in/dwi.nii.gz in/dwi.bval in/dwi.bvec in/mask.nii.gz in/roi.nii.gz --sphere small --nseeds 300 --device "$device" -o in/t.tck -q || exit 1
all="boot prob ptt map counted weighed weights fit"
for getter in ${GLS_PROOF_ONLY:-$all}; do sh one.sh "$getter" none "" || exit 1; done
{
    for getter in ${GLS_PROOF_ONLY:-$all}; do
        for kind in open alloc upload compile silent crash dispatch skip readback reset; do
            for n in $(seq 1 "$calls"); do echo "$getter $kind:$n $device"; done
        done
    done
    for kind in alloc upload compile dispatch skip readback reset; do
        case " ${GLS_PROOF_ONLY:-$all} " in *" boot "*) ;; *) break ;; esac
        for n in $(seq 1 "$calls"); do
            echo "boot $kind:$n+ $device"
            echo "boot $kind:$n $device,$device"
        done
    done
} > list
xargs -P "$jobs" -L 1 sh one.sh < list > results
awk '{ n[$1 " " $2 ($4 ~ /\+$/ ? "+" : "") " " ($3 ~ /,/ ? 2 : 1)]++; r = $5 ~ /FAIL/ ? "fail" : $5; k[$1 " " $2 ($4 ~ /\+$/ ? "+" : "") " " ($3 ~ /,/ ? 2 : 1) " " r]++ }
    END { printf "%-6s %-10s %8s %6s %6s %6s\n", "getter", "fault", "devices", "same", "error", "fail"
        for (key in n) { split(key, w, " "); printf "%-6s %-10s %8s %6d %6d %6d\n", w[1], w[2], w[3], k[key " same"], k[key " error"], k[key " fail"] | "sort" } }' results
grep FAIL results
! grep -q FAIL results
