"""Turns rows into sentences for a language model: "The <attribute> of <entity> is <value>." (db3 2.3, 3.2).

Part of the record accompanies the value, so the model can see if it is irrelevant. Many rows come with sums, averages
and tallies, because small models neither count nor add. `crag.graph.wording` puts single values and keys into words.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from crag.graph.conditions import cell_number, means_true
from crag.graph.language import Condition, Key, Operator
from crag.graph.results import Row, Value
from crag.graph.schema import NumberKind, Table, Type
from crag.graph.statement_rows import Selection
from crag.graph.wording import MAX_LISTED, format_number, is_worth_saying, key_in_words, readable, to_be

MAX_CHARACTERS = 3_000
"""A longer text is cut; important parts, such as the number of rows, come first."""
_MAX_DETAILS = 8
"""Further cells of a record that accompany a value."""
_MAX_DETAILS_OF_RECORD = 24
"""Cells of a record that was asked for as a whole."""
_MAX_DETAIL_CHARACTERS = 120
_MAX_ARTICLE_CHARACTERS = 1_500
_MAX_ENTITIES = 3
"""Names of entities in a sentence; the rest are counted."""

_UNSAID = frozenset({"order", "ceremony", "text", "summary", "game_id", "season", "symbol"})
"""Cells that no sentence mentions."""

_PREPOSITIONS = {"date": "on ", "opponent": "against "}
_VENUES = {"Home": "at home", "Away": "away"}
_OUTCOMES = {"W": "won", "D": "drew", "L": "lost"}
"""The graph's letters for the result of a game, as verbs."""

# The operators of conditions in words, before a value, a date, or the name of another key.
_VERB_BEFORE_VALUE = {Operator.EQ: "is", Operator.NEQ: "is not", Operator.GE: "is at least", Operator.LE: "is at most"}
_VERB_BEFORE_DATE = {**_VERB_BEFORE_VALUE, Operator.GE: "is not before", Operator.LE: "is not after"}
_VERB_BEFORE_KEY = {**_VERB_BEFORE_VALUE, Operator.GE: "is above the", Operator.LE: "is below the"}


def verbalise(
    selection: Selection,
    key: str | None,
    *,
    conditions: Sequence[Condition] = (),
    count: Value = None,
    partial: bool = False,
) -> str:
    """The result of a statement in sentences, at most about `MAX_CHARACTERS`.

    `key` is None for whole records. The rows match the `conditions`. `count`, if one is asked for, is the number of
    rows or of entries in the key's lists. `partial`: see `Result`.

    Example: one row of `get_movie` with the key "length" gives "The length of Jaws is 124 minutes. (Also known: release
    date 1975-06-20; ...)".
    """
    rows = selection.matching
    taken = selection.taken
    speaker = _Speaker(selection.table, conditions, partial)
    if count is not None:
        text = speaker.say_count(
            rows,
            taken,
            key,
            count,
        )
    elif not taken:
        text = ""
    elif len(taken) > 1:
        text = speaker.say_tally(taken) + speaker.say_many(rows, taken, key)
    else:
        text = speaker.say_one(rows, taken[0], key)

    if len(text) <= MAX_CHARACTERS:
        return text
    # Half a number at the end would read like a whole one
    whole_words = text[:MAX_CHARACTERS].rsplit(" ", 1)[0]
    return f"{whole_words} ..."


def say_average(mean: float, value_count: int, rows: Sequence[Row]) -> str:
    """The sentence of `average`: "The average of these 12 values of Jaws is 3.5."."""
    values = "this 1 value" if value_count == 1 else f"these {value_count:,} values"
    return f"The average of {values}{_of_entities(rows)} is {format_number(mean)}."


def say_nothing_found(
    table: Table,
    rows: Sequence[Row],
    key: str | None,
    conditions: Sequence[Condition],
) -> str:
    """Why there are no values, as a clause: none of the `rows` meets the conditions, or they lack the key."""
    if not rows:
        return f"there are no {table.noun} of this kind"

    where = _Speaker(table, conditions, partial=False).where_clause(rows)
    if key is not None and not where:
        return f"the graph does not know the {key_in_words(table, key)} of {_entities(rows)}"
    return f"among the {len(rows):,} {table.noun} of {_entities(rows)} there is none{where}"


