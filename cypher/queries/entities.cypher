// name: put_extractions(workspace: STRING, scope: STRING, rows: LIST<MAP>) write
// Write what was extracted from chunks: entities, their names and mentions, facts and where these are stated. Idempotent: what
// an earlier extraction of the same chunk said is replaced. Which names are one entity is decided anew for all that is touched.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.chunk_id, workspace: $workspace}) USING INDEX c:Chunk(id)
SET c.outcome = row.outcome, c.reason = row.reason, c.extractor = row.extractor, c.extracted_at = datetime()
WITH c, row
CALL (c) {
  MATCH (c)<-[m:FROM_CHUNK]-(e:__Entity__)
  OPTIONAL MATCH (n:EntityName {id: m.name_id})
  SET e:Stale, n:Stale DELETE m
}
CALL (c) {
  MATCH (c)<-[s:STATED_IN]-(f:Fact) SET f:Stale DELETE s
}
CALL (c, row) {
  UNWIND row.mentions AS mention
  MERGE (e:__Entity__ {id: mention.entity_id})
  ON CREATE SET e.workspace = $workspace, e.name = mention.as_written[0], e.scope = $scope, e.type = '',
                e.description = '', e.aliases = []
  MERGE (n:EntityName {id: mention.name_id})
  ON CREATE SET n.workspace = $workspace, n.name = mention.name
  MERGE (n)-[:NAMES]->(e)
  SET e:Stale, n:Stale
  CREATE (e)-[:FROM_CHUNK {name_id: mention.name_id, as_written: mention.as_written, type: mention.type,
                           description: mention.description, alias_of: mention.alias_of}]->(c)
}
CALL (c, row) {
  UNWIND row.facts AS statement
  MATCH (subject:__Entity__ {id: statement.subject_id})
  MATCH (object:__Entity__ {id: statement.object_id})
  MERGE (f:Fact {id: statement.fact_id})
  ON CREATE SET f.workspace = $workspace, f.subject = subject.name, f.predicate = statement.predicate,
                f.object = object.name, f.description = '', f.weight = 0.0
  SET f:Stale
  MERGE (f)-[:SUBJECT]->(subject)
  MERGE (f)-[:OBJECT]->(object)
  CREATE (f)-[:STATED_IN {subject_name: statement.subject_name, object_name: statement.object_name, quote: statement.quote,
                          predicate: statement.predicate, description: statement.description, weight: statement.weight}]->(c)
};

// name: entities_of_names(workspace: STRING, ids: LIST<STRING>) read
// Which entities names stand for, so far.
MATCH (n:EntityName {workspace: $workspace})-[:NAMES]->(e:__Entity__) USING INDEX n:EntityName(id) WHERE n.id IN $ids
RETURN n.id AS name_id, min(e.id) AS entity_id;

// name: stale_facts(workspace: STRING, limit: INTEGER) read
// Facts whose derived properties await rebuilding, each with all its statements.
MATCH (f:Stale&Fact {workspace: $workspace})
WITH f LIMIT $limit
RETURN f.id AS id,
       COLLECT {
         MATCH (f)-[s:STATED_IN]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         RETURN {predicate: s.predicate, description: s.description, weight: s.weight}
         ORDER BY d.id, c.index, c.id, s.subject_name, s.object_name
       } AS statements;

// name: stale_entities(workspace: STRING, limit: INTEGER) read
// Entities whose derived properties await rebuilding, each with all its mentions.
MATCH (e:Stale&__Entity__ {workspace: $workspace})
WITH e LIMIT $limit
RETURN e.id AS id,
       COLLECT {
         MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         RETURN {as_written: m.as_written, type: m.type, description: m.description}
         ORDER BY d.id, c.index, c.id, m.name_id
       } AS mentions;

// name: drop_unsupported_facts(workspace: STRING, ids: LIST<STRING>) write
// Remove facts that no chunk states any more; their entities become stale.
MATCH (f:Fact {workspace: $workspace}) USING INDEX f:Fact(id) WHERE f.id IN $ids AND NOT (f)-[:STATED_IN]->()
MATCH (f)-[:SUBJECT|OBJECT]->(e:__Entity__)
SET e:Stale
WITH DISTINCT f
DETACH DELETE f;

// name: rebuild_facts(workspace: STRING, rows: LIST<MAP>) write
// Set the derived properties of facts; a fact whose text changed awaits a new embedding; its ends become stale.
UNWIND $rows AS row
MATCH (f:Fact {id: row.id, workspace: $workspace}) USING INDEX f:Fact(id)
MATCH (f)-[:SUBJECT]->(subject:__Entity__)
MATCH (f)-[:OBJECT]->(object:__Entity__)
FOREACH (_ IN CASE WHEN f.predicate <> row.predicate THEN [1] ELSE [] END | SET f:Pending)
SET subject:Stale, object:Stale, f.weight = row.weight, f.description = row.description, f.predicate = row.predicate;

