"""Elements of the report's tree."""

from evaluation.report.markup import element, html


def test_texts_and_attributes_are_escaped() -> None:
    written = html(element("p", "<b> & ", element("i", "<"), " > ", class_="a", title='"<'))
    assert written == '<p class="a" title="&quot;<">&lt;b&gt; &amp; <i>&lt;</i> &gt; </p>'


def test_text_keeps_its_place_among_children() -> None:
    written = html(element("p", "a", "b", element("i"), "c", "d", None, element("b", "e"), "f"))
    assert written == "<p>ab<i></i>cd<b>e</b>f</p>"
