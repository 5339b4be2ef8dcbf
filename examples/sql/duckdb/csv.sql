-- DuckDB: the events that tnfdump --to csv -o trace.csv has written.
CREATE VIEW events AS
SELECT * FROM read_csv('trace.csv', header = true,
       types = {'tid': 'VARCHAR', 'cpu': 'INTEGER', 'args': 'JSON'});
