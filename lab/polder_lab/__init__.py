"""Polder's laboratory: runs programs under several heaps, compares them, and reports.

Reading order: heap (what is compared), row (on what), launch (one run), instrument (what is looked at meanwhile), proof
(was it really that heap), interval (what the runs say), experiment (all of it in order); table and record (what `compare`
shows); campaign, journal and overview (what `bench run` asks, keeps and shows).
"""
