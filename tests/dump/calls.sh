#!/bin/sh
# calls.sh TNFDUMP STORY - --calls takes a call of 64-bit ARM or of a 32-bit program for one of x86-64:
# its name, its flags' bits, or in which arguments its numbers are.
. "${TNF_SOURCE:-.}/tests/lib.sh"
tnfdump=$1 story=$2
scratch

# printed MACHINE ABI NUMBER TEXT ARGUMENT...: the call, which returned 3; TEXT is that of its second argument
printed() {
	_machine=$1 _abi=$2 _number=$3 _text=$4
	shift 4
	"$story" "$TMP/trace" <<S || fail story
kernel
kernel-part
probe syscall_args args text1:tnf_string sysnum:tnf_int32 abi:tnf_int32 arg0:tnf_int64 arg1:tnf_int64 arg2:tnf_int64 arg3:tnf_int64 arg4:tnf_int64 arg5:tnf_int64
probe syscall_end syscall rval1:tnf_int64 rval2:tnf_int64 errno:tnf_int64
1000 7 7 0x100 0 syscall_args $_text $_number $_abi $*
2000 7 7 0x100 0 syscall_end 3 0 0
@machine $_machine
@task 7 7 1 shop
S
	"$tnfdump" --calls "$TMP/trace" | sed -n 's/.* shop  *\(.*\) <.*/\1/p'
}
is() { [ "$1" = "$2" ] || fail "$1, should be $2"; }

# Two pairs of open's flags have changed places on ARM: 0x4000 is O_DIRECT elsewhere, 0x10000 O_DIRECTORY.
is "$(printed aarch64 0 56 f -100 1 0x4000)" 'openat(AT_FDCWD, "f", O_RDONLY|O_DIRECTORY) = 3'
is "$(printed aarch64 0 56 f -100 1 0x10002)" 'openat(AT_FDCWD, "f", O_RDWR|O_DIRECT) = 3'
is "$(printed x86_64 0 257 f -100 1 0x4000)" 'openat(AT_FDCWD, "f", O_RDONLY|O_DIRECT) = 3'
is "$(printed x86_64 1 295 f -100 1 0x10002)" 'openat(AT_FDCWD, "f", O_RDWR|O_DIRECTORY) = 3'
is "$(printed aarch64 0 222 x 0 8192 3 34 -1 0)" 'mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x3'
is "$(printed aarch64 0 47 x 3 1 4294967296 5)" 'fallocate(3, FALLOC_FL_KEEP_SIZE, 4294967296, 5) = 3'
is "$(printed aarch64 0 129 x 7 15)" 'kill(7, SIGTERM) = 3'

# Programs of 32 bits: a number of 64 bits in two arguments, and old calls of one address.
is "$(printed x86_64 0 17 x 3 0x10 5 12884901889)" 'pread64(3, 0x10, 5, 12884901889) = 3'
is "$(printed x86_64 1 180 x 3 0x10 5 1 3)" 'pread64(3, 0x10, 5, 12884901889) = 3'
is "$(printed x86_64 1 180 x 3 0x10 5 4294967295 4294967295)" 'pread64(3, 0x10, 5, -1) = 3'
is "$(printed x86_64 1 324 x 3 1 0 1 5 0)" 'fallocate(3, FALLOC_FL_KEEP_SIZE, 4294967296, 5) = 3'
is "$(printed x86_64 1 90 x 0x8000 7 7)" 'mmap(0x8000) = 0x3'
is "$(printed x86_64 1 192 x 0 8192 3 34 4294967295 0)" 'mmap2(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x3'
is "$(printed x86_64 1 140 x 3 1 2 0x10 0)" '_llseek(3, 1, 2, 0x10, SEEK_SET) = 3'
