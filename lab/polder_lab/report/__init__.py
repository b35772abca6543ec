"""The report: reads records, writes one page that opens from a file, and pictures. It measures nothing."""
