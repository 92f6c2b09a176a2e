# ATmega328P: avr-gcc, simavr, avrdude. Set MODULES (C files) before including this; BUILD, DEVICE, PORT may be set.
# Debian: apt-get install gcc-avr avr-libc simavr avrdude

BOARDS := uno
BOARD ?= uno
DEVICE := atmega328p
# The boot loader occupies the other 512 bytes of flash.
FLASH_BYTES := 32256
RAM_BYTES := 2048
STACK_BYTES ?= 256
DATA_BYTES := $(shell left=$$(($(RAM_BYTES) - $(STACK_BYTES))); echo $$((left > 0 ? left : 0)))
PORT ?= /dev/ttyACM0

CC := avr-gcc
SIZE := avr-size
MACHINE := -mmcu=$(DEVICE) -DF_CPU=16000000UL
STANDARD := -std=gnu99
LINK := -mmcu=$(DEVICE) -Wl,--defsym=__TEXT_REGION_LENGTH__=$(FLASH_BYTES) \
    -Wl,--defsym=__DATA_REGION_LENGTH__=$(DATA_BYTES)
SUPPORT_SOURCES := board.c
SUPPORT_FOLDER := avr

include $(dir $(lastword $(MAKEFILE_LIST)))../rules.mk

$(BUILD)/firmware.hex: $(BUILD)/firmware.elf
	avr-objcopy -O ihex -R .eeprom $< $@

firmware: $(BUILD)/firmware.hex

# simavr prints lines in colour and shows line ends as two dots.
emulate: $(BUILD)/firmware.elf
	simavr -m $(DEVICE) -f 16000000 $< 2>&1 | sed -e "s/$$(printf '\033')\[[0-9;]*m//g" -e '/^Loaded /d' -e 's/\.\.$$//'

flash: $(BUILD)/firmware.hex
	avrdude -p m328p -c arduino -P $(PORT) -b 115200 -D -U flash:w:$<:i