// name: drop_unmentioned_entities(workspace: STRING, ids: LIST<STRING>) write
// Remove entities that no chunk mentions any more.
MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id)
WHERE e.id IN $ids AND NOT (e)-[:FROM_CHUNK]->()
DETACH DELETE e;

// name: rebuild_entities(workspace: STRING, rows: LIST<MAP>) write
// Set the derived properties of entities; one whose text changed awaits a new embedding.
UNWIND $rows AS row
MATCH (e:__Entity__ {id: row.id, workspace: $workspace}) USING INDEX e:__Entity__(id)
FOREACH (_ IN CASE WHEN e.embedding IS NULL OR e.name <> row.name OR e.description <> row.description
                   THEN [1] ELSE [] END | SET e:Pending)
FOREACH (_ IN CASE WHEN row.cjk THEN [1] ELSE [] END | SET e:CjkEntity)
FOREACH (_ IN CASE WHEN row.cjk THEN [] ELSE [1] END | REMOVE e:CjkEntity)
SET e.name = row.name, e.type = row.type, e.description = row.description, e.aliases = row.aliases;

// name: rebuild_relationships(workspace: STRING, ids: LIST<STRING>) write
// Aggregate facts into one RELATED_TO per ordered pair of entities, for all pairs that start at the entities named, and
// carry changed names into their facts. Ends the rebuilding of these entities.
MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN $ids
CALL (e) {
  MATCH (e)-[old:RELATED_TO]->(o)
  WHERE NOT EXISTS { (e)<-[:SUBJECT]-(:Fact)-[:OBJECT]->(o) }
  DELETE old
}
CALL (e) {
  MATCH (e)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:__Entity__)
  WHERE o.id <> e.id
  WITH e, o, f ORDER BY f.weight DESC, f.id
  WITH e, o, collect(f.predicate)[0] AS type, round(sum(f.weight), 6) AS weight, count(f) AS facts
  MERGE (e)-[r:RELATED_TO]->(o)
  ON CREATE SET r.workspace = $workspace
  SET r.type = type, r.weight = weight, r.fact_count = facts
}
CALL (e) {
  MATCH (e)<-[:SUBJECT]-(f:Fact)
  FOREACH (_ IN CASE WHEN f.subject <> e.name OR f.embedding IS NULL THEN [1] ELSE [] END |
           SET f:Pending, f.subject = e.name)
}
CALL (e) {
  MATCH (e)<-[:OBJECT]-(f:Fact)
  FOREACH (_ IN CASE WHEN f.object <> e.name OR f.embedding IS NULL THEN [1] ELSE [] END |
           SET f:Pending, f.object = e.name)
}
REMOVE e:Stale;

// name: fresh_facts(workspace: STRING, ids: LIST<STRING>) write
// End the rebuilding of facts.
MATCH (f:Fact {workspace: $workspace}) USING INDEX f:Fact(id) WHERE f.id IN $ids
REMOVE f:Stale;

// name: pending_embeddings(workspace: STRING, limit: INTEGER, refused: LIST<STRING>) read
// Nodes that await an embedding, but for those `refused` by the model in this run, each with the text to embed.
MATCH (n:Pending {workspace: $workspace})
WHERE NOT n.id IN $refused
WITH n LIMIT $limit
RETURN n.id AS id, coalesce(n.context, '') AS context,
       CASE
         WHEN n:Chunk THEN n.context + '\n' + n.text
         WHEN n:__Entity__ THEN n.name + CASE n.description WHEN '' THEN '' ELSE ': ' + n.description END
         WHEN n:Fact THEN n.subject + ' ' + n.predicate + ' ' + n.object
         WHEN n:CommunityReport THEN n.title + '\n' + n.summary
         WHEN n:Finding THEN n.summary + '\n' + n.explanation
       END AS text;

// name: put_embeddings(workspace: STRING, rows: LIST<MAP>) write
// Store embeddings, checked by the caller for length, finiteness and norm, which the server would not complain about.
// A chunk that got another context while it was embedded stays pending.
UNWIND $rows AS row
MATCH (n:Pending {id: row.id, workspace: $workspace}) USING INDEX n:Pending(id)
WHERE coalesce(n.context, '') = row.context
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)
REMOVE n:Pending;
