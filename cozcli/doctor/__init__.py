"""Findings of `coz doctor`: what of this machine and of a program stands in the way of a good profile."""
