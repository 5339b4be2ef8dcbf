-- The members of an event are in args: how many of each cake were asked for?
SELECT args->>'cake' AS cake, count(*) AS orders
  FROM events WHERE probe = 'order_start' GROUP BY cake ORDER BY orders DESC, cake;
