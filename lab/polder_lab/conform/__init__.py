"""What a malloc must do, asked of any: the probes of polder-probe, their runs, the matrix."""
