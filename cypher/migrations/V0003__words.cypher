// Words of Chinese, Japanese and Korean are found as pairs of characters. A label marks the nodes that have any, so that
// an index of analyzer `cjk` holds these alone; they stay in the english indexes, where their Latin words are found.
MATCH (n:Chunk) WHERE NOT n:CjkChunk AND n.context + '\n' + n.text =~ '(?s).*[\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\x{20000}-\\x{3ffff}]{2}.*'
CALL (n) { SET n:CjkChunk } IN TRANSACTIONS OF 1000 ROWS;
MATCH (n:__Entity__) WHERE NOT n:CjkEntity AND n.name + reduce(all = '', one IN n.aliases | all + '\n' + one) =~ '(?s).*[\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\x{20000}-\\x{3ffff}]{2}.*'
CALL (n) { SET n:CjkEntity } IN TRANSACTIONS OF 1000 ROWS;
MATCH (n:CommunityReport) WHERE NOT n:CjkReport AND n.title + '\n' + n.summary =~ '(?s).*[\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\x{20000}-\\x{3ffff}]{2}.*'
CALL (n) { SET n:CjkReport } IN TRANSACTIONS OF 1000 ROWS;
MATCH (n:Finding) WHERE NOT n:CjkFinding AND n.summary + '\n' + n.explanation =~ '(?s).*[\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\x{20000}-\\x{3ffff}]{2}.*'
CALL (n) { SET n:CjkFinding } IN TRANSACTIONS OF 1000 ROWS;
// Findings get the word that stands for their workspace, as the nodes of the other full-text indexes have it.
MATCH (r:CommunityReport)-[:HAS_FINDING]->(n:Finding) WHERE n.scope IS NULL
CALL (r, n) { SET n.scope = r.scope } IN TRANSACTIONS OF 1000 ROWS;
// Rules in Python find the exact terms of a chunk; those that were stored without are marked for it.
MATCH (n:Chunk) WHERE n.exact_terms IS NULL AND NOT n:Unread
CALL (n) { SET n:Unread } IN TRANSACTIONS OF 1000 ROWS;
// A filter asks for metadata one by one; documents that have them as one text only are marked as well.
MATCH (n:Document) WHERE n.metadata <> '{}' AND NOT n:Unread
CALL (n) { SET n:Unread } IN TRANSACTIONS OF 1000 ROWS;
CREATE FULLTEXT INDEX chunk_cjk IF NOT EXISTS FOR (n:CjkChunk) ON EACH [n.text, n.context, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
CREATE FULLTEXT INDEX entity_cjk IF NOT EXISTS FOR (n:CjkEntity) ON EACH [n.name, n.aliases, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
CREATE FULLTEXT INDEX report_cjk IF NOT EXISTS FOR (n:CjkReport) ON EACH [n.title, n.summary, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
CREATE FULLTEXT INDEX finding_cjk IF NOT EXISTS FOR (n:CjkFinding) ON EACH [n.summary, n.explanation, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
CREATE FULLTEXT INDEX finding_text IF NOT EXISTS FOR (n:Finding) ON EACH [n.summary, n.explanation, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
// Exact terms (versions, identifiers, error codes) as the text has them, apart from case: no analyzer takes them apart.
CREATE FULLTEXT INDEX chunk_terms IF NOT EXISTS FOR (n:Chunk) ON EACH [n.exact_terms, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
