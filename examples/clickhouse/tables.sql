-- ClickHouse: what "import" fills.  Times and durations are nanoseconds.
CREATE TABLE IF NOT EXISTS events (time_ns Int64, elapsed_ns Int64, wall String, pid Int32,
    lwpid UInt32, tid String, cpu String, comm String, probe String, keys String, args String,
    cgroup String, host String, unordered UInt8) ENGINE = MergeTree() ORDER BY time_ns;
CREATE TABLE IF NOT EXISTS pairs (span String, start Int64, end Int64, duration Int64,
    pid Nullable(Int32), lwpid Nullable(UInt32), host Nullable(String)) ENGINE = MergeTree() ORDER BY start;
CREATE TABLE IF NOT EXISTS states (tid Nullable(String), pid Nullable(Int32), lwpid Nullable(UInt32),
    state String, start Int64, duration Int64, host Nullable(String)) ENGINE = MergeTree() ORDER BY start;
CREATE TABLE IF NOT EXISTS threads (pid Nullable(Int32), lwpid Nullable(UInt32), comm Nullable(String),
    first Int64, last Int64, events UInt64, host Nullable(String)) ENGINE = MergeTree() ORDER BY first;
CREATE TABLE IF NOT EXISTS processes (pid Nullable(Int32), comm Nullable(String), first Int64, last Int64,
    events UInt64, host Nullable(String)) ENGINE = MergeTree() ORDER BY first;
CREATE TABLE IF NOT EXISTS losses (path String, reason String, events UInt64, host Nullable(String))
    ENGINE = Log;
