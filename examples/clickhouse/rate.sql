-- Events in each tenth of a second: when did it become busy?
SELECT intDiv(time_ns - (SELECT min(time_ns) FROM events), 100000000) AS tenth, count() AS n
  FROM events GROUP BY tenth ORDER BY tenth
