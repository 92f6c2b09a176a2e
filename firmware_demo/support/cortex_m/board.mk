# Cortex-M boards: arm-none-eabi-gcc, qemu-system-arm, and pyocd or openocd. Set MODULES (C files) before including this.
# Debian: apt-get install gcc-arm-none-eabi qemu-system-arm

BOARD ?= microbit
BOARDS := microbit mps2-an385 mps2-an386
ifeq ($(filter $(BOARD),$(BOARDS)),)
$(error there is no board $(BOARD) here; choose one of: $(BOARDS))
endif

# For each board: the device that sparsegen writes loops for, the processor, and bytes of flash and RAM.
DEVICE_microbit := cortex-m0plus
MACHINE_microbit := -mcpu=cortex-m0 -mfloat-abi=soft -DBOARD_MICROBIT
FLASH_BYTES_microbit := 0x40000
RAM_BYTES_microbit := 0x4000

DEVICE_mps2-an385 := cortex-m3
MACHINE_mps2-an385 := -mcpu=cortex-m3 -mfloat-abi=soft
FLASH_BYTES_mps2-an385 := 0x400000
RAM_BYTES_mps2-an385 := 0x400000

DEVICE_mps2-an386 := cortex-m4f
MACHINE_mps2-an386 := -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16
FLASH_BYTES_mps2-an386 := 0x400000
RAM_BYTES_mps2-an386 := 0x400000

CC := arm-none-eabi-gcc
SIZE := arm-none-eabi-size
DEVICE := $(DEVICE_$(BOARD))
FLASH_BYTES := $(FLASH_BYTES_$(BOARD))
RAM_BYTES := $(RAM_BYTES_$(BOARD))
MACHINE := -mthumb $(MACHINE_$(BOARD))
STANDARD := -std=c99 -ffreestanding -fno-tree-loop-distribute-patterns # or loops become calls to memcpy
STACK_BYTES ?= 1024
SUPPORT_SOURCES := startup.c board.c
SUPPORT_FOLDER := cortex_m
MEMORY := FLASH_BYTES=$(FLASH_BYTES) RAM_BYTES=$(RAM_BYTES) STACK_BYTES=$(STACK_BYTES)
LINK = -nostdlib $(addprefix -Wl$(comma)--defsym=,$(MEMORY)) -T $(SUPPORT)cortex_m/link.ld -lgcc
comma := ,

include $(dir $(lastword $(MAKEFILE_LIST)))../rules.mk

# With -icount an instruction takes 2^3 ns; a tick of SysTick takes as long as on the board.
INSTRUCTIONS_microbit := 7.8 # a tick at 16 MHz
INSTRUCTIONS_mps2-an385 := 5 # a tick at 25 MHz
INSTRUCTIONS_mps2-an386 := 5

emulate: $(BUILD)/firmware.elf
	@echo 'In this emulator a tick is $(strip $(INSTRUCTIONS_$(BOARD))) instructions.'
	qemu-system-arm -M $(BOARD) -icount shift=3 -display none -monitor none -serial stdio \
	    -semihosting-config enable=on,target=native -kernel $<

# By pyocd where it is installed, otherwise by openocd. A file copied to the micro:bit's drive does the same:
# arm-none-eabi-objcopy -O ihex firmware.elf /media/.../MICROBIT/firmware.hex
flash: $(BUILD)/firmware.elf
ifneq ($(BOARD),microbit)
	$(error $(BOARD) is an FPGA board that loads its image from its own memory card; use make emulate)
endif
	if command -v pyocd > /dev/null; then pyocd flash --no-wait --target nrf51 $<; \
	else openocd -f interface/cmsis-dap.cfg -f target/nrf51.cfg -c "program $< verify reset exit"; fi
