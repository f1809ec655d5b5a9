"""Formulas of pages on a line: what is divided, raised or under a root stays so."""

import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text

HALF = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
X_SQUARED = "<msup><mi>x</mi><mn>2</mn></msup>"


@pytest.mark.parametrize("method", ["main_text", "beautifulsoup"])
@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup>", "10^−6"),
        (f"<mfrac>{X_SQUARED}<mn>2</mn></mfrac>", "(x^2)/2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        (f"<mn>2</mn>{HALF}<mo>+</mo><mstyle>{HALF}</mstyle><mi>x</mi>", "2 1/2+1/2 x"),
        ("<msqrt><mn>2</mn></msqrt>", "√(2)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "8^(1/3)"),
        ("<msub><mi>x</mi><mn>1</mn></msub><mo>+</mo><mn>2</mn>", "x_1+2"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        ('<msub><mi mathvariant="normal">H</mi><mn>2</mn></msub><mi mathvariant="normal">O</mi>', "H2O"),
        ("<msub><mi>CO</mi><mn>2</mn></msub>", "CO2"),
        ("<mi>sin</mi><mi>x</mi>", "sin x"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "∑_(i=1)^n i",
        ),
        (
            '<mmultiscripts><mi mathvariant="normal">U</mi><mprescripts/><mn>92</mn><mn>238</mn></mmultiscripts>',
            "^238_92 U",
        ),
        ("<mfenced open='[' close=']'><mi>a</mi><mi>b</mi></mfenced>", "[a, b]"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
            "1, 2; 3",
        ),
        (f"<semantics>{X_SQUARED}<annotation>x^{{2}}</annotation></semantics>", "x^2"),
    ],
)
def test_a_formula_is_typed_on_a_line(method: str, formula: str, expected: str) -> None:
    html = f"<p>Here <math>{formula}</math> is written.</p>"
    settings = ExtractSettings.model_validate({"method": method})
    assert page_text(html, settings) == f"Here {expected} is written."


MATH = "<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>"


@pytest.mark.parametrize("method", ["main_text", "beautifulsoup"])
@pytest.mark.parametrize(
    "written_twice",
    [
        f"<i class=mwe-math-element><i class=mwe-math-mathml-a11y style='display:none'>{MATH}</i><img alt=E></i>",
        f"<i class=katex><i class=katex-mathml>{MATH}</i><i class=katex-html aria-hidden=true>E=mc<b>2</b></i></i>",
        f"<i class=MathJax><nobr aria-hidden=true>E=mc<b>2</b></nobr><i class=MJX_Assistive_MathML>{MATH}</i></i>",
        "<i class=katex><i class=katex-html aria-hidden=true>E=mc<sup>2</sup></i></i>",
    ],
    ids=["MediaWiki", "KaTeX", "MathJax", "KaTeX without MathML"],
)
def test_a_formula_that_is_also_written_in_signs_is_read_once(method: str, written_twice: str) -> None:
    sheet = "<style>.katex-mathml, .MJX_Assistive_MathML { position: absolute; clip: rect(1px, 1px, 1px, 1px) }</style>"
    settings = ExtractSettings.model_validate({"method": method})
    assert page_text(f"{sheet}<p>Here {written_twice} is written.</p>", settings) == "Here E=mc^2 is written."
