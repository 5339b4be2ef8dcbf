-- The longest silences: was the program stopped, or the machine?
SELECT time AS since, next - time AS ns
  FROM (SELECT time, lead(time) OVER (ORDER BY time) AS next FROM events)
 WHERE next IS NOT NULL ORDER BY ns DESC LIMIT 10;
