-- How often did each probe fire?  (tnfdump --stats: "count")
SELECT p.name, count(*) AS events
  FROM events e JOIN probes p ON p.id = e.probe
 GROUP BY p.name ORDER BY events DESC, p.name;
