"""What a program may not do with its heap, done many times under any: the mistakes of polder-mistakes, their counts, the matrix."""
