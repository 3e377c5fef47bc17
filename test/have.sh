# Sourced by scripts that use programs which may be absent.

# have PROGRAM: whether it is installed. If not, the part of the test that needs it is left out, which fails the test where nothing may be left out:
# where GLS_TEST_REQUIRE_GPU is set, as test/run.sh sets it.
have() {
    command -v "$1" > /dev/null && return 0
    if [ -n "${GLS_TEST_REQUIRE_GPU:-}" ]; then
        echo "FAIL: $1 is not installed"
        # test/checks.sh counts failures in the first of these, test/cli/common.sh in the second
        failed=1 failures=$((${failures:-0} + 1))
    else
        echo "left out: what needs $1, which is not installed"
    fi
    return 1
}
