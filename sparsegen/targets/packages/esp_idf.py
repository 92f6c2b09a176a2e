"""ESP-IDF: a component for the ``components`` folder of any project, and a project around it that runs it."""

from __future__ import annotations

from sparsegen.errors import OptionError
from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel

# Components of ESP-IDF and their headers: a component of the same name in a project replaces them.
TAKEN_WORDS = (
    "app_trace app_update bootloader bootloader_support bt cmock console cxx driver efuse espcoredump esptool_py fatfs "
    "freertos hal heap http_parser ieee802154 json linux log lwip main mbedtls mqtt newlib nvs nvs_flash "
    "nvs_sec_provider openthread partition_table perfmon protobuf_c protocomm pthread riscv rt sdkconfig sdmmc soc "
    "spi_flash spiffs tcp_transport touch_element ulp unity usb vfs wear_levelling wifi_provisioning wpa_supplicant "
    "xtensa"
)
TAKEN = frozenset(TAKEN_WORDS.split())
TAKEN_PREFIXES = ("esp_", "idf_")


class EspIdf(Package):
    """A component, which takes its name from its folder."""

    name = "esp-idf"
    description = "ESP-IDF component (CMake, idf_component.yml) in a project that runs it"

    def usage(self, name: str) -> str:
        """Return the command that builds the example, writes it to a board and shows what it prints."""
        if name.lower() in TAKEN or name.lower().startswith(TAKEN_PREFIXES):
            raise OptionError(f"name {name!r} would replace a component of ESP-IDF itself; choose another")
        return "idf.py set-target esp32 && idf.py build flash monitor"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the component and the project."""
        component = f"components/{model.name}"
        return {
            f"{component}/CMakeLists.txt": model.render("esp-idf/CMakeLists.txt.j2"),
            f"{component}/idf_component.yml": model.render("esp-idf/idf_component.yml.j2"),
            f"{component}/LICENSE": model.render("package/LICENSE.j2"),
            f"{component}/{model.name}.c": model.source,
            f"{component}/{model.name}.h": model.header,
            "CMakeLists.txt": model.render("esp-idf/project_CMakeLists.txt.j2"),
            "main/CMakeLists.txt": model.render("esp-idf/main_CMakeLists.txt.j2"),
            "main/main.c": model.render("esp-idf/main.c.j2"),
        }


TARGETS.register("esp-idf")(EspIdf())
