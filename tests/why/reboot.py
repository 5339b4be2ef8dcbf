# reboot.py TNFDUMP NAME NS TRACE... - makes the traces those of another machine: one that is named
# NAME and whose clock of the boot is NS ahead.
import re, struct, subprocess, sys

EXT, START_MONO, BOOT_ID, EXTRA_SIZE = 64, 40, 56, 152     # struct tnf_ext
TIME_BASE = {"tnf_sched_rec": 16, "tnf_kernel_schedule": 24}
tnfdump, name, ns = sys.argv[1], sys.argv[2], int(sys.argv[3])

for path in sys.argv[4:]:
    data = bytearray(open(path, "rb").read())

    def later(at):
        struct.pack_into("=q", data, at, struct.unpack_from("=q", data, at)[0] + ns)

    raw = subprocess.run([tnfdump, "-r", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    for at, kind in re.findall(r"^0x(\w+) +: \{\n +tnf_tag 0x\w+ +(\w+)$", raw, re.M):
        if kind in TIME_BASE:
            later(int(at, 16) + TIME_BASE[kind])
    later(EXT + START_MONO)
    data[EXT + BOOT_ID] ^= 0xff
    end = struct.unpack_from("=I", data, 24)[0] * struct.unpack_from("=I", data, 32)[0]
    text = bytes(data[end:])
    text = re.sub(rb"(?m)^host .*$", b"host " + name.encode(), text)
    text = re.sub(rb"(?m)^boot (..)", lambda m: b"boot %02x" % (int(m[1], 16) ^ 0xff), text)
    text = re.sub(rb"(?m)^clock (\d+)", lambda m: b"clock %d" % (int(m[1]) + ns), text)
    struct.pack_into("=Q", data, EXT + EXTRA_SIZE, len(text))
    open(path, "wb").write(data[:end] + text)
