-- DuckDB: the events that tnfdump --to jsonl -o trace.jsonl has written.  The first
-- line of a file is about the file, and no event.
CREATE VIEW events AS
SELECT time AS time_ns, * FROM read_json('trace.jsonl', format = 'newline_delimited',
       columns = {'time': 'BIGINT', 'wall': 'TIMESTAMPTZ', 'pid': 'INTEGER',
                  'lwpid': 'UINTEGER', 'tid': 'VARCHAR', 'cpu': 'INTEGER', 'comm': 'VARCHAR',
                  'probe': 'VARCHAR', 'keys': 'VARCHAR[]', 'args': 'JSON'})
 WHERE probe IS NOT NULL;
