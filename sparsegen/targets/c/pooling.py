"""How the C adds up groups of features before it projects them. The loops are in templates/c/projection.c.j2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.lowering.group_features import Blocks, FeatureGroups
from sparsegen.targets.c.code import Table, c_type

WRITTEN_OUT = 16  # features of the largest block without loops


@dataclass(frozen=True)
class Pooling:
    """What the template prints of the sums."""

    groups: FeatureGroups
    reads_indices: bool
    """Whether features are added up as they come."""

    @property
    def number(self) -> int:
        """Number of sums."""
        return self.groups.number

    @property
    def type(self) -> str:
        """The C type of a sum."""
        return c_type(self.groups.sum_dtype)

    @property
    def wide(self) -> str:
        """The C type in which a sum is computed."""
        return "uint32_t" if self.groups.sum_dtype == np.uint32 else "unsigned"

    @property
    def is_table(self) -> bool:
        """Whether a table names the group of every feature."""
        return self.groups.blocks is None

    @property
    def blocks(self) -> Blocks | None:
        """The blocks that groups are."""
        return self.groups.blocks

    @property
    def has_rows(self) -> bool:
        """Whether the blocks are of an image with several rows."""
        return self.blocks is not None and self.blocks.height > 1

    @property
    def is_ragged_right(self) -> bool:
        """Whether the last block of a row is cut short."""
        return self.blocks is not None and self.blocks.width % self.blocks.block_width != 0

    @property
    def is_ragged_below(self) -> bool:
        """Whether the blocks of the last row are cut short."""
        return self.blocks is not None and self.blocks.height % self.blocks.block_height != 0

    @property
    def offsets(self) -> list[int]:
        """Where the features of a block lie, from its first; empty if loops read them."""
        blocks = self.blocks
        if blocks is None or not self.reads_indices or self.is_ragged_right or self.is_ragged_below:
            return []
        block = np.arange(blocks.block_height)[:, None] * blocks.width + np.arange(blocks.block_width)
        return block.ravel().tolist() if block.size <= WRITTEN_OUT else []

    @property
    def skips_blocks(self) -> bool:
        """Whether bits tell which blocks are read."""
        return self.groups.read_blocks is not None

    @property
    def tables(self) -> list[Table]:
        """What finds the group of a feature."""
        if self.groups.blocks is None:
            comment = "the sum that each feature is added to"
            return [Table("groups", comment, self.groups.table_dtype, self.groups.table)]
        read = self.groups.read_blocks
        if read is None:
            return []
        bits = np.packbits(read, bitorder="little").astype(np.int64)
        return [Table("blocks", "a bit for each block: whether it is read", np.dtype(np.uint8), bits)]
