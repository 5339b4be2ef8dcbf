"""The least nanoseconds of a hit with two integers, over 50 pieces: bench.py tnf|lttng|floor|zero|loop LOOPS

The floor is the loop with a test that is False, as that of a probe which is off is; zero tests the
integer 0, an object as a probe is one; loop tests nothing."""
import sys
import time

loops = int(sys.argv[2]) // 50
if sys.argv[1] == "loop":
    def piece():
        for i in range(loops):
            pass
elif sys.argv[1] != "lttng":
    hit = 0 if sys.argv[1] == "zero" else False
    if sys.argv[1] == "tnf":
        import tnf
        hit = tnf.probe("hit", keys="bench", n=int, m=int)

    def piece():
        for i in range(loops):
            if hit:
                hit(i, 2)
else:
    import logging
    import lttngust  # noqa: F401  registers with the session, and adds its handler to the root
    log = logging.getLogger("bench")
    log.setLevel(logging.INFO)

    def piece():
        for i in range(loops):
            log.info("%d %d", i, 2)


def timed():
    began = time.perf_counter_ns()
    piece()
    return (time.perf_counter_ns() - began) / loops


print(min(timed() for _ in range(50)))
