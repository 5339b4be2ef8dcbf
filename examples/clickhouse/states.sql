-- In which state did each thread spend its time?
SELECT pid, lwpid, state, sum(duration) AS ns FROM states
 GROUP BY tid, pid, lwpid, state ORDER BY pid, lwpid, ns DESC
