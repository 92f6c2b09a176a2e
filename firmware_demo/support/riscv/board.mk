# sifive_e (HiFive1): riscv64-unknown-elf-gcc, qemu-system-riscv32, openocd. Set MODULES (C files) before including this.
# Debian: apt-get install gcc-riscv64-unknown-elf qemu-system-misc

BOARDS := sifive_e
BOARD ?= sifive_e
DEVICE := rv32imc
FLASH_BYTES := 0x400000
RAM_BYTES := 0x4000

CC := riscv64-unknown-elf-gcc
SIZE := riscv64-unknown-elf-size
MACHINE := -march=rv32imac -mabi=ilp32 -mcmodel=medany -mno-relax
STANDARD := -std=c99 -ffreestanding -fno-tree-loop-distribute-patterns # or loops become calls to memcpy
STACK_BYTES ?= 1024
SUPPORT_SOURCES := startup.c board.c
SUPPORT_FOLDER := riscv
MEMORY := FLASH_BYTES=$(FLASH_BYTES) RAM_BYTES=$(RAM_BYTES) STACK_BYTES=$(STACK_BYTES)
LINK = -nostdlib $(addprefix -Wl$(comma)--defsym=,$(MEMORY)) -T $(SUPPORT)riscv/link.ld -lgcc
comma := ,

include $(dir $(lastword $(MAKEFILE_LIST)))../rules.mk

# These two read control registers. With zicsr for the whole program, gcc would link another processor's libgcc.
$(BUILD)/startup.o $(BUILD)/board.o: CFLAGS += -march=rv32imac_zicsr

# With -icount the processor counts its instructions exactly.
emulate: $(BUILD)/firmware.elf
	qemu-system-riscv32 -M $(BOARD) -bios none -icount shift=0 -display none -monitor none -serial stdio \
	    -semihosting-config enable=on,target=native -kernel $<

flash: $(BUILD)/firmware.elf
	openocd -f board/sifive-hifive1.cfg -c "program $< verify reset exit"
