// name: reports_citing(workspace: STRING, generation: INTEGER, document_ids: LIST<STRING>) read
// Reports of one generation that cite a chunk of these documents, each at the finest level that it stands at, with the
// number of entities there and all chunks that it cites.
MATCH (d:Document {workspace: $workspace}) USING INDEX d:Document(id) WHERE d.id IN $document_ids
MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:CITES]-(:Finding)<-[:HAS_FINDING]-(r:CommunityReport)
WITH DISTINCT r
MATCH (r)-[:REPORTS_ON]->(c:__Community__ {workspace: $workspace, generation: $generation})
WITH r, max(c.level) AS level, min(c.size) AS size
RETURN r.id AS id, level, size,
       COLLECT { MATCH (r)-[:HAS_FINDING]->(:Finding)-[:CITES]->(x:Chunk) WITH DISTINCT x RETURN x.id ORDER BY x.id } AS chunk_ids
ORDER BY id;
