from agents.public_data.entity import Attribute, Entity, verbalise


def entity(*attributes: Attribute) -> Entity:
    return Entity(("x",), "movie", "films", attributes)


def test_the_paragraph_reads_as_in_the_paper() -> None:
    film = entity(
        Attribute("title{s}", ("Rain Man",), quoted=True),
        Attribute("director{s}", ("Barry Levinson",)),
        Attribute("lead actor{s}", ("Dustin Hoffman", "Tom Cruise")),
        Attribute("budget{s}", ()),
        Attribute("release year{s}", ("1988",)),
    )
    assert verbalise(film, 10) == (
        'The title is "Rain Man". The director is Barry Levinson. '
        "The lead actors are Dustin Hoffman and Tom Cruise. The release year is 1988."
    )


def test_a_value_that_ends_with_a_full_stop_gets_no_second_one() -> None:
    assert verbalise(entity(Attribute("name", ("Apple Inc.",))), 10) == "The name is Apple Inc."


def test_a_long_list_is_cut_and_its_length_told() -> None:
    films = entity(Attribute("film{s} directed", tuple(f"F{n}" for n in range(7))))
    assert verbalise(films, 3) == "The films directed are F0, F1, F2 and 4 more (7 in all)."
    assert verbalise(films, 7).endswith("F5 and F6 (7 in all).")


def test_what_happened_in_the_year_of_the_question_survives_the_cut() -> None:
    awards = entity(Attribute("award{s} won", tuple(f"Best {n} ({2000 + n})" for n in range(9))))
    assert verbalise(awards, 1, years=(2007,)).startswith("The awards won are Best 7 (2007) and 8 more")
