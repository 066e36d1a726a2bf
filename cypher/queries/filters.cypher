// name: admitted_documents(workspace: STRING, any_uri: BOOLEAN, uris: LIST<STRING>, files: LIST<STRING>, conditions: LIST<MAP>) read
// Which documents a filter admits, with the number of their chunks and of all documents. The URI of a table
// or archive (`files`) stands for its rows `uri#row` and packed files `uri/name` too. A condition names a property; keys and values are parameters, never text of the query.
MATCH (d:Document {workspace: $workspace})
WHERE ($any_uri OR d.uri IN $uris
       OR any(file IN $files WHERE d.uri STARTS WITH file + '#' OR d.uri STARTS WITH file + '/'))
  AND all(one IN $conditions WHERE d[one.key] IS NOT NULL AND CASE
    WHEN one.kind = 'any' THEN d[one.key] IN one.values OR toStringOrNull(d[one.key]) IN one.texts
    WHEN one.kind = 'numbers' AND toFloatOrNull(d[one.key]) IS NOT NULL
      THEN (one.low IS NULL OR toFloatOrNull(d[one.key]) >= one.low)
       AND (one.high IS NULL OR toFloatOrNull(d[one.key]) <= one.high)
    WHEN one.kind = 'dates' AND NOT toStringOrNull(d[one.key]) =~ '[0-9]{4}.*' THEN false
    ELSE (one.first IS NULL OR toStringOrNull(d[one.key]) >= one.first)
     AND (one.last IS NULL OR toStringOrNull(d[one.key]) <= one.last OR toStringOrNull(d[one.key]) STARTS WITH one.last)
  END)
WITH d, COUNT { (d)<-[:FROM_DOCUMENT]-() } AS parts ORDER BY d.id
WITH collect(d.id) AS ids, sum(parts) AS chunks
RETURN ids, chunks, COUNT { (:Document {workspace: $workspace}) } AS documents;

// name: filtered_local_lists(workspace: STRING, documents: LIST<STRING>, any_type: BOOLEAN, types: LIST<STRING>, vector: LIST<FLOAT>, text: STRING, cjk: STRING, terms: STRING, quoted: STRING, named_ids: LIST<STRING>, candidates: INTEGER, lists: LIST<STRING>) read
// The lists of `local_lists` that are named, drawn from the documents of a filter: chunks of them, entities mentioned and
// facts stated there. What the filter does not admit is a row without an id, as what belongs to another workspace.
CALL () {
  WITH $lists AS lists WHERE 'chunk_dense' IN lists
  CALL db.index.vector.queryNodes('chunk_embedding', $candidates, $vector) YIELD node, score
  RETURN 'chunk_dense' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists WHERE 'entity_dense' IN lists
  CALL db.index.vector.queryNodes('entity_embedding', $candidates, $vector) YIELD node, score
  RETURN 'entity_dense' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists WHERE 'fact_dense' IN lists
  CALL db.index.vector.queryNodes('fact_embedding', $candidates, $vector) YIELD node, score
  RETURN 'fact_dense' AS list, score, COLLECT { MATCH (node)-[:SUBJECT]->(s) RETURN s.id } + COLLECT { MATCH (node)-[:OBJECT]->(o) RETURN o.id } AS entity_ids, node.weight AS weight,
         CASE WHEN node.workspace = $workspace AND EXISTS { (node)-[:STATED_IN]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists, $text AS text WHERE 'chunk_bm25' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  RETURN 'chunk_bm25' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists, $cjk AS text WHERE 'chunk_cjk' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_cjk', text, {limit: $candidates}) YIELD node, score
  RETURN 'chunk_cjk' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists, $terms AS text WHERE 'chunk_exact' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_terms', text, {limit: $candidates}) YIELD node, score
  RETURN 'chunk_exact' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists, $quoted AS text WHERE 'chunk_quoted' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text, {limit: $candidates}) YIELD node, score
  RETURN 'chunk_quoted' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists, $text AS text WHERE 'entity_bm25' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('entity_name', text, {limit: $candidates}) YIELD node, score
  RETURN 'entity_bm25' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  WITH $lists AS lists, $cjk AS text WHERE 'entity_cjk' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('entity_cjk', text, {limit: $candidates}) YIELD node, score
  RETURN 'entity_cjk' AS list, score, [] AS entity_ids, 1.0 AS weight,
         CASE WHEN node.workspace = $workspace AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
              THEN node.id END AS id
UNION ALL
  MATCH (name:EntityName {workspace: $workspace})-[:NAMES]->(node:__Entity__) USING INDEX name:EntityName(id) WHERE name.id IN $named_ids
        AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  RETURN 'entity_named' AS list, 1.0 AS score, [name.id] AS entity_ids, 1.0 AS weight, node.id AS id
}
RETURN list, id, score, entity_ids, weight;

