"""A replacement for the mock API of the CRAG benchmark: its 38 endpoints, formats, misses and quirks over HTTP.

`crag graph serve --port 8000` serves the shipped graph, `serve()` does the same inside a process. The agents and the
evaluator reach the server only through HTTP, as in the competition.
"""

from crag.mock_api.server import create_app, serve
from crag.mock_api.tables import GraphError, Tables, load_tables

__all__ = ["GraphError", "Tables", "create_app", "load_tables", "serve"]
