"""Adjusted p-values. What is believed of many tests is tested in test_distributions.py."""

from __future__ import annotations

import pytest

from cozcli.analysis.statistics.false_discovery import adjusted_p, discoveries


def test_adjusted_p_values_are_the_rates_at_which_tests_are_believed() -> None:
    probabilities = [0.04, 0.001, 0.2, 0.03, 0.03]
    adjusted = adjusted_p(probabilities)
    assert adjusted == pytest.approx([0.05, 0.005, 0.2, 0.05, 0.05])
    for rate in (0.004, 0.006, 0.049, 0.051, 0.3):
        assert discoveries(probabilities, rate) == [p <= rate for p in adjusted]
