#!/bin/sh
# Each kind of fault of the driver at each of the first calls of its kind, one by one, and from there on: the same bytes, or one line of an error with its exit code and nothing
# left behind. By hand: about half an hour of two cores. Usage: sh test/tools/fault_matrix.sh GLSLINES WORK_FOLDER [CALLS [JOBS]]
# GLS_PROOF_DEVICE: on which device, else llvmpipe.
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
case $getter in boot) options="--dg boot" ;; prob) options="--dg prob --model csa" ;; ptt) options="--dg ptt --model csa --max-angle 30" ;; esac
track="track $work/in/dwi.nii.gz $work/in/dwi.bval $work/in/dwi.bvec $work/in/mask.nii.gz $work/in/roi.nii.gz --sphere small --nseeds 120 --chunk-size 30 -q $options"
if [ "$rule" = none ]; then
    "$program" $track --device "$device" -o "$work/$getter.trx" --sidecar none
    exit
fi
folder=$work/run-$getter-$rule-$(echo "$devices" | tr -cd ,)
mkdir "$folder" && cd "$folder" || exit 1
start=$(date +%s)
GLSLINES_INJECT=$rule timeout 120 "$program" $track --device "$devices" -o a.trx > out 2> err
code=$?
files=$(find . -type f ! -name out ! -name err | wc -l)
lines=$(grep -vc '^glslines: warning: ' err)
if [ $code -eq 0 ]; then
    if cmp -s a.trx "$work/$getter.trx" && [ -s a.json ] && [ "$lines" -eq 0 ]; then result=same; else result="FAIL: exit code 0 with other bytes"; fi
elif [ $code -eq 5 ]; then
    if [ "$files" -eq 0 ] && [ "$lines" -eq 1 ]; then result=error; else result="FAIL: exit code 5, $files files, $lines lines"; fi
elif [ "$kind" = crash ] && [ $code -gt 128 ] && [ "$files" -eq 0 ]; then
    result=error # of the driver, and of the process with it
else
    result="FAIL: exit code $code: $(head -n 1 err)"
fi
echo "$getter $kind $devices $rule $result $(($(date +%s) - start))s"
rm -rf "$folder"
ONE
for getter in boot prob ptt; do sh one.sh $getter none ""; done
{
    for getter in boot prob ptt; do
        for kind in open alloc upload compile silent crash dispatch readback reset; do
            for n in $(seq 1 "$calls"); do echo "$getter $kind:$n $device"; done
        done
    done
    for kind in alloc upload compile dispatch readback reset; do
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
