// Identity: one node per content id. Uniqueness is what makes every MERGE idempotent.
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (n:Chunk) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:__Entity__) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT community_id IF NOT EXISTS FOR (n:__Community__) REQUIRE (n.id, n.generation) IS UNIQUE;
CREATE CONSTRAINT report_id IF NOT EXISTS FOR (n:CommunityReport) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT finding_id IF NOT EXISTS FOR (n:Finding) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT index_state_workspace IF NOT EXISTS FOR (n:IndexState) REQUIRE n.workspace IS UNIQUE;
CREATE CONSTRAINT job_run_id IF NOT EXISTS FOR (n:JobRun) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT lease_name IF NOT EXISTS FOR (n:Lease) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT schema_migration_version IF NOT EXISTS FOR (n:SchemaMigration) REQUIRE n.version IS UNIQUE;
// Work marked as not yet done: `Pending` awaits an embedding, `Stale` awaits its derived properties.
CREATE INDEX pending_id IF NOT EXISTS FOR (n:Pending) ON (n.id);
CREATE INDEX stale_id IF NOT EXISTS FOR (n:Stale) ON (n.id);
CREATE INDEX community_generation IF NOT EXISTS FOR (n:__Community__) ON (n.workspace, n.generation);
CREATE INDEX entity_workspace IF NOT EXISTS FOR (n:__Entity__) ON (n.workspace);
CREATE INDEX chunk_workspace IF NOT EXISTS FOR (n:Chunk) ON (n.workspace);
CREATE INDEX document_workspace IF NOT EXISTS FOR (n:Document) ON (n.workspace);
CREATE INDEX fact_workspace IF NOT EXISTS FOR (n:Fact) ON (n.workspace);
CREATE INDEX report_input IF NOT EXISTS FOR (n:CommunityReport) ON (n.input_hash);
