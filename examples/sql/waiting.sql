-- Which threads waited longest for a processor, and how long at most?
SELECT s.pid, s.lwpid, t.comm, count(*) AS times, sum(s.duration) AS ns,
       max(s.duration) AS longest
  FROM states s LEFT JOIN threads t ON t.pid = s.pid AND t.lwpid = s.lwpid
 WHERE s.state = 'WAIT_CPU' GROUP BY s.pid, s.lwpid ORDER BY ns DESC LIMIT 20;
