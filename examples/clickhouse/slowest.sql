-- The ten slowest of each kind, with the thread and when.
SELECT span, start, duration, pid, lwpid FROM pairs ORDER BY span, duration DESC LIMIT 10 BY span
