# How adapters are made (docs/training.md): steps as files with their inputs. `python -m crag train adapters NAME` fills
# in the variables. Finished steps are skipped, a stopped one resumes; `make -n` shows what is left to do.
PYTHON ?= python
SERVING ?= $(PYTHON)
CONFIG ?= db3
SPLIT  ?= 0
JUDGE  ?= --judge llm --judge-rubric db3 --judge-preset $(PRESET) $(subst --set,--judge-set,$(SETS)) --context-check llm
# Also: PRESET, the files that it EXTENDS and changes to it (SETS), BASE, WORK, OUT, QUESTIONS, GRAPH, PAGES, PAIRS (more options of api-pairs), DEVICE (cpu or
# cuda), LENGTH and TUNE (options) of the tuning, LIMIT, MAX_STEPS, HOLD_OUT, OVERWRITE. SERVING runs the base model: it places it on
# all cards as the preset says. WITHOUT removes the adapters that do not exist yet. WRITER_WORK has the rows of the adapter WRITER,
# which is tuned FOLDS times for kg_answerer; FOLDS=1: the preset's writer as it is.
given   = $(if $($(1)),--$(subst _,-,$(2)) $($(1)))
preset  = --preset $(PRESET) $(SETS)
step    = @echo 'step: $(1)'
# All that decides on a context is as it is served. What withholds answers, or asks the model again, decides on none: it is off.
run     = $(SERVING) -m crag evaluate $(preset) --split $(SPLIT) $(call given,LIMIT,limit) --output $(@D) --resume \
          --seconds-per-query 600 --set deadline.seconds_per_query=600 $(WITHOUT) --set answering.adapter=none \
          --set 'answering.gates=[]' --set answering.confidence=none --set answering.refine=none \
          --set answering.other_sites=false
# Exit code 3: the run is complete, and lost some answers, of which no labels are made.
kept    = || { [ $$? = 3 ] && test -f $@; }
labels  = $(SERVING) -m crag train labels $(addprefix --run ,$(^D)) $(JUDGE) --split $(SPLIT) --out $@
prompts = $(SERVING) -m crag train prompts
tune    = $(PYTHON) -m crag train lora --config $(CONFIG) --set 'base="$(BASE)"' --device $(DEVICE) \
          $(if $(filter cpu,$(DEVICE)),--set quantise=none) --split $(SPLIT) $(call given,MAX_STEPS,max_steps) \
          $(LENGTH) $(TUNE) --resume

kg_writer kg_answerer web_answerer: %: $(WORK)/%.jsonl
	$(call step,tune $@)
	$(tune) $(call given,HOLD_OUT,hold_out) $(OVERWRITE) --data $< --out $(OUT)

# db3 3.2: the calls of labelled questions.
$(WORK)/pairs.jsonl: $(QUESTIONS)
	$(call step,find the entities in the calls)
	$(PYTHON) -m crag train api-pairs $(addprefix --questions ,$(QUESTIONS)) $(call given,GRAPH,graph) $(PAIRS) --split $(SPLIT) \
	  $(call given,LIMIT,limit) --out $@
$(WORK)/kg_writer.jsonl: $(WORK)/pairs.jsonl $(PRESET) $(EXTENDS)
	$(call step,write the prompts of kg_writer)
	$(prompts) kg_writer $(preset) --pairs $< --split $(SPLIT) --out $@

# db3 3.3: the basic prompt asked about the facts of the tuned writer's calls (2.4, step 2); no web after a graph query. A writer knows
# the questions that it was tuned on by heart, and would teach the answerer that calls are always right. So each part of the questions
# is asked through a writer that was tuned without this part.
ask_graph = $(run) --dataset $(1) --mock-kg $(GRAPH) --set knowledge_graph.answer_prompt=basic \
  --set knowledge_graph.answer_adapter=none --set public_data=none \
  --set "knowledge_graph.graph_only_domains=['movie','finance','music','sports','open']"
ifeq ($(FOLDS),1)
parts = $(WORK)
else
parts = $(addprefix $(WORK)/part,$(shell seq $(FOLDS)))
endif
$(WORK)/part%/questions.jsonl: $(QUESTIONS) $(WRITER_WORK)/pairs.jsonl
	$(call step,select the questions of part $* of $(FOLDS))
	$(PYTHON) -m crag train folds --fold $*/$(FOLDS) --questions $< --pairs $(WRITER_WORK)/pairs.jsonl --unlabelled --without-pages \
	  --split $(SPLIT) --out $@
