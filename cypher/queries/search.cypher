// name: local_lists(workspace: STRING, vector: LIST<FLOAT>, text: STRING, candidates: INTEGER) read
// All first lists of the local channel in one round trip and one record, since each record costs the driver more than its
// transfer; a row is one hit of one list. A fact carries its two entities.
// A vector index knows no workspaces: what belongs to another one is a row without an id, by which the caller sees that
// places were taken. `text` demands the workspace's scope by itself.
CALL () {
  CALL db.index.vector.queryNodes('chunk_embedding', $candidates, $vector) YIELD node, score
  RETURN 'chunk_dense' AS list, CASE node.workspace WHEN $workspace THEN node.id END AS id, score, [] AS entity_ids
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_bm25' AS list, node.id AS id, score, [] AS entity_ids
UNION ALL
  CALL db.index.vector.queryNodes('entity_embedding', $candidates, $vector) YIELD node, score
  RETURN 'entity_dense' AS list, CASE node.workspace WHEN $workspace THEN node.id END AS id, score, [] AS entity_ids
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('entity_name', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'entity_bm25' AS list, node.id AS id, score, [] AS entity_ids
UNION ALL
  CALL db.index.vector.queryNodes('fact_embedding', $candidates, $vector) YIELD node, score
  RETURN 'fact_dense' AS list, CASE node.workspace WHEN $workspace THEN node.id END AS id, score,
         COLLECT { MATCH (node)-[:SUBJECT]->(s) RETURN s.id } + COLLECT { MATCH (node)-[:OBJECT]->(o) RETURN o.id } AS entity_ids
}
RETURN collect({list: list, id: id, score: score, entity_ids: entity_ids}) AS rows;

// name: local_text_lists(workspace: STRING, text: STRING, candidates: INTEGER) read
// The lists of the local channel that need no vector of the question.
CALL () {
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_bm25' AS list, node.id AS id, score
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('entity_name', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'entity_bm25' AS list, node.id AS id, score
}
RETURN list, id, score ORDER BY score DESC, id;

// name: exact_local_lists(workspace: STRING, vector: LIST<FLOAT>, candidates: INTEGER, lists: LIST<STRING>) read
// The vector lists of the local channel by comparing with every vector of the workspace: slow on a large one, and right
// where neighbours fill the index's lists.
CALL () {
  WITH $lists AS lists WHERE 'chunk_dense' IN lists
  MATCH (n:Chunk {workspace: $workspace}) WHERE n.embedding IS NOT NULL
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'chunk_dense' AS list, n.id AS id, score, [] AS entity_ids
UNION ALL
  WITH $lists AS lists WHERE 'entity_dense' IN lists
  MATCH (n:__Entity__ {workspace: $workspace}) WHERE n.embedding IS NOT NULL
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'entity_dense' AS list, n.id AS id, score, [] AS entity_ids
UNION ALL
  WITH $lists AS lists WHERE 'fact_dense' IN lists
  MATCH (n:Fact {workspace: $workspace}) WHERE n.embedding IS NOT NULL
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'fact_dense' AS list, n.id AS id, score,
         COLLECT { MATCH (n)-[:SUBJECT]->(s) RETURN s.id } + COLLECT { MATCH (n)-[:OBJECT]->(o) RETURN o.id } AS entity_ids
}
RETURN list, id, score, entity_ids;

// name: neighbourhood(workspace: STRING, seed_ids: LIST<STRING>, fanout: INTEGER, breadth: INTEGER, most: INTEGER) read
// The bounded surroundings of seed entities: two hops over relationships, at most `fanout` per entity and `breadth`
// entities per hop, heaviest first, and the chunks that mention any of them. Never an unbounded path. An entity with more
// than `most` relationships is reached and not gone on from, one with more mentions than that brings no chunk: the heaviest
// few of so many say nothing about the question, and to sort them would take longer than all the rest.
MATCH (s:__Entity__ {workspace: $workspace}) USING INDEX s:__Entity__(id) WHERE s.id IN $seed_ids
WITH collect(s) AS seeds
CALL (seeds) {
  UNWIND seeds AS e
  WITH e WHERE COUNT { (e)-[:RELATED_TO]-() } <= $most
  CALL (e) {
    MATCH (e)-[r:RELATED_TO]-(n:__Entity__)
    RETURN n, r.weight AS weight ORDER BY weight DESC, n.id LIMIT $fanout
  }
  WITH e, n, weight ORDER BY weight DESC, n.id
  RETURN collect([e.id, n.id, weight]) AS first_edges, collect(DISTINCT n)[..$breadth] AS first
}
CALL (first) {
  UNWIND first AS e
  WITH e WHERE COUNT { (e)-[:RELATED_TO]-() } <= $most
  CALL (e) {
    MATCH (e)-[r:RELATED_TO]-(n:__Entity__)
    RETURN n, r.weight AS weight ORDER BY weight DESC, n.id LIMIT $fanout
  }
  WITH e, n, weight ORDER BY weight DESC, n.id
  RETURN collect([e.id, n.id, weight]) AS second_edges, collect(DISTINCT n)[..$breadth] AS second
}
CALL (seeds, first, second) {
  UNWIND seeds + first + second AS e
  WITH DISTINCT e WHERE COUNT { (e)-[:FROM_CHUNK]->() } <= $most
  CALL (e) {
    MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
    WITH c.id AS chunk_id ORDER BY chunk_id LIMIT $fanout
    RETURN collect(chunk_id) AS chunk_ids
  }
  RETURN collect([e.id, chunk_ids]) AS mentions
}
RETURN first_edges + second_edges AS edges, mentions,
       [e IN seeds | [e.id, COUNT { (e)-[:FROM_CHUNK]->() }]] AS seed_mentions;

// name: global_lists(workspace: STRING, generation: INTEGER, vector: LIST<FLOAT>, text: STRING, candidates: INTEGER) read
// All lists of the global channel in one round trip: reports of one generation by vector and by words, and the findings
// nearest to the question with their report and the chunks that they cite. Rows without an id as in `local_lists`.
CALL () {
  CALL db.index.vector.queryNodes('report_embedding', $candidates, $vector) YIELD node, score
  RETURN 'report_dense' AS list, score, [] AS chunk_ids,
         CASE WHEN EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
              THEN node.id END AS id
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('report_text', text, {limit: 2 * $candidates}) YIELD node, score
  WHERE EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'report_bm25' AS list, score, [] AS chunk_ids, node.id AS id
UNION ALL
  CALL db.index.vector.queryNodes('finding_embedding', $candidates, $vector) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  RETURN 'finding_dense' AS list, score, COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id } AS chunk_ids,
         CASE WHEN EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
              THEN report.id END AS id
}
RETURN collect({list: list, id: id, score: score, chunk_ids: chunk_ids}) AS rows;

// name: global_text_lists(workspace: STRING, generation: INTEGER, text: STRING, candidates: INTEGER) read
// The list of the global channel that needs no vector of the question.
WITH $text AS text WHERE text <> ''
CALL db.index.fulltext.queryNodes('report_text', text, {limit: 2 * $candidates}) YIELD node, score
WHERE EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
RETURN 'report_bm25' AS list, node.id AS id, score, [] AS chunk_ids
ORDER BY score DESC, id;

// name: exact_global_lists(workspace: STRING, generation: INTEGER, vector: LIST<FLOAT>, candidates: INTEGER, lists: LIST<STRING>) read
// The vector lists of the global channel by comparing with every report and finding of the generation.
CALL () {
  WITH $lists AS lists WHERE 'report_dense' IN lists
  MATCH (c:__Community__ {workspace: $workspace, generation: $generation})<-[:REPORTS_ON]-(n:CommunityReport)
  WHERE n.embedding IS NOT NULL
  WITH DISTINCT n
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'report_dense' AS list, score, [] AS chunk_ids, n.id AS id
UNION ALL
  WITH $lists AS lists WHERE 'finding_dense' IN lists
  MATCH (c:__Community__ {workspace: $workspace, generation: $generation})<-[:REPORTS_ON]-(report:CommunityReport)
        -[:HAS_FINDING]->(n:Finding)
  WHERE n.embedding IS NOT NULL
  WITH DISTINCT n, report
  WITH n, report, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'finding_dense' AS list, score, COLLECT { MATCH (n)-[:CITES]->(x:Chunk) RETURN x.id ORDER BY x.id } AS chunk_ids,
         report.id AS id
}
RETURN list, id, score, chunk_ids;

// name: report_heads(workspace: STRING, generation: INTEGER, ids: LIST<STRING>) read
// Reports of one generation with their community and the chunks that their findings cite, in one record.
MATCH (r:CommunityReport {workspace: $workspace})-[:REPORTS_ON]->(c:__Community__ {generation: $generation})
USING INDEX r:CommunityReport(id)
WHERE r.id IN $ids
WITH r, min(c.id) AS community_id, min(c.level) AS level, max(c.size) AS size
WITH r, community_id, level, size, COLLECT {
  MATCH (r)-[:HAS_FINDING]->(f:Finding)-[:CITES]->(x:Chunk)
  RETURN x.id ORDER BY f.number, x.id
} AS cited
RETURN collect({id: r.id, title: r.title, rating: r.rating, generator: r.generator, community_id: community_id,
                level: level, size: size, cited: cited}) AS rows;

// name: hit_texts(workspace: STRING, chunk_ids: LIST<STRING>, entity_ids: LIST<STRING>, report_ids: LIST<STRING>) read
// What is shown of hits of all kinds, in one record: chunks with their provenance, entities with type, description and
// heaviest facts (of more than 1000 facts the heaviest of any 1000), reports with their findings.
CALL () {
  MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids
  RETURN collect({id: c.id, text: c.text, index: c.index, start: c.start, end: c.end, heading: c.heading,
                  document_id: d.id, document_uri: d.uri, document_title: d.title}) AS chunks
}
CALL () {
  MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN $entity_ids
  WITH e,
       COLLECT {
         MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
         WITH DISTINCT f LIMIT 1000
         WITH f ORDER BY f.weight DESC, f.id LIMIT 5
         RETURN f.subject + ' ' + f.predicate + ' ' + f.object
       } AS facts,
       COLLECT {
         MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
         WITH c LIMIT 1000
         RETURN c.id ORDER BY c.id LIMIT 5
       } AS chunk_ids
  RETURN collect({id: e.id, name: e.name, type: e.type, description: e.description, aliases: e.aliases,
                  facts: facts, chunk_ids: chunk_ids}) AS entities
}
CALL () {
  MATCH (r:CommunityReport {workspace: $workspace}) USING INDEX r:CommunityReport(id) WHERE r.id IN $report_ids
  WITH r, COLLECT { MATCH (r)-[:HAS_FINDING]->(f:Finding) RETURN f.number + '. ' + f.summary ORDER BY f.number } AS findings
  RETURN collect({id: r.id, title: r.title, summary: r.summary, findings: findings}) AS reports
}
RETURN chunks, entities, reports;
