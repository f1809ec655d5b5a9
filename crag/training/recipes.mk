# How adapters are made (docs/training.md): steps as files with their inputs. `python -m crag train adapters NAME` fills
# in the variables. Finished steps are skipped, a stopped one resumes; `make -n` shows what is left to do.
PYTHON ?= python
SERVING ?= $(PYTHON)
CONFIG ?= db3
SPLIT  ?= 0
JUDGE  ?= --judge llm --judge-rubric db3 --judge-preset $(PRESET) $(subst --set,--judge-set,$(SETS)) --context-check llm
# Also: PRESET and changes to it (SETS), BASE, WORK, OUT, QUESTIONS, GRAPH, PAGES, PAIRS (more options of api-pairs), DEVICE (cpu or
# cuda) and TUNE (more options) of the tuning, LIMIT, MAX_STEPS, HOLD_OUT, OVERWRITE. SERVING runs the base model: it places it on all cards as the preset says.
given   = $(if $($(1)),--$(subst _,-,$(2)) $($(1)))
preset  = --preset $(PRESET) $(SETS)
run     = $(SERVING) -m crag evaluate $(preset) --split $(SPLIT) $(call given,LIMIT,limit) --output $(@D) --resume \
          --seconds-per-query 600 --set deadline.seconds_per_query=600 --set answering.confidence=none
# Exit code 3: the run is complete, and lost some answers, of which no labels are made.
kept    = || { [ $$? = 3 ] && test -f $@; }
labels  = $(SERVING) -m crag train labels --run $(<D) $(JUDGE) --split $(SPLIT) --out $@
prompts = $(SERVING) -m crag train prompts

kg_writer kg_answerer web_answerer: %: $(WORK)/%.jsonl
	$(PYTHON) -m crag train lora --config $(CONFIG) --set 'base="$(BASE)"' --device $(DEVICE) \
	  $(if $(filter cpu,$(DEVICE)),--set quantise=none) --split $(SPLIT) $(call given,MAX_STEPS,max_steps) \
	  $(call given,HOLD_OUT,hold_out) $(TUNE) $(OVERWRITE) --data $< --out $(OUT) --resume

# db3 3.2: the calls of labelled questions.
$(WORK)/pairs.jsonl: $(QUESTIONS)
	$(PYTHON) -m crag train api-pairs $(addprefix --questions ,$(QUESTIONS)) $(call given,GRAPH,graph) $(PAIRS) --split $(SPLIT) \
	  $(call given,LIMIT,limit) --out $@
$(WORK)/kg_writer.jsonl: $(WORK)/pairs.jsonl $(PRESET)
	$(prompts) kg_writer $(preset) --pairs $< --split $(SPLIT) --out $@

# db3 3.3: the basic prompt asked about the facts of the tuned writer's calls (2.4, step 2); no web after a graph query.
$(WORK)/graph_answers/results.json: $(QUESTIONS) $(PRESET)
	$(run) --dataset $< --mock-kg $(GRAPH) \
	  --set knowledge_graph.answer_prompt=basic --set knowledge_graph.answer_adapter=none --set answering.adapter=none \
	  --set language_model.adapters.kg_answerer=none --set language_model.adapters.web_answerer=none \
	  --set "knowledge_graph.graph_only_domains=['movie','finance','music','sports','open']" \
	  --set knowledge_graph.direct_answers=false --set knowledge_graph.derived_answers=false \
	  --set knowledge_graph.invalid_without_game=false $(kept)
$(WORK)/graph_labels.jsonl: $(WORK)/graph_answers/results.json
	$(labels) --answerer graph
$(WORK)/kg_answerer.jsonl: $(WORK)/graph_labels.jsonl
	$(prompts) kg_answerer $(preset) --abstaining 1 --labels $< --split $(SPLIT) --out $@

# db3 2.4: the untuned model's answers from web pages and public data.
$(WORK)/web_answers/results.json: $(PAGES) $(PRESET)
	$(run) --dataset $< --set tuned=false --set answering.prompt=basic --set knowledge_graph=none $(kept)
$(WORK)/web_labels.jsonl: $(WORK)/web_answers/results.json
	$(labels)
$(WORK)/web_answerer.jsonl: $(WORK)/web_labels.jsonl
	$(prompts) web_answerer $(preset) --abstaining 1 --labels $< --split $(SPLIT) --out $@

# Preferences after tuning: the tuned model's answers at several temperatures (an engine samples alike in two equal runs), judged.
START        ?= $(dir $(OUT))web_answerer
TEMPERATURES ?= 0.4 0.6 0.8 1.0
samples       = $(foreach temperature,$(TEMPERATURES),$(WORK)/web_samples_$(temperature)/results.json)
$(samples): $(WORK)/web_samples_%/results.json: $(PAGES) $(PRESET)
	$(run) --dataset $< --set answering.temperature=$* --set 'language_model.adapters.web_answerer="$(START)"' --set knowledge_graph=none
$(WORK)/web_sample_labels.jsonl: $(samples)
	$(SERVING) -m crag train labels $(addprefix --run ,$(^D)) $(JUDGE) --split $(SPLIT) --out $@
$(WORK)/web_preferences.jsonl: $(WORK)/web_sample_labels.jsonl
	$(SERVING) -m crag train preferences web_answerer $(preset) --labels $< --split $(SPLIT) --out $@
web_refusals: $(WORK)/web_preferences.jsonl
	$(PYTHON) -m crag train dpo --config $(CONFIG) --set 'base="$(BASE)"' --device $(DEVICE) \
	  $(if $(filter cpu,$(DEVICE)),--set quantise=none) --split $(SPLIT) $(call given,MAX_STEPS,max_steps) \
	  $(call given,HOLD_OUT,hold_out) $(TUNE) $(OVERWRITE) --start $(START) --data $< --out $(OUT) --resume

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: kg_writer kg_answerer web_answerer web_refusals
