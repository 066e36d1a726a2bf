// name: local_lists(workspace: STRING, vector: LIST<FLOAT>, text: STRING, cjk: STRING, terms: STRING, quoted: STRING, named_ids: LIST<STRING>, candidates: INTEGER, lists: LIST<STRING>) read
// All first lists of the local channel in one round trip and one record, since each record costs the driver more
// than its transfer: `lists` by name with ids and scores, best first. The first facts carry their two
// entities and their weights: the walk starts at those of five.
// A vector index knows no workspaces: what belongs to another one has the id '', by which the caller sees that
// places were taken. The full-text queries demand the workspace's scope by themselves; an empty one is not asked, nor is a
// vector index whose list is not in `$lists`.
CALL () {
  WITH $lists AS lists WHERE 'chunk_dense' IN lists
  CALL db.index.vector.queryNodes('chunk_embedding', $candidates, $vector) YIELD node, score
  RETURN 'chunk_dense' AS list, collect(CASE node.workspace WHEN $workspace THEN node.id ELSE '' END) AS ids, collect(score) AS scores,
         [] AS entity_ids, [] AS weights
UNION ALL
  WITH $lists AS lists WHERE 'entity_dense' IN lists
  CALL db.index.vector.queryNodes('entity_embedding', $candidates, $vector) YIELD node, score
  RETURN 'entity_dense' AS list, collect(CASE node.workspace WHEN $workspace THEN node.id ELSE '' END) AS ids, collect(score) AS scores,
         [] AS entity_ids, [] AS weights
UNION ALL
  WITH $lists AS lists WHERE 'fact_dense' IN lists
  CALL db.index.vector.queryNodes('fact_embedding', $candidates, $vector) YIELD node, score
  WITH collect(node) AS nodes, collect(score) AS scores
  WITH nodes, scores, [node IN nodes WHERE node.workspace = $workspace][..12] AS nearest
  RETURN 'fact_dense' AS list, [node IN nodes | CASE node.workspace WHEN $workspace THEN node.id ELSE '' END] AS ids, scores,
         [node IN nearest | [(node)-[:SUBJECT]->(s) | s.id] + [(node)-[:OBJECT]->(o) | o.id]] AS entity_ids,
         [node IN nearest | node.weight] AS weights
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_bm25' AS list, collect(node.id) AS ids, collect(score) AS scores, [] AS entity_ids, [] AS weights
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_cjk', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_cjk' AS list, collect(node.id) AS ids, collect(score) AS scores, [] AS entity_ids, [] AS weights
UNION ALL
  WITH $terms AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_terms', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_exact' AS list, collect(node.id) AS ids, collect(score) AS scores, [] AS entity_ids, [] AS weights
UNION ALL
  WITH $quoted AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_quoted' AS list, collect(node.id) AS ids, collect(score) AS scores, [] AS entity_ids, [] AS weights
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('entity_name', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'entity_bm25' AS list, collect(node.id) AS ids, collect(score) AS scores, [] AS entity_ids, [] AS weights
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('entity_cjk', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'entity_cjk' AS list, collect(node.id) AS ids, collect(score) AS scores, [] AS entity_ids, [] AS weights
UNION ALL
  MATCH (name:EntityName {workspace: $workspace})-[:NAMES]->(node:__Entity__) USING INDEX name:EntityName(id) WHERE name.id IN $named_ids
  RETURN 'entity_named' AS list, collect(node.id) AS ids, collect(1.0) AS scores, collect([name.id]) AS entity_ids, collect(1.0) AS weights
}
RETURN collect([list, ids, scores, entity_ids, weights]) AS lists;

// name: local_text_lists(workspace: STRING, text: STRING, cjk: STRING, terms: STRING, quoted: STRING, named_ids: LIST<STRING>, candidates: INTEGER) read
// The lists of the local channel that need no vector of the question.
CALL () {
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_bm25' AS list, node.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_cjk', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_cjk' AS list, node.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $terms AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_terms', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_exact' AS list, node.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $quoted AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'chunk_quoted' AS list, node.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('entity_name', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'entity_bm25' AS list, node.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('entity_cjk', text, {limit: $candidates}) YIELD node, score
  WHERE node.workspace = $workspace
  RETURN 'entity_cjk' AS list, node.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  MATCH (name:EntityName {workspace: $workspace})-[:NAMES]->(node:__Entity__) USING INDEX name:EntityName(id) WHERE name.id IN $named_ids
  RETURN 'entity_named' AS list, node.id AS id, 1.0 AS score, [name.id] AS entity_ids, 1.0 AS weight
}
RETURN list, id, score, entity_ids, weight;

// name: exact_local_lists(workspace: STRING, vector: LIST<FLOAT>, candidates: INTEGER, lists: LIST<STRING>) read
// The vector lists of the local channel by comparing with every vector of the workspace: slow on a large one, and right
// where neighbours fill the index's lists.
CALL () {
  WITH $lists AS lists WHERE 'chunk_dense' IN lists
  MATCH (n:Chunk {workspace: $workspace}) WHERE n.embedding IS NOT NULL
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'chunk_dense' AS list, n.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $lists AS lists WHERE 'entity_dense' IN lists
  MATCH (n:__Entity__ {workspace: $workspace}) WHERE n.embedding IS NOT NULL
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'entity_dense' AS list, n.id AS id, score, [] AS entity_ids, 1.0 AS weight
UNION ALL
  WITH $lists AS lists WHERE 'fact_dense' IN lists
  MATCH (n:Fact {workspace: $workspace}) WHERE n.embedding IS NOT NULL
  WITH n, vector.similarity.cosine(n.embedding, $vector) AS score ORDER BY score DESC, n.id LIMIT $candidates
  RETURN 'fact_dense' AS list, n.id AS id, score,
         COLLECT { MATCH (n)-[:SUBJECT]->(s) RETURN s.id } + COLLECT { MATCH (n)-[:OBJECT]->(o) RETURN o.id } AS entity_ids, n.weight AS weight
}
RETURN list, id, score, entity_ids, weight;

// name: neighbourhood(workspace: STRING, seed_ids: LIST<STRING>, chunk_ids: LIST<STRING>, near: INTEGER, per_chunk: INTEGER, fanout: INTEGER, breadth: INTEGER, hub: INTEGER) read
// The bounded surroundings of a question: its seed entities and those of the first `near` of its chunks, one hop over
// relationships around them (at most `fanout` per entity, heaviest first, and `breadth` new entities in all), at most `fanout`
// chunks that mention each of them (`mentions`: entity id, chunk ids), and at most `per_chunk` of the entities that each of
// `chunk_ids` mentions (`mentioned`: chunk id, entity ids). An entity with more than `hub` relationships or mentions leads
// everywhere: it is not followed. Never an unbounded path.  Edges come as three columns (`ones`, `others`, `weights`), which
// cost half of what rows cost; what stands at the ends of these relationships is known without asking for its label.
OPTIONAL MATCH (s:__Entity__ {workspace: $workspace}) USING INDEX s:__Entity__(id) WHERE s.id IN $seed_ids
WITH collect(s) AS seeds
CALL () {
  OPTIONAL MATCH (c:Chunk {workspace: $workspace}) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids[..$near]
  CALL (c) {
    MATCH (c)<-[:FROM_CHUNK]-(e)
    RETURN e ORDER BY e.id LIMIT $per_chunk
  }
  RETURN collect(DISTINCT e) AS named
}
CALL (seeds, named) {
  UNWIND seeds + named AS e
  WITH DISTINCT e WHERE COUNT { (e)-[:RELATED_TO]-() } <= $hub
  CALL (e) {
    MATCH (e)-[r:RELATED_TO]-(n)
    RETURN n, r.weight AS weight ORDER BY weight DESC, n.id LIMIT $fanout
  }
  WITH e, n, weight ORDER BY weight DESC, e.id, n.id
  RETURN collect(e.id) AS ones, collect(n.id) AS others, collect(weight) AS weights, collect(DISTINCT n)[..$breadth] AS around
}
CALL (seeds, named, around) {
  UNWIND seeds + named + around AS e
  WITH DISTINCT e WHERE COUNT { (e)-[:FROM_CHUNK]->() } <= $hub
  CALL (e) {
    MATCH (e)-[:FROM_CHUNK]->(c)
    WITH c.id AS chunk_id ORDER BY chunk_id LIMIT $fanout
    RETURN collect(chunk_id) AS chunk_ids
  }
  RETURN collect([e.id, chunk_ids]) AS mentions
}
CALL () {
  OPTIONAL MATCH (c:Chunk {workspace: $workspace}) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids
  CALL (c) {
    MATCH (c)<-[:FROM_CHUNK]-(e)
    WITH e.id AS entity_id ORDER BY entity_id LIMIT $per_chunk
    RETURN collect(entity_id) AS entity_ids
  }
  RETURN collect([c.id, entity_ids]) AS mentioned
}
RETURN ones, others, weights, mentions, mentioned,
       [e IN seeds | [e.id, COUNT { (e)-[:FROM_CHUNK]->() }]] AS seed_mentions;

// name: global_lists(workspace: STRING, generation: INTEGER, vector: LIST<FLOAT>, text: STRING, cjk: STRING, candidates: INTEGER, lists: LIST<STRING>) read
// All lists of the global channel in one round trip: reports of one generation and their findings by vector and by words;
// a finding comes with its report and the chunks that it cites. Lists and empty ids as in `local_lists`.
CALL () {
  WITH $lists AS lists WHERE 'report_dense' IN lists
  CALL db.index.vector.queryNodes('report_embedding', $candidates, $vector) YIELD node, score
  RETURN 'report_dense' AS list, collect(score) AS scores, [] AS chunk_ids,
         collect(CASE WHEN EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
                      THEN node.id ELSE '' END) AS ids
UNION ALL
  WITH $lists AS lists WHERE 'finding_dense' IN lists
  CALL db.index.vector.queryNodes('finding_embedding', $candidates, $vector) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  RETURN 'finding_dense' AS list, collect(score) AS scores,
         collect(COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id }) AS chunk_ids,
         collect(CASE WHEN EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
                      THEN report.id ELSE '' END) AS ids
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('report_text', text, {limit: 2 * $candidates}) YIELD node, score
  WHERE EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'report_bm25' AS list, collect(score) AS scores, [] AS chunk_ids, collect(node.id) AS ids
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('report_cjk', text, {limit: 2 * $candidates}) YIELD node, score
  WHERE EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'report_cjk' AS list, collect(score) AS scores, [] AS chunk_ids, collect(node.id) AS ids
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('finding_text', text, {limit: 2 * $candidates}) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'finding_bm25' AS list, collect(score) AS scores,
         collect(COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id }) AS chunk_ids, collect(report.id) AS ids
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('finding_cjk', text, {limit: 2 * $candidates}) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'finding_cjk' AS list, collect(score) AS scores,
         collect(COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id }) AS chunk_ids, collect(report.id) AS ids
}
RETURN collect([list, ids, scores, chunk_ids]) AS lists;

// name: global_text_lists(workspace: STRING, generation: INTEGER, text: STRING, cjk: STRING, candidates: INTEGER) read
// The lists of the global channel that need no vector of the question.
CALL () {
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('report_text', text, {limit: 2 * $candidates}) YIELD node, score
  WHERE EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'report_bm25' AS list, score, [] AS chunk_ids, node.id AS id
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('report_cjk', text, {limit: 2 * $candidates}) YIELD node, score
  WHERE EXISTS { (node)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'report_cjk' AS list, score, [] AS chunk_ids, node.id AS id
UNION ALL
  WITH $text AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('finding_text', text, {limit: 2 * $candidates}) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'finding_bm25' AS list, score, COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id } AS chunk_ids,
         report.id AS id
UNION ALL
  WITH $cjk AS text WHERE text <> ''
  CALL db.index.fulltext.queryNodes('finding_cjk', text, {limit: 2 * $candidates}) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
  RETURN 'finding_cjk' AS list, score, COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id } AS chunk_ids,
         report.id AS id
}
RETURN list, id, score, chunk_ids;

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
                  page: coalesce(c.page, 0), line: coalesce(c.line, 0), page_starts: coalesce(d.`meta.page_starts`, ''),
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
