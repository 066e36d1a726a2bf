// name: model_calls(workspace: STRING, ids: LIST<STRING>) read
// Answers that are kept, by id, with the tokens that they cost.
MATCH (m:ModelCall {workspace: $workspace}) USING INDEX m:ModelCall(id) WHERE m.id IN $ids
RETURN m.id AS id, m.model AS model, m.answer AS answer, m.input_tokens AS input_tokens, m.output_tokens AS output_tokens;

// name: kept_model_calls(workspace: STRING, ids: LIST<STRING>) read
// Which of these answers are kept.
MATCH (m:ModelCall {workspace: $workspace}) USING INDEX m:ModelCall(id) WHERE m.id IN $ids
RETURN m.id AS id;

// name: put_model_calls(workspace: STRING, rows: LIST<MAP>) write
// Keep answers of a language model; the first answer to a call stays.
UNWIND $rows AS row
MERGE (m:ModelCall {id: row.id})
ON CREATE SET m.workspace = $workspace, m.model = row.model, m.answer = row.answer, m.input_tokens = row.input_tokens,
              m.output_tokens = row.output_tokens, m.created_at = datetime();

// name: link_calls(workspace: STRING, rows: LIST<MAP>) write
// Say which answers the extraction of a chunk was read from; they go with the last chunk that they were read for.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.chunk_id}) WHERE c.workspace = $workspace
UNWIND row.calls AS id
MATCH (m:ModelCall {id: id}) WHERE m.workspace = $workspace
MERGE (m)-[:READ]->(c);

// name: drop_unread_calls(workspace: STRING) write
// Forget the answers that no chunk was read from: those of deleted chunks, and those of a run that was killed before it used them.
MATCH (m:ModelCall {workspace: $workspace}) WHERE NOT (m)-[:READ]->(:Chunk)
DETACH DELETE m
RETURN count(*) AS dropped;

// name: read_model_calls(workspace: STRING, model: STRING, limit: INTEGER) read
// The latest answers of a model, each with the passage that it was asked about: what an estimate learns from.
MATCH (m:ModelCall {workspace: $workspace}) USING INDEX m:ModelCall(workspace)
WHERE m.model = $model AND m.input_tokens > 0
WITH m ORDER BY m.created_at DESC, m.id LIMIT $limit
MATCH (m)-[:READ]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WITH m, c, d ORDER BY c.id
WITH m, collect({chunk_id: c.id, index: c.index, text: c.text, start: c.start, end: c.end, tokens: c.tokens, heading: c.heading,
                 context: c.context, document_id: d.id, uri: d.uri, title: d.title})[0] AS passage
RETURN m.id AS id, m.input_tokens AS input_tokens, m.output_tokens AS output_tokens, passage
ORDER BY id;

// name: put_spends(workspace: STRING, run: STRING, job: STRING, rows: LIST<MAP>) write
// Record what a run has spent so far; a later record of the same run takes its place.
UNWIND $rows AS row
MERGE (s:Spend {id: row.id})
ON CREATE SET s.workspace = $workspace, s.run = $run, s.job = $job, s.created_at = datetime()
SET s.stage = row.stage, s.model = row.model, s.calls = row.calls, s.cached = row.cached, s.input_tokens = row.input_tokens,
    s.output_tokens = row.output_tokens, s.cost = row.cost;

// name: total_spends(workspace: STRING) read
// What a workspace has cost by stage and model; `cost` has no value where the price of a call is not known.
MATCH (s:Spend {workspace: $workspace})
WITH s.stage AS stage, s.model AS model, collect(s) AS spends
RETURN stage, model, reduce(n = 0, s IN spends | n + s.calls) AS calls, reduce(n = 0, s IN spends | n + s.cached) AS cached,
       reduce(n = 0, s IN spends | n + s.input_tokens) AS input_tokens,
       reduce(n = 0, s IN spends | n + s.output_tokens) AS output_tokens,
       CASE WHEN any(s IN spends WHERE s.cost IS NULL) THEN null ELSE reduce(n = 0.0, s IN spends | n + s.cost) END AS cost
ORDER BY stage, model;

// name: put_model_batch(workspace: STRING, row: MAP) write
// Record a batch of calls and how far it is.
MERGE (b:ModelBatch {id: $row.id})
ON CREATE SET b.created_at = datetime()
SET b += $row, b.workspace = $workspace;

// name: model_batches(workspace: STRING) read
// The batches of calls that were sent, oldest first.
MATCH (b:ModelBatch {workspace: $workspace})
RETURN b.id AS id, b.input_file AS input_file, b.remote_id AS remote_id, b.model AS model, b.state AS state,
       b.requests AS requests, b.failed AS failed, b.cost AS cost
ORDER BY b.created_at, id;

// name: drop_model_batches(workspace: STRING) write
// Forget batches whose answers were taken in.
MATCH (b:ModelBatch {workspace: $workspace}) WHERE b.state = 'done'
DETACH DELETE b;
