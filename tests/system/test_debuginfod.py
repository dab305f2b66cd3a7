"""Debug information from a server: only when asked for."""

import ctypes.util
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

pytestmark = pytest.mark.skipif(ctypes.util.find_library("debuginfod") is None, reason="needs libdebuginfod")


@pytest.fixture
def server():
    """A server of debug files by build id; `asked` has what it was asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            body = self.server.files.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.files = [], {}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def stripped(build, tmp_path, server):
    """A program whose debug information the server has."""
    whole = build("loop.c")
    program, debug = tmp_path / "loop", tmp_path / "debug"
    subprocess.run(["objcopy", "--strip-debug", whole, program], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    build_id = notes.split("Build ID: ")[1].split()[0]
    server.files[f"/buildid/{build_id}/debuginfo"] = debug.read_bytes()
    debug.unlink()
    return program


@pytest.fixture
def environment(server, tmp_path):
    return {
        "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}",
        "DEBUGINFOD_CACHE_PATH": str(tmp_path / "debuginfod"),
        "no_proxy": "127.0.0.1",
    }


def test_no_server_is_asked_unless_the_user_says_so(coz, stripped, server, environment):
    run = coz.run([stripped, 0.2], env=environment)
    assert run.status == 2
    assert "has no debug information" in run.err
    assert server.asked == []


def test_with_debuginfod(coz, stripped, server, environment):
    run = coz.run([stripped, 1], "--debuginfod", env=environment)
    assert run.status == 0, run.err
    assert len(server.asked) == 1
    assert any("loop.c:" in line["location"] for line in run.records("samples")[-1]["lines"])


def test_a_point_is_found_with_debuginfod(coz, stripped, server, environment):
    lines = coz.run([stripped, 1], "--debuginfod", env=environment).records("samples")[-1]["lines"]
    line = max(lines, key=lambda line: line["count"])["location"]
    run = coz.run([stripped, 0.5], "--debuginfod", "--progress", line, env=environment)
    assert run.status == 0, run.err
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "words"), [("", "names no server"), ("http://127.0.0.1:9", "from debuginfod: ")]
)
def test_a_server_that_cannot_help(coz, stripped, environment, url, words):
    run = coz.run([stripped, 0.2], "--debuginfod", env=environment | {"DEBUGINFOD_URLS": url})
    assert run.status == 2
    assert words in run.err
    assert "-dbg package" in run.err
