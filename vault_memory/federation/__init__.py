"""Several vaults asked as one."""
