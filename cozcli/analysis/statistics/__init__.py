"""General statistics that know nothing of profiles: distributions, tests, fits."""
