"""The regularised query language of the knowledge graph (db3 section 3.2): text -> program -> its one canonical form.

`parse` reads what a model wrote, `render` writes the canonical form, `constraint` is the grammar for constrained
decoding. docs/kg_language.md teaches the language.
"""

from crag.graph.language.constraint import constraint as constraint
from crag.graph.language.constraint import constraint_with_domain as constraint_with_domain
from crag.graph.language.faults import ErrorKind as ErrorKind
from crag.graph.language.faults import Fault as Fault
from crag.graph.language.faults import KgQueryError as KgQueryError
from crag.graph.language.parse import parse as parse
from crag.graph.language.program import Argument as Argument
from crag.graph.language.program import Average as Average
from crag.graph.language.program import Call as Call
from crag.graph.language.program import Condition as Condition
from crag.graph.language.program import Key as Key
from crag.graph.language.program import Operator as Operator
from crag.graph.language.program import Previous as Previous
from crag.graph.language.program import Program as Program
from crag.graph.language.program import Sort as Sort
from crag.graph.language.program import Statement as Statement
from crag.graph.language.program import Take as Take
from crag.graph.language.program import names_in as names_in
from crag.graph.language.program import render as render
