"""Categories and credits of the Academy's own records in the words that people use."""

import re
from collections.abc import Iterator

_PLAIN = {
    "BEST PICTURE": "Best Picture",
    "BEST MOTION PICTURE": "Best Picture",
    "OUTSTANDING PICTURE": "Best Picture",
    "OUTSTANDING PRODUCTION": "Best Picture",
    "OUTSTANDING MOTION PICTURE": "Best Picture",
    "DIRECTING": "Best Director",
    "ACTOR": "Best Actor",
    "ACTOR IN A LEADING ROLE": "Best Actor",
    "ACTRESS": "Best Actress",
    "ACTRESS IN A LEADING ROLE": "Best Actress",
    "ACTOR IN A SUPPORTING ROLE": "Best Supporting Actor",
    "ACTRESS IN A SUPPORTING ROLE": "Best Supporting Actress",
    "ANIMATED FEATURE FILM": "Best Animated Feature",
    "DOCUMENTARY FEATURE FILM": "Best Documentary Feature",
    "DOCUMENTARY SHORT FILM": "Best Documentary Short",
    "INTERNATIONAL FEATURE FILM": "Best International Feature",
    "FOREIGN LANGUAGE FILM": "Best Foreign Language Film",
}
OSCAR_ALIASES: dict[str, tuple[str, ...]] = {
    "Best Documentary Feature": ("best documentary feature film", "best feature documentary"),
    "Best Documentary Short": ("best documentary short film", "best documentary short subject"),
    "Best Animated Short Film": ("best animated short", "best short film animated"),
    "Best Live Action Short Film": ("best live action short", "best live action short subject"),
    "Best International Feature": (
        "best international feature film",
        "best foreign language film",
        "best foreign film",
    ),
    "Best Foreign Language Film": ("best foreign film", "best international feature film"),
    "Best Original Song": ("best song",),
    "Best Original Score": ("best score", "best original music score"),
    "Best Film Editing": ("best editing",),
    "Best Special Effects": ("best visual effects",),
    "Best Makeup and Hairstyling": ("best makeup", "best hairstyling"),
    "Best Production Design": ("best art direction",),
}
"""Award -> other names of it, beside those that the shipped table knows."""

_SONG = re.compile(r"MUSIC \(Song(?!.*Score)")
_NOT_BEST = "AWARD"
_KIND = re.compile(r"(?P<field>[A-Z ]+) \((?P<kind>[^()]+)\)")
_FIELD_FIRST = {"DOCUMENTARY": "Documentary {}", "SHORT FILM": "{} Short Film", "SHORT SUBJECT": "{} Short Subject"}
_KIND_ALONE = frozenset({"WRITING", "MUSIC"})

_HONOUR = re.compile(r"To (?P<name>[^,.]+?)(?:,| for | in | whose |\.|$)")
_ROLE = re.compile(r"^(?:[\w ,/&-]+? by|[A-Z][\w /&-]*:)\s+")
_BETWEEN_NAMES = re.compile(r",\s+and\s+|\s+and\s+|\s+&\s+|,\s+")
_TITLE_OF_A_PERSON = frozenset({"producer", "producers", "jr.", "sr."})


def oscar_award(category: str) -> str:
    """``ACTOR IN A LEADING ROLE`` as ``Best Actor``, ``DOCUMENTARY (Feature)`` as ``Best Documentary Feature``."""
    if category in _PLAIN:
        return _PLAIN[category]
    if _NOT_BEST in category.split("(", maxsplit=1)[0]:
        return _title_case(category)
    if _SONG.match(category):
        return "Best Original Song"
    match = _KIND.fullmatch(category)
    return f"Best {_kind_of_field(match['field'], match['kind']) if match else _title_case(category)}"


def oscar_winners(credit: str) -> list[str]:
    """The names in a credit such as ``Screenplay by A and B; Story by C`` or ``D and E, Producers``."""
    honour = _HONOUR.match(credit)
    if honour:
        return [honour["name"]]
    names = [name for part in credit.split(";") for name in _names(_ROLE.sub("", part.strip()))]
    return list(dict.fromkeys(names))


def _names(text: str) -> Iterator[str]:
    previous = ""
    for name in filter(None, _BETWEEN_NAMES.split(text)):
        if name.lower() in {"jr.", "sr."}:
            previous = f"{previous}, {name}"
            continue
        if previous:
            yield previous
        previous = "" if name.lower() in _TITLE_OF_A_PERSON else name
    if previous:
        yield previous


def _kind_of_field(field: str, kind: str) -> str:
    if field in _KIND_ALONE:
        return _title_case(kind) if " " in kind else _title_case(f"{field} {kind}")
    if field in _FIELD_FIRST:
        return _FIELD_FIRST[field].format(_title_case(kind).removesuffix(" Subject"))
    return f"{_title_case(field)} ({kind})"


def _title_case(text: str) -> str:
    small = {"in", "a", "of", "the", "or", "for", "on", "from", "and"}
    words = [word if word in small else word[:1].upper() + word[1:] for word in text.lower().split(" ")]
    return re.sub(r"\((\w)", lambda match: match[0].upper(), " ".join(words))
