// name: take_lease(name: STRING, owner: STRING, dead: STRING, ttl_s: INTEGER) write
// Take the lease when it is free, expired (by the server's clock), already ours or that of a holder known to be dead; says
// who has it. One that expired while nobody else took it is still ours.
MERGE (l:Lease {name: $name})
ON CREATE SET l.owner = $owner, l.token = 0, l.expires_at = datetime() - duration('PT1S')
SET l.locked = true
REMOVE l.locked
WITH l, (l.expires_at <= datetime() OR l.owner IN [$owner, $dead]) AS free
FOREACH (_ IN CASE WHEN free THEN [1] ELSE [] END |
  SET l.token = l.token + CASE WHEN l.owner = $owner AND l.token > 0 THEN 0 ELSE 1 END,
      l.owner = $owner, l.expires_at = datetime() + duration({seconds: $ttl_s}))
RETURN free AS taken, l.owner AS owner, l.token AS token, toString(l.expires_at) AS expires_at;

// name: release_lease(name: STRING, owner: STRING) write
// Give the lease back if it is still ours.
MATCH (l:Lease {name: $name, owner: $owner})
SET l.expires_at = datetime() - duration('PT1S');

// name: start_run(id: STRING, workspace: STRING, job: STRING, owner: STRING) write
// Record the start of a job. Others of the workspace that still count as running are dead: its lease is ours.
CALL () {
  MATCH (dead:JobRun {workspace: $workspace, state: 'running'})
  SET dead.state = 'failed', dead.error = 'ended without a word', dead.finished_at = datetime()
}
MERGE (r:JobRun {id: $id})
SET r.workspace = $workspace, r.job = $job, r.owner = $owner, r.state = 'running', r.started_at = datetime();

// name: finish_run(id: STRING, state: STRING, result: STRING, error: STRING) write
// Record the end of a job; `result` is JSON text.
MATCH (r:JobRun {id: $id})
SET r.state = $state, r.result = $result, r.error = $error, r.finished_at = datetime();

// name: recent_runs(workspace: STRING, limit: INTEGER) read
// The latest runs, newest first.
MATCH (r:JobRun {workspace: $workspace})
RETURN r.id AS id, r.job AS job, r.state AS state, toString(r.started_at) AS started_at,
       toString(r.finished_at) AS finished_at, r.result AS result, r.error AS error
ORDER BY r.started_at DESC, id LIMIT $limit;

// name: unfinished_chunks(workspace: STRING, limit: INTEGER) read
// Chunks whose extraction is missing or failed, with their document and the reason.
MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document)
WHERE c.outcome IN ['pending', 'failed', 'truncated', 'refused']
RETURN d.uri AS document_uri, c.index AS index, c.outcome AS outcome, coalesce(c.reason, '') AS reason
ORDER BY document_uri, index LIMIT $limit;
