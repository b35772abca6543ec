"""The reclaimers, drains and structures in the library's registries, as the built polder-structures tells them."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from polder_lab.complaint import Complaint
from polder_lab.place import Place

Entry = dict[str, Any]


def told(place: Place, registry: str) -> list[Entry]:
    """The entries of a registry: reclaimers, drains or structures."""
    if not place.structures.exists():
        raise Complaint(f"the registry of {registry} is not built: {place.structures} is missing")
    try:
        said = subprocess.run([place.structures], capture_output=True, text=True, timeout=20, check=True).stdout
        entries: list[Entry] = json.loads(said)[registry]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as why:
        raise Complaint(f"{place.structures} does not tell the registry of {registry}: {why}") from why
    return entries
