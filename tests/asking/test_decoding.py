"""Bytes to text: what is declared decides, as in browsers, and a detector only where nothing is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.asking.decoding import decode

POLISH = "Most w Łodzi: żółw, źdźbło, „ćma”"
LATE = "<!-- " + "x" * 1100 + " -->"


def page(head: str, text: str = POLISH) -> str:
    return f"<html><head>{head}<title>T</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("head", "encoding", "text"),
    [
        ('<meta charset="iso-8859-2">', "iso8859_2", "Łódź"),
        ("<META CHARSET=ISO-8859-2>", "iso8859_2", "Łódź"),
        ("<meta charset = ' latin2 '>", "iso8859_2", "Łódź"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1250">', "cp1250", POLISH),
        ('<meta content="text/html;charset=windows-1251" http-equiv=content-type />', "cp1251", "Мост"),
        ('<meta charset="iso-8859-1">', "cp1252", "“Quotes” – €"),  # WHATWG: windows-1252
        ('<meta charset="us-ascii">', "cp1252", "“Quotes” – €"),
        ('<meta charset="iso-8859-9">', "cp1254", "Iğdır’da"),
        ('<meta charset="shift_jis">', "cp932", "橋①㈱"),  # with NEC's characters, as in Windows
        ('<meta charset="euc-kr">', "cp949", "다리 똠"),
        ('<meta charset="gb2312">', "gbk", "這座橋"),
        ('<meta charset="utf-16">', "utf-8", "Łódź"),  # it was found as ASCII, so it is none
        ('<meta charset="x-unknown"><meta charset="iso-8859-2">', "iso8859_2", "Łódź"),
        ('<!-- <meta charset="utf-8"> --><meta charset="iso-8859-2">', "iso8859_2", "Łódź"),
        ('<script>"<meta charset=utf-8>"</script><meta charset="iso-8859-2">', "iso8859_2", "Łódź"),
        ('<meta name="x" content="charset=utf-8"><meta charset="iso-8859-2">', "iso8859_2", "Łódź"),
        (f'{LATE}<meta charset="koi8-r">', "koi8_r", "Да"),  # better late than guessed
        ('<meta charset="utf-8">', "utf-8", "Łódź"),
        ("", "utf-8", "Łódź"),
    ],
)
def test_meta_declares_the_encoding(head: str, encoding: str, text: str) -> None:
    markup = page(head, text)
    assert decode(markup.encode(encoding)) == markup


@pytest.mark.parametrize(
    ("head", "charset", "encoding", "text"),
    [
        ('<meta charset="utf-8">', "iso-8859-2", "iso8859_2", "Łódź"),  # the header comes first
        ('<meta charset="utf-8">', "nonsense", "utf-8", "Łódź"),
        ("", "ISO-8859-1", "cp1252", "“Café”"),
        ("", "utf-16le", "utf-16-le", "Łódź"),
        ('<meta charset="iso-8859-2">', "windows-1252", "utf-8-sig", "Łódź"),  # the mark comes before all
        ('<meta charset="iso-8859-2">', "", "utf-16", "Łódź"),
    ],
)
def test_byte_order_mark_then_header_then_meta(head: str, charset: str, encoding: str, text: str) -> None:
    markup = page(head, text)
    assert decode(markup.encode(encoding), charset) == markup


def test_in_xml_its_declaration_counts() -> None:
    text = f'<?xml version="1.0" encoding="iso-8859-2"?>{page("<meta charset=utf-8 />", "Łódź")}'
    assert decode(text.encode("iso8859_2"), is_xml=True) == text
    html = f'<?xml version="1.0" encoding="utf-8"?>{page("<meta charset=iso-8859-2 />", "Łódź")}'
    assert decode(html.encode("iso8859_2")) == html


def test_bytes_that_do_not_fit_are_replaced() -> None:
    assert decode(b'<meta charset="utf-8"><p>a\xffb') == '<meta charset="utf-8"><p>a\ufffdb'
    assert decode(b'<meta charset="euc-jp"><p>a\xff b') == '<meta charset="euc-jp"><p>a\ufffd b'


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Łódź"),
        ("utf-16-le", "The ferry sails at nine."),
        ("utf-16-be", "The ferry sails at nine."),
        ("utf-16-le", "Паром идёт в 9 часов, а мост открыт."),
        ("utf-16-be", "渡し船は 9 時に出ます。 Ferry 9"),
        ("cp1252", "Beyoncé’s café costs £12 – or 12 €."),
        ("cp1251", "Паром построен в 1931 году."),
        ("koi8_r", "Паром построен в 1931 году."),
        ("shift_jis", "渡し船は1931年に造られました。"),
        ("iso8859_2", "Prom zbudowano w Łodzi w roku 1931, a most później."),
        ("cp1250", "Prom zbudowano w Łodzi – „później”."),
        ("cp1252", "Größe 5 m, Länge 7 m."),
    ],
)
def test_a_text_without_a_declaration(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "Příliš žluťoučký kůň stojí 5 €. ".encode() + b"It\x92s late.",
            "Příliš žluťoučký kůň stojí 5 €. It\ufffds late.",
        ),
        ("Grüße, 5 €".encode()[:-1], "Grüße, 5 \ufffd"),
    ],
    ids=["a byte of another program", "cut within a character"],
)
def test_a_byte_that_does_not_fit_makes_no_other_encoding(content: bytes, text: str) -> None:
    assert decode(content) == text


def test_what_is_no_text_keeps_its_zero_bytes() -> None:
    assert "\0" in decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0")
    assert "\0" in decode(b"PK\x03\x04\x14\0\0\0\x08\0")


@given(st.binary(max_size=200))
def test_any_bytes_are_text(content: bytes) -> None:
    assert isinstance(decode(content), str)
    assert isinstance(decode(b"<p>" + content, "hz-gb-2312"), str)
