// What model calls answered and cost.
CREATE CONSTRAINT model_call_id IF NOT EXISTS FOR (n:ModelCall) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT model_batch_id IF NOT EXISTS FOR (n:ModelBatch) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT spend_id IF NOT EXISTS FOR (n:Spend) REQUIRE n.id IS UNIQUE;
CREATE INDEX model_call_workspace IF NOT EXISTS FOR (n:ModelCall) ON (n.workspace);
CREATE INDEX model_batch_workspace IF NOT EXISTS FOR (n:ModelBatch) ON (n.workspace);
CREATE INDEX spend_workspace IF NOT EXISTS FOR (n:Spend) ON (n.workspace);
