"""Writing files: whole or not at all, and never over something that sparsegen did not write."""

from sparsegen.files.places import inside, is_generated, require_folder, require_regular, require_writable
from sparsegen.files.writing import folder_or_temporary, write_all, write_atomic

__all__ = [
    "folder_or_temporary",
    "inside",
    "is_generated",
    "require_folder",
    "require_regular",
    "require_writable",
    "write_all",
    "write_atomic",
]
