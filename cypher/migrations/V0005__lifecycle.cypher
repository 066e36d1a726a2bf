// What is looked for when a folder is synchronised, and when the age of reports is asked for.
CREATE INDEX document_text_hash IF NOT EXISTS FOR (n:Document) ON (n.text_hash);
CREATE INDEX chunk_extracted_at IF NOT EXISTS FOR (n:Chunk) ON (n.extracted_at);
