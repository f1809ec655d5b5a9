"""crag graph ...: serve, import and query a knowledge graph."""
