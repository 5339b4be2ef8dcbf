-- ClickHouse: a table for tnfdump --to csv.  Fill it with
--   clickhouse-client -q 'INSERT INTO events FORMAT CSVWithNames' < trace.csv
CREATE TABLE events (time_ns Int64, elapsed_ns Int64, wall String, pid Int32, lwpid UInt32,
       tid String, cpu String, comm String, probe String, keys String, args String)
       ENGINE = Memory
