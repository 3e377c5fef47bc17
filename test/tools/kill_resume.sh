#!/bin/sh
# Kills runs with --resume at random moments, some several times, and compares what the last one gives with an undisturbed run. By hand: about 15 s a round.
# Usage: sh test/tools/kill_resume.sh GLSLINES WORK_FOLDER [ROUNDS [SEED]]
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rounds=${3:-100} seed=${4:-1}
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
"$program" phantom in --shape 24 26 22 --directions 30 -q || exit 1
inputs="in/dwi.nii.gz in/dwi.bval in/dwi.bvec in/mask.nii.gz in/roi.nii.gz --sphere small -q"

# what the rounds take turns with: format, devices, other outputs
cases="trx:llvmpipe: trk:llvmpipe: tck:llvmpipe: trx:llvmpipe,llvmpipe: trk:llvmpipe,llvmpipe: tck:llvmpipe,llvmpipe: trx:llvmpipe,llvmpipe,llvmpipe:--density#d.nii.gz
tck:llvmpipe:--density#d.nii.gz trx:llvmpipe:--select#1500"

random() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); echo $((seed / 65536 % $1)); }

mkdir whole
for case in $cases; do
    suffix=${case%%:*} rest=${case#*:}
    more=$(echo "${rest#*:}" | tr '#' ' ')
    name=$(echo "$suffix$more" | tr -d ' .')
    [ -d "whole/$name" ] && continue
    mkdir "whole/$name"
    # shellcheck disable=SC2086
    "$program" track $inputs --nseeds 4000 --chunk-size 400 $more -o "whole/$name/a.$suffix" --sidecar none || exit 1
    [ ! -e d.nii.gz ] || mv d.nii.gz "whole/$name/"
done

round=0 failed=0 kills=0 resumed=0 done_before=0
while [ $round -lt "$rounds" ]; do
    for case in $cases; do
        [ $round -lt "$rounds" ] || break
        round=$((round + 1))
        suffix=${case%%:*} rest=${case#*:}
        device=${rest%%:*} more=$(echo "${rest#*:}" | tr '#' ' ')
        name=$(echo "$suffix$more" | tr -d ' .')
        times=$(($(random 3) + 1)) ended=false
        rm -rf out && mkdir out && cd out || exit 1
        chunk=$((50 + $(random 8) * 50))
        while [ $times -gt 0 ]; do
            times=$((times - 1))
            # shellcheck disable=SC2086
            (cd .. && cd out && exec "$program" track $(echo "$inputs" | sed 's,in/,../in/,g') --nseeds 4000 --chunk-size $chunk --device "$device" $more -o "a.$suffix" --sidecar none --resume) 2> err &
            child=$!
            sleep "$(awk "BEGIN { print $(random 1000) / 1000 * ${LONGEST:-8} }")"
            kill -KILL $child 2> /dev/null && kills=$((kills + 1))
            wait $child 2> /dev/null && ended=true
            $ended && break
            rm -f err
            left=$(find . -type f | wc -l)
            [ "$left" -le 1 ] || [ -e "a.$suffix" ] || { echo "FAIL $round: $left files after SIGKILL"; failed=$((failed + 1)); }
        done
        if $ended; then
            done_before=$((done_before + 1))
        else
            [ ! -s "a.$suffix.resume" ] || [ "$(wc -c < "a.$suffix.resume")" -lt 800 ] || resumed=$((resumed + 1))
            # shellcheck disable=SC2086
            "$program" track $(echo "$inputs" | sed 's,in/,../in/,g') --nseeds 4000 --chunk-size $chunk --device "$device" $more -o "a.$suffix" --sidecar none --resume 2> err || {
                echo "FAIL $round: exit code $?: $(cat err)"
                failed=$((failed + 1))
            }
        fi
        rm -f err
        cd ..
        for file in whole/"$name"/*; do
            cmp -s "$file" "out/$(basename "$file")" || { echo "FAIL $round ($case): $(basename "$file") differs"; failed=$((failed + 1)); }
        done
        [ "$(find out -type f | wc -l)" -eq "$(find "whole/$name" -type f | wc -l)" ] || { echo "FAIL $round: files left: $(ls out)"; failed=$((failed + 1)); }
    done
done
echo "$rounds rounds, $kills kills, $resumed went on behind what was journaled, $done_before were over before they were killed: $failed failures"
[ $failed -eq 0 ]
