-- How often did each probe fire?
SELECT probe, count() AS n FROM events GROUP BY probe ORDER BY n DESC, probe
