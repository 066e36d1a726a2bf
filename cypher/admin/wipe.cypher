// name: wipe(workspace: STRING, confirm: STRING) auto
// Delete everything of one workspace, in batches. Does nothing unless $confirm is 'yes'; constraints and indexes stay.
MATCH (n) WHERE $confirm = 'yes' AND n.workspace = $workspace
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
WITH count(*) AS nodes
RETURN CASE WHEN $confirm = 'yes' THEN 'wiped' ELSE 'refused: confirm is not yes' END AS result, nodes;
