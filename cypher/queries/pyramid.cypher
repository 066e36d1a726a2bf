// name: reading_item(workspace: STRING, generation: INTEGER, ids: LIST<STRING>) read
// What the ids stand for: a chunk or document with its place, a report of one generation, or an entity.
CALL () {
  MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document) USING INDEX c:Chunk(id) WHERE c.id IN $ids
  RETURN 'chunk' AS kind, c.id AS id, d.id AS document_id, c.index AS index
UNION ALL
  MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids
  RETURN 'document' AS kind, d.id AS id, d.id AS document_id, null AS index
UNION ALL
  MATCH (r:CommunityReport {workspace: $workspace}) USING INDEX r:CommunityReport(id)
  WHERE r.id IN $ids AND EXISTS { (r)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'report' AS kind, r.id AS id, null AS document_id, null AS index
UNION ALL
  MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN $ids
  RETURN 'entity' AS kind, e.id AS id, null AS document_id, null AS index
}
RETURN kind, id, document_id, index;

// name: document_outline(workspace: STRING, document_id: STRING) read
// How many chunks a document has, and where the path of headings changes from one chunk to the next.
MATCH (d:Document {id: $document_id, workspace: $workspace}) USING INDEX d:Document(id)
CALL (d) {
  MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)
  OPTIONAL MATCH (before:Chunk)-[:NEXT_CHUNK]->(c)
  WITH c, CASE WHEN before.heading = c.heading THEN false ELSE true END AS changes
  ORDER BY c.index
  RETURN count(c) AS chunks, collect(CASE WHEN changes THEN [c.index, c.heading] END) AS runs
}
RETURN d.id AS id, d.uri AS uri, d.title AS title, chunks, runs;

// name: chunks_at(workspace: STRING, document_id: STRING, indexes: LIST<INTEGER>) read
// Ids and embeddings of the chunks at these places of a document.
MATCH (d:Document {id: $document_id, workspace: $workspace}) USING INDEX d:Document(id)
MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)
WHERE c.index IN $indexes
RETURN c.index AS index, c.id AS id, c.embedding AS embedding
ORDER BY index;

// name: community_votes(workspace: STRING, generation: INTEGER, chunk_ids: LIST<STRING>) read
// The communities of one generation, at every level, of the entities that chunks mention, with how many mentions each holds.
MATCH (c:Chunk {workspace: $workspace})<-[m:FROM_CHUNK]-(e:__Entity__) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids
MATCH (e)-[:IN_COMMUNITY]->(leaf:__Community__ {workspace: $workspace, generation: $generation})
WITH leaf, count(m) AS held
MATCH (leaf)-[:PARENT_COMMUNITY*0..12]->(community:__Community__)
WITH community, sum(held) AS mentions
OPTIONAL MATCH (community)-[:PARENT_COMMUNITY]->(parent:__Community__)
RETURN community.id AS id, community.level AS level, parent.id AS parent_id, mentions
ORDER BY level, id;

// name: communities_above(workspace: STRING, generation: INTEGER, id: STRING) read
// The communities of one generation that an entity lies in, or that lie above the community of a report.
CALL () {
  MATCH (e:__Entity__ {id: $id, workspace: $workspace}) USING INDEX e:__Entity__(id)
  MATCH (e)-[:IN_COMMUNITY]->(:__Community__ {generation: $generation})-[:PARENT_COMMUNITY*0..12]->(community:__Community__)
  RETURN community
UNION ALL
  MATCH (r:CommunityReport {id: $id, workspace: $workspace}) USING INDEX r:CommunityReport(id)
  MATCH (r)-[:REPORTS_ON]->(c:__Community__ {generation: $generation})
  WITH c ORDER BY c.level, c.id LIMIT 1
  MATCH (c)-[:PARENT_COMMUNITY*1..12]->(community:__Community__)
  RETURN community
}
RETURN community.id AS id ORDER BY community.level DESC, id;