// name: exact_filtered_local_lists(workspace: STRING, documents: LIST<STRING>, any_type: BOOLEAN, types: LIST<STRING>, vector: LIST<FLOAT>, text: STRING, cjk: STRING, terms: STRING, quoted: STRING, named_ids: LIST<STRING>, candidates: INTEGER, lists: LIST<STRING>) read
// The same with nothing missed: every vector of the admitted documents is compared, every match of the words is looked at.
CALL () {
  WITH $lists AS lists WHERE 'chunk_dense' IN lists
  MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $documents
  MATCH (d)<-[:FROM_DOCUMENT]-(node:Chunk) WHERE node.embedding IS NOT NULL
  WITH DISTINCT node
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'chunk_dense' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists WHERE 'entity_dense' IN lists
  MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $documents
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(node:__Entity__)
  WHERE node.embedding IS NOT NULL AND ($any_type OR node.type IN $types)
  WITH DISTINCT node
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'entity_dense' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists WHERE 'fact_dense' IN lists
  MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $documents
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:STATED_IN]-(node:Fact) WHERE node.embedding IS NOT NULL
  WITH DISTINCT node
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'fact_dense' AS list, score, COLLECT { MATCH (node)-[:SUBJECT]->(s) RETURN s.id } + COLLECT { MATCH (node)-[:OBJECT]->(o) RETURN o.id } AS entity_ids, node.weight AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists, $text AS text WHERE 'chunk_bm25' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text) YIELD node, score
  WHERE node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH node, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'chunk_bm25' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists, $cjk AS text WHERE 'chunk_cjk' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_cjk', text) YIELD node, score
  WHERE node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH node, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'chunk_cjk' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists, $terms AS text WHERE 'chunk_exact' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_terms', text) YIELD node, score
  WHERE node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH node, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'chunk_exact' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists, $quoted AS text WHERE 'chunk_quoted' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('chunk_text', text) YIELD node, score
  WHERE node.workspace = $workspace AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH node, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'chunk_quoted' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists, $text AS text WHERE 'entity_bm25' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('entity_name', text) YIELD node, score
  WHERE node.workspace = $workspace AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH node, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'entity_bm25' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists, $cjk AS text WHERE 'entity_cjk' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('entity_cjk', text) YIELD node, score
  WHERE node.workspace = $workspace AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH node, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'entity_cjk' AS list, score, [] AS entity_ids, 1.0 AS weight, node.id AS id
UNION ALL
  WITH $lists AS lists WHERE 'entity_named' IN lists
  MATCH (name:EntityName {workspace: $workspace})-[:NAMES]->(node:__Entity__) USING INDEX name:EntityName(id) WHERE name.id IN $named_ids
        AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  RETURN 'entity_named' AS list, 1.0 AS score, [name.id] AS entity_ids, 1.0 AS weight, node.id AS id
}
RETURN list, id, score, entity_ids, weight;

// name: filtered_global_lists(workspace: STRING, generation: INTEGER, documents: LIST<STRING>, vector: LIST<FLOAT>, text: STRING, cjk: STRING, candidates: INTEGER, lists: LIST<STRING>) read
// The named lists of the global channel from what was written from the documents of a filter alone: findings that cite
// nothing else, and reports of which neither a citation nor a mention of a member is anywhere else.
CALL () {
  WITH $lists AS lists WHERE 'report_dense' IN lists
  MATCH (:__Community__ {workspace: $workspace, generation: $generation})<-[:REPORTS_ON]-(report:CommunityReport)
  WHERE report.embedding IS NOT NULL
  WITH DISTINCT report
  WHERE NOT EXISTS {
    (report)-[:HAS_FINDING]->(:Finding)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents
  } AND NOT EXISTS {
    (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation})
      <-[:PARENT_COMMUNITY*0..12]-(:__Community__)<-[:IN_COMMUNITY]-(:__Entity__)
      -[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
    WHERE NOT d.id IN $documents
  }
  WITH report, vector.similarity.cosine(report.embedding, $vector) AS score ORDER BY score DESC, report.id LIMIT $candidates
  RETURN 'report_dense' AS list, score, [] AS chunk_ids, report.id AS id
UNION ALL
  WITH $lists AS lists WHERE 'finding_dense' IN lists
  MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $documents
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:CITES]-(node:Finding) WHERE node.embedding IS NOT NULL
  WITH DISTINCT node
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
    AND EXISTS { (node)-[:CITES]->(:Chunk) }
    AND NOT EXISTS { (node)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents }
  WITH node, report, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'finding_dense' AS list, score, COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id } AS chunk_ids,
         report.id AS id
UNION ALL
  WITH $lists AS lists, $text AS text WHERE 'report_bm25' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('report_text', text) YIELD node AS report, score
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
    AND NOT EXISTS {
      (report)-[:HAS_FINDING]->(:Finding)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents
    } AND NOT EXISTS {
      (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation})
        <-[:PARENT_COMMUNITY*0..12]-(:__Community__)<-[:IN_COMMUNITY]-(:__Entity__)
        -[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
      WHERE NOT d.id IN $documents
    }
  WITH report, score ORDER BY score DESC, report.id LIMIT $candidates
  RETURN 'report_bm25' AS list, score, [] AS chunk_ids, report.id AS id
