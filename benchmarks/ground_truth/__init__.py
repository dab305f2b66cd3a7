"""Predicted effects against true ones, on programs whose marked lines can really be made faster."""
