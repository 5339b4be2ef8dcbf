-- The longest silences: was the program stopped, or the machine?
SELECT gap.1 AS since, gap.2 AS ns
  FROM (SELECT arrayJoin(arrayMap((a, b) -> (a, b - a), arrayPopBack(t), arrayPopFront(t))) AS gap
          FROM (SELECT groupArray(time_ns) AS t FROM (SELECT time_ns FROM events ORDER BY time_ns)))
 ORDER BY ns DESC, since LIMIT 10
