-- Is anything missing?  A file without a row lost nothing that it knows of.
SELECT path, reason, events FROM losses ORDER BY path, reason
