// name: indexes() read
// Every index and whether it is ready for use.
SHOW INDEXES YIELD name, type, state, populationPercent, labelsOrTypes, properties, options
RETURN name, type, state, populationPercent, labelsOrTypes, properties,
       options.indexConfig['vector.dimensions'] AS dimensions, options.indexConfig['fulltext.analyzer'] AS analyzer
ORDER BY type, name;
