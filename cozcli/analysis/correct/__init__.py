"""What measurement does to periods, taken out of them. chain.py lists the corrections in order."""
