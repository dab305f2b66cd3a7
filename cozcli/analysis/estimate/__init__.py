"""From series to effects: ratios of periods, their intervals, the slope and the curve."""
