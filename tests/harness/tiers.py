"""For test files to import: tests that name `tier` run on each."""

import pytest
import tierup

from . import mdtest


@pytest.fixture(autouse=True)
def on_tier(request):
    """Tests that name `tier` run on each."""
    before = tierup.config.tier, tierup.config.osr
    if "tier" in request.fixturenames:
        mdtest.set_tier(request.getfixturevalue("tier"))
    yield
    tierup.config.tier, tierup.config.osr = before
