// name: put_world_entities(workspace: STRING, scope: STRING, rows: LIST<MAP>) write
// Entities that are not there yet with their mentions; those with a description await an embedding.
UNWIND $rows AS row
CREATE (e:__Entity__ {id: row.id, workspace: $workspace, scope: $scope, name: row.name, type: row.type,
                      description: row.description, aliases: []})
FOREACH (_ IN CASE WHEN row.description <> '' THEN [1] ELSE [] END | SET e:Pending)
WITH e, row
UNWIND row.chunk_ids AS chunk_id
MATCH (c:Chunk {id: chunk_id})
CREATE (e)-[:FROM_CHUNK {as_written: [row.name], type: row.type, description: ''}]->(c);

// name: put_world_facts(workspace: STRING, rows: LIST<MAP>) write
// Facts that are not there yet, each with the relationship that it stands for; those marked await an embedding.
UNWIND $rows AS row
MATCH (s:__Entity__ {id: row.subject_id})
MATCH (o:__Entity__ {id: row.object_id})
MATCH (c:Chunk {id: row.chunk_id})
CREATE (s)<-[:SUBJECT]-(f:Fact {id: row.id, workspace: $workspace, subject: s.name, predicate: row.predicate,
                                object: o.name, description: '', weight: row.weight})-[:OBJECT]->(o)
CREATE (f)-[:STATED_IN {quote: '', predicate: row.predicate, description: '', weight: row.weight}]->(c)
CREATE (s)-[:RELATED_TO {workspace: $workspace, type: row.predicate, weight: row.weight, fact_count: 1}]->(o)
FOREACH (_ IN CASE WHEN row.embedded THEN [1] ELSE [] END | SET f:Pending);

// name: finish_world_chunks(workspace: STRING) write
// Chunks of the world count as extracted.
MATCH (c:Chunk {workspace: $workspace})
SET c.outcome = 'done';
