"""CSV files that the package vega_datasets ships; the package itself is not imported."""

import csv
import importlib.util
from pathlib import Path


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a file, as dicts."""
    package = importlib.util.find_spec("vega_datasets")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("vega_datasets is not installed")
    folder = Path(package.submodule_search_locations[0])
    return list(csv.DictReader((folder / "_data" / name).read_text().splitlines()))
