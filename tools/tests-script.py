"""tests-script.py - the tests of a build as a script, for where there is no meson.

    tests-script.py BUILD SUITE ... >script

The script runs the tests of these suites, one after the other, and prints a line
for each: its name, "ok", "skipped" or "FAILED", and how long it took; of one that
failed what it said.  The last line has the sums.
"""
import json
import os
import shlex
import subprocess
import sys

HEAD = """\
passed=0 failed=0 skipped=0
run() {
	name=$1 limit=$2; shift 2
	start=$(date +%s)
	timeout -k 10 "$limit" "$@" >/tmp/said 2>&1 </dev/null
	status=$?
	case $status in
	0)	how=ok passed=$((passed + 1)) ;;
	77)	how="skipped: $(grep -m1 SKIP /tmp/said)" skipped=$((skipped + 1)) ;;
	*)	how="FAILED: status $status" failed=$((failed + 1))
		grep -v '^ok' /tmp/said | tail -n 12 | sed 's/^/    /' ;;
	esac
	echo "$name: $how ($(($(date +%s) - start)) s)"
}
"""


def main():
    build, suites = os.path.abspath(sys.argv[1]), set(sys.argv[2:])
    said = subprocess.run(["meson", "introspect", "--tests", build],
                          check=True, capture_output=True, text=True).stdout
    print(HEAD)
    for test in json.loads(said):
        if not suites & {s.split(":")[-1] for s in test["suite"]}:
            continue
        command = test["cmd"]
        if "qemu-" in command[0]:
            command = command[3:]
        env = [f"{k}={v}" for k, v in test["env"].items() if k != "PATH"]
        print(shlex.join(["cd", test["workdir"] or build]))
        print(shlex.join(["run", test["name"], str(test["timeout"] * 10), "env",
                          *env, *command]))
    print('echo "$passed passed, $failed failed, $skipped skipped"')


main()
