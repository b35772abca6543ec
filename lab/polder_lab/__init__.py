"""Polder's laboratory: runs programs under several heaps, compares them, and reports.

Reading order: heap (what is compared), row (on what), launch (one run), proof (was it really that heap),
interval (what the runs say), experiment (all of it in order), table and record (what is shown and kept).
"""
