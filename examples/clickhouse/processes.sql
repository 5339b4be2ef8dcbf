-- Who recorded, and from when to when?
SELECT pid, comm, events, (last - first) / 1e9 AS seconds FROM processes ORDER BY events DESC
