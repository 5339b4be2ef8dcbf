#!/bin/sh
# pods.sh - the container and the pod of a process, by its control group and by the names that a
# node of Kubernetes has in /var/log/containers; then of a process that is really in such a group.
# Usage: pods.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
scratch
cd "$TMP" || exit 1
bad=0
wrong() { echo "FAIL: $*" >&2; bad=1; }
same() { [ "$2" = "$3" ] || wrong "$1: $2, not $3"; }

id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
uid=1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f9
group=kubepods-pod$(echo $uid | tr - _).slice/cri-containerd-$id.scope
"$story" pods.tnf <<M || fail "story"
process 1
probe work_start io n:tnf_int32
probe work_end io n:tnf_int32
1000 100 100 1 0 work_start 1
1100 100 100 1 0 work_end 1
1200 200 200 1 0 work_start 2
1300 200 200 1 0 work_end 2
1400 300 300 1 0 work_start 3
1500 300 300 1 0 work_end 3
@cgroup 100 /kubepods.slice/$group
@container/$id shop-7d9f web server
@cgroup 200 /kubepods/pod$uid/$(echo $id | tr 0 9)
@cgroup 300 /system.slice/cron.service
M
columns() { "$tnfdump" --no-header --columns pid,container,pod,namespace --probe work_start "$@" | tr -s ' ' | sed 's/ $//; s/^ //'; }
same "columns" "$(columns pods.tnf)" "100 server shop-7d9f web
200 $(echo $id | tr 0 9) $uid -
300 - - -"
attributes() { "$tnfdump" --to otlp "$@" | grep -o '"k8s[^"]*","value":{"stringValue":"[^"]*"' | sed 's/","value":{"stringValue":"/ /; s/"//g' | sort -u; }
same "otlp" "$(attributes --process 100 pods.tnf)" "k8s.container.name server
k8s.namespace.name web
k8s.pod.name shop-7d9f
k8s.pod.uid $uid"

# A process in such a group of this machine, with names that only it and prex see.
case " $TNF_TOOLS " in *" prex "*) ;; *) exit "$bad" ;; esac
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ "$(id -u)" -ne 0 ] || [ -z "$top" ] || ! has_mount_spaces ||
    ! mkdir -p "$top/tnf-test.$$/$group" 2>/dev/null; then
	echo "pods.sh: no control group of our own: a real process is not tried"
	exit "$bad"
fi
trap 'rmdir -p --ignore-fail-on-non-empty "$top/tnf-test.$$/$group" 2>/dev/null; test_end' EXIT
(
	exec unshare -m sh -c 'mount -t tmpfs tnf /var/log && mkdir /var/log/containers &&
	    : > "/var/log/containers/shop-7d9f_web_server-$1.log" && echo $$ > "$2/cgroup.procs" &&
	    exec "$3" -o real.tnf -c "enable order; continue" "$4" -n 3' \
	    sh "$id" "$top/tnf-test.$$/$group" "$TNF_BUILD/prex/prex" "$TNF_BUILD/examples/bakery"
) > log 2>&1 || wrong "prex: $(cat log)"
same "a real process" "$("$tnfdump" --no-header --columns container,pod,namespace --probe order_start real.tnf |
	tr -s ' ' | sed 's/ $//' | sort -u)" "server shop-7d9f web"
exit "$bad"
