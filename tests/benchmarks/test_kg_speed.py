"""What the speed benchmark counts: requests asked for and sent, and rivals that send every one of them."""

from benchmarks.kg_execution import BATCH
from benchmarks.kg_speed import BatchCost, measure, report, tasks_of
from tests.agents.kg.faulty_server import FaultyServer

ROW = {
    "domain": "movie",
    "calls": ['get_movie("rain man")["release_date"]'],
    "query_time": "03/05/2024, 23:18:31 PT",
    "answerable": True,
}


def test_a_batch_about_one_film_sends_one_call_and_its_rivals_send_sixteen() -> None:
    tasks = tasks_of([ROW] * BATCH + [ROW | {"answerable": False}])
    assert len(tasks) == BATCH
    with FaultyServer() as server:
        server.results["/movie/get_movie_info"] = [{"title": "Rain Man", "id": 1, "release_date": "1988-12-12"}]
        (cost,) = measure(server.url, tasks, batches=1, seed=0)
    assert (cost.sent, len(cost.asked), len(cost.latencies)) == (1, BATCH, BATCH)
    assert max(cost.latencies) <= cost.seconds
    assert cost.rivals.keys() == {"alone", "one by one", "one session"}
    warm_up = batch = 2  # each once for the clock and once to note what is asked for
    assert len(server.requests) == warm_up + batch + len(cost.rivals) * BATCH


def test_the_report_is_per_question() -> None:
    cost = BatchCost(0.16, [0.1] * BATCH, sent=16, asked=[], rivals={"one by one": 0.64})
    lines = report([cost, cost]).splitlines()
    assert "sent 1.00" in lines[0]
    rows = {line.split("|")[1].strip(): line.split("|")[2:] for line in lines if line.startswith("|")}
    assert float(rows["a question"][0]) == 10
    assert [float(rows["one by one"][place]) for place in (0, 2)] == [40, 4]
