-- How often did each probe fire?  (tnfdump --stats: "count")
SELECT probe, count(*) AS events
  FROM events GROUP BY probe ORDER BY events DESC, probe;
