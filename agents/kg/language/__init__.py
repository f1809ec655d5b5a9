"""The regularised query language of the knowledge graph (db3 section 3.2): text -> program -> its one canonical form.

`parse` reads what a model wrote, `render` writes the canonical form, `constraint` is the grammar for constrained
decoding. docs/kg_language.md teaches the language.
"""

from agents.kg.language.constraint import constraint as constraint
from agents.kg.language.faults import ErrorKind as ErrorKind
from agents.kg.language.faults import Fault as Fault
from agents.kg.language.faults import KgQueryError as KgQueryError
from agents.kg.language.parse import parse as parse
from agents.kg.language.program import Argument as Argument
from agents.kg.language.program import Average as Average
from agents.kg.language.program import Call as Call
from agents.kg.language.program import Condition as Condition
from agents.kg.language.program import Key as Key
from agents.kg.language.program import Operator as Operator
from agents.kg.language.program import Previous as Previous
from agents.kg.language.program import Program as Program
from agents.kg.language.program import Sort as Sort
from agents.kg.language.program import Statement as Statement
from agents.kg.language.program import Take as Take
from agents.kg.language.program import render as render