class _Speaker:
    """Verbalises rows of one table under the conditions of one statement."""

    def __init__(self, table: Table, conditions: Sequence[Condition], partial: bool) -> None:
        self._table = table
        self._partial = partial

        # "Oscar wins" instead of "Oscar nominations where the winner is true".
        says_won = [condition for condition in conditions if _asks_for_wins(table, condition)]
        self.noun = "Oscar wins" if says_won else table.noun
        self._conditions = [condition for condition in conditions if condition not in says_won]

    # --- one row ------------------------------------------------------------------------------------------------------

    def say_one(self, rows: Sequence[Row], taken: Row, key: str | None) -> str:
        """The value or the record of the one row that was taken, and how many others match."""
        text = self.say_value(taken, key) if key is not None else self.say_record(taken)
        # The model should know that this row is one of several
        unsaid_count = len(rows) - 1
        if unsaid_count > 0 and self._table.take != "all":
            text += f" ({unsaid_count:,} more {self.noun} match.)"
        return text

    def say_value(self, row: Row, key: str) -> str:
        """One value with its record."""
        # The summary is the whole article, which a record shortens
        if key == "summary":
            return self.say_record(row)

        value = row.cells.get(key)
        column = self._table.columns.get(key)
        label = key_in_words(self._table, key)
        subject = self._subject(row, without=key)
        sentence = f"The {label} of {subject} {to_be(value, column)} {readable(value, column)}."

        other_keys = [other for other in row.cells if other != key and other not in self._table.identity]
        details = self._details(row, other_keys, limit=_MAX_DETAILS)
        return f"{sentence} (Also known: {details}.)" if details else sentence

    def say_record(self, row: Row) -> str:
        """All of one record."""
        keys = [key for key in row.cells if key not in self._table.identity]
        details = self._details(row, keys, limit=_MAX_DETAILS_OF_RECORD)

        article = row.cells.get("text")
        if isinstance(article, str) and article:
            facts = f" Its facts: {details}." if details else ""
            return f"{row.entity}: {article[:_MAX_ARTICLE_CHARACTERS]}{facts}"

        subject = self._subject(row)
        return f"{subject}: {details}." if details else f"{subject} is known, without details."

    # --- many rows ----------------------------------------------------------------------------------------------------

    def say_many(self, rows: Sequence[Row], taken: Sequence[Row], key: str | None) -> str:
        """How many rows; then each row's value with its identity and statistics, or each row's short cells."""
        head = self._head(rows, taken)
        # At most `MAX_LISTED` names, so the lists below end there too
        names = self._distinguishing_names(taken, without=key)
        if key is None:
            records = [self._record_item(row, name) for row, name in zip(taken, names, strict=False)]
            record_list = "; ".join(records) + _and_more(taken)
            return f"{head} {record_list}."

        column = self._table.columns.get(key)
        is_one_entity = len({row.entity for row in taken}) == 1
        items = []
        for row, name in zip(taken, names, strict=False):
            text = readable(row.cells.get(key), column)
            owner = name
            # Nothing else tells the rows apart, but they belong to different entities
            if not owner and not is_one_entity:
                owner = row.entity
            items.append(f"{text} ({owner})" if owner else text)

        label = key_in_words(self._table, key)
        item_list = "; ".join(items) + _and_more(taken)
        return f"{head} The {label} of each: {item_list}.{self._statistics(taken, key)}"

    def say_count(
        self,
        rows: Sequence[Row],
        taken: Sequence[Row],
        key: str | None,
        count: Value,
    ) -> str:
        """A number and what it counts."""
        # The entries of a list are counted, or else the rows.
        column = self._table.columns.get(key) if key is not None else None
        list_key = key if column is not None and column.type.is_list else None
        noun = key_in_words(self._table, list_key) if list_key is not None else self.noun

        number = format_number(count) if isinstance(count, int | float) else str(count)
        if self._partial:
            number = f"at least {number}"
        sentence = f"The number of {noun}{_of_entities(rows)}{self.where_clause(rows)} is {number}."

        if list_key is not None and taken:
            entries = readable(taken[0].cells.get(list_key), column)
            return f"{sentence} They are: {entries}."
        if not any(self._row_name(row) for row in rows):
            return sentence
        return f"{sentence} {self._named_rows(rows)}"

    def _named_rows(self, rows: Sequence[Row]) -> str:
        """What was counted, by name: "They are: Jaws, 1975; Duel, 1971."."""
        # `_distinguishing_names` ends where the list does, so there can be more rows than names.
        names = [name or row.entity for row, name in zip(rows, self._distinguishing_names(rows), strict=False)]
        name_list = "; ".join(names) + _and_more(rows)
        they_are = "It is" if len(rows) == 1 else "They are"
        return f"{they_are}: {name_list}."

    def say_tally(self, games: Sequence[Row]) -> str:
        """Wins, losses and points over several games of a team; empty for rows that are no such games."""
        is_games_table = {"result", "opponent", "GF"} <= set(self._table.columns)
        if not is_games_table or len({game.entity for game in games}) > 1:
            return ""

        parts: list[str] = []
        for letter, outcome in _OUTCOMES.items():
            games_of_outcome = [game for game in games if game.cells.get("result") == letter]
            if games_of_outcome:
                parts.append(_tally_part(outcome, games_of_outcome))
        # None of the games has a known result
        if not parts:
            return ""

        # Games to come have no result, and no goals that count.
        played = [game for game in games if game.cells.get("result")]
        scored = sum(cell_number(game.cells.get("GF")) or 0 for game in played)
        conceded = sum(cell_number(game.cells.get("GA")) or 0 for game in played)
        totals = f"In total {format_number(scored)} scored and {format_number(conceded)} conceded."

        tally = ", ".join(parts)
        return f"Of {len(games)} games {games[0].entity} {tally}. {totals} "

    # --- parts of sentences -------------------------------------------------------------------------------------------

    def where_clause(self, rows: Sequence[Row]) -> str:
        """The conditions in words, except those in the entity's name: "the 2012 Academy Awards"."""
        entities = _entities(rows)
        clauses: list[str] = []
        for condition in self._conditions:
            is_in_name = isinstance(condition.value, str) and f" {condition.value} " in f" {entities} "
            if not is_in_name:
                clauses.append(self._condition_in_words(condition))

        if not clauses:
            return ""
        return f" where the {' and the '.join(clauses)}"

    def _condition_in_words(self, condition: Condition) -> str:
        """One condition: "length is at least 120", "closing price is above the opening price"."""
        value = condition.value
        label = key_in_words(self._table, condition.key)
        if isinstance(value, Key):
            other_label = key_in_words(self._table, value.name)
            return f"{label} {_VERB_BEFORE_KEY[condition.operator]} {other_label}"

        column = self._table.column(condition.key)
        is_date = column is not None and column.type is Type.DATE
        verbs = _VERB_BEFORE_DATE if is_date else _VERB_BEFORE_VALUE
        # What `*` stands for can be many values, and stands in the fact before
        value_in_words = value if isinstance(value, str) else "as found before"
        return f"{label} {verbs[condition.operator]} {value_in_words}"

    def _head(self, rows: Sequence[Row], taken: Sequence[Row]) -> str:
        """How many rows of how many, whose, what they all share, and under which conditions."""
        entities = _entities(rows)
        first_row = rows[0]
        shared_keys = _shared_keys(rows)
        shared_texts: list[str] = []
        for key in self._table.identity:
            # What the name of the entity says already is not repeated.
            if key in shared_keys and str(first_row.cells[key]) not in entities:
                text = self._identifying_text(first_row, key)
                shared_texts.append(text)
        about = f" ({', '.join(shared_texts)})" if shared_texts else ""

        number = f"{len(taken):,}"
        if len(taken) != len(rows):
            number = f"{number} of {len(rows):,}"
        elif self._partial:
            number = f"At least {number}"
        return f"{number} {self.noun} of {entities}{about}{self.where_clause(rows)}."

    def _statistics(self, rows: Sequence[Row], key: str) -> str:
        """Sum, average, lowest and highest value, as far as they make sense for the kind of number."""
        column = self._table.columns.get(key)
        # A rank is a number in form only: a sum or average of ranks means nothing
        if column is None or not column.type.is_number or column.kind is NumberKind.RANK:
            return ""

        cell_numbers = [cell_number(row.cells.get(key)) for row in rows]
        numbers = [number for number in cell_numbers if number is not None]
        if len(numbers) < 2:
            return ""

        # Only amounts have a sum that makes sense; prices and ratios do not.
        mean = readable(fmean(numbers), column)
        if column.kind is NumberKind.AMOUNT:
            means = f"sum is {readable(sum(numbers), column)}, the average {mean}"
        else:
            means = f"average is {mean}"
        low = readable(min(numbers), column)
        high = readable(max(numbers), column)
        return f" The {means}, the lowest {low}, the highest {high}."

    def _record_item(self, row: Row, name: str) -> str:
        """A row in a list of records: what identifies it, and its short cells."""
        keys = [key for key in row.cells if key in self._table.columns and key not in self._table.identity]
        details = self._details(
            row,
            keys,
            limit=_MAX_DETAILS,
            separator=", ",
        )
        subject = name or row.entity
        return f"{subject}: {details}" if details else subject

    def _details(
        self,
        row: Row,
        keys: Sequence[str],
        *,
        limit: int,
        separator: str = "; ",
    ) -> str:
        """The first short cells of a record: "length 180 minutes; genres Drama and History"."""
        details: list[str] = []
        for key in keys:
            if len(details) == limit:
                break
            if not self._is_detail(row, key):
                continue
            text = readable(row.cells[key], self._table.columns.get(key))
            # A long cell is left out, not cut: half a list would read like the whole
            if len(text) <= _MAX_DETAIL_CHARACTERS:
                details.append(f"{key_in_words(self._table, key)} {text}")
        return separator.join(details)

    def _is_detail(self, row: Row, key: str) -> bool:
        if key in _UNSAID or not is_worth_saying(row.cells.get(key)):
            return False

        # Keys of ours have blanks ("directed by"); other unlisted keys are the server's internals.
        is_listed = key in self._table.columns or " " in key or self._table.extra_keys
        if key != "original_title":
            return is_listed
        titles = {row.cells.get("title"), row.cells.get("movie_name")}
        return is_listed and row.cells[key] not in titles

    # --- what identifies a row ----------------------------------------------------------------------------------------

    def _subject(self, row: Row, without: str | None = None) -> str:
        """The subject of a sentence about a row: "Jaws (1975)", "ABC on 2024-02-28"."""
        name = self._row_name(row, without)
        if name and self._table.identity == ("time",):
            return f"{row.entity} on {name}"
        return f"{row.entity} ({name})" if name else row.entity

    def _row_name(self, row: Row, without: str | None = None) -> str:
        """What identifies a row by itself: a title and year, a day and an opponent; nothing that its entity says."""
        parts: list[str] = []
        for key in self._identifying_keys(row, without):
            if str(row.cells[key]) not in row.entity:
                part = self._identifying_text(row, key)
                parts.append(part)
        return ", ".join(parts)

    def _distinguishing_names(self, rows: Sequence[Row], without: str | None = None) -> list[str]:
        """What distinguishes each of the first `MAX_LISTED` rows; nothing that all rows share."""
        if len(rows) == 1:
            return [self._row_name(rows[0], without)]

        shared_keys = _shared_keys(rows)
        names: list[str] = []
        for row in rows[:MAX_LISTED]:
            keys = [key for key in self._identifying_keys(row, without) if key not in shared_keys]
            names.append(", ".join(self._identifying_text(row, key) for key in keys))
        return names

    def _identifying_keys(self, row: Row, without: str | None) -> list[str]:
        """The identifying keys that the row has, except `without`, which is said anyway."""
        keys = [key for key in self._table.identity if key != without]
        return [key for key in keys if is_worth_saying(row.cells.get(key))]

    def _identifying_text(self, row: Row, key: str) -> str:
        """An identifying cell; of a game "on 2024-02-28", "at home", "against Chelsea"."""
        text = readable(row.cells[key], self._table.columns.get(key))
        # Only games read like "on 2024-02-28, against Chelsea"
        if "opponent" not in self._table.columns:
            return text
        return _VENUES.get(text, _PREPOSITIONS.get(key, "") + text)


