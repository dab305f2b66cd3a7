"""A made-up profile that has something of everything the page shows, and the source that goes with it.

The pictures of docs/commands/view.md are made of it, by screenshots.py.
"""

from __future__ import annotations

from typing import Any

from synthetic import Line, Model, saturating, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

FOLDER = "/home/user/imageserver/src"

#: One source file of which lines are shown; the others are as good as missing.
SERVER = """\
#include "server.h"

#include <coz.h>

namespace imageserver {

// One worker: takes requests from the queue until the server is closed.
void Server::work() {
  while (auto request = queue_.pop()) {
    COZ_BEGIN("answer");
    Image image = decode(request->body());
    if (const Transform* transform = find_transform(request->path())) {
      image = transform->apply(image);
    }
    const std::string body = encode(image, request->quality());
    {
      std::lock_guard lock(cache_mutex_);
      cache_.insert(request->path(), body);
    }
    request->answer(200, body);
    COZ_END("answer");
    COZ_PROGRESS_NAMED("request");
  }
}

// The least recently used entries go first.
void Cache::insert(const std::string& path, const std::string& body) {
  size_ += body.size();
  entries_.push_front({path, body});
  index_[path] = entries_.begin();
  while (size_ > limit_) {
    size_ -= entries_.back().body.size();
    index_.erase(entries_.back().path);
    entries_.pop_back();
  }
}

uint64_t checksum(std::string_view body) {
  uint64_t sum = 0;
  for (const unsigned char byte : body) sum = sum * 31 + byte;
  return sum;
}

}  // namespace imageserver
"""


def lines(after: bool) -> list[Line]:
    """Before and after a change that made the codec faster and moved checksums out of the lock."""

    def line(place: str, effect: Any, function: str, **more: Any) -> Line:
        return Line(f"{FOLDER}/{place}", effect, function, **more)

    codec = 0.14 if after else 0.38
    return [
        line(
            "codec/jpeg_decoder.cpp:412",
            lambda s: codec * s,
            "imageserver::JpegDecoder::idct_block(short const*, unsigned char*, int)",
            latency=lambda s: 0.9 * codec * s,
        ),
        line(
            "codec/huffman.h:88",
            saturating(0.10, 0.35),
            "imageserver::BitReader::peek(int)",
            latency=lambda s: 0.12 * s,
        ),
        line(
            "server.cpp:40",
            lambda s: 0.22 * s if after else -0.16 * s,
            "imageserver::checksum(std::string_view)",
        ),
        line("server.cpp:18", saturating(0.07 if after else 0.13, 0.3), "imageserver::Server::work()"),
        line(
            "transform/resize.cpp:147", lambda s: 0.17 * s, "imageserver::Resize::apply(Image const&) const"
        ),
        line(
            "transform/resize.cpp:163", lambda s: 0.09 * s, "imageserver::Resize::apply(Image const&) const"
        ),
        line(
            "server.cpp:32",
            lambda s: 0.06 * s * (1.3 - s),
            "imageserver::Cache::insert(std::string const&, …)",
        ),
        line(
            "codec/jpeg_encoder.cpp:230",
            lambda s: 0.12 * s,
            "imageserver::JpegEncoder::quantize()",
            share=0.4,
        ),
        line("http/parser.cpp:75", lambda s: 0.03 * s, "imageserver::http::Parser::header()"),
        line("http/parser.cpp:118", lambda s: 0.0, "imageserver::http::Parser::chunk()"),
        line("server.cpp:15", lambda s: 0.015 * s, "imageserver::Server::work()"),
        line("log.cpp:51", lambda s: -0.05 * s, "imageserver::Log::write(std::string_view)"),
        line("codec/color.h:27", lambda s: 0.05 * s, "imageserver::to_rgb(YCbCr)"),
        line("transform/blur.cpp:64", lambda s: 0.02 * s, "imageserver::Blur::apply(Image const&) const"),
    ]


def records(after: bool, blocks: int = 520) -> list[dict[str, Any]]:
    chosen = lines(after)
    model = Model(
        chosen, program="/home/user/imageserver/build/imageserver", seed=5 + after, noise=0.015, drift=0.03
    )
    found = model.records(blocks)
    found[0]["arguments"] = ["--threads", "4", "--replay", "requests.log"]
    decoder, checksum = chosen[0], chosen[2]
    calls = [
        (decoder, "codec/jpeg_decoder.cpp:288", "imageserver::JpegDecoder::scan()", 61),
        (decoder, "codec/jpeg_decoder.cpp:301", "imageserver::JpegDecoder::progressive_scan()", 24),
        (decoder, "thumbnail.cpp:33", "imageserver::thumbnail(Image const&)", 9),
        (checksum, "server.cpp:18", "imageserver::Server::work()", 70),
        (checksum, "http/etag.cpp:12", "imageserver::http::etag(std::string_view)", 30),
    ]
    samples = next(record for record in found if record["type"] == "samples")
    samples["callers"] = [
        {
            "location": line.location,
            "function": line.function,
            "caller": f"{FOLDER}/{caller}",
            "caller_function": function,
            "count": count,
        }
        for line, caller, function, count in calls
    ]
    return found


def analysis(after: bool) -> Analysis:
    raw = to_bytes(records(after)).splitlines(keepends=True)
    name = "after.coz" if after else "before.coz"
    return analyse(Profile(collect_runs(read_records(raw, ReadProblems()), name), [name]))


def sources() -> dict[str, dict[str, Any]]:
    return {f"{FOLDER}/server.cpp": {"changed": [False, False], "parts": {"1": SERVER.splitlines()}}}
