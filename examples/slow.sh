#!/bin/sh
# slow.sh lock|disk|cpu - records the program "slow" together with the kernel, and asks why its
# slowest request was slow.  Needs root; "slow" is beside this script or in PATH.
set -e
PATH=$PATH:$(dirname "$0")
prex -k -c 'buffer alloc 64m; trace $why; enable $why; ktrace on'
trap 'prex -k -c "ktrace off; buffer dealloc"' EXIT
prex -o slow.tnf -c 'enable $all; continue' slow "$1"
prex -k -c 'ktrace off'
tnfxtract slow-kernel.tnf
tnfdump --why=request slow.tnf slow-kernel.tnf
tnfdump --why-slow=request slow.tnf slow-kernel.tnf
