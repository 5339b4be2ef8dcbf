-- How long does each thing take?
SELECT span, count() AS n, sum(duration) AS ns, min(duration), avg(duration), max(duration)
  FROM pairs GROUP BY span ORDER BY ns DESC
