-- How long does each thing take?  (tnfdump --stats: durations)
SELECT span, count(*) AS n, sum(duration) AS ns, min(duration) AS min,
       avg(duration) AS avg, max(duration) AS max
  FROM pairs GROUP BY span ORDER BY ns DESC;