$(WORK)/part%/kg_writer/run_card.json: $(WRITER_WORK)/kg_writer.jsonl
	$(call step,tune a kg_writer without part $* of $(FOLDS))
	rm -rf $(WORK)/part$*/graph_answers
	$(tune) --hold-out $*/$(FOLDS) --overwrite --data $< --out $(@D)
$(WORK)/part%/graph_answers/results.json: $(WORK)/part%/questions.jsonl $(WORK)/part%/kg_writer/run_card.json $(PRESET) $(EXTENDS)
	$(call step,answer part $* of $(FOLDS) from the graph)
	$(call ask_graph,$<) --set 'language_model.adapters.$(WRITER)="$(WORK)/part$*/kg_writer"' $(kept)
$(WORK)/graph_answers/results.json: $(QUESTIONS) $(PRESET) $(EXTENDS)
	$(call step,answer from the graph)
	$(call ask_graph,$<) $(kept)
$(WORK)/graph_labels.jsonl: $(addsuffix /graph_answers/results.json,$(parts))
	$(call step,judge and label the answers from the graph)
	$(labels) --answerer graph
$(WORK)/kg_answerer.jsonl: $(WORK)/graph_labels.jsonl
	$(call step,write the prompts of kg_answerer)
	$(prompts) kg_answerer $(preset) --abstaining 1 --labels $< --split $(SPLIT) --out $@

# db3 2.4: the untuned model's answers from web pages and public data; a run for each file of questions with pages.
$(WORK)/web_answers%/results.json: $(PAGES) $(PRESET) $(EXTENDS)
	$(call step,answer from the pages of $(notdir $(word $*,$(PAGES))))
	$(run) --dataset $(word $*,$(PAGES)) --set answering.prompt=basic --set answering.own_prompt=none --set knowledge_graph=none $(kept)
$(WORK)/web_labels.jsonl: $(patsubst %,$(WORK)/web_answers%/results.json,$(shell seq $(words $(PAGES))))
	$(call step,judge and label the answers from the pages)
	$(labels)
$(WORK)/web_answerer.jsonl: $(WORK)/web_labels.jsonl
	$(call step,write the prompts of web_answerer)
	$(prompts) web_answerer $(preset) --abstaining 1 --labels $< --split $(SPLIT) --out $@

# Preferences after tuning: the tuned model's answers at several temperatures (an engine samples alike in two equal runs), judged.
START        ?= $(dir $(OUT))web_answerer
TEMPERATURES ?= 0.4 0.6 0.8 1.0
samples       = $(foreach temperature,$(TEMPERATURES),$(WORK)/web_samples_$(temperature)/results.json)
$(samples): $(WORK)/web_samples_%/results.json: $(PAGES) $(PRESET) $(EXTENDS)
	$(call step,answer from the pages at temperature $*)
	$(run) --dataset $< --set answering.temperature=$* --set 'language_model.adapters.web_answerer="$(START)"' \
	  --set answering.adapter=web_answerer --set knowledge_graph=none $(kept)
$(WORK)/web_sample_labels.jsonl: $(samples)
	$(call step,judge and label the answers of all temperatures)
	$(labels)
$(WORK)/web_preferences.jsonl: $(WORK)/web_sample_labels.jsonl
	$(call step,write the preferences)
	$(SERVING) -m crag train preferences web_answerer $(preset) --labels $< --split $(SPLIT) --out $@
web_refusals: $(WORK)/web_preferences.jsonl
	$(call step,tune $@)
	$(PYTHON) -m crag train dpo --config $(CONFIG) --set 'base="$(BASE)"' --device $(DEVICE) \
	  $(if $(filter cpu,$(DEVICE)),--set quantise=none) --split $(SPLIT) $(call given,MAX_STEPS,max_steps) \
	  $(call given,HOLD_OUT,hold_out) $(TUNE) $(OVERWRITE) --start $(START) --data $< --out $(OUT) --resume

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: kg_writer kg_answerer web_answerer web_refusals