def _asks_for_wins(table: Table, condition: Condition) -> bool:
    """Whether a condition selects the Oscar nominations that won."""
    if table.noun != "Oscar nominations" or condition.key != "winner" or condition.operator is not Operator.EQ:
        return False
    return isinstance(condition.value, str) and means_true(condition.value)


def _tally_part(outcome: str, games: Sequence[Row]) -> str:
    """One outcome of a tally: "won 2 (1 at home, 1 away; against Chelsea, Everton)"."""
    home_count = sum(game.cells.get("venue") == "Home" for game in games)
    away_count = len(games) - home_count

    # Met twice: "Chelsea 2 times"
    opponents = Counter(str(game.cells.get("opponent")) for game in games)
    names = [f"{name} {times} times" if times > 1 else name for name, times in opponents.items()]
    against = ", ".join(names)
    return f"{outcome} {len(games)} ({home_count} at home, {away_count} away; against {against})"


def _shared_keys(rows: Sequence[Row]) -> frozenset[str]:
    """The keys with the same value in all rows."""
    first_row, *later_rows = rows
    shared: set[str] = set()
    for key, value in first_row.cells.items():
        if is_worth_saying(value) and all(row.cells.get(key) == value for row in later_rows):
            shared.add(key)
    return frozenset(shared)


def _entities(rows: Sequence[Row]) -> str:
    """The names of the rows' entities: "A and B", "A, B, C and 2 others"."""
    # Each entity once, in the order of the rows
    names = list(dict.fromkeys(row.entity for row in rows))
    if len(names) <= _MAX_ENTITIES:
        return " and ".join(names)
    return f"{', '.join(names[:_MAX_ENTITIES])} and {len(names) - _MAX_ENTITIES:,} others"


def _of_entities(rows: Sequence[Row]) -> str:
    return f" of {_entities(rows)}" if rows else ""


def _and_more(rows: Sequence[Row]) -> str:
    return f" and {len(rows) - MAX_LISTED:,} more" if len(rows) > MAX_LISTED else ""
