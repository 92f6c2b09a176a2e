"""The search: the best model within a budget of flash, RAM and time, and the front of what other budgets would buy."""
