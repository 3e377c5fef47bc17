#!/bin/sh
# Shards with one damage each: every one is refused with exit code 3 and by its name, or merged to the bytes of sound shards where the damage touches nothing that counts.
# By hand: under a minute. Usage: sh test/tools/damaged_shards.sh GLSLINES WORK_FOLDER [NUMBER_PER_FORMAT]
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
"$program" phantom in --shape 18 20 18 --directions 30 -q || exit 1
for suffix in trx trk tck; do
    for i in 1 2; do
        "$program" track in/dwi.nii.gz in/dwi.bval in/dwi.bvec in/mask.nii.gz in/roi.nii.gz --sphere small --nseeds 60 --shard $i/2 -o s.$suffix --sidecar none -q || exit 1
    done
    "$program" merge -q --sidecar none -o whole.$suffix s_shard-1of2.$suffix s_shard-2of2.$suffix || exit 1
done
python3 - "${3:-65}" <<'PYTHON'
import os, random, struct, sys
random.seed(14)
number = int(sys.argv[1])
os.mkdir("bad")
for suffix in ("trx", "trk", "tck"):
    data = open(f"s_shard-1of2.{suffix}", "rb").read()
    head = {"trx": 1024, "trk": 1000, "tck": int(data[data.index(b"file: . ") + 8:].split()[0]) if suffix == "tck" else 0}[suffix]
    for i in range(number):
        damaged = bytearray(data)
        kind = i % 6
        at = random.randrange(head, len(data) - 4)
        if kind == 0: # cut
            damaged = damaged[:random.randrange(1, len(data))]
        elif kind == 1: # flip a bit in the data
            damaged[at] ^= 1 << random.randrange(8)
        elif kind == 2: # flip a bit in the header
            damaged[random.randrange(head)] ^= 1 << random.randrange(8)
        elif kind == 3: # write a number that makes no sense
            at -= (at - head) % 4
            damaged[at:at + 4] = struct.pack("<f", random.choice((float("nan"), float("inf"), -float("inf"), 1e38)))
        elif kind == 4: # insert bytes, or append some
            at = random.choice((at, len(data)))
            damaged[at:at] = bytes(random.randrange(256) for _ in range(random.randrange(1, 40)))
        else: # write a block of zeros, or remove one
            n = random.randrange(4, 200)
            damaged[at:at + n] = bytes(n) if i % 2 else b""
        if bytes(damaged) != data:
            open(f"bad/{i:03d}_{kind}.{suffix}", "wb").write(damaged)
PYTHON
failed=0 refused=0 harmless=0
for shard in bad/*; do
    suffix=${shard##*.}
    rm -f out.*
    timeout 60 "$program" merge -q --sidecar none -o out.$suffix "$shard" s_shard-2of2.$suffix 2> err
    code=$?
    if [ $code -eq 3 ] && [ "$(wc -l < err)" -eq 1 ] && grep -qF "$shard" err && [ ! -e out.$suffix ]; then
        refused=$((refused + 1))
    elif [ $code -eq 0 ] && cmp -s out.$suffix whole.$suffix; then
        harmless=$((harmless + 1))
    else
        echo "FAIL $shard: exit code $code: $(head -n 2 err)"
        failed=$((failed + 1))
    fi
done
echo "$refused refused by name with exit code 3, $harmless merged to the same bytes, $failed failures"
[ $failed -eq 0 ]
