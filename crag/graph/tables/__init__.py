"""The tables of each domain: a module per domain, with one function per table of the same name.

A function gets the `LookupContext` of the question and a `TableQuery`, asks the server's endpoints, and returns the
table's rows (`crag.graph.program_run.TableFiller`). Conditions are applied to the rows afterwards.
"""
