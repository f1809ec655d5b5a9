"""Rules of `<style>` sheets and inline styles change what a page says as they do in a browser."""

import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text

NORMALIZE = (
    "sub,sup{font-size:75%;line-height:0;position:relative;vertical-align:baseline} sup{top:-.5em} sub{bottom:-.25em}"
)
COUNTED = "h2{counter-increment:s} h2::before{content:counter(s)'. '}"
COUNTED_BELOW = "h3::before{counter-increment:t;content:counter(s)'.'counter(t,lower-alpha)' '}"
DIV_TABLE = (
    "<div class=t><p class=r><b class=c>A</b><i class=c>1</i></p><p class=r><b class=c>B</b><i class=c>2</i></p></div>"
)


def read(sheet: str, body: str, method: str) -> str:
    settings = ExtractSettings.model_validate({"method": method})
    return page_text(f"<html><head><style>{sheet}</style></head><body>{body}</body></html>", settings)


@pytest.mark.parametrize("method", ["main_text", "beautifulsoup"])
@pytest.mark.parametrize(
    ("sheet", "body", "expected"),
    [
        # the height of letters
        (".e{vertical-align:super}", "10<span class=e>6</span>", "10^6"),
        (".e{vertical-align:text-top}", "10<b class=e>6</b>", "10^6"),
        (".e{vertical-align:.4em}", "10<span class=e>6</span>", "10^6"),
        (".e{position:relative;top:-.5em;font-size:.7em}", "10<span class=e>6</span>", "10^6"),
        (".e{position:relative;bottom:6px;font-size:10px}", "10<span class=e>6</span>", "10^6"),
        (".e{position:relative;top:2px;font-size:10px}", "10<span class=e>6</span>", "106"),
        (".e{vertical-align:sub}", "101<span class=e>2</span>", "101_2"),
        (".e{vertical-align:super}", "5,200<a class=e href='#n3'>3</a> m", "5,200 [3] m"),
        (NORMALIZE, "10<sup>6</sup> is not H<sub>2</sub>O", "10^6 is not H2O"),
        ("sup{vertical-align:baseline;font-size:1em}", "10<sup>6</sup>", "106"),
        # what is struck out
        (".w{text-decoration-line:line-through}", "now <b class=w>9</b> 11", "now 11"),
        ("del{text-decoration:none}", "now <del>9</del> 11", "now 9 11"),
        (".w{text-decoration:line-through} .w.n{text-decoration:none}", "now <b class='w n'>9</b> 11", "now 9 11"),
        # lines and boxes
        (".l{display:block}", "<span class=l>Toll</span><span class=l>free</span>", "Toll\nfree"),
        (".l{display:list-item}", "<a href=x class=l>Toll</a><a href=x class=l>free</a>", "Toll\nfree"),
        (".l{display:inline-block}", "<span class=l>Toll</span><span class=l>free</span>", "Toll free"),
        (".l{display:inline-block}", "<b class=l>M</b><b class=l>i</b><b class=l>l</b><b class=l>l</b>", "Mill"),
        (".l{display:inline-block}", "<b class=l>W</b><b class=l>L</b><b class=l>D</b>", "W L D"),
        (".l{display:inline-block}", "<b class=l>a</b> <b class=l>b</b> <b class=l>c</b>", "a b c"),
        (".l{display:inline-block}", "<a href=a class=l>a</a><a href=b class=l>b</a><a href=c class=l>c</a>", "a b c"),
        (".l{display:inline-block}", "<b class=l>4</b><b class=l>2</b><b class=l>1</b>", "4 2 1"),
        (".f{display:flex}", "<h2 class=f><i>M</i><i>i</i><i>l</i><i>l</i></h2>", "Mill"),
        (".l{float:left}", "<span class=l>Toll</span><span class=l>free</span>", "Toll free"),
        (".f{display:flex}", "<div class=f><span>Born</span><span>1969</span></div>", "Born 1969"),
        (".f{display:grid}", "<div class=f><span>$</span><span>19</span>(<b>net</b>)</div>", "$19 (net)"),
        (".f{display:flex}", "<div class=f><div>Ajax</div><div>2</div><div>1</div></div>", "Ajax 2 1"),
        (".f{display:flex}", "<ul class=f><li>Folk<li>Jazz</ul>", "Folk\nJazz"),
        (".f{display:flex}", "<div class=f><div><p>Ajax<p>2</div><div>1</div></div>", "Ajax\n2\n1"),
        (".f{display:flex;flex-direction:column}", "<div class=f><b>Ajax</b><b>2</b></div>", "Ajax\n2"),
        (".f{display:flex;flex-flow:row-reverse wrap}", "<p class=f><b>Lund</b><b>Ida</b></p>", "Ida Lund"),
        (".f{display:flex} .v{order:2} i{order:-1}", "<p class=f><b class=v>2</b><b>1</b><i>0</i>", "0 1 2"),
        (".s div{display:inline-block}", "<div class=s><div>Ajax</div><div>2</div><div>1</div></div>", "Ajax 2 1"),
        ("dt,dd{display:inline}", "<dl><dt>Length:</dt><dd>9 m</dd></dl>", "Length: 9 m"),
        # line ends
        (".p{white-space:pre-line}", "<div class=p>The boat\nis <b>red\nnow</b></div>", "The boat\nis red\nnow"),
        ("pre{white-space:normal}", "<pre>The boat\nis red</pre>", "The boat is red"),
        (".p{white-space:pre-wrap} b{white-space:normal}", "<div class=p>7\n8 <b>9\n10</b></div>", "7\n8 9 10"),
        # letters from right to left
        (".r{unicode-bidi:bidi-override;direction:rtl}", "at <b class=r>on.elpmaxe@adi</b>.", "at ida@example.no."),
        ("", "at <bdo dir=RTL>on.elpmaxe@adi</bdo> <bdo>ab</bdo>", "at ida@example.no ab"),
        # tables
        (".t{display:table}.r{display:table-row}.c{display:table-cell}", DIV_TABLE, "A | 1\nB | 2"),
        # the numbers of lists
        (".l{list-style:none}", "<ol class=l><li>Ann<li>Bo</ol>", "Ann\nBo"),
        (".l{list-style:upper-roman inside}", "<ol class=l><li>Ann<li>Bo</ol>", "I. Ann\nII. Bo"),
        ("ol li{list-style-type:decimal-leading-zero}", "<ol><li>Ann</ol>", "01. Ann"),
        ("li{display:flex}", "<ol><li>Ann</ol>", "Ann"),
        (".l{list-style-type:none;list-style:lower-alpha}", "<ol class=l><li>Ann</ol>", "a. Ann"),
        # text that only the sheet holds
        (".n::before{content:'\\2212'}", "<b class=n>7</b> degrees", "−7 degrees"),
        (".n:after{content:' \\20AC' / 'euros'}", "<b class=n>7</b>.", "7 €."),
        (".n::after{content:'6';vertical-align:super}", "<b class=n>10</b> m", "10^6 m"),
        (".n::before{content:'\\f101'}", "<b class=n>7</b>", "7"),
        (".n::before{content:'x';font-family:my-icons}", "<b class=n>7</b>", "7"),
        (".n::before{content:attr(title)} .n::after{content:'x';display:none}", "<b class=n title='c. '>7</b>", "c. 7"),
        (".n:after{content:' 'attr(data-unit)}", "<b class=n data-unit=km>7</b> <b class=n>8</b>", "7 km 8"),
        ("a::after{content:' (' attr(HREF) ')'}", "<a href=x.org>Site</a>", "Site (x.org)"),
        (".n::after{content:attr(data-n px)}", "<b class=n data-n=5>7</b>", "7"),
        (".q::before{content:open-quote} .q::after{content:close-quote}", "say <b class=q>no</b>", "say “no”"),
        ("li::after{content:' ·'}", "<ul><li>7<li>8</ul>", "7\n8"),
        # counters
        (f"body{{counter-reset:s}} {COUNTED}", "<h2>Vann</h2><p>a<h2>Femund</h2>", "1. Vann\na\n2. Femund"),
        (f"body{{counter-reset:s 4}} {COUNTED}", "<h2 hidden>Old</h2><h2>Vann</h2>", "5. Vann"),
        (f":root{{counter-reset:none}} {COUNTED}", "<div><h2>Vann</h2><h2>Tinn</h2></div>", "1. Vann\n2. Tinn"),
        (
            f"body{{counter-reset:s}} h2{{counter-reset:t}} {COUNTED} {COUNTED_BELOW}",
            "<h2>A</h2><h3>x</h3><div><h3>y</h3></div><h2>B</h2><h3>z</h3>",
            "1. A\n1.a x\n1.b y\n2. B\n2.a z",
        ),
        (
            "ol{counter-reset:i;list-style:none} li{counter-increment:i} li::before{content:counters(i,'.')' '}",
            "<ol><li>A<ol><li>B<li>C</ol><li>D</ol>",
            "1 A\n1.1 B\n1.2 C\n2 D",
        ),
        (".n::before{content:counter(s,cjk-decimal)'. '}", "<b class=n>7</b>", "7"),
        ("q:before,q:after{content:'';content:none}", "a <q>b</q>", "a b"),
        # what hides letters, until an element inside shows its own
        (".h{visibility:hidden}", "<div class=h>7<p style='visibility:visible'>9</p></div>", "9"),
        (".h{font-size:0} li{font-size:16px}", "<ul class=h>7<li>8<li>9</ul>", "8\n9"),
        (".h{font-size:0} b{font-size:2em}", "<p class=h><b>7</b></p>9", "9"),
        (".h{font:0/0 a}", "<p class=h>7<b style='font:bold 14px a'>9</b>", "9"),
        (".h{color:transparent} b{color:#222}", "<h2 class=h>7<b>9</b></h2>", "9"),
        (".h{text-indent:-999em}", "<div class=h>7<p style='text-indent:0'>9</p></div>", "9"),
        (".h{display:none}", "<div class=h>7<p style='display:block'>8</p></div>9", "9"),
        (
            ".h{visibility:hidden}",
            "<table><tr><td>1<td class=h>2<td>3<tr><td>4<td>5<td>6",
            "1 | | 3\n4 | 5 | 6",
        ),
        (".g{background-clip:text;color:transparent}", "<h2 class=g>9</h2>", "9"),
        # what fades in
        (".f{opacity:0;animation:in 1s forwards}", "<p class=f>9", "9"),
        (".f{visibility:hidden;transform:scale(0);animation-name:in}", "<p class=f>9", "9"),
        (".f{opacity:0;animation:none}", "<p class=f>7<p>9", "9"),
        (".e{display:none} .a:not(.c) .e{display:inline}", "<p class=a>10<b class=e>6</b>", "106"),
        (":where(.e.n){display:none} .e{display:inline}", "10<b class='e n'>6</b>", "106"),
        (":is(.e,#x){display:none} .e.n{display:inline}", "10<b class='e n'>6</b>", "10"),
        # which rule wins
        (".e{vertical-align:super}", "10<b class=e style='vertical-align:baseline'>6</b>", "106"),
        (".e{vertical-align:super!important}", "10<b class=e style='vertical-align:baseline'>6</b>", "10^6"),
        ("#e{vertical-align:super} b.e{vertical-align:baseline}", "10<b class=e id=e>6</b>", "10^6"),
        (".e{vertical-align:super} .e{vertical-align:baseline}", "10<b class=e>6</b>", "106"),
        (".e{display:none}", "10<b class=e style='display:inline'>6</b>", "106"),
        (".e{opacity:0} .e{text-decoration:none;display:block}", "10<b class=e>6</b>", "10"),
        ("b{display:inline}", "10<b hidden>6</b>", "106"),
        ("b{display:inline} [hidden]{display:none!important}", "10<b hidden>6</b>", "10"),
        ("", "<b hidden=until-found>1</b><b hidden>6</b>", "1"),
        # which elements a rule is for
        ("p > .e{vertical-align:super}", "<p>10<b class=e>6</b> 10<i><b class=e>6</b></i>", "10^6 106"),
        (".x > p .e{vertical-align:super}", "<div class=x><p>10<i><b class=e>6</b></i></div>", "10^6"),
        (
            ".x p > .e{vertical-align:super}",
            "<div class=x><p>10<b class=e>6</b></p></div>10<b class=e>6</b>",
            "10^6\n106",
        ),
        (":is(.x, .y) > .e{vertical-align:super}", "<p class=y>10<b class=e>6</b></p>10<b class=e>6</b>", "10^6\n106"),
        (".n:not(.p, [hidden]){display:none}", "<p class=n>7<p class='n p'>8<p>9", "8\n9"),
        (".x > *{display:none}", "<div class=x>7<b>8</b></div>", "7"),
        (".p[data-state=closed]{display:none}", "<p class=p data-state=closed>7<p class=p data-state=open>8", "8"),
        (
            "[class$=off],[class*='-is-'],[lang|=en],[data-a~=q],[data-b^=ab],[title]{display:none}",
            "<p class='x off'>1<p class=it-is-on>2<p lang=en-GB>3<p data-a='p q'>4<p title data-b=abc>5<p lang=eng>6",
            "6",
        ),
        (".hidden{display:none} .md\\:flex{display:flex}", "<p class='hidden md:flex'>7<p class=hidden>8", "7"),
        # what is shown in some places only, or after a click; what a mouse has to point at
        (".p{display:none} .p:first-child{display:block}", "<div><p class=p>7<p class=p>8</div>9", "7\n8\n9"),
        (".p{display:none} #t:checked ~ .p{display:block}", "<input type=radio id=t><p class=p>7", "7"),
        (".p:nth-child(2){display:block} .p{display:none}", "<p class=p>7", "7"),
        (".p:nth-child(2n + 1){display:none}", "<p class=p>7", "7"),
        (".p{display:none} .m:hover .p{display:block}", "<div class=m>7<p class=p>8</div>", "7"),
        # rules inside of others
        (".a{display:flex;.b{display:none}}", "<div class=a>7<b class=b>8</b></div>", "7"),
        (".a,.c{color:red;&.b,> .d{display:none}}", "<p class='a b'>7<p class=c>8<b class=d>9</b>", "8"),
        ("@media (width > 9px){.a{color:red;.b{display:none}}}", "<p class=a>7<b class=b>8</b>", "7"),
        (".b{@media (width > 9px){display:none}}", "<p>7<b class=b>8</b>", "7"),
        # which rules count
        ("@media screen{.e{vertical-align:super}} @media print{.e{display:none}}", "10<b class=e>6</b>", "10^6"),
        ("@media (max-width:600px){.e{display:none}}", "10<b class=e>6</b>", "106"),
        ("@media only screen and (min-width:48em){.e{display:none}}", "10<b class=e>6</b>", "10"),
        ("@media (400px <= width < 1000px), (width > 80rem){.e{display:none}}", "10<b class=e>6</b>", "106"),
        ("@media (width >= 60rem){.e{display:none}}", "10<b class=e>6</b>", "10"),
        ("@media (prefers-color-scheme:dark){.e{display:none}}", "10<b class=e>6</b>", "106"),
        ("@media not print{.e{display:none}}", "10<b class=e>6</b>", "10"),
        ("@media print, (hover:hover){.e{display:none}}", "10<b class=e>6</b>", "10"),
        ("@supports (a:b){@media (min-width:9px){.e{display:none}} .f{top:0}}", "10<b class=e>6</b>", "10"),
        ("@supports not (a:b){.e{display:none}}", "10<b class=e>6</b>", "106"),
        ("@layer a,b; @layer a{.e{display:none}}", "10<b class=e>6</b>", "10"),
        (".e{display:none} @media (min-width:9px){.e{display:inline}}", "10<b class=e>6</b>", "106"),
        ("", "<style media='(max-width:9px)'>.e{display:none}</style>10<b class=e>6</b>", "106"),
        ("<!-- .e{vertical-align:super} -->", "10<b class=e>6</b>", "10^6"),
        ("", "<!--[if mso]><style>.e{display:none}</style><![endif]-->10<b class=e>6</b>", "106"),
        ("", "<link rel=stylesheet href=a><style>sup{vertical-align:baseline}</style>10<sup>6</sup>", "10^6"),
    ],
)
def test_a_sheet_is_read_as_a_browser_shows_it(method: str, sheet: str, body: str, expected: str) -> None:
    assert read(sheet, body, method) == expected


def test_many_rules_for_many_elements_do_not_hang_the_reader() -> None:
    sheet = "".join(f".a > p .b b{{display:inline}} .n{number} b{{display:none}}" for number in range(2_000))
    body = "<div class=a><p><i class=b>" + "<b>10</b>" * 20_000
    assert read(sheet, body, "main_text").startswith("1010")
