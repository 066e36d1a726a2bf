// name: server_components() read
// Name, versions and edition of what runs on the server.
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition;

// name: gds_procedures() read
// Which of the Graph Data Science procedures that the engine calls are there; answers also where GDS is absent.
SHOW PROCEDURES YIELD name
WHERE name IN ['gds.leiden.stream', 'gds.graph.project', 'gds.version']
RETURN name;

// name: gds_version() read
// Version of Graph Data Science; fails where it is absent.
CALL gds.version() YIELD gdsVersion
RETURN gdsVersion AS version;

// name: applied_migrations() read
// Migrations already applied, by version.
MATCH (m:SchemaMigration)
RETURN m.version AS version, m.name AS name, m.checksum AS checksum
ORDER BY version;

// name: record_migration(version: INTEGER, name: STRING, checksum: STRING) write
// Note that a migration was applied.
MERGE (m:SchemaMigration {version: $version})
ON CREATE SET m.name = $name, m.checksum = $checksum, m.applied_at = datetime();

// name: create_chunk_vectors(dimensions: INTEGER) auto
// Vector index over chunks. As all vector indexes without quantization: its scores would depend on how the index came about,
// and an index built again would rank otherwise.
CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (n:Chunk) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_entity_vectors(dimensions: INTEGER) auto
// Vector index over entities.
CREATE VECTOR INDEX entity_embedding IF NOT EXISTS FOR (n:__Entity__) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_fact_vectors(dimensions: INTEGER) auto
// Vector index over facts.
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS FOR (n:Fact) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_report_vectors(dimensions: INTEGER) auto
// Vector index over community reports.
CREATE VECTOR INDEX report_embedding IF NOT EXISTS FOR (n:CommunityReport) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_finding_vectors(dimensions: INTEGER) auto
// Vector index over findings.
CREATE VECTOR INDEX finding_embedding IF NOT EXISTS FOR (n:Finding) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: show_indexes() read
// State of every index of ours, with the length of the vectors where there is one.
SHOW INDEXES YIELD name, type, state, populationPercent, options
WHERE name IN ['chunk_embedding', 'entity_embedding', 'fact_embedding', 'report_embedding', 'finding_embedding',
               'chunk_text', 'entity_name', 'report_text', 'finding_text', 'chunk_terms',
               'chunk_cjk', 'entity_cjk', 'report_cjk', 'finding_cjk']
RETURN name, type, state, populationPercent AS populated,
       coalesce(options.indexConfig['vector.quantization.enabled'], false) AS quantized,
       toInteger(options.indexConfig['vector.dimensions']) AS dimensions
ORDER BY name;

// name: await_indexes(timeout_s: INTEGER) read
// Wait until every index is online; fails after the time-out.
CALL db.awaitIndexes($timeout_s);

// name: drop_chunk_vectors() auto
// Make room for vectors of another length.
DROP INDEX chunk_embedding IF EXISTS;

// name: drop_entity_vectors() auto
// Make room for vectors of another length.
DROP INDEX entity_embedding IF EXISTS;

// name: drop_fact_vectors() auto
// Make room for vectors of another length.
DROP INDEX fact_embedding IF EXISTS;

// name: drop_report_vectors() auto
// Make room for vectors of another length.
DROP INDEX report_embedding IF EXISTS;

// name: drop_finding_vectors() auto
// Make room for vectors of another length.
DROP INDEX finding_embedding IF EXISTS;

// name: bound_workspaces() read
// Every workspace with the embedding model that it is bound to.
MATCH (s:IndexState)
RETURN s.workspace AS workspace, s.embedding_model AS embedding_model, s.dimensions AS dimensions
ORDER BY workspace;

// name: index_state(workspace: STRING) read
// Which embedding model, extractor and live generation a workspace has.
MATCH (s:IndexState {workspace: $workspace})
RETURN s.embedding_model AS embedding_model, s.dimensions AS dimensions, s.extractor AS extractor,
       s.generation AS generation;

// name: create_index_state(workspace: STRING, embedding_model: STRING, dimensions: INTEGER, extractor: STRING) write
// Bind a workspace to its embedding model and its extractor on first use.
MERGE (s:IndexState {workspace: $workspace})
ON CREATE SET s.embedding_model = $embedding_model, s.dimensions = $dimensions, s.extractor = $extractor, s.generation = 0;