// name: communities_below(workspace: STRING, generation: INTEGER, report_id: STRING) read
// The children of the community of a report, largest first.
MATCH (r:CommunityReport {id: $report_id, workspace: $workspace}) USING INDEX r:CommunityReport(id)
MATCH (r)-[:REPORTS_ON]->(c:__Community__ {generation: $generation})
WITH c ORDER BY c.level, c.id LIMIT 1
MATCH (c)<-[:PARENT_COMMUNITY]-(child:__Community__)
RETURN child.id AS id ORDER BY child.size DESC, id;

// name: report_layers(workspace: STRING, generation: INTEGER, community_ids: LIST<STRING>, limit: INTEGER) read
// The reports on communities of one generation in short, with up to `limit` of the chunks that their findings cite.
UNWIND $community_ids AS community_id
MATCH (c:__Community__ {id: community_id, generation: $generation})
WHERE c.workspace = $workspace
MATCH (r:CommunityReport)-[:REPORTS_ON]->(c)
RETURN c.id AS community_id, c.level AS level, r.id AS id, r.title AS title, r.summary AS summary,
       r.generator AS generator,
       COLLECT {
         MATCH (r)-[:HAS_FINDING]->(f:Finding)-[:CITES]->(x:Chunk)
         WITH x.id AS chunk_id, min(f.number) AS number
         RETURN chunk_id ORDER BY number, chunk_id LIMIT $limit
       } AS chunk_ids;

// name: chunks_of_entity(workspace: STRING, id: STRING, limit: INTEGER) read
// The first chunks that mention an entity, in reading order, and how many there are.
MATCH (e:__Entity__ {id: $id, workspace: $workspace}) USING INDEX e:__Entity__(id)
RETURN COUNT { (e)-[:FROM_CHUNK]->() } AS total,
       COLLECT {
         MATCH (e)-[:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         RETURN c.id ORDER BY d.uri, c.index, c.id LIMIT $limit
       } AS chunk_ids;

// name: read_chunks(workspace: STRING, ids: LIST<STRING>) read
// Text and provenance of chunks.
MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document) USING INDEX c:Chunk(id) WHERE c.id IN $ids
RETURN c.id AS id, c.text AS text, c.index AS index, c.start AS start, c.end AS end, c.heading AS heading,
       coalesce(c.page, 0) AS page, coalesce(c.line, 0) AS line,
       d.id AS document_id, d.uri AS document_uri, d.title AS document_title;

// name: read_reports(workspace: STRING, generation: INTEGER, ids: LIST<STRING>) read
// Reports of one generation with their community, findings and cited chunks.
MATCH (r:CommunityReport {workspace: $workspace})-[:REPORTS_ON]->(c:__Community__ {generation: $generation})
USING INDEX r:CommunityReport(id)
WHERE r.id IN $ids
WITH r, min(c.id) AS community_id, min(c.level) AS level, max(c.size) AS size
RETURN r.id AS id, r.title AS title, r.summary AS summary, r.rating AS rating, r.generator AS generator,
       community_id, level, size,
       COLLECT {
         MATCH (r)-[:HAS_FINDING]->(f:Finding)
         RETURN {number: f.number, summary: f.summary, explanation: f.explanation,
                 chunk_ids: COLLECT { MATCH (f)-[:CITES]->(x:Chunk) RETURN x.id ORDER BY x.id }}
         ORDER BY f.number
       } AS findings;

// name: read_entities(workspace: STRING, ids: LIST<STRING>) read
// Name, type, description and heaviest facts of entities.
MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN $ids
RETURN e.id AS id, e.name AS name, e.type AS type, e.description AS description, e.aliases AS aliases,
       COLLECT {
         MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
         WITH DISTINCT f ORDER BY f.weight DESC, f.id LIMIT 5
         RETURN f.subject + ' ' + f.predicate + ' ' + f.object
       } AS facts,
       COLLECT { MATCH (e)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT 5 } AS chunk_ids;
