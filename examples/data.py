"""CSV files that the package vega_datasets ships; the package itself is not imported."""

import csv
import importlib.util
from pathlib import Path


def rows(name):
    """The rows of a file, as dicts."""
    folder = Path(importlib.util.find_spec("vega_datasets").submodule_search_locations[0])
    return list(csv.DictReader((folder / "_data" / name).read_text().splitlines()))
