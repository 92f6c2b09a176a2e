# What every board's Makefile shares; included by <family>/board.mk, which names the compiler and the processor.
#
#   make            build/<board>/firmware.elf (and .hex where the board wants one)
#   make emulate    run it in the emulator
#   make size       flash and RAM
#   make flash      write it to a real board

SUPPORT := $(dir $(lastword $(MAKEFILE_LIST)))
BUILD ?= build/$(BOARD)
WARNINGS := -Wall -Wextra -Wshadow -Wdouble-promotion -Werror
CFLAGS := $(STANDARD) -Os -ffunction-sections -fdata-sections $(WARNINGS) $(MACHINE) \
    -I$(BUILD) -I$(SUPPORT) -I$(SUPPORT)$(SUPPORT_FOLDER) $(DEFINES)
OBJECTS := $(addprefix $(BUILD)/,$(notdir $(patsubst %.c,%.o,$(MODULES) console.c $(SUPPORT_SOURCES))))

vpath %.c $(sort $(dir $(MODULES))) $(SUPPORT) $(SUPPORT)$(SUPPORT_FOLDER)

.PHONY: firmware emulate size flash clean
.SECONDARY:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := firmware

firmware: $(BUILD)/firmware.elf

$(BUILD)/firmware.elf: $(OBJECTS)
	$(CC) $(MACHINE) $(OBJECTS) -Wl,--gc-sections $(LINK) -o $@

$(BUILD)/%.o: $(BUILD)/%.c
	$(CC) $(CFLAGS) -MMD -c $< -o $@

$(BUILD)/%.o: %.c $(GENERATED) | $(BUILD)
	$(CC) $(CFLAGS) -MMD -c $< -o $@

$(BUILD)/%.h: $(BUILD)/%.c ; # both are made together

$(BUILD):
	mkdir -p $@

size: $(BUILD)/firmware.elf
	$(SIZE) $<

clean:
	rm -rf build

-include $(OBJECTS:.o=.d)
