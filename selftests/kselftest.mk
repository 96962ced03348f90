# SPDX-License-Identifier: GPL-2.0
# srnic selftests - what the kernel's lib.mk gives to a folder of selftests, where
# there is no kernel source; KSFT=<kernel>/tools/testing/selftests takes that one
#
# A folder sets TEST_PROGS, its tests; TEST_FILES, what they need beside them; and
# TEST_INCLUDES, what they need from other folders; and TEST_GEN_MODS_DIR, a folder of kernel
# modules, which are installed if they have been built.

# Python's, when a test has run in this tree
TEST_INCLUDES := $(filter-out %/__pycache__,$(TEST_INCLUDES))

ifneq ($(KSFT),)
include $(KSFT)/lib.mk
else

COLLECTION ?= $(notdir $(CURDIR))

run_tests:
	@../run_kselftest.sh $(addprefix -t $(COLLECTION):,$(TEST_PROGS))

emit_tests:
	@printf '$(COLLECTION):%s\n' $(TEST_PROGS)

install:
	$(if $(INSTALL_PATH),,$(error say where to by INSTALL_PATH))
	mkdir -p $(INSTALL_PATH)
	cp -r $(TEST_PROGS) $(TEST_FILES) $(wildcard config settings) $(INSTALL_PATH)
	mkdir -p $(INSTALL_PATH)/../lib
	cp $(TEST_INCLUDES) $(INSTALL_PATH)/../lib
	$(foreach module,$(wildcard $(addsuffix /*.ko,$(TEST_GEN_MODS_DIR))), \
		install -D -m 644 $(module) $(INSTALL_PATH)/$(module) &&) :

.PHONY: run_tests emit_tests install

endif
