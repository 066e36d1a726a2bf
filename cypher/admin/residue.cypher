// name: residue(workspace: STRING, uri: STRING, document_id: STRING, phrase: STRING) read
// What is left of a deleted document. Give its $uri; its $document_id if you know it, else ''; and words that only it held as
// $phrase, else ''. No row means that nothing was found. A URI in the record of a run (`JobRun`) is no content and not listed.
CALL () {
  MATCH (d:Document {workspace: $workspace})
  WHERE d.uri = $uri OR d.uri STARTS WITH $uri + '#' OR d.id = $document_id OR ($uri ENDS WITH '/' AND d.uri STARTS WITH $uri)
        OR (toLower($uri) =~ '.*[.](zip|eml)' AND d.uri STARTS WITH $uri + '/')
  RETURN 'still indexed' AS problem, 'Document' AS kind, d.id AS id, 'uri' AS property
UNION ALL
  MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d:Document)
  WHERE d.uri = $uri OR d.uri STARTS WITH $uri + '#' OR d.id = $document_id OR ($uri ENDS WITH '/' AND d.uri STARTS WITH $uri)
        OR (toLower($uri) =~ '.*[.](zip|eml)' AND d.uri STARTS WITH $uri + '/')
  RETURN 'still indexed' AS problem, 'Chunk' AS kind, c.id AS id, 'text' AS property
UNION ALL
  MATCH (n:Stale {workspace: $workspace})
  RETURN 'awaits rebuilding and may hold words of what is gone' AS problem, [label IN labels(n) WHERE label <> 'Stale'][0] AS kind,
         n.id AS id, '' AS property
UNION ALL
  MATCH (n) WHERE n.workspace = $workspace
  UNWIND keys(n) AS property
  WITH n, property, n[property] AS value
  WITH n, property, CASE WHEN value IS :: STRING NOT NULL THEN [value]
                         WHEN value IS :: LIST<STRING NOT NULL> NOT NULL THEN value ELSE [] END AS texts
  WHERE any(text IN texts WHERE ($document_id <> '' AND text CONTAINS $document_id)
            OR (text = $uri AND NOT n:Document AND NOT n:Chunk)
            OR ($phrase <> '' AND toLower(text) CONTAINS toLower($phrase)))
  RETURN 'holds its id, URI or words' AS problem, labels(n)[0] AS kind, coalesce(n.id, elementId(n)) AS id, property
UNION ALL
  MATCH (n)-[r]->() WHERE n.workspace = $workspace
  UNWIND keys(r) AS property
  WITH n, r, property, r[property] AS value
  WITH n, r, property, CASE WHEN value IS :: STRING NOT NULL THEN [value]
                            WHEN value IS :: LIST<STRING NOT NULL> NOT NULL THEN value ELSE [] END AS texts
  WHERE any(text IN texts WHERE ($document_id <> '' AND text CONTAINS $document_id) OR text = $uri
            OR ($phrase <> '' AND toLower(text) CONTAINS toLower($phrase)))
  RETURN 'holds its id, URI or words' AS problem, type(r) AS kind, coalesce(n.id, elementId(n)) AS id, property
}
RETURN problem, kind, id, property ORDER BY problem, kind, id, property;
