"""The run of a batch, from the evaluator's dictionary to answers.

What happens, in reading order:

* `agent`: the parts of the agent, and the list of steps and turns of a batch;
* `case`: a question with its state, and the plan of who may answer it;
* `steps`: what prepares a batch, such as routing and reading pages;
* `turns`: the sources that answer, such as the graph's facts and the pages;
* `other_sites`: the check that asks the pages again without one site.

How it happens:

* `batch_run` runs steps and turns and settles questions, `turn_run` the inside of a turn;
* `isolation` keeps a fault or a hang from costing more than one answer;
* `model_health` keeps a hanging language model from costing later batches their time.

`user_agent` is the agent behind the evaluator's interface.
"""
