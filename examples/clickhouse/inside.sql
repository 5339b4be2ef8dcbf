-- What happened within the slowest pair of all, in its thread?
SELECT time_ns, probe FROM events
 WHERE time_ns >= (SELECT start FROM pairs ORDER BY duration DESC LIMIT 1)
   AND time_ns <= (SELECT end FROM pairs ORDER BY duration DESC LIMIT 1)
   AND lwpid = (SELECT assumeNotNull(lwpid) FROM pairs ORDER BY duration DESC LIMIT 1)
 ORDER BY time_ns
