"""What one prediction costs on every device, beside C written by hand."""
