#!/bin/sh
# Guards: a tnfwatch in a container of a node, as examples/kubernetes has it, that does not find the
# processes of another pod by the pod's name, or whose incident does not name the pod; a manifest
# whose configuration tnfwatch would refuse.
# node.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_root
need_ptrace
need_program python3
watch_programs "$1" "$2" "$3"

# The manifest: each place that is mounted is there once, and tnfwatch takes the configuration.
python3 - "$TNF_SOURCE/examples/kubernetes/tnfwatch.yaml" >"$TMP/manifest.conf" <<'P' || fail "the manifest"
import re, sys
text = open(sys.argv[1]).read()
mounts = re.findall(r"- \{ name: (\w+), mountPath", text)
volumes = re.findall(r"- \{ name: (\w+), (?:configMap|hostPath)", text)
lines = text.split("watch.conf: |\n")[1].split("---")[0].splitlines()
print("\n".join(line[4:] for line in lines))
sys.exit(not mounts or sorted(mounts) != sorted(volumes) or "\t" in re.sub(r"(?m)^#.*", "", text))
P
"$W" -c "$TMP/manifest.conf" check >"$TMP/out" 2>&1 || fail "the manifest's configuration: $(cat "$TMP/out")"

command -v podman >/dev/null || skip "no podman (Debian package podman): the manifest alone was looked at"
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$cgroups" ] || skip "no unified control groups"

# A pod with one container, as kubelet and containerd name them, and the names that a node has.
id=$(printf '%s' "$TMP" | sha256sum | cut -c 1-64)
uid=1f2e3d4c_5b6a_4978_8695_a4b3c2d1e0f9
pod=$cgroups/kubepods-besteffort-pod$uid.slice
group=$pod/cri-containerd-$id.scope
mkdir -p "$group" "$TMP/names" "$TMP/root" || skip "no control group can be made here"
ln -s nowhere "$TMP/names/shop-7d9f_web_server-$id.log"
ln -s nowhere "$TMP/names/other-1_web_server-$(printf '%s' "$id" | tr 0-9a-f 1-9a-f0).log"
leave() {
	podman_kill
	watch_kill
	rmdir "$group" "$pod" 2>/dev/null
	test_end
}
podman_kill() { [ ! -s "$TMP/pid" ] || kill -9 "$(cat "$TMP/pid")" 2>/dev/null; }
trap leave EXIT

conf <<T
keep = 2s
[process shop]
pod = shop-*
enable = order
size = 256k
[trigger hand]
after = 0ms
page = no
T
shop 1000
echo "$SHOPPID" >"$group/cgroup.procs" || skip "no process can be moved to the group"
for dir in usr proc sys tmp run var/log/containers etc "$TNF_BUILD" "$TMP"; do mkdir -p "$TMP/root/$dir"; done
for link in bin lib lib64 sbin; do ln -s usr/$link "$TMP/root/$link"; done
# crun wants the unified groups alone, and takes limits that it need not raise.
# shellcheck disable=SC2016
unshare --mount --propagation private sh -c '
	umount -R /sys/fs/cgroup 2>/dev/null; mount -t cgroup2 none /sys/fs/cgroup
	exec podman --root "$1/a" --runroot "$1/b" --tmpdir "$1/c" --storage-driver vfs --cgroup-manager cgroupfs \
		run --rm --pidfile "$1/pid" --network none --cgroups no-conmon --pids-limit -1 --pid host --privileged \
		--ulimit nofile=1024:1024 --ulimit nproc=1000:1000 -v /usr:/usr:ro -v "$2:$2:ro" -v "$1:$1" \
		-v /sys/fs/cgroup:/sys/fs/cgroup:ro -v "$1/names:/var/log/containers:ro" \
		-e "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" -e "TMPDIR=$1" --rootfs "$1/root" "$3" -c "$4"' \
	sh "$TMP" "$TNF_BUILD" "$W" "$CONF" >"$TMP/log" 2>&1 &
outer=$!
# A container that cannot be started here says so before tnfwatch runs.
PID=$outer
wait_for 120 answers_or_gone
answers || { grep -q 'podman\|crun\|OCI' "$TMP/log" && skip "podman: $(tail -1 "$TMP/log")"; fail "$(cat "$TMP/log")"; }
shop_watched
incident=$(w fire hand --wait) || fail "not kept: $(cat "$TMP/log")"
"$DUMP" --no-header --columns pod,namespace,container,probe "$D/incidents/$incident"/shop-*.tnf 2>/dev/null |
	awk '{ $1 = $1 } /order_start/ { print; exit }' >"$TMP/found"
[ "$(cat "$TMP/found")" = "shop-7d9f web server order_start" ] || fail "found: $(cat "$TMP/found")"
