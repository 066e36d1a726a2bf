// name: documents_below(workspace: STRING, folders: LIST<STRING>) read
// Documents whose URI begins with one of these folders (each ends in a slash), with what tells whether they changed.
MATCH (d:Document {workspace: $workspace}) WHERE any(folder IN $folders WHERE d.uri STARTS WITH folder)
RETURN d.id AS id, d.uri AS uri, d.content_hash AS content_hash, coalesce(d.text_hash, '') AS text_hash,
       EXISTS { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome IN ['pending', 'failed', 'truncated', 'refused'] } AS unfinished
ORDER BY uri;

// name: document_hashes(workspace: STRING, ids: LIST<STRING>) read
// Documents by id, with what tells whether they changed.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids
RETURN d.id AS id, d.uri AS uri, d.content_hash AS content_hash, coalesce(d.text_hash, '') AS text_hash,
       EXISTS { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome IN ['pending', 'failed', 'truncated', 'refused'] } AS unfinished;

// name: documents_of_texts(workspace: STRING, text_hashes: LIST<STRING>) read
// Documents that have one of these texts, under whatever URI.
MATCH (d:Document {workspace: $workspace}) WHERE d.text_hash IN $text_hashes
RETURN d.uri AS uri, d.text_hash AS text_hash
ORDER BY uri;

// name: document_outcomes(workspace: STRING, below: STRING, after: STRING, limit: INTEGER) read
// Documents by URI with what came of their chunks; all those whose URI begins with $below, a page at a time.
MATCH (d:Document {workspace: $workspace}) WHERE d.uri STARTS WITH $below AND d.uri > $after
WITH d ORDER BY d.uri LIMIT $limit
RETURN d.uri AS uri,
       COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk) } AS chunks,
       COUNT { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome = 'done' } AS done,
       COUNT { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome = 'empty' } AS empty,
       COUNT { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome = 'refused' } AS refused,
       COUNT { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome = 'truncated' } AS truncated,
       COUNT { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome = 'failed' } AS failed,
       COUNT { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.outcome = 'pending' } AS pending,
       COUNT { MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:__Entity__) RETURN DISTINCT e } AS entities
ORDER BY uri;

// name: unfinished_documents(workspace: STRING) read
// Documents that have chunks whose extraction is missing or failed.
MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document)
WHERE c.outcome IN ['pending', 'failed', 'truncated', 'refused']
RETURN DISTINCT d.id AS id
ORDER BY id;

// name: whole_documents(workspace: STRING, ids: LIST<STRING>) read
// Documents with all their chunks, from which their texts can be put together again.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $ids
RETURN d.id AS id, d.uri AS uri, d.title AS title, d.content_hash AS content_hash, d.metadata AS metadata,
       COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         RETURN {id: c.id, index: c.index, text: c.text, start: c.start, end: c.end, tokens: c.tokens,
                 heading: coalesce(c.heading, ''), context: coalesce(c.context, ''), outcome: c.outcome}
         ORDER BY c.index
       } AS chunks
ORDER BY id;

// name: note_refresh(workspace: STRING) write
// Remember when communities and reports were last compared with the graph.
MATCH (s:IndexState {workspace: $workspace})
SET s.refreshed_at = datetime();

// name: report_age(workspace: STRING) read
// When the live reports were last compared with the graph, and what has changed since: communities that lost their report
// to a deletion, or whose members a chunk that was extracted since mentions; such members; entities of no live community.
MATCH (s:IndexState {workspace: $workspace})
WITH s, COLLECT {
  MATCH (k:Chunk)<-[:FROM_CHUNK]-(e:__Entity__) WHERE k.extracted_at > s.refreshed_at AND k.workspace = $workspace
  RETURN DISTINCT e
} AS members
WITH s, members, COLLECT {
  UNWIND members AS e
  MATCH (e)-[:IN_COMMUNITY]->(:__Community__ {generation: s.generation})-[:PARENT_COMMUNITY*0..12]->(c:__Community__)
  RETURN DISTINCT c
} AS touched
RETURN s.generation AS generation, toString(s.refreshed_at) AS refreshed_at,
       duration.inSeconds(s.refreshed_at, datetime()).seconds AS age_s,
       COUNT { (:__Community__ {workspace: $workspace, generation: s.generation}) } AS communities,
       COUNT {
         MATCH (c:__Community__ {workspace: $workspace, generation: s.generation}) WHERE NOT (c)<-[:REPORTS_ON]-()
         RETURN c
       } AS without_report,
       COUNT {
         MATCH (c:__Community__ {workspace: $workspace, generation: s.generation})
         WHERE NOT (c)<-[:REPORTS_ON]-() OR c IN touched
         RETURN c
       } AS changed_communities,
       size(members) AS changed_members,
       COUNT {
         MATCH (e:__Entity__ {workspace: $workspace})
         WHERE NOT (e)-[:IN_COMMUNITY]->(:__Community__ {generation: s.generation})
         RETURN e
       } AS new_entities;

// name: drop_empty_communities(workspace: STRING) write
// Remove communities, of whatever generation, whose members are all gone.
MATCH (c:__Community__ {workspace: $workspace})
WHERE NOT EXISTS { (c)<-[:PARENT_COMMUNITY*0..12]-(:__Community__)<-[:IN_COMMUNITY]-(:__Entity__) }
DETACH DELETE c;

// name: latest_reading(workspace: STRING) read
// The latest run that read files and says which it could not read.
MATCH (r:JobRun {workspace: $workspace}) WHERE r.result CONTAINS '"problems"'
RETURN r.job AS job, toString(r.finished_at) AS finished_at, r.result AS result
ORDER BY r.started_at DESC LIMIT 1;

// name: own_ids(workspace: STRING, ids: LIST<STRING>) read
// Which of these ids are nodes of the workspace.
MATCH (n) WHERE n.workspace = $workspace AND n.id IN $ids
RETURN n.id AS id
ORDER BY id;

// name: stored_texts(workspace: STRING, document_ids: LIST<STRING>) read
// Every text that is stored in a workspace, on nodes and relationships; `own` are those of documents other than these.
CALL () {
  MATCH (n) WHERE n.workspace = $workspace
  WITH n, (n:Document AND NOT n.id IN $document_ids)
          OR (n:Chunk AND EXISTS { (n)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $document_ids }) AS own
  UNWIND keys(n) AS property
  WITH n, own, property, n[property] AS value
  WHERE value IS :: STRING NOT NULL OR value IS :: LIST<STRING NOT NULL> NOT NULL
  RETURN labels(n)[0] AS kind, coalesce(n.id, elementId(n)) AS id, property, value, own
UNION ALL
  MATCH (n)-[r]->() WHERE n.workspace = $workspace
  UNWIND keys(r) AS property
  WITH n, r, property, r[property] AS value
  WHERE value IS :: STRING NOT NULL OR value IS :: LIST<STRING NOT NULL> NOT NULL
  RETURN type(r) AS kind, coalesce(n.id, elementId(n)) AS id, property, value, false AS own
}
RETURN kind, id, property, CASE WHEN value IS :: STRING NOT NULL THEN [value] ELSE value END AS texts, own;
