// name: names_without_key(workspace: STRING, limit: INTEGER) read
// Names that are new.
MATCH (n:Stale&EntityName {workspace: $workspace}) WHERE n.key IS NULL
RETURN n.id AS id, n.name AS name LIMIT $limit;

// name: stale_names(workspace: STRING, limit: INTEGER) read
// Names of which it is to be decided anew whom they name.
MATCH (n:Stale&EntityName {workspace: $workspace})
RETURN n.id AS id ORDER BY n.key, n.id LIMIT $limit;

// name: put_name_keys(workspace: STRING, rows: LIST<MAP>) write
// Store by what other names a name may be found to be the same.
UNWIND $rows AS row
MATCH (n:EntityName {id: row.id, workspace: $workspace}) USING INDEX n:EntityName(id)
SET n.key = row.key, n.initials = row.initials, n.acronym = row.acronym;

// name: name_evidence(workspace: STRING, ids: LIST<STRING>) read
// Names with all their mentions and the entity that each of these belongs to.
MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(id) WHERE n.id IN $ids
RETURN n.id AS id, n.name AS name, n.key AS key, n.initials AS initials, n.acronym AS acronym,
       COLLECT {
         MATCH (n)-[:NAMES]->(e:__Entity__)-[m:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         WHERE m.name_id = n.id
         RETURN {entity_id: e.id, chunk_id: c.id, document_id: d.id, as_written: m.as_written, type: m.type,
                 description: m.description, alias_of: coalesce(m.alias_of, [])}
       } AS mentions,
       [(n)-[:NAMES]->(e) | e.id] AS entity_ids,
       [(n)-[:SAME_AS]-(other) | other.id] AS same_as;

// name: names_alike(workspace: STRING, ids: LIST<STRING>, keys: LIST<STRING>, initials: LIST<STRING>, acronyms: LIST<STRING>, entity_ids: LIST<STRING>) read
// Names that may be the same as some others: by key, as acronyms of each other, or since they name one entity so far.
CALL () {
  MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(key) WHERE n.key IN $keys RETURN n.id AS id
UNION
  MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(initials) WHERE n.initials IN $acronyms RETURN n.id AS id
UNION
  MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(acronym) WHERE n.acronym IN $initials RETURN n.id AS id
UNION
  MATCH (e:__Entity__ {workspace: $workspace})<-[:NAMES]-(n:EntityName) USING INDEX e:__Entity__(id) WHERE e.id IN $entity_ids
  RETURN n.id AS id
}
WITH id WHERE NOT id IN $ids
RETURN id;

// name: chunk_extractions(workspace: STRING, chunk_ids: LIST<STRING>) read
// What was extracted from chunks, as it was written, each mention with the entity that it belongs to.
MATCH (c:Chunk {workspace: $workspace}) USING INDEX c:Chunk(id) WHERE c.id IN $chunk_ids
RETURN c.id AS chunk_id, c.outcome AS outcome, c.reason AS reason, c.extractor AS extractor,
       COLLECT {
         MATCH (c)<-[m:FROM_CHUNK]-(e:__Entity__) MATCH (n:EntityName {id: m.name_id})
         RETURN {name_id: m.name_id, name: n.name, entity_id: e.id, as_written: m.as_written, type: m.type,
                 description: m.description, alias_of: coalesce(m.alias_of, [])}
         ORDER BY m.name_id
       } AS mentions,
       COLLECT {
         MATCH (c)<-[s:STATED_IN]-(:Fact)
         RETURN {subject_name: s.subject_name, object_name: s.object_name, predicate: s.predicate, quote: s.quote,
                 description: s.description, weight: s.weight}
         ORDER BY s.subject_name, s.predicate, s.object_name
       } AS facts
ORDER BY chunk_id;

// name: settle_names(workspace: STRING, rows: LIST<MAP>) write
// End the resolution of names: each stands for these entities and no others, and is the same as these names for these reasons.
UNWIND $rows AS row
MATCH (n:EntityName {id: row.id, workspace: $workspace}) USING INDEX n:EntityName(id)
CALL (n, row) {
  MATCH (n)-[old:NAMES]->(e:__Entity__) WHERE NOT e.id IN row.entity_ids
  SET e:Stale DELETE old
}
CALL (n, row) {
  MATCH (n)-[old:SAME_AS]->(other:EntityName) WHERE NOT other.id IN [one IN row.same_as | one.id] DELETE old
}
CALL (n, row) {
  UNWIND row.same_as AS one
  MATCH (other:EntityName {id: one.id})
  MERGE (n)-[r:SAME_AS]->(other)
  SET r.reason = one.reason, r.score = one.score
}
REMOVE n:Stale;

// name: fresh_names(workspace: STRING, ids: LIST<STRING>) write
// End the resolution of names of which nothing changed.
MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(id) WHERE n.id IN $ids
REMOVE n:Stale;

// name: drop_names(workspace: STRING, ids: LIST<STRING>) write
// Remove names that no chunk mentions any more, with what a model decided about them; whom they named becomes stale.
MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(id) WHERE n.id IN $ids
CALL (n) {
  MATCH (n)-[:NAMES]->(e:__Entity__) SET e:Stale
}
CALL (n) {
  MATCH (r:ResolutionRule {workspace: $workspace, origin: 'model'}) WHERE n.name IN [r.one, r.other]
  DELETE r
}
DETACH DELETE n;

// name: verifiable_entities(workspace: STRING, after: STRING, limit: INTEGER) read
// Entities with what a model is shown of them, by id.
MATCH (e:__Entity__ {workspace: $workspace}) WHERE e.id > $after AND e.embedding IS NOT NULL
WITH e ORDER BY e.id LIMIT $limit
RETURN e.id AS id, e.name AS name, e.type AS type, e.description AS description, e.embedding AS vector,
       COLLECT {
         MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
         RETURN f.subject + ' ' + f.predicate + ' ' + f.object AS sentence ORDER BY f.weight DESC, f.id LIMIT 8
       } AS facts
ORDER BY id;

// name: mark_names(workspace: STRING, ids: LIST<STRING>) write
// Have it decided anew whom these names stand for.
MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(id) WHERE n.id IN $ids
SET n:Stale;

// name: merges(workspace: STRING) read
// Every pair of names that were found to be one entity, with the reason.
MATCH (a:EntityName {workspace: $workspace})-[r:SAME_AS]->(b:EntityName)
MATCH (a)-[:NAMES]->(e:__Entity__)<-[:NAMES]-(b)
RETURN DISTINCT e.id AS entity_id, e.name AS entity, a.name AS one, b.name AS other, r.reason AS reason, r.score AS score
ORDER BY entity, one, other;

// name: resolution_rules(workspace: STRING) read
// What users decided: names that are one entity (`together`) and names that are not (`apart`).
MATCH (r:ResolutionRule {workspace: $workspace})
RETURN r.one AS one, r.other AS other, r.kind AS kind, r.origin AS origin, r.reason AS reason, r.score AS score
ORDER BY one, other;

// name: put_resolution_rule(id: STRING, workspace: STRING, one: STRING, other: STRING, kind: STRING, origin: STRING, reason: STRING, score: FLOAT) write
// Remember a decision on two names, of the user or a model; the later one on the same two counts.
MERGE (r:ResolutionRule {id: $id})
SET r.workspace = $workspace, r.one = $one, r.other = $other, r.kind = $kind, r.origin = $origin, r.reason = $reason, r.score = $score;

// name: drop_resolution_rule(id: STRING) write
// Forget a decision on two names.
MATCH (r:ResolutionRule {id: $id})
DELETE r;

// name: known_names(workspace: STRING, ids: LIST<STRING>) read
// Which of these names there are.
MATCH (n:EntityName {workspace: $workspace}) USING INDEX n:EntityName(id) WHERE n.id IN $ids
RETURN n.id AS id, n.name AS name;

// name: unread_entities(limit: INTEGER) read
// Entities, of whatever workspace, that an older version stored without a node for their name.
MATCH (e:Unread&__Entity__)
RETURN e.id AS id, e.name AS name LIMIT $limit;

// name: put_names(rows: LIST<MAP>) write
// Give entities that lack one the node of their name.
UNWIND $rows AS row
MATCH (e:Unread&__Entity__ {id: row.id})
MERGE (n:EntityName {id: row.id})
ON CREATE SET n.workspace = e.workspace, n.name = row.name, n:Stale
MERGE (n)-[:NAMES]->(e)
REMOVE e:Unread;
