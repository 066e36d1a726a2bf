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

// name: live_communities(workspace: STRING) read
// Communities of the live generation, with the report that each has.
MATCH (s:IndexState {workspace: $workspace})
MATCH (c:__Community__ {workspace: $workspace, generation: s.generation})
OPTIONAL MATCH (c)<-[:REPORTS_ON]-(r:CommunityReport)
RETURN c.id AS id, c.level AS level, c.size AS size, r.id AS report_id, r.title AS title, r.rating AS rating
ORDER BY level, size DESC, id;

// name: live_hierarchy(workspace: STRING) read
// Communities of the live generation with their parent and all members at or below them.
MATCH (s:IndexState {workspace: $workspace})
MATCH (c:__Community__ {workspace: $workspace, generation: s.generation})
OPTIONAL MATCH (c)-[:PARENT_COMMUNITY]->(p:__Community__)
RETURN c.id AS id, c.level AS level, p.id AS parent_id,
       COLLECT {
         MATCH (c)<-[:PARENT_COMMUNITY*0..12]-(:__Community__)<-[:IN_COMMUNITY]-(e:__Entity__)
         RETURN DISTINCT e.id
       } AS member_ids
ORDER BY level, id;

// name: put_communities(workspace: STRING, generation: INTEGER, rows: LIST<MAP>) write
// Write communities of a generation that is being built.
UNWIND $rows AS row
MERGE (c:__Community__ {id: row.id, generation: $generation})
SET c.workspace = $workspace, c.level = row.level, c.size = row.size
WITH c, row
MATCH (p:__Community__ {id: row.parent_id, generation: $generation})
MERGE (c)-[:PARENT_COMMUNITY]->(p);

// name: put_memberships(workspace: STRING, generation: INTEGER, rows: LIST<MAP>) write
// Join each entity to its finest community of a generation that is being built.
UNWIND $rows AS row
MATCH (e:__Entity__ {id: row.entity_id, workspace: $workspace}) USING INDEX e:__Entity__(id)
MATCH (c:__Community__ {id: row.community_id, generation: $generation})
MERGE (e)-[:IN_COMMUNITY]->(c);

// name: report_inputs(workspace: STRING, rows: LIST<MAP>, max_entities: INTEGER, max_facts: INTEGER, max_chunks: INTEGER) read
// All that the reports of communities may be written from, heaviest first and bounded. Sums are rounded, since the last
// digits of a sum depend on the order of its parts.
UNWIND $rows AS row
CALL (row) {
  MATCH (e:__Entity__ {workspace: $workspace}) USING INDEX e:__Entity__(id) WHERE e.id IN row.member_ids
  OPTIONAL MATCH (e)-[r:RELATED_TO]-(other:__Entity__) WHERE other.id IN row.member_ids
  WITH e, round(coalesce(sum(r.weight), 0.0), 6) AS degree
  ORDER BY degree DESC, e.id LIMIT $max_entities
  RETURN collect({id: e.id, name: e.name, type: e.type, description: e.description, aliases: e.aliases,
                  degree: degree}) AS entities
}
CALL (row) {
  MATCH (s:__Entity__ {workspace: $workspace})<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:__Entity__)
  USING INDEX s:__Entity__(id)
  WHERE s.id IN row.member_ids AND o.id IN row.member_ids
  WITH f, s, o ORDER BY f.weight DESC, f.id LIMIT $max_facts
  RETURN collect({id: f.id, subject_id: s.id, object_id: o.id, subject: f.subject, predicate: f.predicate,
                  object: f.object, description: f.description, weight: f.weight,
                  chunk_ids: COLLECT { MATCH (f)-[:STATED_IN]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT 20 }}) AS facts
}
CALL (row) {
  MATCH (e:__Entity__ {workspace: $workspace})-[:FROM_CHUNK]->(c:Chunk) USING INDEX e:__Entity__(id)
  WHERE e.id IN row.member_ids
  WITH c, collect(e.id) AS mentioned
  ORDER BY size(mentioned) DESC, c.id LIMIT $max_chunks
  MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
  WITH c, d, mentioned ORDER BY d.id, c.index, c.id
  RETURN collect({id: c.id, text: c.text, mentioned: mentioned}) AS chunks, count(DISTINCT d) AS documents
}
RETURN row.id AS id, entities, facts, chunks, documents;

// name: reports_by_input(workspace: STRING, input_hashes: LIST<STRING>) read
// Stored reports that were written from these inputs, whoever wrote them.
MATCH (r:CommunityReport {workspace: $workspace}) WHERE r.input_hash IN $input_hashes
RETURN r.id AS id, r.input_hash AS input_hash, r.generator AS generator
ORDER BY id;

// name: put_reports(workspace: STRING, scope: STRING, rows: LIST<MAP>) write
// Write reports with their findings; every finding cites the chunks and facts that support it.
UNWIND $rows AS row
MERGE (r:CommunityReport {id: row.id})
ON CREATE SET r:Pending
SET r.workspace = $workspace, r.scope = $scope, r.title = row.title, r.summary = row.summary, r.rating = row.rating,
    r.rating_explanation = row.rating_explanation, r.generator = row.generator, r.input_hash = row.input_hash
FOREACH (_ IN CASE WHEN row.cjk THEN [1] ELSE [] END | SET r:CjkReport)
WITH r, row
UNWIND row.findings AS part
MERGE (f:Finding {id: part.id})
ON CREATE SET f:Pending
SET f.workspace = $workspace, f.scope = $scope, f.number = part.number, f.summary = part.summary, f.explanation = part.explanation
FOREACH (_ IN CASE WHEN part.cjk THEN [1] ELSE [] END | SET f:CjkFinding)
MERGE (r)-[:HAS_FINDING]->(f)
WITH f, part
CALL (f, part) {
  UNWIND part.chunk_ids AS chunk_id
  MATCH (c:Chunk {id: chunk_id}) MERGE (f)-[:CITES]->(c)
}
CALL (f, part) {
  UNWIND part.fact_ids AS fact_id
  MATCH (x:Fact {id: fact_id}) MERGE (f)-[:CITES]->(x)
};

// name: attach_reports(workspace: STRING, generation: INTEGER, rows: LIST<MAP>) write
// Join reports to the communities of a generation that is being built.
UNWIND $rows AS row
MATCH (c:__Community__ {id: row.community_id, generation: $generation, workspace: $workspace})
MATCH (r:CommunityReport {id: row.report_id, workspace: $workspace}) USING INDEX r:CommunityReport(id)
MERGE (r)-[:REPORTS_ON]->(c);

// name: switch_generation(workspace: STRING, generation: INTEGER) write
// Make a finished generation the live one: the one write that readers notice.
MATCH (s:IndexState {workspace: $workspace})
SET s.generation = $generation;

// name: drop_generations(workspace: STRING, keep: LIST<INTEGER>) write
// Remove communities of every generation but those to be kept.
MATCH (c:__Community__ {workspace: $workspace}) WHERE NOT c.generation IN $keep
DETACH DELETE c;

// name: drop_unused_reports(workspace: STRING) write
// Remove reports that no community has any more, with their findings.
MATCH (r:CommunityReport {workspace: $workspace}) WHERE NOT (r)-[:REPORTS_ON]->(:__Community__)
OPTIONAL MATCH (r)-[:HAS_FINDING]->(f:Finding)
DETACH DELETE f, r;
