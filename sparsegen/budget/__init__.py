"""Budgets: what a prediction may cost, what a part offers, and what a model will cost before it is trained."""
