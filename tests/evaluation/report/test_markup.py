"""Elements of the report's tree."""

from evaluation.report.markup import element, html


def test_texts_and_attributes_are_escaped() -> None:
    written = html(element("p", "<b> & ", element("i", "<"), " > ", class_="a", title='"<'))
    assert written == '<p class="a" title="&quot;<">&lt;b&gt; &amp; <i>&lt;</i> &gt; </p>'


def test_text_keeps_its_place_among_children() -> None:
    written = html(element("p", "a", "b", element("i"), "c", "d", None, element("b", "e"), "f"))
    assert written == "<p>ab<i></i>cd<b>e</b>f</p>"


def test_names_and_numbers_of_attributes() -> None:
    assert html(element("rect", aria_label="x", width=2.5, height=None)) == '<rect aria-label="x" width="2.5"></rect>'
