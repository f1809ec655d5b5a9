import pytest

from agents.web.extract.hidden import is_hidden_style


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "color:red;DISPLAY : none !important",
        "visibility: hidden",
        "position:absolute;left:-9999px",
        "text-indent: -99999em",
    ],
)
def test_hidden(style: str) -> None:
    assert is_hidden_style(style)


@pytest.mark.parametrize(
    "style", ["", "display:block", "overflow:hidden", "margin-left:-9px", "list-style: none", "top:-99px"]
)
def test_not_hidden(style: str) -> None:
    assert not is_hidden_style(style)
