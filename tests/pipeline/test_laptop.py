"""What a laptop is promised: no torch and no transformers, nothing sent to anybody, nothing written elsewhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crag.weights.manifest import cache_folder

RECORDER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    FILE *names = fopen(getenv("NAMES_ASKED"), "a");
    if (names) { fprintf(names, "%s\n", name ? name : ""); fclose(names); }
    return ((lookup)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, result);
}
"""
WITHOUT = """
import runpy, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "scipy", "sklearn", "peft", "sentence_transformers"}:
            raise ModuleNotFoundError(f"this laptop has no {name}", name=name)
sys.meta_path.insert(0, Absent())
sys.argv = sys.argv[1:]
runpy.run_module("crag", run_name="__main__", alter_sys=True)
"""
SMALL = ["--set", "language_model.model=smollm2-135m-instruct", "--set", "tuned=false"]
ASK = ["ask", "who directed the godfather?", "--preset", "cpu", *SMALL]


@pytest.mark.models
@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("gcc"), reason="records names with a library of its own"
)
def test_cpu_answers_without_torch_asks_for_no_name_and_writes_nothing(tmp_path: Path) -> None:
    if not (cache_folder() / "smollm2-135m-instruct").is_dir():
        pytest.skip("the weights are not fetched")

    (tmp_path / "recorder.c").write_text(RECORDER, encoding="utf-8")
    recorder, asked, home = tmp_path / "recorder.so", tmp_path / "asked", tmp_path / "home"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", recorder, tmp_path / "recorder.c", "-ldl"], check=True)
    home.mkdir()
    environment = {
        **os.environ, "HOME": str(home), "CRAG_MODELS_DIR": str(cache_folder()), "LD_PRELOAD": str(recorder),
        "NAMES_ASKED": str(asked),
    }  # fmt: skip
    command = [sys.executable, "-c", WITHOUT, "crag", *ASK]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()

    names = set(asked.read_text(encoding="utf-8").split()) if asked.exists() else set()
    assert names <= {"localhost", "127.0.0.1"}
    assert not list(home.rglob("*"))
