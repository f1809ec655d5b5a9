"""Superscripts and subscripts on a line: numbers stay the numbers that they are."""

import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text

STACKED = "<b class=num style='display:block'>1</b><i class=sr-only>/</i><b class=den style='display:block'>3</b>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # footnote marks stay apart from numbers and words
        ("9,120<sup>1</sup> people", "9,120 [1] people"),
        ("9,120<sup>2, 3</sup> people", "9,120 [2, 3] people"),
        ("in 1998<sup>12</sup> it closed", "in 1998 [12] it closed"),
        ("37.5<sup>4</sup> million", "37.5 [4] million"),
        ("300<sup>a</sup> crowns", "300 [a] crowns"),
        ("in the 1970s<sup>2</sup> or '80s<sup>a</sup>", "in the 1970s [2] or '80s [a]"),
        ("25 m<sup>[2]</sup> deep", "25 m [2] deep"),
        ("300<sup>†</sup> crowns", "300 † crowns"),
        ("Ida Lund<sup>1,*</sup>, Ole Berg<sup>2,†</sup>", "Ida Lund [1,*], Ole Berg [2,†]"),
        ("the tree log<sup>2</sup> and 9,120<sup>2</sup>/year", "the tree log [2] and 9,120 [2]/year"),
        ("5,200<sup><a href='#n3'>3</a></sup> m", "5,200 [3] m"),
        ("5,200<sup class=reference><a href='#n3'><span>[</span>3<span>]</span></a></sup> m", "5,200 [3] m"),
        ("5,200<a href='#n3'>3</a> m", "5,200 [3] m"),
        ("5,200<a href=x>3</a> m in 1998<a href=x>12</a>", "5,200 [3] m in 1998 [12]"),
        ("It fell.<a href=x>4</a><a href=y>5</a> The mill<a href=x>6</a>.", "It fell. [4] [5] The mill [6]."),
        (
            "B<a href=x>12</a>, 9.<a href=x>58</a> s, 20<a href=x>24</a>, see <a href=x>5</a>",
            "B12, 9.58 s, 2024, see 5",
        ),
        ("10<sup><a href='#n6'>6</a></sup> members", "10 [6] members"),
        ("the harbour<sup>2</sup> and the pier.<sup>3</sup> Boats", "the harbour [2] and the pier. [3] Boats"),
        ("48,312<span style='vertical-align: super'>1</span> people", "48,312 [1] people"),
        ("<sup>1</sup> Without suburbs", "[1] Without suburbs"),
        # exponents
        ("3 &times; 10<sup>8</sup> m", "3 × 10^8 m"),
        ("10<sup>−19</sup> C", "10^−19 C"),
        ("520 km<sup>2</sup>, 9.8 m/s<sup>2</sup>", "520 km^2, 9.8 m/s^2"),
        ("45 hm<sup>3</sup>, 2 Mm<sup>3</sup>, 5 Å<sup>3</sup>", "45 hm^3, 2 Mm^3, 5 Å^3"),
        ("E = mc<sup>2</sup>", "E = mc^2"),
        ("x<sup>2</sup> + y<sup>2</sup>", "x^2 + y^2"),
        ("2<sup>10</sup> = 1024", "2^10 = 1024"),
        ("(1 + r)<sup>5</sup>", "(1 + r)^5"),
        ("a flow of 40 m<sup>3</sup>/s, 8 cm<sup>2</sup>/g", "a flow of 40 m^3/s, 8 cm^2/g"),
        ("2<sup>n</sup>, e<sup>kt</sup>", "2^n, e^kt"),
        ("v<sub>0</sub><sup>2</sup>/2, f<sup>′</sup>(x), O<sub>2</sub><sup>2</sup>", "v_0^2/2, f′(x), O2 [2]"),
        ("5.2<sup>+0.3</sup><sub>−0.2</sub> km, 7 <sup>+1</sup> <sub>-2</sub>", "5.2 +0.3 −0.2 km, 7 +1 -2"),
        ("2<sup>n-1</sup>, 2<sup>n + 1</sup>, x<sup>m+n</sup>", "2^(n-1), 2^(n + 1), x^(m+n)"),
        ("140 × 10<sup>9</sup>/L, 3 × 10<sup>6</sup>/100 ml", "140 × 10^9/L, 3 × 10^6/100 ml"),
        ("cos<sup>2</sup> x + sin<sup>2</sup>(x), log<sup>2</sup>n", "cos^2 x + sin^2(x), log^2n"),
        ("2 × 10<sup>−3 </sup>m, CO<sub>2 </sub>levels", "2 × 10^−3 m, CO2 levels"),
        ("10<span style='vertical-align:super; font-size:80%'>6</span>", "10^6"),
        ("<math><msup><mn>10</mn><mn>6</mn></msup></math>", "10^6"),
        ("<math><mfrac><mn>1</mn><mn>3</mn></mfrac></math>", "1/3"),
        # what belongs to the word
        ("the 19<sup>th</sup> and 21<SUP>st</SUP> century", "the 19th and 21st century"),
        ("Acme<sup>TM</sup> and Bolt<sup>®</sup>", "AcmeTM and Bolt®"),
        ("M<sup>lle</sup> Berg", "Mlle Berg"),
        ("le XIX<sup>e</sup> et le I<sup>er</sup> siècle", "le XIXe et le Ier siècle"),
        ("N<sup>o</sup> 7, n<sup>os</sup> 8 et 9", "No 7, nos 8 et 9"),
        ("the n<sup>th</sup> and i<sup>th</sup> term, e<sup>st</sup>", "the nth and ith term, e^st"),
        ("les 1<sup>ers</sup>, la 2<sup>nde</sup>, les 4<sup>èmes</sup>", "les 1ers, la 2nde, les 4èmes"),
        # chemistry, indices, isotopes, ions
        ("CO<sub>2</sub>, C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>", "CO2, C6H12O6"),
        ("SO<sub>4</sub><sup>2−</sup>, Ca<sup>2+</sup>", "SO4^2−, Ca^2+"),
        ("<sup>14</sup>C dating", "14C dating"),
        ("<sup>4</sup>Li Moe beat Ole", "[4] Li Moe beat Ole"),
        ("log<sub>10</sub>100, 101<sub>2</sub>", "log10 100, 101_2"),
        # fractions, degrees, prices
        ("2<sup>1</sup>/<sub>2</sub> cups, <sup>1</sup>⁄<sub>3</sub> cup", "2 1/2 cups, 1⁄3 cup"),
        ("2<span class=sr-only>+</span><span>1</span>⁄<span>2</span> miles", "2 1⁄2 miles"),
        ("<i class=num>3</i><i class=sr-only>/</i><i class=den>4</i> cup", "3/4 cup"),
        ("5<i class=sr-only>+</i><i class=num>3</i><i class=den>4</i> cups", "5 3/4 cups"),
        (
            f"2<i style='display:inline-block;vertical-align:-.5em'>{STACKED}</i> miles",
            "2 1/3 miles",
        ),
        ("2<math><mfrac><mn>1</mn><mn>3</mn></mfrac></math> miles", "2 1/3 miles"),
        ("<b>3</b> <b class=garden>4</b>, lot <b class=den>4</b>", "3 4, lot 4"),
        ("6<sup>1/2</sup> inches, 2<sup>3/4</sup>-inch, x<sup>1/2</sup>", "6 1/2 inches, 2 3/4-inch, x^(1/2)"),
        ("2<sup>1/2</sup> is a root", "2^(1/2) is a root"),
        ("at 7<sup>30</sup> p.m., 8<sup>15</sup> h and 19<sup>45</sup> Uhr", "at 7:30 p.m., 8:15 h and 19:45 Uhr"),
        ("in 1:52.<sup>03</sup>, in 1:52.<sup>34</sup> min", "in 1:52.03, in 1:52.34 min"),
        ("at 1:52.<sup>34</sup> He left in 1998.<sup>12</sup>", "at 1:52. [34] He left in 1998. [12]"),
        ("20<sup>o</sup>C, at 59<sup>o</sup>54′, turned by 45<sup>∘</sup>", "20°C, at 59°54′, turned by 45°"),
        ("$19<sup>99</sup>", "$19.99"),
        ("at 12<sup>h</sup> 07<sup>m</sup> 3.5<sup>s</sup> of right ascension", "at 12h 07m 3.5s of right ascension"),
        ("in 2<sup>d</sup> 4<sup>h</sup>, in 9<sup>h</sup>41<sup>m</sup>5<sup>s</sup>", "in 2d 4h, in 9h41m5s"),
        ("48 boats<sup>s</sup> and 51<sup>h</sup> men", "48 boats [s] and 51 [h] men"),
        ("$19.<sup>99</sup>", "$19.99"),
        ("$19<small>99</small>, $1,019<i class=price-cents>50</i>, 19<small>99</small>", "$19.99, $1,019.50, 1999"),
        ("$<b>19</b><b class=price__fraction>.99</b>, 19.0<b class=decimals>05</b>", "$19.99, 19.005"),
        ("<sup>$</sup>19<sup>99</sup> or <sup>£</sup>1,019<sup>50</sup>", "$19.99 or £1,019.50"),
        ("19<sup>99</sup> €", "19.99 €"),
        ("19,<sup>99</sup> kr", "19,99 kr"),
        ("5,000<sup>12</sup> kr", "5,000 [12] kr"),
        ("$2,450<sup>00</sup>", "$2,450.00"),
    ],
)
def test_a_raised_text_is_read_by_what_it_stands_on(html: str, expected: str) -> None:
    assert page_text(f"<p>{html}", ExtractSettings()) == expected
    assert page_text(f"<p>{html}", ExtractSettings(method="beautifulsoup")) == expected
