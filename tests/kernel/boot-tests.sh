#!/bin/sh
# boot-tests.sh - suites of a build (unit, golden, live) under another kernel, in a
# virtual machine, on another machine perhaps.
#
# usage: boot-tests.sh directory suite ...
#
# The directory, TNF_ROOT and TNF_BUILD are those of boot.sh.  meson itself runs the
# tests there: the root directory must have it, in the version that made the build, and
# the build is whole ("ninja all meson-test-prereq").  TESTS is a regular expression:
# only tests whose names match it (grep -E).  Each may take TNF_SLOW (10) times
# what it may take here.
#
# Prints meson's list, what the tests that failed said, why others were skipped, and the
# counts; exits 0 if none failed.
set -u
[ $# -ge 2 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }

# Within the machine: boot-tests.sh --there suite ...
there() {
	export TMPDIR=/scratch/tmp TNF_SLOW CK_TIMEOUT_MULTIPLIER="$TNF_SLOW"
	mkdir -p "$TMPDIR" && chmod 1777 "$TMPDIR"
	# A cross build calls its programs by qemu-user: "qemu-MACHINE-static -L root program".
	printf '#!/bin/sh\nshift 2\nexec "$@"\n' >/usr/local/bin/"qemu-$(uname -m)-static"
	chmod 755 /usr/local/bin/"qemu-$(uname -m)-static"
	cd "$TNF_BUILD" || exit 1
	suites=
	for suite; do suites="$suites --suite $suite"; done
	# shellcheck disable=SC2086  # words are meant
	meson test --no-rebuild --list $suites 2>/dev/null | sed 's/.* \/ //' |
		grep -Ex -- "${TESTS:-.*}" >/scratch/names
	# shellcheck disable=SC2086
	{ tr '\n' '\0' </scratch/names | PYTHONUNBUFFERED=1 xargs -0 meson test --no-rebuild \
		$suites --print-errorlogs --num-processes "$(nproc)" \
		--timeout-multiplier "$TNF_SLOW" 2>&1
	  echo $? >/scratch/status; } | cat
	jq -r 'select(.result == "SKIP") | .name + ": skipped: " + ((.stdout // "") | split("\n") |
		map(select(test("SKIP"))) | .[0] // "")' meson-logs/testlog.json
	jq -rs 'group_by(.result)[] | "\(length) \(.[0].result)"' meson-logs/testlog.json
	echo "boot-tests: exit status $(cat /scratch/status)"
}

: "${TNF_SLOW:=10}"
if [ "$1" = --there ]; then
	shift
	there "$@"
	exit
fi
kernel=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
: "${TNF_DISK:=8G}"
export TNF_DISK
sh "$(dirname "$0")/boot.sh" "$kernel" "TNF_SLOW=$TNF_SLOW TESTS='${TESTS-}' \
	sh \$TNF_SOURCE/tests/kernel/boot-tests.sh --there $*" | tee "$log"
grep -q 'boot-tests: exit status 0' "$log"
