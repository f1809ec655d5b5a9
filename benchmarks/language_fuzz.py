"""What the language of calls does with texts of any kind: valid programs come back equal, all others raise one error.

python -m benchmarks.language_fuzz [--count 100000] [--valid 10000] [--seed 1]

Prints what the mutated texts gave by name, the time per text, and exits with 1 on any program that does not come back
or any exception other than `KgQueryError`.
"""

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.kg.language import KgQueryError, Program, parse, render
from agents.kg.language.sample import random_program
from agents.kg.schema import Domain

_PIECES = (b"(", b")", b"[", b"]", b'"', b"'", b",", b"\\", b"\n", b"*", b"=", b":", b"None", b"ALL ", b"and ")
_MANY = 40


@dataclass(slots=True)
class FuzzResult:
    """What a run saw: texts by what became of them, and the texts that broke a promise."""

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    """Of processor time, as the others below: a busy machine says nothing about the parser."""
    total_seconds: float = 0.0

    def note(self, kind: str, seconds: float) -> None:
        """Count a text and the time that it took."""
        self.counts[kind] += 1
        self.total_seconds += seconds
        self.slowest_seconds = max(self.slowest_seconds, seconds)


def mutated(rng: random.Random) -> Iterator[tuple[Domain, str]]:
    """Canonical programs with bytes replaced, removed, doubled, inserted or moved, decoded as a log reader would."""
    domains = list(Domain)
    while True:
        domain = rng.choice(domains)
        data = bytearray(render(random_program(domain, rng)).encode())
        for _ in range(rng.randint(1, 3)):
            _mutate(data, rng)
        yield domain, data.decode("utf-8", errors="replace")


def _mutate(data: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(data) + 1)
    match rng.randrange(5):
        case 0:
            data[place : place + 1] = bytes([rng.randrange(256)])
        case 1:
            del data[place : place + rng.randint(1, 8)]
        case 2:
            data[place:place] = data[place : place + rng.randint(1, 30)]
        case 3:
            data[place:place] = rng.choice(_PIECES) * rng.choice((1, 1, 1, 2, _MANY))
        case _:
            end = place + rng.randint(1, 20)
            data[:] = data[place:end] + data[:place] + data[end:]


def fuzz(count: int, seed: int) -> FuzzResult:
    """Parse `count` mutated texts; a text that is read must come back from its own canonical form."""
    outcome = FuzzResult()
    texts = mutated(random.Random(seed))  # noqa: S311 - repeatable, not secret
    for _ in range(count):
        domain, text = next(texts)
        start = time.process_time()
        try:
            program = parse(text, domain)
        except KgQueryError as error:
            outcome.note(error.fault.kind, time.process_time() - start)
        except Exception:  # noqa: BLE001 - to find these is what this is for
            outcome.broken.append(f"{domain} {text!r}\n{traceback.format_exc(limit=-3)}")
        else:
            outcome.note("read", time.process_time() - start)
            if not _comes_back(program, domain):
                outcome.broken.append(f"{domain} {text!r} does not come back from {render(program)!r}")
    return outcome


def round_trips(count: int, seed: int) -> list[str]:
    """The canonical forms, of `count` random programs, that are not read as the program they were made of."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    domains = list(Domain)
    drawn = ((domain, random_program(domain, rng)) for domain in (rng.choice(domains) for _ in range(count)))
    return [render(program) for domain, program in drawn if not _comes_back(program, domain)]


def _comes_back(program: Program, domain: Domain) -> bool:
    try:
        return parse(render(program), domain) == program
    except KgQueryError:
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.language_fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="mutated texts")
    parser.add_argument("--valid", type=int, default=10_000, help="random programs to print and read back")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    lost = round_trips(options.valid, options.seed)
    print(f"{options.valid} programs, {len(lost)} not read back, {time.perf_counter() - start:.1f} s")
    outcome = fuzz(options.count, options.seed)
    print(f"{options.count} mutated texts, {len(outcome.broken)} broken promises")
    mean = outcome.total_seconds / max(1, options.count)
    print(f"{mean * 1e6:.0f} us of processor time per text, the slowest {outcome.slowest_seconds * 1000:.1f} ms")
    for name, number in outcome.counts.most_common():
        print(f"  {name:22} {number:7}  {number / options.count:6.1%}")
    for broken in [*lost, *outcome.broken][:20]:
        print(broken, file=sys.stderr)
    return 1 if lost or outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
