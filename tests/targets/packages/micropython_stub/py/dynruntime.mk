# Stands in for MicroPython's dynruntime.mk: links the module with runtime.c into a program called $(MOD).mpy.
all: $(MOD).mpy

$(MOD).mpy: $(SRC) $(MPY_DIR)/runtime.c
	$(CC) -std=c99 -Os -Wall -Wextra -Werror $(CFLAGS) -I. -I$(MPY_DIR) $^ -o $@

print:
	@echo MOD=$(MOD) SRC=$(SRC) ARCH=$(ARCH) LINK_RUNTIME=$(LINK_RUNTIME)
