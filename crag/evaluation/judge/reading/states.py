"""The codes of the American states in addresses, written in full: "Austin, TX" is Austin, Texas."""

import re

_STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
    "CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia",
    "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky",
    "LA": "Louisiana", "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
    "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire",
    "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota",
    "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island",
    "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont",
    "VA": "Virginia", "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
}  # fmt: skip
_CODE = re.compile(rf"(?<=[A-Za-z],\s)(?P<code>{'|'.join(_STATES)})(?=\s{{0,9}}(?:[.,;)]|\d{{5}}|$))")
"""Behind the comma of a town and in capitals: "or", "me" and "in" are words."""


def write_states_in_full(text: str) -> str:
    """The text with the codes of states as names.

    >>> write_states_in_full("Austin, TX")
    'Austin, Texas'
    """
    return _CODE.sub(lambda match: _STATES[match["code"]], text) if "," in text else text
