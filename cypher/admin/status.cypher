// name: status() read
// What is in the database: nodes by kind and workspace, and what still awaits work.
CALL () {
  MATCH (n:Document) RETURN n.workspace AS workspace, 'documents' AS what, count(*) AS count
UNION ALL
  MATCH (n:Chunk) RETURN n.workspace AS workspace, 'chunks' AS what, count(*) AS count
UNION ALL
  MATCH (n:__Entity__) RETURN n.workspace AS workspace, 'entities' AS what, count(*) AS count
UNION ALL
  MATCH (n:Fact) RETURN n.workspace AS workspace, 'facts' AS what, count(*) AS count
UNION ALL
  MATCH (n:__Entity__)-[:RELATED_TO]->() RETURN n.workspace AS workspace, 'relationships' AS what, count(*) AS count
UNION ALL
  MATCH (s:IndexState) MATCH (n:__Community__ {workspace: s.workspace, generation: s.generation})
  RETURN n.workspace AS workspace, 'communities at level ' + n.level AS what, count(*) AS count
UNION ALL
  MATCH (s:IndexState) MATCH (:__Community__ {workspace: s.workspace, generation: s.generation})<-[:REPORTS_ON]-(n)
  RETURN n.workspace AS workspace, 'reports' AS what, count(DISTINCT n) AS count
UNION ALL
  MATCH (s:IndexState) MATCH (:__Community__ {workspace: s.workspace, generation: s.generation})<-[:REPORTS_ON]-(n)
  MATCH (n)-[:HAS_FINDING]->(f:Finding)
  RETURN f.workspace AS workspace, 'findings' AS what, count(DISTINCT f) AS count
UNION ALL
  MATCH (n:Chunk) WHERE NOT n.outcome IN ['done', 'empty']
  RETURN n.workspace AS workspace, 'chunks ' + n.outcome AS what, count(*) AS count
UNION ALL
  MATCH (n:Pending) RETURN n.workspace AS workspace, 'awaiting an embedding' AS what, count(*) AS count
UNION ALL
  MATCH (n:Stale) RETURN n.workspace AS workspace, 'awaiting derived properties' AS what, count(*) AS count
UNION ALL
  MATCH (n:ModelCall) RETURN n.workspace AS workspace, 'kept answers' AS what, count(*) AS count
UNION ALL
  MATCH (n:ModelBatch) RETURN n.workspace AS workspace, 'batches ' + n.state AS what, count(*) AS count
UNION ALL
  MATCH (n:JobRun) RETURN n.workspace AS workspace, 'job runs ' + n.state AS what, count(*) AS count
}
RETURN workspace, what, count ORDER BY workspace, what;
