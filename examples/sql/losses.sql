-- Is anything missing?  A file without a row lost nothing that it knows of.
SELECT f.path, l.reason, l.events
  FROM losses l JOIN files f ON f.id = l.file ORDER BY f.id;
