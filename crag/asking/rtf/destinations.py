"""Groups that are not the text of the document, by the control word that begins them."""

SKIPPED = frozenset({
    # Pictures, objects and the properties of shapes; a shape in the form for older programs.
    "pict", "shppict", "nonshppict", "objdata", "objclass", "objname", "objalias", "objsect", "objtime",
    "sp", "shprslt", "picprop", "background",
    # Tables of the file.
    "colortbl", "stylesheet", "filetbl", "listtable", "listoverridetable", "revtbl", "rsidtbl", "xmlnstbl", "pgptbl",
    "protusertbl", "themedata", "colorschememapping", "datastore", "latentstyles", "generator", "template", "password",
    "passwordhash", "mmathPr", "userprops", "docvar", "defchp", "defpap", "wgrffmtfilter", "pn", "pnseclvl",
    # Page headers and footers, and the lines that separate notes from the text.
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
    "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn",
    # Comments, bookmarks, entries of an index or a table of contents, data of forms.
    "annotation", "atnid", "atnauthor", "atndate", "atntime", "atnicn", "atnparent", "atnref", "atrfstart", "atrfend",
    "bkmkstart", "bkmkend", "xe", "rxe", "txe", "pxe", "tc", "tcn", "formfield", "datafield", "fldtype", "htmltag",
    # The paragraphs of tables in cells for programs that do not know these.
    "nonesttables",
})  # fmt: skip
"""Nothing in these groups is read."""

FLOWS = frozenset({"footnote", "shptxt", "dptxbxtext"})
"""Notes and boxes. Endnotes are footnotes with a switch."""

EQUATIONS = frozenset({"mmath", "moMathPara", "moMath"})

READ_IF_OPTIONAL = FLOWS | EQUATIONS | {
    "fonttbl", "info", "title", "upr", "ud", "field", "fldinst", "fldrslt", "shp", "shpgrp", "shpinst", "do", "dptxbx",
    "object", "result", "listtext", "pntext", "nesttableprops",
}  # fmt: skip
r"""Groups that are read even if `\*` says that a program need not know them."""
