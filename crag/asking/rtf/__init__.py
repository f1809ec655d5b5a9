r"""RTF as a word processor shows it (Microsoft, Rich Text Format Specification, version 1.9.1).

An RTF is a tree of groups in braces, with control words such as `\par` between the bytes of the text. `tokens` cuts it
up. `reading` goes through the tokens once; what holds for the text of a group is a `state.State`, `destinations` names
the groups that are not the text, and `fonts` and `code_pages` tell how bytes are decoded. `writing` brings
the text to a `flow.Flow`, one for the body and one for each note and box: paragraphs and rows of tables, which become
HTML.
"""
