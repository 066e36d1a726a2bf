// name: report_inputs(workspace: STRING, rows: LIST<MAP>, max_entities: INTEGER, max_facts: INTEGER, max_chunks: INTEGER) read
// All that the reports of communities may be written from, heaviest first and bounded. Sums are rounded, since the last
// digits of a sum depend on the order of its parts.
UNWIND $rows AS row
CALL (row) {
  MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN row.member_ids
  OPTIONAL MATCH (e)-[r:RELATED_TO]-(other:__Entity__) WHERE other.id IN row.member_ids
  WITH e, round(coalesce(sum(r.weight), 0.0), 6) AS degree
  ORDER BY degree DESC, e.id LIMIT $max_entities
  RETURN collect({id: e.id, name: e.name, type: e.type, description: e.description, aliases: e.aliases,
                  degree: degree}) AS entities
}
CALL (row) {
  MATCH (s:__Entity__ {workspace: $workspace})<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:__Entity__)
  USING INDEX s:__Entity__(id)
  WHERE s.id IN row.member_ids AND o.id IN row.member_ids
  WITH f, s, o ORDER BY f.weight DESC, f.id LIMIT $max_facts
  RETURN collect({id: f.id, subject_id: s.id, object_id: o.id, subject: f.subject, predicate: f.predicate,
                  object: f.object, description: f.description, weight: f.weight,
                  chunk_ids: COLLECT { MATCH (f)-[:STATED_IN]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT 20 }}) AS facts
}
CALL (row) {
  MATCH (e:__Entity__ {workspace: $workspace})-[:FROM_CHUNK]->(c:Chunk) USING INDEX e:__Entity__(id)
  WHERE e.id IN row.member_ids
  WITH c, collect(e.id) AS mentioned
  ORDER BY size(mentioned) DESC, c.id LIMIT $max_chunks
  MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
  WITH c, d, mentioned ORDER BY d.id, c.index, c.id
  RETURN collect({id: c.id, text: c.text, mentioned: mentioned}) AS chunks, count(DISTINCT d) AS documents
}
RETURN row.id AS id, entities, facts, chunks, documents;

// name: reports_by_input(workspace: STRING, input_hashes: LIST<STRING>) read
// Stored reports that were written from these inputs, whoever wrote them.
MATCH (r:CommunityReport {workspace: $workspace}) WHERE r.input_hash IN $input_hashes
RETURN r.id AS id, r.input_hash AS input_hash, r.generator AS generator
ORDER BY id;

// name: put_reports(workspace: STRING, scope: STRING, rows: LIST<MAP>) write
// Write reports with their findings; every finding cites the chunks and facts that support it.
UNWIND $rows AS row
MERGE (r:CommunityReport {id: row.id})
ON CREATE SET r:Pending
SET r.workspace = $workspace, r.scope = $scope, r.title = row.title, r.summary = row.summary, r.rating = row.rating,
    r.rating_explanation = row.rating_explanation, r.generator = row.generator, r.input_hash = row.input_hash
FOREACH (_ IN CASE WHEN row.cjk THEN [1] ELSE [] END | SET r:CjkReport)
WITH r, row
UNWIND row.findings AS part
MERGE (f:Finding {id: part.id})
ON CREATE SET f:Pending
SET f.workspace = $workspace, f.scope = $scope, f.number = part.number, f.summary = part.summary, f.explanation = part.explanation
FOREACH (_ IN CASE WHEN part.cjk THEN [1] ELSE [] END | SET f:CjkFinding)
MERGE (r)-[:HAS_FINDING]->(f)
WITH f, part
CALL (f, part) {
  UNWIND part.chunk_ids AS chunk_id
  MATCH (c:Chunk {id: chunk_id}) MERGE (f)-[:CITES]->(c)
}
CALL (f, part) {
  UNWIND part.fact_ids AS fact_id
  MATCH (x:Fact {id: fact_id}) MERGE (f)-[:CITES]->(x)
};
