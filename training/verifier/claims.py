"""A claim with its label, as a row of the file."""

from typing import Any, NamedTuple


class Claim(NamedTuple):
    """The verifier's input and whether the evidence supports the answer.

    `kind` says how the claim was made. `group` is shared by claims that must not be split between training and test.
    """

    text: str
    supported: bool
    kind: str
    group: str

    def to_row(self) -> dict[str, Any]:
        """The claim as a line of the file that `training.router` reads."""
        label = "yes" if self.supported else "no"
        return {"query": self.text, "supported": label, "kind": self.kind, "group": self.group, "split": None}
