"""Further fake models: one of another width, one of the same width."""

from dataclasses import replace

from tests.builders import SPEC

NARROW = replace(SPEC, name="narrow", dimensions=16)
SAME_WIDTH = replace(SPEC, name="other", query_prefix="ask ", passage_prefix="tell ")
