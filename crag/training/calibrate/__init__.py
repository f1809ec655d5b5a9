"""Fits P(correct), the probability that an answer is right, to finished runs of local_evaluation.py.

`questions` reads the runs as questions with judged answers; `fitting` learns from them and measures the result.
"""
