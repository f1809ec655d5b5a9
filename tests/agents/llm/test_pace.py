import math

from agents.llm.decoding import Pace


def test_unmeasured_work_is_affordable() -> None:
    pace = Pace()
    assert pace.prefill_seconds(10_000) == 0
    assert pace.prefill_tokens(0.1) == math.inf
    assert pace.steps_within(0.1) == math.inf
    assert pace.steps_within(0) == 0


def test_measurements_are_averaged_towards_the_newest() -> None:
    pace = Pace()
    pace.note_prefill(100, 1.0)
    pace.note_decoding(10, 1.0)
    assert pace.prefill_seconds(200) == 2.0
    assert pace.steps_within(1.0) == 10
    for _ in range(30):
        pace.note_prefill(100, 4.0)
        pace.note_decoding(10, 2.0)
    assert math.isclose(pace.prefill_seconds(100), 4.0, rel_tol=1e-3)
    assert math.isclose(pace.steps_within(1.0), 5, rel_tol=1e-3)


def test_tiny_prefills_do_not_count() -> None:
    pace = Pace()
    pace.note_prefill(3, 1.0)
    pace.note_decoding(0, 0.0)
    assert pace.seconds_per_prompt_token is None
    assert pace.seconds_per_step is None


def test_a_quicker_measurement_counts_at_once_and_a_slower_one_in_part() -> None:
    pace = Pace()
    pace.note_prefill(100, 12.0)
    pace.note_decoding(10, 3.0)
    pace.note_prefill(100, 1.0)
    pace.note_decoding(10, 1.0)
    assert pace.prefill_seconds(100) == 1.0
    assert pace.prefill_tokens(1.0) == 100
    assert pace.steps_within(1.0) == 10
    pace.note_prefill(100, 11.0)
    assert 1.0 < pace.prefill_seconds(100) < 11.0
