// name: orphans() read
// Nodes that nothing supports. A healthy index returns no row.
CALL () {
  MATCH (c:Chunk) WHERE NOT (c)-[:FROM_DOCUMENT]->(:Document) RETURN 'chunk without document' AS problem, c.id AS id
UNION ALL
  MATCH (e:__Entity__) WHERE NOT (e)-[:FROM_CHUNK]->(:Chunk) RETURN 'entity without mention' AS problem, e.id AS id
UNION ALL
  MATCH (e:__Entity__) WHERE NOT (e)<-[:NAMES]-(:EntityName) RETURN 'entity without name' AS problem, e.id AS id
UNION ALL
  MATCH (n:EntityName) WHERE NOT (n)-[:NAMES]->(:__Entity__) RETURN 'name of no entity' AS problem, n.id AS id
UNION ALL
  MATCH (f:Fact) WHERE NOT (f)-[:STATED_IN]->(:Chunk) RETURN 'fact without statement' AS problem, f.id AS id
UNION ALL
  MATCH (f:Fact) WHERE NOT ((f)-[:SUBJECT]->(:__Entity__) AND (f)-[:OBJECT]->(:__Entity__))
  RETURN 'fact without both entities' AS problem, f.id AS id
UNION ALL
  MATCH (a:__Entity__)-[:RELATED_TO]->(b:__Entity__) WHERE NOT EXISTS { (a)<-[:SUBJECT]-(:Fact)-[:OBJECT]->(b) }
  RETURN 'relationship without fact' AS problem, a.id AS id
UNION ALL
  MATCH (r:CommunityReport) WHERE NOT (r)-[:REPORTS_ON]->(:__Community__)
  RETURN 'report without community' AS problem, r.id AS id
UNION ALL
  MATCH (f:Finding) WHERE NOT (f)-[:CITES]->(:Chunk) RETURN 'finding without cited chunk' AS problem, f.id AS id
UNION ALL
  MATCH (f:Finding) WHERE NOT (f)<-[:HAS_FINDING]-(:CommunityReport)
  RETURN 'finding without report' AS problem, f.id AS id
UNION ALL
  MATCH (m:ModelCall) WHERE NOT (m)-[:READ]->(:Chunk) RETURN 'kept answer without chunk' AS problem, m.id AS id
UNION ALL
  MATCH (s:IndexState) MATCH (c:__Community__ {workspace: s.workspace})
  WHERE NOT c.generation IN [s.generation, s.generation - 1]
  RETURN 'community of an abandoned generation' AS problem, c.id AS id
}
RETURN problem, id ORDER BY problem, id;
