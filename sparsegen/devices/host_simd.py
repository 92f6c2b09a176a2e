"""This computer with loops over several vectors at once, which its compiler turns into vector instructions.

``host`` keeps the portable loops: it proves the C that an export holds unless a device is named.
"""

from __future__ import annotations

from sparsegen.devices import DEVICES
from sparsegen.devices.host import Host


class HostSimd(Host):
    """The computer sparsegen runs on, as fast as its C can be."""

    name = "host-simd"
    description = "this computer, with loops for vector instructions"
    loops = "simd"


DEVICES.register("host-simd")(HostSimd())
