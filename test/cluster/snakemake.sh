#!/bin/sh
# The rules of the manual, run by Snakemake. Usage: sh test/cluster/snakemake.sh GLSLINES WORK_FOLDER SNAKEMAKE
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/test/cluster/common.sh"
snakemake=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
prepare "$1" "$2"
cd .. || exit 1
# run again with the names that the rules use, because they stand in the sidecar
rm subject/single.*
# shellcheck disable=SC2046
glslines track $(printf 'subject/%s ' $input) --nseeds $SEEDS -o subject/single.trx -q || fail "the single run"
manual_block Snakefile > Snakefile
grep -q '^rule merge' Snakefile || fail "no Snakemake rules in the manual"
HOME=$work timeout -k 5 200 "$snakemake" --cores 2 --config shards=3 seeds=$SEEDS -- subject/tracks.trx > snakemake.log 2>&1 || { cat snakemake.log >&2; fail "snakemake"; }
cd subject || exit 1
ls tracks_shard-1of3.trx tracks_shard-2of3.json tracks_shard-3of3.trx > /dev/null || fail "not three shards"
same tracks.trx
echo "ok   Snakemake $("$snakemake" --version): three shards give the bytes of one run"
