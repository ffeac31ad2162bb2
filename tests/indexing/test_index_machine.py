"""Whatever happens to a vault and its index, in any order: once up to date, it equals an index built from nothing."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from vault_machine import VaultMachine

VaultMachine.TestCase.settings = settings(
    max_examples=6, stateful_step_count=25, deadline=None, derandomize=True, database=None,
    phases=[Phase.generate],  # shrinking a failure with killed processes in it would take many minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)  # fmt: skip
TestVault = VaultMachine.TestCase


@pytest.mark.slow
class TestVaultForLong(VaultMachine.TestCase):
    settings = settings(VaultMachine.TestCase.settings, max_examples=60, stateful_step_count=30)
