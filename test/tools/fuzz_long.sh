#!/bin/sh
# Runs every fuzz target for so many seconds, so many at a time, and tells what they found. Needs what fuzz_pack.sh packs and nothing else.
# Usage: sh fuzz_long.sh FOLDER WORK_FOLDER SECONDS [CORES [TARGET...]]      FOLDER: the unpacked archive
# What is found lies in WORK_FOLDER/found, new inputs in WORK_FOLDER/new/TARGET; report.txt has a line for each target.
set -u
folder=$(cd "$1" && pwd)
mkdir -p "$2/found" "$2/new" "$2/log"
work=$(cd "$2" && pwd)
seconds=$3
cores=${4:-$(nproc)}
[ $# -le 4 ] && set -- || shift 4
targets=${*:-$(cat "$folder/targets")}
loader=$(ls "$folder"/lib/ld-linux* 2> /dev/null | head -n 1)

one() {
    mkdir -p "$work/new/$1"
    cd "$work" || exit 1
    GLS_FUZZ_TARGET=$1 ASAN_OPTIONS=abort_on_error=0:allocator_may_return_null=1 \
        ${loader:+"$loader" --library-path "$folder/lib"} "$folder/libfuzzer" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$work/found/$1-" "$work/new/$1" "$folder/corpus/$1" > "$work/log/$1" 2>&1
    code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log/$1")
    echo "$1: exit code $code, ${runs:-?} executions, $(ls "$work/new/$1" | wc -l) new inputs, $(find "$work/found" -name "$1-*" | wc -l) found" >> "$work/report.txt"
}

: > "$work/report.txt"
running=0
for target in $targets; do
    one "$target" &
    running=$((running + 1))
    if [ "$running" -ge "$cores" ]; then
        wait
        running=0
    fi
done
wait
sort "$work/report.txt"
! grep -qv 'exit code 0,.* 0 found' "$work/report.txt"
