"""The name spaces of OpenDocument 1.3, part 3, as lxml writes them."""

_OASIS = "{{urn:oasis:names:tc:opendocument:xmlns:{}:1.0}}"

CHART = _OASIS.format("chart")
DRAW = _OASIS.format("drawing")
DRAW_3D = _OASIS.format("dr3d")
MANIFEST = _OASIS.format("manifest")
NUMBER = _OASIS.format("datastyle")
OFFICE = _OASIS.format("office")
PRESENTATION = _OASIS.format("presentation")
STYLE = _OASIS.format("style")
SVG = _OASIS.format("svg-compatible")
TABLE = _OASIS.format("table")
TEXT = _OASIS.format("text")

MATH = "{http://www.w3.org/1998/Math/MathML}"
TITLE = "{http://purl.org/dc/elements/1.1/}title"
LOEXT = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
"""What LibreOffice adds to the standard."""
XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
LINK = "{http://www.w3.org/1999/xlink}href"
