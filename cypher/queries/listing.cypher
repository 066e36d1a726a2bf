// name: list_entities(workspace: STRING, contains: STRING, type: STRING, limit: INTEGER) read
// Entities by their number of mentions, most first; `contains` (lower case) is looked for in names and aliases.
MATCH (e:__Entity__ {workspace: $workspace})
WHERE ($type = '' OR e.type = $type)
  AND ($contains = '' OR any(name IN e.aliases + e.name WHERE toLower(name) CONTAINS $contains))
WITH e, COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS mentions
ORDER BY mentions DESC, e.name, e.id LIMIT $limit
RETURN e.id AS id, e.name AS name, e.type AS type, e.description AS description, e.aliases AS aliases, mentions,
       COUNT { MATCH (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) RETURN DISTINCT d } AS documents
ORDER BY mentions DESC, name, id;

// name: entities_named(workspace: STRING, name_id: STRING, entity_id: STRING) read
// The entities that a name stands for, or the one with an id: more than one where there are namesakes.
CALL () {
  MATCH (n:EntityName {id: $name_id, workspace: $workspace}) USING INDEX n:EntityName(id)
  MATCH (n)-[:NAMES]->(e:__Entity__) RETURN e
UNION
  MATCH (e:__Entity__ {id: $entity_id, workspace: $workspace}) USING INDEX e:__Entity__(id) RETURN e
}
RETURN e.id AS id, e.name AS name, e.type AS type, e.description AS description, e.aliases AS aliases,
       COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS mentions,
       COUNT { MATCH (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) RETURN DISTINCT d } AS documents
ORDER BY mentions DESC, name, id;
