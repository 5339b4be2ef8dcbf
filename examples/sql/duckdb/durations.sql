-- How long does each thing take?  What begins ends in the same thread, before it
-- begins again.
SELECT span, count(*) AS n, sum(next - time_ns) AS ns, min(next - time_ns) AS min,
       max(next - time_ns) AS max
  FROM (SELECT span, probe, time_ns, lead(time_ns) OVER w AS next, lead(probe) OVER w AS what
          FROM (SELECT *, regexp_replace(probe, '_(start|end)$', '') AS span FROM events)
         WHERE span <> probe
        WINDOW w AS (PARTITION BY pid, lwpid, span ORDER BY time_ns))
 WHERE probe = span || '_start' AND what = span || '_end'
 GROUP BY span ORDER BY ns DESC;
