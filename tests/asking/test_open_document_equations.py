"""Equations of OpenDocument and of books as they are typed on a line."""

import pytest
from lxml import etree

from crag.asking.opendocument.equations import equation_text

X, Y, N = "<mi>x</mi>", "<mi>y</mi>", "<mi>n</mi>"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (f"<mfrac><mrow>{X}<mo>+</mo>{Y}</mrow><mn>2</mn></mfrac>", "(x+y)/2"),
        (f"<mfrac><msup>{X}<mn>2</mn></msup><mn>2</mn></mfrac>", "(x^2)/2"),
        (f"<msup>{X}<mrow>{N}<mo>+</mo><mn>1</mn></mrow></msup>", "x^(n+1)"),
        (f"<msubsup>{X}<mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        (f"<msub>{X}<mn>1</mn></msub>", "x_1"),
        (f"<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow>{N}</munderover>{X}", "∑_(i=1)^n x"),
        (f"<munder><mi>lim</mi>{N}</munder>{X}", "lim_n x"),
        (f"<mover>{X}<mo>¯</mo></mover><mo>=</mo><mn>5</mn>", "x=5"),
        (f"<mroot>{X}<mn>3</mn></mroot>", "x^(1/3)"),
        (f"<mfenced>{X}{Y}</mfenced>", "(x, y)"),
        (f"<mi>sin</mi>{X}<mspace/><mtext>and</mtext>{Y}", "sin x and y"),
        ("<mo>[</mo><mtable><mtr><mn>1</mn><mn>2</mn></mtr><mtr><mn>3</mn></mtr></mtable><mo>]</mo>", "[1, 2; 3]"),
        (f"<semantics>{X}<annotation>x in TeX</annotation></semantics><mphantom>{Y}</mphantom>", "x"),
        (f"<mfrac>{X}</mfrac>", "x/"),
    ],
)  # fmt: skip
def test_an_equation_is_typed_on_a_line(written: str, text: str) -> None:
    assert equation_text(etree.fromstring(f"<math>{written}</math>")) == text
