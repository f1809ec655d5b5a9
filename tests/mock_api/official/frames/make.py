"""Writes the frame that the pickles beside this file hold: python make.py FILE PROTOCOL [convert], any pandas.

`pandas_1.5.3`, `pandas_2.0.3` (that of the official server) and `pandas_3.1.1` (with pyarrow's texts) were written so.
"""

import sys
from pathlib import Path

import pandas as pd


def main() -> None:
    file, protocol, *more = sys.argv[1:]
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2024-03-01", "2024-03-01", None]),
            "time": ["12:30:00", None, "20:00:00"],
            "GF": [0, "0", None],
            "xG": [1.5, None, 2.0],
            "Poss": [49, 51, 50],
            "home": [True, False, True],
            "Attendance": pd.array([73601, None, 5], dtype="Int64"),
            "Captain": pd.array(["Anß", None, ""], dtype="string"),
            "round": pd.Categorical(["first", "second", None]),
        },
        index=pd.MultiIndex.from_tuples(
            [("L", "2324", "A", "g1"), ("L", "2324", "B", "g1"), (None, "2324", "B", "g2")],
            names=["league", "season", "team", "game"],
        ),
    )
    if more:
        frame = frame.convert_dtypes()

    frame.to_pickle(Path(file), protocol=int(protocol))


main()
