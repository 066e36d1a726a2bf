// name: digest(workspace: STRING) read
// The canonical content of a workspace, one line a node or relationship, without clocks, vectors and generation numbers.
// Two databases that print the same lines hold the same index; hash them to compare.
CALL () {
  MATCH (d:Document {workspace: $workspace})
  RETURN 'document ' + d.id + ' ' + d.uri + ' | ' + d.title + ' | ' + d.content_hash + ' | ' + d.metadata AS line
UNION ALL
  MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document)
  RETURN 'chunk ' + c.id + ' ' + d.id + ' ' + c.index + ' ' + c.start + ' ' + c.end + ' ' + c.outcome + ' ' +
         coalesce(c.page, 0) + ' ' + coalesce(c.line, 0) + ' ' + c.context + ' | ' + c.text AS line
UNION ALL
  MATCH (a:Chunk {workspace: $workspace})-[:NEXT_CHUNK]->(b:Chunk)
  RETURN 'next ' + a.id + ' ' + b.id AS line
UNION ALL
  MATCH (e:__Entity__ {workspace: $workspace})
  RETURN 'entity ' + e.id + ' ' + e.name + ' | ' + e.type + ' | ' + e.description + ' | ' +
         reduce(all = '', alias IN e.aliases | all + alias + ';') AS line
UNION ALL
  MATCH (e:__Entity__ {workspace: $workspace})-[m:FROM_CHUNK]->(c:Chunk)
  RETURN 'mention ' + e.id + ' ' + c.id + ' ' + m.name_id + ' ' + m.type + ' | ' + m.description + ' | ' +
         reduce(all = '', form IN m.as_written | all + form + ';') AS line
UNION ALL
  MATCH (n:EntityName {workspace: $workspace})
  RETURN 'name ' + n.id + ' ' + n.name + ' ' + reduce(all = '', id IN COLLECT { MATCH (n)-[:NAMES]->(e) RETURN e.id ORDER BY e.id } | all + id + ';') +
         reduce(all = '', why IN COLLECT { MATCH (n)-[r:SAME_AS]->(o) RETURN o.id + ' ' + r.reason ORDER BY o.id } | all + why + ';') AS line
UNION ALL
  MATCH (f:Fact {workspace: $workspace})
  RETURN 'fact ' + f.id + ' ' + f.subject + ' | ' + f.predicate + ' | ' + f.object + ' | ' + f.description + ' | ' +
         toString(f.weight) AS line
UNION ALL
  MATCH (f:Fact {workspace: $workspace})-[s:STATED_IN]->(c:Chunk)
  RETURN 'stated ' + f.id + ' ' + c.id + ' ' + s.subject_name + ' ' + s.object_name + ' ' + s.predicate + ' | ' + s.quote + ' | ' + s.description + ' | ' +
         toString(s.weight) AS line
UNION ALL
  MATCH (a:__Entity__ {workspace: $workspace})-[r:RELATED_TO]->(b:__Entity__)
  RETURN 'related ' + a.id + ' ' + b.id + ' ' + r.type + ' ' + toString(r.weight) + ' ' + r.fact_count AS line
UNION ALL
  MATCH (s:IndexState {workspace: $workspace})
  MATCH (e:__Entity__ {workspace: $workspace})-[:IN_COMMUNITY]->(c:__Community__ {generation: s.generation})
  RETURN 'member ' + e.id + ' ' + c.id AS line
UNION ALL
  MATCH (s:IndexState {workspace: $workspace})
  MATCH (r:CommunityReport)-[:REPORTS_ON]->(c:__Community__ {workspace: $workspace, generation: s.generation})
  RETURN 'report ' + r.id + ' ' + c.id + ' ' + c.level + ' ' + r.title + ' | ' + r.summary + ' | ' + toString(r.rating) AS line
UNION ALL
  MATCH (s:IndexState {workspace: $workspace})
  MATCH (c:__Community__ {workspace: $workspace, generation: s.generation})-[:PARENT_COMMUNITY]->(p:__Community__)
  RETURN 'parent ' + c.id + ' ' + p.id AS line
UNION ALL
  MATCH (s:IndexState {workspace: $workspace})
  MATCH (:__Community__ {workspace: $workspace, generation: s.generation})<-[:REPORTS_ON]-(:CommunityReport)
        -[:HAS_FINDING]->(f:Finding)
  RETURN DISTINCT 'finding ' + f.id + ' ' + f.number + ' ' + f.summary + ' | ' + f.explanation + ' | ' +
         reduce(all = '', id IN COLLECT { MATCH (f)-[:CITES]->(x) RETURN x.id ORDER BY x.id } | all + id + ';') AS line
}
RETURN line ORDER BY line;
