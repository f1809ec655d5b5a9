"""Calls for questions that have right answers but no calls: proposed by a model, executed, kept where they give the answer.

db3 (section 3.2, "Fine-tuning for API Generation") had GPT-4 write a first version of the calls of each question with the
prompt of section 3.2, and corrected them by hand; section 3.3 tunes the answerer on what they give. Here the right answer
stands in for the hand: calls are kept where their values give it. The paper tells neither a number of attempts nor a
temperature: one greedy attempt is what it describes, and the default.
"""
