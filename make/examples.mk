# Example programs, the demo, and the case studies.

EXAMPLES := $(addprefix $(BUILD)/examples/,two_threads serial producer_consumer queue)

##@ Examples
.PHONY: examples demo example-redis case-studies
examples: $(EXAMPLES)                 ## build the example programs (but for SQLite, which is fetched first)

demo: dependencies                    ## install what is missing, build, profile two programs, draw pictures
	@$(MAKE) all $(BUILD)/examples/two_threads $(BUILD)/examples/sqlite_insert
	@DEMO_TWO_THREADS=$(DEMO_TWO_THREADS) DEMO_SQLITE=$(DEMO_SQLITE) scripts/demo.sh $(BUILD)

example-redis: all $(BUILD)/examples/redis_requests.so ## compare predicted with real capacity of redis-server (3 minutes)
	@examples/redis/capacity.sh $(BUILD)

# Each case study is examples/NAME/study.py; its results are in docs/case_studies/NAME.md. They measure, so they run one
# after another.
CASE_STUDIES := $(patsubst examples/%/study.py,%,$(sort $(wildcard examples/*/study.py)))
.PHONY: $(CASE_STUDIES:%=case-study-%)
case-studies:                         ## repeat all case studies (case-study-NAME: one of them)
	@$(foreach study,$(CASE_STUDIES),$(MAKE) case-study-$(study) && ) true
$(CASE_STUDIES:%=case-study-%): case-study-%: dependencies
	@$(MAKE) all
	@$(RUN_PYTHON) examples/case_studies/run.py $* $(CASE)

EXAMPLE_CXX = $(CXX) -std=c++17 -O2 -g -Iinclude -o $@ $(filter %.cpp %.c,$^)
EXAMPLE_CC  = $(CC) -std=gnu11 -O2 -g -Iinclude -o $@ $(filter %.cpp %.c,$^)

$(addprefix $(BUILD)/examples/,two_threads serial producer_consumer): $(BUILD)/examples/%: include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(EXAMPLE_CXX) -lpthread
$(BUILD)/examples/two_threads: examples/two_threads/two_threads.cpp
$(BUILD)/examples/serial: examples/serial/serial.cpp
$(BUILD)/examples/producer_consumer: examples/producer_consumer/producer_consumer.cpp

$(BUILD)/examples/redis_requests.so: examples/redis/requests.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(EXAMPLE_CXX) -shared -fPIC -fvisibility=hidden -lpthread -ldl
$(BUILD)/examples/queue: examples/c_program/queue.c include/coz.h
	@mkdir -p $(@D)
	$(call show,CC,$@)
	$(Q)$(EXAMPLE_CC) -lpthread

AMALGAMATION := $(BUILD)/sqlite/sqlite3.c
$(AMALGAMATION): | examples/sqlite/fetch.sh
	@examples/sqlite/fetch.sh $(BUILD)/sqlite
$(BUILD)/examples/sqlite_insert: examples/sqlite/insert.c $(AMALGAMATION) include/coz.h
	@mkdir -p $(@D)
	$(call show,CC,$@)
	$(Q)$(CC) -O2 -g -DSQLITE_OMIT_LOAD_EXTENSION -I$(BUILD)/sqlite -Iinclude -o $@ $< $(AMALGAMATION) -lpthread -lm
