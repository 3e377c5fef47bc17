#!/bin/sh
# Progress for programs and terminals: JSON lines from start to end whatever happens, escape sequences on terminals alone. Usage: sh progress.sh GLSLINES FOLDER
. "$(dirname "$0")/../checks.sh"

# events FILE STATUS EXIT: checks that every line is an object, the first one is start, and the last one is end with this status and code
events() {
    python3 - "$@" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
names = [line["event"] for line in lines]
assert names[0] == "start" and lines[0]["version"] == 1, lines[0]
assert names[-1] == "end" and names.count("end") == 1, lines[-1]
assert (lines[-1]["status"], lines[-1]["exit"]) == (sys.argv[2], int(sys.argv[3])), lines[-1]
assert set(names) <= {"start", "device", "phase", "progress", "warning", "error", "end"}, set(names)
for line in lines:
    if line["event"] == "progress":
        assert 0 <= line["done"] <= line["total"] and line["seconds"] >= 0, line
if sys.argv[2] == "ok":
    assert sorted(lines[-1]["output"]) == ["a.json", "a.trx"], lines[-1]
    last = [line for line in lines if line["event"] == "progress"][-1]
    assert last["done"] == last["total"] == 300 and last["streamlines"] > 0 and last["eta"] == 0, last
if sys.argv[2] == "failed":
    assert "error" in names, names
END
}

"$program" track --phantom --model opdt --progress json --device llvmpipe --nseeds 300 -o a.trx --force 2> good.json
check "a run" events good.json ok 0
"$program" track --phantom --model opdt -q --progress-file file.json --device llvmpipe --nseeds 300 -o a.trx --force 2> silent
check "into a file" events file.json ok 0
check "nothing else then" test ! -s silent
# within a batch the number of seeds grows on a device whose batches take long; otherwise the time left falls
moves() {
    python3 - "$1" <<'END'
import json, sys
steps = [line for line in map(json.loads, open(sys.argv[1])) if line["event"] == "progress" and line["phase"] == "track"]
done = [step["done"] for step in steps]
assert done == sorted(done) and len(set(done) - {0, 100000}) >= 3, done
for a, b in zip(steps, steps[1:]):
    assert a["done"] != b["done"] or a["eta"] is None or b["eta"] is None or b["eta"] <= a["eta"], (a, b)
END
}
"$program" track --phantom --model opdt --dg closest --sphere small --progress json --device llvmpipe --nseeds 100000 -o a.trx --force 2> moves.json
check "seeds within a batch" moves moves.json
"$program" track --progress json absent.nii a b c d -o a.trx --force 2> bad.json
check "a failure" events bad.json failed 3
"$program" track --phantom --model opdt --progress json --nseeds 3000000 -o long.trx --force 2> int.json &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q '"progress"' int.json && break
    sleep 1
done
kill -TERM $child
wait $child
check "exit code of a signal" test $? -eq 143
check "a signal" events int.json interrupted 143
# every command names the files that it wrote, and no others
mkdir made
"$program" phantom made/ph --shape 16 18 16 --progress json --force 2> made.json > /dev/null
cp a.trx made/old_fa.nii.gz
set -- made/ph/dwi.nii.gz --mask made/ph/mask.nii.gz --progress json
"$program" fit "$@" --model csd made/fit 2>> made.json
"$program" response "$@" made/rs 2>> made.json
"$program" fixels made/fit_sh.nii.gz made/fx --progress json 2>> made.json
"$program" edit a.trx made/e.tck --progress json 2>> made.json
"$program" density a.trx made/density.nii --progress json 2>> made.json
check "outputs of all commands" python3 - << 'PYTHON'
import json, os
found = sorted(os.path.join(folder, name) for folder, _, names in os.walk("made") for name in names)
events = [json.loads(line) for line in open("made.json")]
named = sorted(name for event in events if event["event"] == "end" for name in event["output"])
assert [e["status"] for e in events if e["event"] == "end"] == ["ok"] * 6, events
assert sorted(named + ["made/old_fa.nii.gz"]) == found, (set(found) ^ set(named))
PYTHON
"$program" track --phantom --model opdt --progress plain --device llvmpipe --nseeds 300 -o a.trx --force > plain.txt 2>&1
check "no escape in a pipe" sh -c '! grep -q "$(printf "\033")" plain.txt'
"$program" track --phantom --model opdt --progress none --device llvmpipe --nseeds 300 -o a.trx --force 2> none.txt
check "none" sh -c '! grep -q "100 %" none.txt'
"$program" track --phantom --model opdt --progress-file absent/file --nseeds 300 -o a.trx --force 2> refused
check "a file that cannot be written" test $? -eq 4
echo "-1 2" > table.bval
"$program" track --progress-file table.bval --nseeds 300 -o a.trx --force 2> refused
check "a file of another kind is refused" test $? -eq 4
check "and stays" grep -qx -e "-1 2" table.bval

# a run ends although the reader of its progress does not read
for free in 0 700; do
    mkfifo full
    check "a full pipe, $free bytes free" timeout 60 python3 - "$program" $free << 'PYTHON'
import fcntl, os, signal, subprocess, sys, time
pipe = os.open("full", os.O_RDWR)
size = fcntl.fcntl(pipe, 1031, 4096)  # F_SETPIPE_SZ
os.write(pipe, b"x" * (size - int(sys.argv[2])))
run = subprocess.Popen([sys.argv[1], "track", "--phantom", "--model", "opdt", "--device", "llvmpipe", "--progress-file", "full",
                        "--nseeds", "30000000", "-o", "held.trx", "-q"])
time.sleep(8)
run.send_signal(signal.SIGTERM)
try:
    code = run.wait(15)
except subprocess.TimeoutExpired:
    run.kill()
    sys.exit("still there")
sys.exit(code != 143)
PYTHON
    rm full
done

if have script; then
    terminal() { # FILE VARIABLES...
        file=$1
        shift
        env -u TMUX -u STY -u NO_COLOR TERM=xterm-256color "$@" script -qec "'$program' track --phantom --model opdt --device llvmpipe --nseeds 300 -o absent/a.trx; '$program' track --phantom --model opdt --device llvmpipe --nseeds 300 -o a.trx --force" /dev/null > "$file" < /dev/null
    }
    terminal shown
    check "progress of the terminal" python3 -c 'import sys; t = open("shown", "rb").read(); sys.exit(b"\33]9;4;1;100\7" not in t or t.rindex(b"\33]9;4;0\7") < t.rindex(b"\33]9;4;1;"))'
    check "colour of an error" grep -q "$(printf '\033\\[1;31m')" shown
    terminal plain NO_COLOR=1
    check "NO_COLOR" sh -c '! grep -q "$(printf "\033\\[1;31m")" plain'
    terminal silent GLSLINES_OSC=0
    check "GLSLINES_OSC=0" sh -c '! grep -q "9;4;" silent'
    terminal screen STY=1
    check "not in screen" sh -c '! grep -q "9;4;" screen'
fi
[ $failed -eq 0 ] && echo "all ok"
exit $failed