UNION ALL
  WITH $lists AS lists, $cjk AS text WHERE 'report_cjk' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('report_cjk', text) YIELD node AS report, score
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
    AND NOT EXISTS {
      (report)-[:HAS_FINDING]->(:Finding)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents
    } AND NOT EXISTS {
      (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation})
        <-[:PARENT_COMMUNITY*0..12]-(:__Community__)<-[:IN_COMMUNITY]-(:__Entity__)
        -[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
      WHERE NOT d.id IN $documents
    }
  WITH report, score ORDER BY score DESC, report.id LIMIT $candidates
  RETURN 'report_cjk' AS list, score, [] AS chunk_ids, report.id AS id
UNION ALL
  WITH $lists AS lists, $text AS text WHERE 'finding_bm25' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('finding_text', text) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
    AND EXISTS { (node)-[:CITES]->(:Chunk) }
    AND NOT EXISTS { (node)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents }
  WITH node, report, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'finding_bm25' AS list, score, COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id } AS chunk_ids,
         report.id AS id
UNION ALL
  WITH $lists AS lists, $cjk AS text WHERE 'finding_cjk' IN lists AND text <> ''
  CALL db.index.fulltext.queryNodes('finding_cjk', text) YIELD node, score
  MATCH (node)<-[:HAS_FINDING]-(report:CommunityReport)
  WHERE EXISTS { (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation}) }
    AND EXISTS { (node)-[:CITES]->(:Chunk) }
    AND NOT EXISTS { (node)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents }
  WITH node, report, score ORDER BY score DESC, node.id LIMIT $candidates
  RETURN 'finding_cjk' AS list, score, COLLECT { MATCH (node)-[:CITES]->(c:Chunk) RETURN c.id ORDER BY c.id } AS chunk_ids,
         report.id AS id
}
RETURN list, id, score, chunk_ids;

// name: admitted_reports(workspace: STRING, generation: INTEGER, documents: LIST<STRING>, ids: LIST<STRING>) read
// Which reports hold no word of a document that the filter does not admit.
MATCH (report:CommunityReport {workspace: $workspace}) USING INDEX report:CommunityReport(id)
WHERE report.id IN $ids
  AND NOT EXISTS {
    (report)-[:HAS_FINDING]->(:Finding)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE NOT d.id IN $documents
  } AND NOT EXISTS {
    (report)-[:REPORTS_ON]->(:__Community__ {workspace: $workspace, generation: $generation})
      <-[:PARENT_COMMUNITY*0..12]-(:__Community__)<-[:IN_COMMUNITY]-(:__Entity__)
      -[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
    WHERE NOT d.id IN $documents
  }
RETURN report.id AS id;

// name: admitted_items(workspace: STRING, documents: LIST<STRING>, any_type: BOOLEAN, types: LIST<STRING>, chunk_ids: LIST<STRING>, entity_ids: LIST<STRING>) read
// Which of these chunks and entities a filter admits.
CALL () {
  MATCH (node:Chunk {workspace: $workspace}) USING INDEX node:Chunk(id) WHERE node.id IN $chunk_ids
        AND EXISTS { (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  RETURN node.id AS id
UNION ALL
  MATCH (node:__Entity__ {workspace: $workspace}) USING INDEX node:__Entity__(id) WHERE node.id IN $entity_ids
        AND ($any_type OR node.type IN $types)
        AND EXISTS { (node)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  RETURN node.id AS id
}
RETURN id;

// name: filtered_entity_evidence(workspace: STRING, documents: LIST<STRING>, ids: LIST<STRING>) read
// Entities as the documents of a filter speak of them: spellings, types, descriptions and facts from there alone.
MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN $ids
CALL (e) {
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents
  WITH m, c, d ORDER BY d.id, c.index, c.id
  RETURN collect(m)[..100] AS mentions, collect(c.id)[..5] AS chunk_ids
}
WITH e, mentions, chunk_ids WHERE size(mentions) > 0 // else what was admitted of it is gone meanwhile
RETURN e.id AS id,
       CASE WHEN any(m IN mentions WHERE e.name IN m.as_written) THEN e.name ELSE mentions[0].as_written[0] END AS name,
       CASE WHEN any(m IN mentions WHERE e.type = m.type) THEN e.type ELSE mentions[0].type END AS type,
       [alias IN e.aliases WHERE any(m IN mentions WHERE alias IN m.as_written)] AS aliases,
       reduce(known = [], m IN mentions |
              CASE WHEN m.description = '' OR m.description IN known THEN known ELSE known + m.description END)[..3] AS descriptions,
       COLLECT {
         MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)-[s:STATED_IN]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         WHERE d.id IN $documents
         WITH f, min(s.predicate) AS predicate, sum(s.weight) AS weight ORDER BY weight DESC, f.id LIMIT 5
         RETURN f.subject + ' ' + predicate + ' ' + f.object
       } AS facts,
       chunk_ids;
