// name: floor_documents(workspace: STRING) read
// Documents as they are stored.
MATCH (n:Document {workspace: $workspace}) RETURN properties(n) AS properties;

// name: floor_chunks(workspace: STRING) read
// Chunks as they are stored, but for their vectors.
MATCH (n:Chunk {workspace: $workspace}) RETURN n {.*, embedding: null} AS properties;

// name: floor_entities(workspace: STRING) read
// Entities as they are stored, but for their vectors.
MATCH (n:__Entity__ {workspace: $workspace}) RETURN n {.*, embedding: null} AS properties;

// name: floor_facts(workspace: STRING) read
// Facts as they are stored, but for their vectors.
MATCH (n:Fact {workspace: $workspace}) RETURN n {.*, embedding: null} AS properties;

// name: floor_relationships(workspace: STRING) read
// All relationships between these nodes.
MATCH (a {workspace: $workspace})-[r]->(b {workspace: $workspace})
RETURN type(r) AS type, a.id AS start, b.id AS end, properties(r) AS properties;

// name: write_floor_documents(rows: LIST<MAP>) write
// Create documents.
UNWIND $rows AS row CREATE (n:Document) SET n = row.properties;

// name: write_floor_chunks(rows: LIST<MAP>) write
// Create chunks with their vectors.
UNWIND $rows AS row CREATE (n:Chunk) SET n = row.properties
WITH n, row CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector);

// name: write_floor_entities(rows: LIST<MAP>) write
// Create entities with their vectors.
UNWIND $rows AS row CREATE (n:__Entity__) SET n = row.properties
WITH n, row CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector);

// name: write_floor_facts(rows: LIST<MAP>) write
// Create facts with their vectors.
UNWIND $rows AS row CREATE (n:Fact) SET n = row.properties
WITH n, row CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector);

// name: write_from_document(rows: LIST<MAP>) write
// Join chunks to their documents.
UNWIND $rows AS row MATCH (a:Chunk {id: row.start}) MATCH (b:Document {id: row.end})
CREATE (a)-[r:FROM_DOCUMENT]->(b) SET r = row.properties;

// name: write_next_chunk(rows: LIST<MAP>) write
// Join chunks to the next.
UNWIND $rows AS row MATCH (a:Chunk {id: row.start}) MATCH (b:Chunk {id: row.end})
CREATE (a)-[r:NEXT_CHUNK]->(b) SET r = row.properties;

// name: write_from_chunk(rows: LIST<MAP>) write
// Join entities to the chunks that mention them.
UNWIND $rows AS row MATCH (a:__Entity__ {id: row.start}) MATCH (b:Chunk {id: row.end})
CREATE (a)-[r:FROM_CHUNK]->(b) SET r = row.properties;

// name: write_stated_in(rows: LIST<MAP>) write
// Join facts to the chunks that state them.
UNWIND $rows AS row MATCH (a:Fact {id: row.start}) MATCH (b:Chunk {id: row.end})
CREATE (a)-[r:STATED_IN]->(b) SET r = row.properties;

// name: write_subject(rows: LIST<MAP>) write
// Join facts to their subjects.
UNWIND $rows AS row MATCH (a:Fact {id: row.start}) MATCH (b:__Entity__ {id: row.end})
CREATE (a)-[r:SUBJECT]->(b) SET r = row.properties;

// name: write_object(rows: LIST<MAP>) write
// Join facts to their objects.
UNWIND $rows AS row MATCH (a:Fact {id: row.start}) MATCH (b:__Entity__ {id: row.end})
CREATE (a)-[r:OBJECT]->(b) SET r = row.properties;

// name: write_related_to(rows: LIST<MAP>) write
// Join related entities.
UNWIND $rows AS row MATCH (a:__Entity__ {id: row.start}) MATCH (b:__Entity__ {id: row.end})
CREATE (a)-[r:RELATED_TO]->(b) SET r = row.properties;
