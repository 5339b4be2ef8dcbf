-- The ten slowest of each kind, with the thread and when.
SELECT span, start, duration, pid, lwpid
  FROM (SELECT *, row_number() OVER (PARTITION BY span ORDER BY duration DESC)
               AS place FROM pairs)
 WHERE place <= 10 ORDER BY span, duration DESC;
