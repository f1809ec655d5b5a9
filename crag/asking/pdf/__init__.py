"""The text of PDF files as a viewer shows it, page by page.

`process` starts a killable process that runs `reading`. There, each page becomes visible words (`words`), these become
lines in reading order (`columns`, `lines`), lines that repeat on every page go (`running_heads`), and the rest become
paragraphs (`paragraphs`).
"""
