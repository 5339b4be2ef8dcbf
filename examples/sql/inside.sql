-- What happened within the slowest pair of all, in its thread?
SELECT l.time, l.probe FROM log l,
       (SELECT * FROM pairs ORDER BY duration DESC LIMIT 1) slow
 WHERE l.time BETWEEN slow.start AND slow."end" AND l.lwpid = slow.lwpid
 ORDER BY l.id;
