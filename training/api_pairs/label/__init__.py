"""Calls for questions that have right answers but no calls: a model proposes, the graph and a judge decide.

db3 (section 3.2, "Fine-tuning for API Generation") had GPT-4 write a first version of each question's calls with the
prompt of that section, and corrected them by hand; section 3.3 tunes the answerer on what they give. Here the right
answer stands in for the hand: calls are kept where their values give it. The paper tells neither a number of attempts
nor a temperature: one attempt per question is what it describes, which is greedy here, and the default.
"""
