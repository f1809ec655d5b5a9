"""Question/call pairs for tuning the writer of calls, and what the calls give for tuning the answerer.

`python -m training.api_pairs` puts together the labelled real questions, the handwritten bank of `agents.kg.writing`,
and sampled ones: `templates/` holds programs with gaps and the wordings in which people ask for them, one TOML file per
domain; `fillers` fills the gaps with what a graph knows; `execution` keeps what the agent's own executor finds.
"""
