// The names of entities are nodes: several names may name one entity, and namesakes share one name. `key`, `initials` and
// `acronym` are hashes by which names that could be one entity are found; `SAME_AS` says why two names are one.
CREATE CONSTRAINT entity_name_id IF NOT EXISTS FOR (n:EntityName) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT resolution_rule_id IF NOT EXISTS FOR (n:ResolutionRule) REQUIRE n.id IS UNIQUE;
CREATE INDEX entity_name_workspace IF NOT EXISTS FOR (n:EntityName) ON (n.workspace);
CREATE INDEX entity_name_key IF NOT EXISTS FOR (n:EntityName) ON (n.key);
CREATE INDEX entity_name_initials IF NOT EXISTS FOR (n:EntityName) ON (n.initials);
CREATE INDEX entity_name_acronym IF NOT EXISTS FOR (n:EntityName) ON (n.acronym);
CREATE INDEX resolution_rule_workspace IF NOT EXISTS FOR (n:ResolutionRule) ON (n.workspace);
// Until now an entity was one name, whose id was the entity's.
MATCH (e:__Entity__)-[m:FROM_CHUNK]->(:Chunk) WHERE m.name_id IS NULL
CALL (e, m) { SET m.name_id = e.id } IN TRANSACTIONS OF 1000 ROWS;
MATCH (s:__Entity__)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:__Entity__)
MATCH (f)-[t:STATED_IN]->(:Chunk) WHERE t.subject_name IS NULL
CALL (s, o, t) { SET t.subject_name = s.id, t.object_name = o.id } IN TRANSACTIONS OF 1000 ROWS;
MATCH (e:__Entity__) WHERE NOT (e)<-[:NAMES]-(:EntityName) AND NOT e:Unread
CALL (e) { SET e:Unread } IN TRANSACTIONS OF 1000 ROWS;
