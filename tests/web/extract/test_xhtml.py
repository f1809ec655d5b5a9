"""XHTML is read as an XML reader has it."""

from pathlib import Path

import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.hang_guard import finish
from tests.web.extract.test_page_text import METHODS

XML = '<?xml version="1.0" encoding="utf-8"?>\n'
ROOT = '<html xmlns="http://www.w3.org/1999/xhtml">'


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "page",
    [
        f'{XML}{ROOT}<head><title/><script src="a.js"/></head><body><p>Ole &amp; Una</p></body></html>',
        f"{ROOT}<head><style/></head><body><iframe/><textarea/><p>Ole&nbsp;&amp;&#160;Una</p></body></html>",
        f"{XML}<!DOCTYPE html>{ROOT}<body><p><![CDATA[Ole & Una]]></p></body></html>",
        f'{XML}<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body><h:p>Ole &amp; Una</h:p></h:body></h:html>',
        f'{XML}<!DOCTYPE html [<!ENTITY who "Ole">]>{ROOT}<body><p>&who; &amp; Una</p></body></html>',
        f"{XML}{ROOT}<body><p>Ole &amp; Una<br></body></html>",
        f"{ROOT}<head><title /><script src='/a/b.js' async/></head><body><p>Ole <iframe/>&amp; Una<br></body></html>",
        f"{ROOT}<head><script src='/a.js'/></script></head><body><p>Ole &amp; Una<br></body></html>",
    ],
    ids=[
        "closed in the head",
        "closed in the body",
        "CDATA",
        "prefixes",
        "entities of its own",
        "not well-formed",
        "not well-formed, closed in the head",
        "not well-formed, closed twice",
    ],
)
def test_the_text_is_that_of_an_xml_reader(method: str, page: str) -> None:
    settings = ExtractSettings.model_validate({"method": method})
    assert page_text(page, settings).replace("\xa0", " ") == "Ole & Una"


def test_nothing_is_fetched_and_entities_do_not_explode() -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'{XML}<!DOCTYPE html [<!ENTITY l0 "boom">{levels}]>{ROOT}<body><p>safe &l11;</p></body></html>'
    assert len(finish(lambda: page_text(bomb, ExtractSettings()))) < 100


def test_no_file_is_read_for_an_entity(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret", encoding="utf-8")
    doctype = f'<!DOCTYPE html [<!ENTITY secret SYSTEM "{secret.as_uri()}">]>'
    text = page_text(f"{XML}{doctype}{ROOT}<body><p>known &secret;</p></body></html>", ExtractSettings())
    assert "known" in text
    assert "a secret" not in text
