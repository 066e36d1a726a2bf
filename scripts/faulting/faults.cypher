// name: duplicates(workspace: STRING) read
// How many nodes of a workspace are there more than once, and how many relationships that may stand only once.
CALL () {
  MATCH (n {workspace: $workspace}) WHERE n.id IS NOT NULL
  WITH labels(n)[0] AS kind, n.id AS id, n.generation AS generation, count(*) AS times WHERE times > 1
  RETURN coalesce(sum(times - 1), 0) AS extra
UNION ALL
  MATCH (a {workspace: $workspace})-[r:FROM_DOCUMENT|NEXT_CHUNK|FROM_CHUNK|STATED_IN|SUBJECT|OBJECT|RELATED_TO]->(b)
  WITH a, b, type(r) AS kind, count(*) AS times WHERE times > 1
  RETURN coalesce(sum(times - 1), 0) AS extra
}
RETURN sum(extra) AS extra;
