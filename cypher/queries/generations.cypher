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
