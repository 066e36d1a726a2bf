// name: documents_by_id(workspace: STRING, ids: LIST<STRING>) read
// Content hash of stored documents, how many chunks they have, and which of these still lack an extraction.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids
RETURN d.id AS id, d.content_hash AS content_hash, COUNT { (d)<-[:FROM_DOCUMENT]-() } AS chunks,
       [(c:Chunk)-[:FROM_DOCUMENT]->(d) WHERE c.outcome IN ['pending', 'failed', 'truncated', 'refused'] | c.id] AS unfinished;

// name: finished_chunks(workspace: STRING, ids: LIST<STRING>) read
// Chunks of documents that were extracted.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d) WHERE c.outcome IN ['done', 'empty', 'skipped']
RETURN c.id AS id;

// name: put_documents(workspace: STRING, scope: STRING, rows: LIST<MAP>) write
// Write documents with their chunks in order; chunks that are new await extraction and embedding.
// A chunk that is still part of its document keeps what was extracted from it. Noise awaits nothing and has no scope, so that
// no full-text query finds it.
UNWIND $rows AS row
MERGE (d:Document {id: row.id})
SET d = row.properties, d.workspace = $workspace
WITH d, row
CALL (d, row) {
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)-[next:NEXT_CHUNK]->(:Chunk)
  DELETE next
}
CALL (d, row) {
  UNWIND row.chunks AS part
  MERGE (c:Chunk {id: part.id})
  ON CREATE SET c.workspace = $workspace, c.scope = CASE WHEN part.noise THEN '' ELSE $scope END, c.text = part.text,
                c.tokens = part.tokens, c.outcome = CASE WHEN part.noise THEN 'skipped' ELSE 'pending' END
  FOREACH (_ IN CASE WHEN coalesce(c.context <> part.context, true) AND NOT part.noise THEN [1] ELSE [] END | SET c:Pending)
  SET c.context = part.context, c.index = part.index, c.start = part.start, c.end = part.end, c.heading = part.heading,
      c.page = part.page, c.line = part.line, c.exact_terms = part.exact_terms
  FOREACH (_ IN CASE WHEN row.again AND NOT part.noise THEN [1] ELSE [] END | SET c.outcome = 'pending')
  REMOVE c:Unread
  FOREACH (_ IN CASE WHEN part.cjk THEN [1] ELSE [] END | SET c:CjkChunk)
  FOREACH (_ IN CASE WHEN part.cjk THEN [] ELSE [1] END | REMOVE c:CjkChunk)
  MERGE (c)-[:FROM_DOCUMENT]->(d)
  WITH c ORDER BY c.index
  WITH collect(c) AS ordered
  UNWIND range(0, size(ordered) - 2) AS i
  WITH ordered[i] AS here, ordered[i + 1] AS following
  CREATE (here)-[:NEXT_CHUNK]->(following)
};

// name: vanished_chunks(workspace: STRING, document_id: STRING, chunk_ids: LIST<STRING>) read
// Chunks of a document that are not among those named.
MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(:Document {id: $document_id})
WHERE NOT c.id IN $chunk_ids
RETURN c.id AS id;

// name: chunks_of_documents(workspace: STRING, ids: LIST<STRING>) read
// URI and chunk ids of documents.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids
RETURN d.id AS id, d.uri AS uri, [(c:Chunk)-[:FROM_DOCUMENT]->(d) | c.id] AS chunk_ids;

// name: delete_chunks(workspace: STRING, chunk_ids: LIST<STRING>) write
// Remove chunks with every report that could hold a word of them and the kept answers that were read for them alone; what they stated or mentioned becomes stale.
// Their documents count as changed from now on, should this run be killed. Reports that a killed refresh left to no community could hold any word, hence all of them go.
CALL () {
  MATCH (report:CommunityReport {workspace: $workspace}) WHERE NOT (report)-[:REPORTS_ON]->(:__Community__)
  OPTIONAL MATCH (report)-[:HAS_FINDING]->(finding:Finding)
  DETACH DELETE finding, report
}
MATCH (c:Chunk {workspace: $workspace}) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids
CALL (c) {
  MATCH (c)-[:FROM_DOCUMENT]->(d:Document) SET d.content_hash = ''
}
CALL (c) {
  MATCH (c)<-[m:FROM_CHUNK]-(e:__Entity__)
  OPTIONAL MATCH (n:EntityName {id: m.name_id})
  SET e:Stale, n:Stale
}
CALL (c) {
  MATCH (c)<-[:STATED_IN]-(f:Fact) SET f:Stale
}
CALL (c) {
  MATCH (c)<-[:FROM_CHUNK]-(:__Entity__)-[:IN_COMMUNITY]->(:__Community__)-[:PARENT_COMMUNITY*0..12]->(:__Community__)
        <-[:REPORTS_ON]-(report:CommunityReport)
  WITH DISTINCT report
  OPTIONAL MATCH (report)-[:HAS_FINDING]->(finding:Finding)
  DETACH DELETE finding, report
}
CALL (c) {
  MATCH (c)<-[read:READ]-(call:ModelCall)
  DELETE read
  WITH DISTINCT call WHERE NOT (call)-[:READ]->()
  DELETE call
}
DETACH DELETE c;

// name: drop_reports_of_chunks(workspace: STRING, chunk_ids: LIST<STRING>) write
// Remove every report that could hold a word of these chunks: once their names stand for other entities, nothing leads from a
// chunk to the reports that were written from it.
MATCH (c:Chunk {workspace: $workspace}) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids
MATCH (c)<-[:FROM_CHUNK]-(:__Entity__)-[:IN_COMMUNITY]->(:__Community__)-[:PARENT_COMMUNITY*0..12]->(:__Community__)
      <-[:REPORTS_ON]-(report:CommunityReport)
WITH DISTINCT report
OPTIONAL MATCH (report)-[:HAS_FINDING]->(finding:Finding)
DETACH DELETE finding, report;

// name: delete_documents(workspace: STRING, ids: LIST<STRING>) write
// Remove documents whose chunks are gone.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids AND NOT (d)<-[:FROM_DOCUMENT]-()
DETACH DELETE d;

// name: documents_of_container(workspace: STRING, container: STRING) read
// URIs of the documents that are rows of one file, or packed in it.
MATCH (d:Document {workspace: $workspace}) WHERE d.uri STARTS WITH $container + '#' OR d.uri STARTS WITH $container + '/'
RETURN d.uri AS uri;

// name: unread_chunks(limit: INTEGER) read
// Chunks, of whatever workspace, that an older version stored without their exact terms.
MATCH (c:Unread&Chunk)
RETURN c.id AS id, c.context + '\n' + c.text AS text LIMIT $limit;

// name: put_exact_terms(rows: LIST<MAP>) write
// Store the exact terms of chunks that lacked them.
UNWIND $rows AS row
MATCH (c:Unread&Chunk {id: row.id})
SET c.exact_terms = row.exact_terms
REMOVE c:Unread;

// name: unread_documents(limit: INTEGER) read
// Documents, of whatever workspace, whose metadata an older version stored as one text only.
MATCH (d:Unread&Document)
RETURN d.id AS id, d.metadata AS metadata LIMIT $limit;

// name: put_metadata(rows: LIST<MAP>) write
// Store the metadata of documents one by one, so that a filter can ask for them.
UNWIND $rows AS row
MATCH (d:Unread&Document {id: row.id})
SET d += row.properties
REMOVE d:Unread;
