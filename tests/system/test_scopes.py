"""Source files that are left out of a run, or chosen by regular expressions."""


def test_source_files_by_exclusion_and_by_regular_expression(coz, build):
    program = build("examples/serial/serial.cpp")
    everything = coz("lines", program)
    assert "serial.cpp" in everything.out
    assert coz("lines", "--source-exclude", "serial.cpp", program).status == 2
    assert "serial.cpp" not in coz("lines", "-s", "%", "--source-exclude", "re:/serial[.]c", program).out
    assert (
        coz("lines", "-s", "re:/serial[.]c(pp|c)$", "--source-exclude", "x.c", program).out == everything.out
    )
    options = ("-s", "re:serial[.]", "--source-exclude", "other.cpp", "--period", "500us")
    run = coz.stopped_at(lambda e: len(e) > 6, [program, 100], *options)
    (record,) = run.records("run")
    assert record["scope"] == ["re:serial[.]", "!other.cpp"]
    assert all("/serial.cpp:" in e["location"] for e in run.records("experiment"))
