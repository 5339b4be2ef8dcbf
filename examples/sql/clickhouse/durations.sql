-- How long do orders take?  What begins and what ends have the same number.
SELECT 'order' AS span, count() AS n, sum(end - start) AS ns, min(end - start) AS min,
       max(end - start) AS max
  FROM (SELECT visitParamExtractInt(args, 'id') AS id, time_ns AS start
          FROM events WHERE probe = 'order_start')
   ANY INNER JOIN (SELECT visitParamExtractInt(args, 'id') AS id, time_ns AS end
          FROM events WHERE probe = 'order_end') USING id
