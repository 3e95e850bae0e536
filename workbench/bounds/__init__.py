"""What can be promised about false alarms, and the covering numbers behind it."""

from .covering import covering_table, log_covering, log_covering_lower

__all__ = ["covering_table", "log_covering", "log_covering_lower"]
