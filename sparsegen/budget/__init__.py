"""What a prediction may cost: budgets, amounts as people write them, and real parts by name."""
