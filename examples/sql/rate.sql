-- Events in each tenth of a second: when did it become busy?
SELECT (time - (SELECT min(time) FROM events)) / 100000000 AS tenth,
       count(*) AS events FROM events GROUP BY tenth ORDER BY tenth;
