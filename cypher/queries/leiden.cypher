// name: projection_counts(workspace: STRING) read
// Size of the graph that Leiden would see.
RETURN COUNT { (:__Entity__ {workspace: $workspace}) } AS entities,
       COUNT { (:__Entity__ {workspace: $workspace})-[:RELATED_TO]->() } AS relationships;

// name: project_entities(workspace: STRING, graph_name: STRING) read
// Project the undirected, weighted graph of related entities into the GDS catalog.
MATCH (a:__Entity__ {workspace: $workspace})-[r:RELATED_TO]->(b:__Entity__)
WITH a, r, b ORDER BY a.id, b.id
RETURN gds.graph.project($graph_name, a, b,
  {relationshipType: 'RELATED_TO', relationshipProperties: {weight: r.weight}},
  {undirectedRelationshipTypes: ['*']}) AS graph;

// name: entities_of_nodes(node_ids: LIST<INTEGER>) read
// Entity ids of the node ids that GDS speaks of.
UNWIND $node_ids AS node_id
RETURN node_id, gds.util.asNode(node_id).id AS id;

// name: unrelated_entities(workspace: STRING) read
// Entities without a relationship, each with the document that mentions it first.
MATCH (e:__Entity__ {workspace: $workspace}) WHERE NOT (e)-[:RELATED_TO]-()
MATCH (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN e.id AS id, min(d.id) AS document_id
ORDER BY id;
