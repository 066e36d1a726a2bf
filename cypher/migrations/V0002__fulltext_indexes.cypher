// BM25 lists. The english analyzer stems and drops stop words; Han text is indexed character by character. `scope` is one
// word that stands for the workspace, so that a query can demand it and other workspaces take up no place in a list.
CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS FOR (n:Chunk) ON EACH [n.text, n.context, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX entity_name IF NOT EXISTS FOR (n:__Entity__) ON EACH [n.name, n.aliases, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX report_text IF NOT EXISTS FOR (n:CommunityReport) ON EACH [n.title, n.summary, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
