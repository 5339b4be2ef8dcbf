"""machine.py - traces of one machine, whose events a test writes down: what story.c makes."""
import subprocess

story = None    # the program


class Machine:
    """Events of one machine.  Two kernel files, as both kinds of thread_state have one name."""

    def __init__(self, nr, name, tasks):
        self.nr, self.name, self.tasks = nr, name, tasks
        self.user, self.out, self.into = [], [], []

    def request(self, us, tid, what, id):
        self.user.append((us, f"{us * 1000} 100 {tid} {tid} -1 {what} {id}"))

    def state(self, us, tid, cpu, state):
        self.out.append((us, f"{us * 1000} 100 {tid} {tid + 4096} {cpu} thread_state {state}"))

    def sleep(self, us, tid, cpu, state, reason):
        self.state(us, tid, cpu, state)
        self.out.append((us, f"{us * 1000} 100 {tid} {tid + 4096} {cpu} thread_block {reason}"))

    def of(self, us, writer, cpu, tid, state):
        self.into.append((us, f"{us * 1000} {100 if writer else 0} {writer} {writer + 4096} {cpu} "
                          f"thread_state {tid + 4096} {state}"))

    def wakeup(self, us, writer, cpu, tid, by=0, source=0):
        self.into.append((us, f"{us * 1000} {100 if writer else 0} {writer} {writer + 4096} {cpu} "
                          f"thread_wakeup {tid + 4096} {by} {source}"))

    def owner(self, us, tid, cpu, owner, reason):
        self.out.append((us, f"{us * 1000} 100 {tid} {tid + 4096} {cpu} lock_owner {owner} {reason}"))

    def disk(self, us, tid, cpu, what, buf):
        self.into.append((us, f"{us * 1000} 100 {tid} {tid + 4096} {cpu} {what} 265289728 {buf}"))

    def exit(self, us, tid, cpu):
        self.into.append((us, f"{us * 1000} 100 {tid} {tid + 4096} {cpu} thread_exit"))

    def interrupt(self, us, tid, cpu, what):
        self.into.append((us, f"{us * 1000} 100 {tid} {tid + 4096} {cpu} {what} 1"))

    def switch(self, us, cpu, prev, state, next, into):
        """prev leaves the CPU, next gets it (0: nobody)."""
        self.state(us, prev, cpu, state)
        if next:
            self.of(us, prev, cpu, next, into)

    def file(self, kind, probes, events):
        lines = ["blocks 64"] + (["kernel", "kernel-part 0"] if kind != "user" else ["process 100"])
        lines += [f"boot {self.nr}", "type tnf_microstate tnf_int32", "type tnf_kthread_id tnf_uint64",
                  "type tnf_opaque tnf_uint64"]
        lines += [f"probe {p}" for p in probes]
        lines += [e for _, e in sorted(events, key=lambda e: e[0])]
        lines += [f"@host {self.name}", f"@clock 1000 {1700000000000000000 + 1000}", "@sync synchronised 0 1 1"]
        lines += [f"@task {t} 100 1 {n}" for t, n in self.tasks.items()]
        path = f"{self.name}.{kind}"
        subprocess.run([story, path], input="\n".join(lines) + "\n", text=True, check=True)
        return path

    def files(self):
        return [self.file("user", ["request_start r id:tnf_int32", "request_end r id:tnf_int32",
                                   "request_taken r id:tnf_int32", "sent r id:tnf_int32",
                                   "got r id:tnf_int32"], self.user),
                self.file("out", ["thread_state thread state:tnf_microstate",
                                  "thread_block sched reason:tnf_opaque",
                                  "lock_owner owner owner:tnf_int32 reason:tnf_opaque"], self.out),
                self.file("into", ["thread_state thread tid:tnf_kthread_id state:tnf_microstate",
                                   "thread_wakeup wakeup tid:tnf_kthread_id by:tnf_int64 source:tnf_uint64",
                                   "thread_exit thread", "strategy io device:tnf_uint64 buf:tnf_opaque",
                                   "biodone io device:tnf_uint64 buf:tnf_opaque"] +
                          [f"{name}_{end} irq vec:tnf_int32" for name in
                           ("irq_vectors.local_timer", "irq.softirq") for end in ("entry", "exit")],
                          self.into)]
