-- Which threads waited longest for a processor, and how long at most?
SELECT pid, lwpid, any(name), count() AS times, sum(duration) AS ns, max(duration) AS longest
  FROM (SELECT pid, lwpid, duration FROM states WHERE state = 'WAIT_CPU')
   ANY LEFT JOIN (SELECT pid, lwpid, comm AS name FROM threads) USING pid, lwpid
 GROUP BY pid, lwpid ORDER BY ns DESC LIMIT 20
